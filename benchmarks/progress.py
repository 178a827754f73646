"""The expected progress of RP-exact in one step, beside the paper's bound: equation (1).

``python -m benchmarks.progress`` measures, on every quadratic of the paper, by how much an exact step along a
random direction lowers f in expectation: at iterates of RP-exact, and where only the flattest direction is
left, as at the end of a long run. It prints a report in Markdown; ``--out FILE`` writes it as well.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

import pursuit
from benchmarks.pages.stamp import filled
from benchmarks.reporting import made_by, publish, report_parser
from pursuit.checks import Vector
from pursuit.experiments.common.formatting import brief, power, spaced, table
from pursuit.experiments.study.evidence import DIMENSIONS

QUADRATICS = ("exp", "lin", "two")
CONDITIONS = (1e4, 1e6)
DIRECTIONS = 100_000
# Along a run: as far as most of the progress is made, and fewer than a second takes.
_ITERATIONS, _MOST_POINTS = 100_000, 12


class Progress(NamedTuple):
    """The share of f that a step takes away in expectation, divided by the bound lambda_min/Tr."""

    value: float
    error: float
    """The standard error of its estimate."""

    def __str__(self) -> str:
        return f"{brief(self.value)} ± {self.error:.1g}"


def progress(problem: Any, x: Vector, directions: Any) -> Progress:
    """Return the expected progress at a point, estimated from these directions.

    Examples
    --------
    >>> import numpy as np
    >>> import pursuit
    >>> from benchmarks.progress import progress
    >>> sphere = pursuit.problems.exp(2, 1.0)
    >>> progress(sphere, np.ones(2), np.array([[1.0, 0.0], [0.0, 2.0]])).value
    1.0
    """
    slopes, curvatures = directions @ (problem.spectrum * x), directions**2 @ problem.spectrum
    shares = 0.5 * slopes**2 / curvatures / problem(x) * problem.spectrum.sum() / problem.m
    return Progress(float(shares.mean()), float(shares.std(ddof=1) / np.sqrt(shares.size)))


def along_a_run(problem: Any, rng: np.random.Generator) -> list[Progress]:
    """Return the expected progress at iterates of RP-exact, the start first."""
    result = pursuit.minimize(
        problem, problem.x0, method="rp-exact", rng=1, maxiter=_ITERATIONS, ftarget=1e-9, trace="x"
    )
    points = np.asarray(result.trace.x)
    chosen = np.unique(np.linspace(0, len(points) - 1, _MOST_POINTS).round().astype(int))
    directions = rng.standard_normal((DIRECTIONS, problem.n))
    return [progress(problem, x, directions) for x in (problem.x0, *points[chosen])]


def at_the_end(problem: Any, rng: np.random.Generator) -> Progress:
    """Return the expected progress where only the flattest direction is left."""
    flattest = np.eye(problem.n)[int(np.argmin(problem.spectrum))]
    return progress(problem, flattest, rng.standard_normal((DIRECTIONS, problem.n)))


def report() -> str:
    """Return the report on all quadratics."""
    rng = np.random.default_rng(1)
    rows, ends, broken = [], [], 0
    for name, condition, n in itertools.product(QUADRATICS, CONDITIONS, DIMENSIONS):
        problem = getattr(pursuit.problems, name)(n, condition)
        course, end = along_a_run(problem, rng), at_the_end(problem, rng)
        broken += any(found.value + 4.0 * found.error < 1.0 for found in (*course, end))
        ends.append(end.value)
        place = f"{name} L={power(condition)} n={n}"
        bound = f"{problem.m / problem.spectrum.sum():.3g}"
        rows.append([place, bound, brief(course[0].value), str(min(course)), str(end)])
    header = ["problem", "λ_min/Tr", "at the start", "least in a run so far", "in the end"]
    return filled(
        "progress", directions=spaced(DIRECTIONS), verdict="FAILS" if broken else "holds",
        holding=len(rows) - broken, count=len(rows), least=min(ends), most=max(ends),
        cells=table(header, rows), iterations=spaced(_ITERATIONS), made=made_by("benchmarks.progress"),
    )  # fmt: skip


def main() -> None:
    parser = report_parser(__doc__)
    publish(report(), parser.parse_args().out)


if __name__ == "__main__":
    main()
