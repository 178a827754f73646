"""A problem of COCO's `cocoex`, for experiments of one's own; ``pursuit coco`` runs whole suites."""

from __future__ import annotations

from typing import Any

import numpy as np

from pursuit.minimize import minimize
from pursuit.result import Result

_WIDTH = 0.2
"""The first step size, as a part of the width of the region of interest."""


def minimize_problem(problem: Any, maxfev: int, **settings: Any) -> Result:
    """Minimise a problem of a suite of COCO.

    Parameters
    ----------
    problem : cocoex.Problem
        The problem; an observer records its evaluations.
    maxfev : int
        The most evaluations.
    **settings
        Anything else that `pursuit.minimize` takes. By default ``rng=1``, a first step size of a fifth of the
        region of interest, restarts until `maxfev` is spent where there are no constraints, and, on
        ``bbob-boxed``, that region as bounds.

    Returns
    -------
    Result
        What `pursuit.minimize` returns.

    Examples
    --------
    ::

        suite, observer = cocoex.Suite("bbob", "", "dimensions: 5"), cocoex.Observer("bbob", "")
        for problem in suite:
            problem.observe_with(observer)
            minimize_problem(problem, 1000 * problem.dimension)
    """
    from scipy.optimize import Bounds, NonlinearConstraint

    lower, upper = problem.lower_bounds, problem.upper_bounds
    asked: dict[str, Any] = {"rng": 1, "sigma0": _WIDTH * float(np.min(upper - lower))}
    if problem.number_of_constraints:
        asked["constraints"] = NonlinearConstraint(problem.constraint, -np.inf, 0.0)
        # Points that violate a constraint, however little, do not count for COCO.
        asked["ctol"] = 0.0
    else:
        asked["restarts"] = maxfev
    if "boxed" in problem.id:
        asked["bounds"] = Bounds(lower, upper)
    return minimize(problem, problem.initial_solution, maxfev=maxfev, **asked | settings)
