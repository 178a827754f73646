"""A solver for `optiprofiler.benchmark`, which compares solvers on CUTEst and other problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pursuit.checks import Vector
from pursuit.minimize import minimize

_BUDGET = 500
"""OptiProfiler's, in evaluations divided by n; later values do not count there."""


def pursuit_auto(
    fun: Callable[[Vector], float],
    x0: ArrayLike,
    xl: ArrayLike = -np.inf,
    xu: ArrayLike = np.inf,
    aub: ArrayLike = (),
    bub: ArrayLike = (),
    aeq: ArrayLike = (),
    beq: ArrayLike = (),
    cub: Callable[[Vector], Any] | None = None,
    ceq: Callable[[Vector], Any] | None = None,
    **settings: Any,
) -> Vector:
    """Minimise a function as OptiProfiler asks its solvers to.

    Parameters
    ----------
    fun : callable
        The function.
    x0, xl, xu : array_like
        The start, which is moved within the bounds, and the bounds.
    aub, bub, aeq, beq : array_like
        The linear constraints ``aub @ x <= bub`` and ``aeq @ x == beq``; empty where there are none.
    cub, ceq : callable
        The constraints ``cub(x) <= 0`` and ``ceq(x) == 0``; either may return an empty array.
    **settings
        Anything else that `pursuit.minimize` takes; by default ``rng=1`` and ``maxfev=500 * n``.

    Returns
    -------
    array
        The best point.

    Examples
    --------
    ``benchmark([pursuit_auto, another], ptype="u", feature_name="noisy")`` compares it. With other settings
    it is ``functools.partial(pursuit_auto, method="differences")``, and needs a name in ``solver_names``.

    >>> from pursuit.adapters.optiprofiler import pursuit_auto
    >>> pursuit_auto(lambda x: float((x - 3.0) @ (x - 3.0)), [0.0, 0.0], [-1.0, -1.0], [5.0, 2.0])
    array([3., 2.])
    """
    from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

    lower, upper = np.asarray(xl, dtype=float), np.asarray(xu, dtype=float)
    start = np.clip(np.asarray(x0, dtype=float), lower, upper)
    constraints: list[Any] = []
    for matrix, side, least in ((aub, bub, -np.inf), (aeq, beq, 0.0)):
        if np.size(matrix):
            right = np.asarray(side, dtype=float)
            constraints.append(LinearConstraint(np.asarray(matrix), right + least, right))
    for function, least in ((cub, -np.inf), (ceq, 0.0)):
        if function is not None and np.size(function(start)):
            constraints.append(NonlinearConstraint(function, least, 0.0))
    is_bounded = np.isfinite(lower).any() or np.isfinite(upper).any()
    bounds = Bounds(lower, upper) if is_bounded else None
    asked = {"rng": 1, "maxfev": _BUDGET * start.size, **settings}
    return np.asarray(minimize(fun, start, bounds=bounds, constraints=constraints, **asked).x)
