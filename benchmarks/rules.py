"""What each rule of `differences` brings: the method beside itself without that rule.

``python -m benchmarks.rules`` leaves out one rule after the other, and runs the method on problems on which
its rules are chosen: the cheapest of CUTEst with names from A to L, without noise and with, quadratics, and a
smoothed total variation. It prints a report in Markdown; ``--out FILE`` writes it as well.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import scipy.optimize

import pursuit
from benchmarks.pages.cutest import PRECISIONS, known_minima
from benchmarks.pages.stamp import filled
from benchmarks.problems import cutest
from benchmarks.problems.features import NOISY, PLAIN, Seen, featured
from benchmarks.problems.paper import fast_rotated
from benchmarks.recording import Recorder, run_solver
from benchmarks.reporting import made_by, publish, report_parser
from benchmarks.solvers import Fun, our
from benchmarks.suites.cutest import BUDGETS, CUTEST
from pursuit.checks import Vector
from pursuit.experiments.common.formatting import table
from pursuit.methods.differences import interpolation, line, noise, program, sweep

METHOD = "differences"
_MOST_SECONDS = 0.15
_FEW, _MANY, _PASSES, _CAP = 60, 600, (3, 10), 1000
_ROUND, _TIGHT = 0.1, {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 100_000, "maxfun": 100_000}


def _nothing(*given: Any, **more: Any) -> Iterator[Any]:
    return
    yield


def _no(*given: Any, **more: Any) -> bool:
    return False


def _one_sided(state: Any, rng: Any) -> Iterator[Any]:
    state.is_scaled = True
    yield from sweep.sweep(state, rng, back=False)


class Rule(NamedTuple):
    """A rule, and what to put in place of a name of a module to leave it out."""

    name: str
    module: Any
    attribute: str
    instead: Any

    def left_out(self) -> contextlib.AbstractContextManager[Any]:
        """Return what leaves the rule out for a while."""
        return mock.patch.object(self.module, self.attribute, self.instead)


RULES = (
    Rule("few variables: a model through single values first", interpolation, "is_worth_it", _no),
    Rule("many variables: steps along blocks first", program, "MANY", math.inf),
    Rule("curvatures along the coordinates in the second sweep", program, "measuring_sweep", _one_sided),
    Rule("they scale the matrix only if they explain the last step", sweep, "_EXPLAINED", -math.inf),
    Rule("of many variables a sample of curvatures first", sweep, "MANY", math.inf),
    Rule("long probes for curvatures", program, "_LONG_PROBE", 0.0),
    Rule("both sides where curvatures are in doubt", sweep, "_DOUBT", math.inf),
    Rule("the curvature at x, not its mean along the step", program, "_CHANGE_OF_CURVATURE", (1.0, 1.0)),
    Rule("curvatures again where the model is wrong", program, "_WRONG", -1.0),
    Rule("longer probes after a failure", program, "_FAILING_PROBE", 0.0),
    Rule("a value on a line only if it promises enough", line, "_THRIFT", 0.0),
    Rule("noise: f(x0) twice", program, "look_for_noise", _nothing),
    Rule("noise: long first probes", program, "_NOISY_PROBE", 0.0),
    Rule("noise: steps are measured where it masks slopes", program, "BLURRED", math.inf),
    Rule("noise: short lines where values may be rounded", noise, "_measure_on_line", _nothing),
)


class Score(NamedTuple):
    """What a run of the whole set tells; all but the first two should be small."""

    plain: float
    """The mean share of CUTEst's problems solved, over budgets and precisions, in per cent."""
    noisy: float
    rotated: float
    """Evaluations to 1e-9 on the paper's problems, divided by n: the geometric mean."""
    many: float
    """What is left of f(x0) - f* of many variables: the geometric mean."""


def score() -> Score:
    """Return what the method reaches as it is now."""
    spent = [
        _run(fun, x0, _CAP * _FEW, target=1e-9).evaluations / _FEW
        for fun, x0, minimum in _classical(_FEW)
        if minimum == 0.0
    ]
    left = [
        (_run(fun, x0, passes * _MANY).best - minimum) / (fun(x0) - minimum)
        for fun, x0, minimum in _classical(_MANY)
        for passes in _PASSES
    ]
    return Score(_share(PLAIN), _share(NOISY), _geometric_mean(spent), _geometric_mean(left))


def _share(feature: str) -> float:
    solved, minima = list[bool](), known_minima(CUTEST.minima)
    for listed in cutest.listed(cutest.CHOOSING):
        if listed.seconds > _MOST_SECONDS or listed.name not in minima:
            continue
        problem, seen = featured(cutest.load(listed.name), feature, 1)
        record = _run(problem.fun, problem.x0, BUDGETS[-1] * problem.n, seen, problem.bounds)
        lowest, start = minima[listed.name], problem.fun(problem.x0)
        for precision in PRECISIONS:
            at = record.evaluations_to(lowest + precision * (start - lowest))
            solved += [at is not None and at <= budget * problem.n for budget in BUDGETS]
    return 100.0 * float(np.mean(solved))


def _run(
    fun: Fun, x0: Vector, maxfev: int, seen: Seen | None = None, bounds: Any = None, target: float = -math.inf
) -> Recorder:
    record = Recorder(fun, maxfev=maxfev, target=target)
    observed = None if seen is None else lambda x: seen(x, record(x))
    run_solver(our(METHOD).solve, record, x0, fun=observed, maxfev=maxfev, seed=1, bounds=bounds)
    return record


def _classical(n: int) -> Iterator[tuple[Any, Vector, float]]:
    """Yield functions with their starts and minima: quadratics, rotated and along the axes, and kinks."""
    for name, condition in (("exp", 1e4), ("lin", 1e4), ("two", 1e6)):
        rotated = fast_rotated(getattr(pursuit.problems, name)(n, condition))
        yield rotated, rotated.x0, 0.0
    scales, data = np.logspace(0.0, 4.0, n), np.repeat([1.0, 3.0, -2.0, 0.5], n // 4)
    yield lambda x: float(scales @ (x - 0.3) ** 2), np.zeros(n), 0.0

    def variation(x: Vector) -> tuple[float, Vector]:
        """Return the value and the gradient: kinks that are a little round."""
        roots = np.sqrt(np.diff(x) ** 2 + _ROUND**2)
        slopes = np.diff(x) / roots
        return float(np.sum((x - data) ** 2) + roots.sum()), 2.0 * (x - data) - np.diff(
            slopes, prepend=0.0, append=0.0
        )

    found = scipy.optimize.minimize(variation, data, jac=True, method="L-BFGS-B", options=_TIGHT)
    yield lambda x: variation(x)[0], np.zeros(n), found.fun


def _geometric_mean(values: Iterable[float]) -> float:
    return float(np.exp(np.mean([math.log(max(value, 1e-9)) for value in values])))


def report() -> str:
    """Return the report."""
    base = score()
    rows = [["all rules", *_shown(base)]]
    for rule in RULES:
        with rule.left_out():
            rows.append([f"without: {rule.name}", *_shown(score())])
    header = ["rules", "CUTEst, A to L", "with noise", f"evaluations, n = {_FEW}", f"left, n = {_MANY}"]
    count = sum(listed.seconds <= _MOST_SECONDS for listed in cutest.listed(cutest.CHOOSING))
    return filled(
        "rules", count=count, few=_FEW, many=_MANY, rows=table(header, rows), made=made_by("benchmarks.rules")
    )


def _shown(found: Score) -> list[str]:
    return [f"{found.plain:.1f}", f"{found.noisy:.1f}", f"{found.rotated:.1f}", f"{found.many:.2g}"]


def main() -> None:
    parser = report_parser(__doc__)
    publish(report(), parser.parse_args().out)


if __name__ == "__main__":
    main()
