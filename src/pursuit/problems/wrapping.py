"""From what a caller passes in to what compiled code minimises, or to a function if it cannot be compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from pursuit.checks import shown
from pursuit.problems.bounds import Bounded
from pursuit.problems.boxes import Box
from pursuit.problems.contract import value
from pursuit.problems.jitted import check_compiles, is_jitted, jitted_problem
from pursuit.problems.objective import function_of_point
from pursuit.problems.scaled import Scaled
from pursuit.problems.scales import Scale


def checked_objective(fun: Any, args: Any, n: int, box: Box | None, scale: Scale | None) -> Any:
    """Return the objective of a run: a problem for what can be compiled, else a function of x alone.

    A problem takes points as the scheme sees them, a function takes those at which it is evaluated.
    """
    if not callable(fun):
        raise TypeError(f"fun must be callable, but {shown(fun)} was given.")
    if not isinstance(args, tuple):
        args = (args,)
    if value.handles(type(fun)):
        if args:
            raise ValueError(f"A problem takes no further arguments, but args={shown(args)} was given.")
        if fun.n != n:
            raise ValueError(f"x0 must have the problem's {fun.n} entries, but it has {n}.")
        whole = _wrapped(fun, box, scale)
        if type(fun).__module__.partition(".")[0] != "pursuit":
            check_compiles(fun, whole)
        return whole
    if is_jitted(fun):
        problem = jitted_problem(fun, args, n)
        whole = _wrapped(problem, box, scale)
        check_compiles(problem, whole)
        return whole
    return function_of_point(fun, args)


def _wrapped(problem: Any, box: Box | None, scale: Scale | None) -> Any:
    """Return a problem that itself moves points to where they are evaluated."""
    n = problem.n
    if box is not None:
        problem = Bounded(problem, box)
    return problem if scale is None else Scaled(problem, scale, np.empty(n), np.empty(n))


def rewrapped(objective: Any, box: Box | None, scale: Scale | None) -> Any:
    """Return the same objective with another box and another scale, where it had some before."""
    if isinstance(objective, Scaled) and scale is not None:
        return objective._replace(problem=rewrapped(objective.problem, box, None), scale=scale)
    if isinstance(objective, Bounded) and box is not None:
        return objective._replace(box=box)
    return objective
