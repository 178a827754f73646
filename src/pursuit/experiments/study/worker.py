"""One run of a study, wherever it is executed."""

from __future__ import annotations

import time
from typing import NamedTuple

from pursuit.engine.stopping import Reason
from pursuit.engine.tally import Trace
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.study.grid import Recipe, identify, make_method, make_problem, options_under, seed_of
from pursuit.experiments.study.results import Run
from pursuit.minimize import minimize


class Task(NamedTuple):
    """A run to be executed."""

    recipe: Recipe
    number: int
    code: str
    """The hash of the code that is to execute it."""


def execute(task: Task) -> tuple[Run, Trace]:
    """Return a run and its trace, the same wherever and whenever it is executed, but for its seconds."""
    recipe = task.recipe
    identity, code = identify(recipe)
    if code != task.code:
        raise StudyError(
            f"The study is made by the code {task.code}, but a worker has {code}: "
            "install the same version of pursuit, and of your own modules, everywhere."
        )
    problem = make_problem(recipe)
    begin = time.perf_counter()
    result = minimize(
        problem,
        problem.x0,
        method=make_method(recipe),
        rng=seed_of(identity, task.number),
        ftarget=recipe.target,
        maxiter=recipe.cap,
        options=options_under(recipe, recipe.reading),
        trace=True,
    )
    seconds = time.perf_counter() - begin
    reason = Reason(result.status).name.lower()
    run = Run(task.number, int(result.nit), int(result.nfev), float(result.fun), reason, seconds)
    return run, result.trace
