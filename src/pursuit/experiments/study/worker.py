"""The execution of one run of a study, in any process."""

from __future__ import annotations

from typing import NamedTuple

from pursuit.engine.stopping import Reason
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.study.grid import (
    Recipe,
    identify,
    limits_of,
    make_method,
    make_problem,
    options_under,
    seed_of,
)
from pursuit.experiments.study.results import RunRecord, Trace
from pursuit.minimize import minimize


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
    problem = make_problem(recipe)
    result = minimize(
        problem,
        problem.x0,
        method=make_method(recipe),
        rng=seed_of(identity, task.number),
        options=options_under(recipe, recipe.reading),
        trace=True,
        **limits_of(recipe),
    )
    run = RunRecord(
        number=task.number,
        nit=int(result.nit),
        nfev=int(result.nfev),
        fun=float(result.fun),
        reason=Reason(result.status).name.lower(),
        seconds=float(result.time),
    )
    return run, Trace.of(result.trace)
