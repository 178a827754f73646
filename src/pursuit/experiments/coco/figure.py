"""The figure of data profiles, a line for each method."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path

import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator, PercentFormatter

from pursuit.experiments.coco.profiles import TARGETS, Profile
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.formatting import power
from pursuit.experiments.common.plotting import COLOURS, FORMATS, label_powers, print_style, save

# One for each colour, so that lines differ without colours, too.
_MARKERS = "os^Dv*PX"
_SIZE = (5.4, 3.1)
_POINTS_PER_DECADE = 100


def write_figure(profiles: Sequence[Profile], path: Path) -> None:
    """Draw profiles into a file, in the format of its name's ending."""
    ending = path.suffix.removeprefix(".")
    if ending not in FORMATS:
        raise StudyError(
            f"A figure's file ends with one of .{', .'.join(FORMATS)}, but {path.name} was given."
        )
    save(_build(profiles), path.parent, path.stem, [ending])


@print_style
def _build(profiles: Sequence[Profile]) -> matplotlib.figure.Figure:
    figure = matplotlib.figure.Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    # The order of the methods decides their styles; the legend is ordered by where the lines end.
    for place, profile in enumerate(profiles):
        _draw(axes, profile, place)
    handles, _ = axes.get_legend_handles_labels()
    order = sorted(range(len(profiles)), key=lambda place: -profiles[place].share(np.inf))
    figure.legend(handles=[handles[place] for place in order], loc="outside right upper")
    last = 1.3 * max(10.0, *(profile.spent for profile in profiles))
    best = max(float(profile.share(np.inf)) for profile in profiles)
    axes.set(
        title=_title(profiles[0]),
        xlabel="evaluations / n",
        ylabel="problems and targets reached",
        xscale="log",
        xlim=(1.0, last),
        ylim=(0.0, min(1.0, 0.2 * math.ceil(5.0 * best + 0.1))),
    )
    label_powers(axes.xaxis, 1.0, last, 8)
    axes.yaxis.set_major_locator(MultipleLocator(0.1))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    return figure


def _draw(axes: Axes, profile: Profile, place: int) -> None:
    """Draw a profile up to its budget, with a marker at its end."""
    points = 2 + math.ceil(_POINTS_PER_DECADE * math.log10(max(1.0, profile.spent)))
    budgets = np.geomspace(1.0, max(1.0, profile.spent), points)
    turn, style = divmod(place, len(COLOURS))
    axes.plot(
        budgets,
        profile.share(budgets),
        linestyle=("-", "--", ":")[turn % 3],
        color=COLOURS[style],
        marker=_MARKERS[style],
        markevery=[points - 1],
        clip_on=False,
        zorder=3,
        label=profile.name,
    )


def _title(profile: Profile) -> str:
    functions, _, instances = (set(numbers) for numbers in zip(*profile.problems, strict=True))
    n = ", ".join(str(dimension) for dimension in sorted({problem.dimension for problem in profile.problems}))
    return (
        f"{profile.suite}, n = {n}\n{_counted(functions, 'function')}, {_counted(instances, 'instance')}, "
        f"{TARGETS.size} targets from {power(TARGETS[0])} to {power(TARGETS[-1])}"
    )


def _counted(numbers: Collection[int], what: str) -> str:
    return f"{len(numbers)} {what}{'' if len(numbers) == 1 else 's'}"
