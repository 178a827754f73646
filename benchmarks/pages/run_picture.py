"""A picture of a run of `differences`, seen from outside: its probes, and the scales and noise it measures.

The function is the energy of a chain of springs, in variables whose scales differ by a factor
of a thousand. Its values are noisy, and from the middle of the run on ten times more so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import pursuit
from pursuit.checks import Vector
from pursuit.experiments.common.plotting import COLOURS, label_powers, print_style, save

N = 20
SCALES = np.geomspace(1.0, 1e-3, N)
"""A unit of a spring's length in the units of its variable."""
BUDGET = 200 * N
QUIET, LOUD = 1e-4, 1e-3
SEED = 1


def springs(x: Vector) -> float:
    """Return the energy of a chain of beads that springs tie to their places and to their neighbours."""
    z = x / SCALES - 1.0
    return float(0.5 * z @ z + 0.5 * np.diff(z) @ np.diff(z))


def curvatures() -> Vector:
    """Return the second derivative of the energy along each variable."""
    neighbours = np.full(N, 2.0)
    neighbours[[0, -1]] = 1.0
    return (1.0 + neighbours) / SCALES**2


class Seen(NamedTuple):
    """What can be seen of a run."""

    rounds: NDArray[np.float64]
    """Evaluations, the true value at the point that would be returned, and the noise as it was measured."""
    probes: NDArray[np.float64]
    """Evaluations, coordinate and length of every probe along a coordinate."""


def watch() -> Seen:
    """Run `differences` by asking for points, and note what it asks for."""
    rng = np.random.default_rng(SEED)
    optimizer = pursuit.Optimizer(
        np.zeros(N), method="differences", rng=SEED, maxfev=BUDGET, xtol=0.0, ftol=0.0
    )
    rounds: list[tuple[float, float, float]] = []
    probes: list[tuple[int, int, float]] = []
    spent = 0
    while not optimizer.stop():
        points = optimizer.ask()
        numbers = spent + 1 + np.arange(len(points))
        deviations = np.where(numbers > BUDGET // 2, LOUD, QUIET)
        values = [springs(x) for x in points] + deviations * rng.standard_normal(len(points))
        spent = int(numbers[-1])
        probes += [(spent, *probe) for probe in _probes(points)]
        optimizer.tell(points, values)
        result = optimizer.result
        rounds.append((spent, springs(result.x), np.nan if result.noise is None else result.noise))
    return Seen(np.array(rounds).T, np.array(probes).T)


def _probes(points: NDArray[np.float64]) -> list[tuple[int, float]]:
    """Return coordinate and length of the points of a round that differ from the others by one coordinate."""
    if len(points) < 4:
        return []
    moves = points - np.median(points, axis=0)
    return [(int(move.argmax()), float(move.max())) for move in np.abs(moves) if np.count_nonzero(move) == 1]


@print_style
def draw(seen: Seen) -> Figure:
    """Return the picture."""
    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    value, noise, probes, scales = figure.subplots(2, 2).flat
    after, lowest, measured = seen.rounds
    spent, coordinate, length = seen.probes
    value.semilogy(after / N, lowest, color=COLOURS[0])
    value.set(title="true f at the point to be returned", ylabel="f")
    noise.semilogy(after / N, np.where(after > BUDGET // 2, LOUD, QUIET), color="#bbbbbb", label="true")
    noise.semilogy(after / N, measured, color=COLOURS[1], label="measured")
    noise.set(title="noise of a value", ylabel="standard deviation", ylim=(1e-5, 1e-2))
    noise.legend(loc="upper left")
    dots: dict[str, Any] = {"linestyle": "none", "marker": ".", "markersize": 3}
    for place, i in enumerate((0, N // 2, N - 1)):
        at = coordinate == i
        probes.semilogy(spent[at] / N, length[at], color=COLOURS[place], label=f"variable {i + 1}", **dots)
    probes.set(title="lengths of probes", ylabel="length", ylim=(1e-5, 10.0))
    probes.legend(loc="lower center", ncols=3, columnspacing=0.8, handletextpad=0.1)
    # The probes of a few sweeps, against the lengths over which f changes by a given amount.
    wanted = 1.0 / np.sqrt(curvatures())
    for place, (share, word) in enumerate(((0.0, "first"), (0.1, "after 20 n"), (0.9, "after 180 n"))):
        begin = np.searchsorted(spent, share * BUDGET)
        order, first = np.unique(coordinate[begin:], return_index=True)
        learnt = length[begin:][first]
        scales.loglog(wanted[order.astype(int)], learnt, color=COLOURS[place], label=word, **dots)
    scales.set(title="scales learnt", xlabel="1/√curvature", ylabel="length of the probe")
    scales.legend(loc="lower right")
    for axes in (value, noise, probes):
        axes.set(xlabel="evaluations / n", xlim=(0, BUDGET / N))
        axes.axvline(BUDGET / 2 / N, color="#bbbbbb", linewidth=0.8, zorder=0)
    for axes in (value, noise, probes, scales):
        first, last = axes.get_ylim()
        label_powers(axes.yaxis, first, last, 6)
    first, last = scales.get_xlim()
    label_powers(scales.xaxis, first, last, 4)
    return figure


def write(folder: Path) -> None:
    """Draw the picture into a folder."""
    save(draw(watch()), folder, "run", ["png"])
