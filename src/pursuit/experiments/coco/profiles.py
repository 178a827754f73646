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
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.files import write_file

TARGETS = 10.0 ** np.linspace(2.0, -8.0, 51)
"""The precisions to reach: how far a value may be above the optimum."""


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


_ROWS_PER_DECADE = 20


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
    from pursuit.experiments.coco.figure import write_figure

    table = path.with_suffix(".csv")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_figure(profiles, path)
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
