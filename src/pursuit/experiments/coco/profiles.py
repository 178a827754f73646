"""Data profiles: the fraction of problems and targets that a method reaches within a budget."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pursuit.checks import Vector
from pursuit.experiments.coco.experiment import data_of
from pursuit.experiments.common.errors import StudyError

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
