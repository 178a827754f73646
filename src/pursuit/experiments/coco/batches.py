"""The problems of a suite in batches: all instances of a function in one dimension."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pursuit.experiments.coco.solvers import solver_named
from pursuit.experiments.coco.trials import BOXED, CONSTRAINED, TrialResult, run_trial
from pursuit.experiments.common.errors import StudyError

SUITES = ("bbob", "bbob-largescale", "bbob-noisy", BOXED, CONSTRAINED)
"""The suites with a single objective and continuous variables."""
# COCO counts the functions of a suite from 1.
_BEFORE = {"bbob-noisy": 100}


class ProblemBatch(NamedTuple):
    """The instances of a function in one dimension."""

    suite: str
    function: int
    dimension: int
    instances: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"f{self.function:03}_d{self.dimension:04}"

    def __str__(self) -> str:
        return f"f{self.function} in {self.dimension} dimensions"


class BatchTask(NamedTuple):
    """A batch to be run."""

    batch: ProblemBatch
    method: str
    budget: int
    """Evaluations divided by the dimension."""
    folder: Path
    """Where its data are written, in a folder of the batch's name."""
    about: str
    """A description of the solver for the data files."""


def batches_of(
    suite: str,
    dimensions: Sequence[int] | None,
    functions: Sequence[int] | None,
    instances: Sequence[int] | None,
) -> list[ProblemBatch]:
    """Return the selected batches of a suite, those that take longest first; None selects all."""
    if suite not in SUITES:
        raise StudyError(f"A suite is one of {', '.join(SUITES)}, but {suite!r} was given.")
    # One instance has all dimensions and functions, and one dimension has all instances.
    whole = _ids(suite, "instances: 1", "")
    known_functions, _, known_dimensions = (sorted(set(numbers)) for numbers in zip(*whole, strict=True))
    chosen_dimensions = _chosen("dimensions", dimensions, known_dimensions)
    chosen_functions = _chosen("functions", functions, known_functions)
    if instances is None:
        instances = [triple[1] for triple in _ids(suite, "", f"dimensions: {known_dimensions[0]}")]
    elif any(instance < 1 for instance in instances):
        raise StudyError(f"The instances of {suite} are numbered from 1, but 0 was given.")
    return [
        ProblemBatch(suite, function, dimension, tuple(sorted(set(instances))))
        for dimension in sorted(chosen_dimensions, reverse=True)
        for function in sorted(chosen_functions)
    ]


def run_batch(task: BatchTask) -> list[TrialResult]:
    """Run a batch, in any process, and return the results of its trials."""
    cocoex = _cocoex()
    batch, solver = task.batch, solver_named(task.method)
    suite = cocoex.Suite(
        batch.suite,
        f"instances: {_listed(batch.instances)}",
        f"dimensions: {batch.dimension} function_indices: {batch.function - _BEFORE.get(batch.suite, 0)}",
    )
    observer = cocoex.Observer(
        # All suites of single objectives have the same observer.
        "bbob",
        f'outer_folder: "{task.folder}" result_folder: {batch.name} '
        f'algorithm_name: {solver.name} algorithm_info: "{task.about}"',
    )
    if Path(observer.result_folder) != task.folder / batch.name:
        raise StudyError(f"COCO wrote to {observer.result_folder} instead of {task.folder / batch.name}")
    results = []
    for number in range(len(suite)):
        problem = suite.get_problem(number, observer)
        try:
            budget = task.budget * batch.dimension
            results.append(run_trial(problem, observer, suite=batch.suite, solve=solver.solve, budget=budget))
        finally:
            problem.free()
    return results


def _ids(suite: str, instances: str, options: str) -> list[tuple[int, ...]]:
    """Return function, instance and dimension of each problem in a part of a suite."""
    found = (
        re.search(r"_f(\d+)_i(\d+)_d(\d+)$", text)
        for text in _cocoex().Suite(suite, instances, options).ids()
    )
    return [tuple(map(int, match.groups())) for match in found if match]


def _chosen(what: str, wanted: Iterable[int] | None, known: Collection[int]) -> Collection[int]:
    """Return the numbers that are wanted, if all are known. COCO would silently leave out the others."""
    if wanted is None:
        return known
    chosen = set(wanted)
    unknown = chosen.difference(known)
    if unknown:
        raise StudyError(
            f"The suite has the {what} {_listed(known)}, but {_listed(sorted(unknown))} was given."
        )
    return chosen


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _cocoex() -> Any:
    """Return COCO's module of experiments, set to print warnings and errors only."""
    import cocoex

    cocoex.log_level("warning")
    return cocoex
