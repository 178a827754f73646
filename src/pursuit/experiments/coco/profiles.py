"""Data profiles: the fraction of problems and targets that a method reaches within a budget.

As a figure and a table they are what the command ``pursuit coco-profiles`` writes.
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pursuit.checks import Vector
from pursuit.experiments.coco.experiment import data_of
from pursuit.experiments.common import StudyError
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import power
from pursuit.reporting.plotting import COLOURS
from pursuit.reporting.records import counted

TARGETS = 10.0 ** np.linspace(2.0, -8.0, 51)
"""The precisions to reach: how far a value may be above the optimum."""
# Of tables, and of the lines in figures.
_ROWS_PER_DECADE, _POINTS_PER_DECADE = 20, 100
# One for each colour, so that lines differ without colours, too.
_MARKERS = "os^Dv*PX"
_SIZE = (5.4, 3.1)


class SuiteProblem(NamedTuple):
    """A problem of a suite."""

    function: int
    dimension: int
    instance: int


class Profile(NamedTuple):
    """The data profile of a method: which targets it has reached, and after how many evaluations.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.experiments.coco import Profile
    >>> from pursuit.experiments.coco.profiles import SuiteProblem
    >>> problem = SuiteProblem(function=1, dimension=2, instance=1)
    >>> profile = Profile(
    ...     name="rp", suite="bbob", problems=(problem,), reached=np.linspace(1.0, 20.0, 51), spent=20.0
    ... )
    >>> profile.share([0.5, 20.0])
    array([0., 1.])
    """

    name: str
    suite: str
    problems: tuple[SuiteProblem, ...]
    reached: Vector
    """The evaluations divided by n at which each pair of a problem and a target was reached, sorted; pairs
    that were not reached are left out."""
    spent: float
    """The largest number of evaluations divided by n that a problem took."""

    def share(self, budget: ArrayLike) -> Any:
        """Return the fraction of all pairs that was reached within a budget of evaluations divided by n."""
        pairs = len(self.problems) * TARGETS.size
        return np.searchsorted(self.reached, budget, side="right") / pairs


def data_profiles(
    folders: Sequence[str | Path],
    *,
    functions: Sequence[int] | None = None,
    dimensions: Sequence[int] | None = None,
) -> list[Profile]:
    """Return the data profile of each experiment; all must be on the same problems.

    Parameters
    ----------
    folders : sequence of paths
        The folders of experiments made by `run_suite`, or any with COCO data.
    functions, dimensions : sequence of int
        The problems to use, by default all.

    Returns
    -------
    list of Profile
        In the order of the folders.

    Examples
    --------
    >>> import tempfile
    >>> from pursuit.experiments.coco import data_profiles, run_suite
    >>> with tempfile.TemporaryDirectory() as out:
    ...     done = run_suite("bbob", "rp", out, budget=200, dimensions=[2], functions=[1], instances=[1, 2])
    ...     profile = data_profiles([out])[0]
    >>> profile.name, len(profile.problems), bool(profile.share(1.0) < profile.share(100.0))
    ('rp', 2, True)
    """
    profiles = [_profile(Path(folder), functions, dimensions) for folder in folders]
    for other in profiles[1:]:
        _check_same_problems(profiles[0], other)
    if len({profile.name for profile in profiles}) < len(profiles):
        return [profile._replace(name=str(folder)) for folder, profile in zip(folders, profiles, strict=True)]
    return profiles


def _profile(folder: Path, functions: Sequence[int] | None, dimensions: Sequence[int] | None) -> Profile:
    data = data_of(folder)
    sets = _loaded(data)
    if not sets:
        raise StudyError(f"There are no COCO data in {folder}: run pursuit coco --out {folder} first.")
    sets = [
        found
        for found in sets
        if (functions is None or found.funcId in functions)
        and (dimensions is None or found.dim in dimensions)
    ]
    if not sets:
        raise StudyError(f"There are COCO data in {folder}, but none for the functions and dimensions given.")
    problems: list[SuiteProblem] = []
    reached = []
    for found in sets:
        # One row for each target, one column for each instance, NaN where it was not reached. The data are
        # recorded at exactly these targets; one that is rounded down would count as the next harder one.
        evaluations = np.asarray(found.detEvals(TARGETS * (1.0 + 1e-9)), dtype=np.float64)
        reached.append(evaluations[np.isfinite(evaluations)] / found.dim)
        problems += (SuiteProblem(found.funcId, found.dim, instance) for instance in found.instancenumbers)
    return Profile(
        name=data.name,
        suite=sets[0].suite_name,
        problems=tuple(sorted(problems)),
        reached=np.sort(np.concatenate(reached)),
        spent=max(float(np.max(found.maxevals)) / found.dim for found in sets),
    )


def _loaded(folder: Path) -> list[Any]:
    """Return the data sets in a folder, as COCO's post-processing reads them."""
    # cocopp tries to reach the network when imported, reports each file, and warns of incomplete suites.
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        from cocopp.pproc import DataSetList

        return list(DataSetList([str(folder)])) if folder.is_dir() else []


def _check_same_problems(one: Profile, other: Profile) -> None:
    if one.suite != other.suite:
        raise StudyError(
            f"All experiments must be on one suite, but {one.name} is on {one.suite} and "
            f"{other.name} on {other.suite}."
        )
    lacking = set(one.problems) ^ set(other.problems)
    if lacking:
        problem = min(lacking)
        has, lacks = (one, other) if problem in one.problems else (other, one)
        raise StudyError(
            f"All experiments must be on the same problems, but {has.name} has f{problem.function} in "
            f"{problem.dimension} dimensions, instance {problem.instance}, and {lacks.name} does not: "
            f"{len(lacking)} problems are not in both."
        )


def draw_profiles(
    folders: Sequence[str | Path],
    out: str | Path,
    *,
    functions: Sequence[int] | None = None,
    dimensions: Sequence[int] | None = None,
) -> tuple[Path, Path]:
    """Draw the data profiles of experiments, and write them as a table beside the figure.

    Parameters
    ----------
    folders : sequence of paths
        The folders of experiments made by `run_suite`, or any with COCO data, all on the same problems.
    out : path
        The file of the figure, whose name ends with .svg, .png or .pdf. That of the table ends with .csv.
    functions, dimensions : sequence of int
        The problems to use, by default all.

    Returns
    -------
    tuple of Path
        The files of the figure and of the table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pursuit.experiments.coco import draw_profiles, run_suite
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = {"budget": 50, "dimensions": [2], "functions": [1], "instances": [1]}
    ...     data = [run_suite("bbob", method, Path(folder, method), **run).data for method in ("rp", "cma")]
    ...     [path.name for path in draw_profiles(data, Path(folder, "profiles.svg"))]
    ['profiles.svg', 'profiles.csv']
    """
    return write_profiles(data_profiles(folders, functions=functions, dimensions=dimensions), Path(out))


def write_profiles(profiles: Sequence[Profile], path: Path) -> tuple[Path, Path]:
    """Draw profiles into a file, and write them as a table beside it; return both files."""
    # Matplotlib takes long to import, and the worker processes, which import this module, never draw.
    from pursuit.experiments.common.plotting import FORMATS, print_style, save

    table, ending = path.with_suffix(".csv"), path.suffix.removeprefix(".")
    if ending not in FORMATS:
        raise StudyError(
            f"A figure's file ends with one of .{', .'.join(FORMATS)}, but {path.name} was given."
        )
    try:
        save(print_style(_build)(profiles), path.parent, path.stem, [ending])
        write_file(table, _table(profiles))
    except OSError as error:
        raise StudyError(f"The figure cannot be written into {path.parent}: {error.strerror}.") from None
    return path, table


def _table(profiles: Sequence[Profile]) -> str:
    """Return profiles as CSV: a row for each budget, a column for each method, empty beyond what it spent."""
    last = max(profile.spent for profile in profiles)
    rows = math.ceil(_ROWS_PER_DECADE * math.log10(max(1.0, last)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["evaluations_per_dimension", *(profile.name for profile in profiles)])
    for budget in [*(10.0 ** (row / _ROWS_PER_DECADE) for row in range(rows)), last]:
        shares = [f"{profile.share(budget):.5f}" if budget <= profile.spent else "" for profile in profiles]
        writer.writerow([f"{budget:.4g}", *shares])
    return text.getvalue()


def _build(profiles: Sequence[Profile]) -> Any:
    """Return the figure, a line for each method."""
    import matplotlib.figure
    from matplotlib.ticker import MultipleLocator, PercentFormatter

    from pursuit.experiments.common.plotting import label_powers

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


def _draw(axes: Any, profile: Profile, place: int) -> None:
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
        f"{profile.suite}, n = {n}\n"
        f"{counted(len(functions), 'function')}, {counted(len(instances), 'instance')}, "
        f"{TARGETS.size} targets from {power(TARGETS[0])} to {power(TARGETS[-1])}"
    )
