"""The execution of one run of a study, in whichever process."""

from __future__ import annotations

import functools
import time
from typing import NamedTuple

import numpy as np

from pursuit.engine.stopping import Reason
from pursuit.engine.tally import Trace
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.study.grid import Recipe, identify, make_method, make_problem, options_under, seed_of
from pursuit.experiments.study.results import RunRecord
from pursuit.minimize import minimize
from pursuit.result import Result


class RunTask(NamedTuple):
    """A run to be executed."""

    recipe: Recipe
    number: int
    code: str
    """The hash of the code that must execute it."""


def execute(task: RunTask) -> tuple[RunRecord, Trace]:
    """Execute a run and return it with its trace; all but the seconds follow from the task."""
    recipe = task.recipe
    identity, code = identify(recipe)
    if code != task.code:
        raise StudyError(
            f"The study is made with the code {task.code}, but a worker has {code}: "
            "install the same version of pursuit, and of your own modules, everywhere."
        )
    _compile(recipe)
    begin = time.perf_counter()
    result = _minimize(recipe, seed_of(identity, task.number), recipe.cap)
    seconds = time.perf_counter() - begin
    run = RunRecord(
        number=task.number,
        nit=int(result.nit),
        nfev=int(result.nfev),
        fun=float(result.fun),
        reason=Reason(result.status).name.lower(),
        seconds=seconds,
    )
    return run, result.trace


@functools.cache
def _compile(recipe: Recipe) -> None:
    """Compile what the runs of a recipe need, by an iteration of one, so that no run is timed with it."""
    _minimize(recipe, np.random.SeedSequence(0), 1)


def _minimize(recipe: Recipe, seed: np.random.SeedSequence, iterations: int) -> Result:
    problem = make_problem(recipe)
    return minimize(
        problem,
        problem.x0,
        method=make_method(recipe),
        rng=seed,
        ftarget=recipe.target,
        # A study's run ends at its target or at its cap, like the paper's.
        xtol=0.0,
        ftol=0.0,
        maxiter=iterations,
        options=options_under(recipe, recipe.reading),
        trace=True,
    )
