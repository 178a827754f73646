"""A picture of a run of `differences`, seen from outside: its probes, and the scales and noise it measures.

The function is the energy of a chain of springs, in variables whose scales differ by a factor
of a thousand. Its values are noisy, and from the middle of the run on ten times more so.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
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

    spent: Vector
    """Evaluations after each round."""
    true: Vector
    """The true value at the point that would be returned."""
    noise: Vector
    """As it was measured by then."""
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
        values = []
        for x in points:
            spent += 1
            deviation = LOUD if spent > BUDGET // 2 else QUIET
            values.append(springs(x) + deviation * rng.standard_normal())
        probes += [(spent, *probe) for probe in _probes(points)]
        optimizer.tell(points, values)
        result = optimizer.result
        rounds.append((spent, springs(result.x), np.nan if result.noise is None else result.noise))
    after, true, noise = np.array(rounds).T
    return Seen(spent=after, true=true, noise=noise, probes=np.array(probes))


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
    panels = figure.subplots(2, 2)
    _draw_value(panels[0, 0], seen)
    _draw_noise(panels[0, 1], seen)
    _draw_probes(panels[1, 0], seen)
    _draw_scales(panels[1, 1], seen)
    for axes in panels.flat[:3]:
        axes.set(xlabel="evaluations / n", xlim=(0, BUDGET / N))
        axes.axvline(BUDGET / 2 / N, color="#bbbbbb", linewidth=0.8, zorder=0)
    for axes in panels.flat:
        first, last = axes.get_ylim()
        label_powers(axes.yaxis, first, last, 6)
    first, last = panels[1, 1].get_xlim()
    label_powers(panels[1, 1].xaxis, first, last, 4)
    return figure


def _draw_value(axes: Axes, seen: Seen) -> None:
    axes.semilogy(seen.spent / N, seen.true, color=COLOURS[0])
    axes.set(title="true f at the point to be returned", ylabel="f")


def _draw_noise(axes: Axes, seen: Seen) -> None:
    true = np.where(seen.spent > BUDGET // 2, LOUD, QUIET)
    axes.semilogy(seen.spent / N, true, color="#bbbbbb", label="true")
    axes.semilogy(seen.spent / N, seen.noise, color=COLOURS[1], label="measured")
    axes.set(title="noise of a value", ylabel="standard deviation", ylim=(1e-5, 1e-2))
    axes.legend(loc="upper left")


def _draw_probes(axes: Axes, seen: Seen) -> None:
    spent, coordinate, length = seen.probes.T
    for place, i in enumerate((0, N // 2, N - 1)):
        mine = coordinate == i
        axes.semilogy(
            spent[mine] / N, length[mine], ".", markersize=3, color=COLOURS[place], label=f"variable {i + 1}"
        )
    axes.set(title="lengths of probes", ylabel="length", ylim=(1e-5, 10.0))
    axes.legend(loc="lower center", ncols=3, columnspacing=0.8, handletextpad=0.1)


def _draw_scales(axes: Axes, seen: Seen) -> None:
    """Draw the probes of a few sweeps against the lengths over which f changes by a given amount."""
    spent, coordinate, length = seen.probes.T
    wanted = 1.0 / np.sqrt(curvatures())
    for place, (share, word) in enumerate(((0.0, "first"), (0.1, "after 20 n"), (0.9, "after 180 n"))):
        begin = np.searchsorted(spent, share * BUDGET)
        order, first = np.unique(coordinate[begin:], return_index=True)
        axes.loglog(
            wanted[order.astype(int)],
            length[begin:][first],
            "o",
            markersize=3,
            color=COLOURS[place],
            label=word,
        )
    axes.set(title="scales learnt", xlabel="1/√curvature", ylabel="length of the probe")
    axes.legend(loc="lower right")


def write(folder: Path) -> None:
    """Draw the picture into a folder."""
    save(draw(watch()), folder, "run", ["png"])
