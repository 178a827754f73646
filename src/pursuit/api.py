"""What people call. What they pass in is checked here, before anything is compiled or evaluated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from pursuit.checks import checked_count, checked_number, checked_point
from pursuit.problems.contract import Problem, value
from pursuit.run import run
from pursuit.schemes.catalogue import create_scheme
from pursuit.stopping import Reason
from pursuit.tally import Limits

# More iterations or evaluations than any run will see.
_UNLIMITED = 2**62


class Result(OptimizeResult):
    """The result of a minimisation: SciPy's `OptimizeResult` with a few fields of our own.

    Attributes
    ----------
    x : ndarray
        The best point seen.
    fun : float
        Its value.
    nit, nfev : int
        The iterations and the evaluations spent.
    success : bool
        Whether the run ended as it should: at the target, or where nothing better was to be found.
    status : int
        The reason for stopping, a `pursuit.stopping.Reason`.
    message : str
        The same as a sentence.
    method : str
        The method's name.
    sigma : float
        The step size at the end.
    nfaulty : int
        How many values were NaN; they counted as infinite.
    trace : Trace
        With ``trace=True``: the arrays `nit`, `nfev` and `fun` of the course of the run at about 50
        iterations per decade, the first, the last and the best among them.
    """


def minimize(
    fun: Callable[..., float] | Problem,
    x0: Any,
    args: tuple[Any, ...] = (),
    method: str | type = "ep-cma-4",
    *,
    rng: Any = None,
    sigma0: float = 1.0,
    ftarget: float | None = None,
    maxiter: int | None = None,
    maxfev: int | None = None,
    maxtime: float | None = None,
    options: Mapping[str, Any] | None = None,
    trace: bool = False,
) -> Result:
    """Minimise a function of several variables from its values alone.

    Parameters
    ----------
    fun : callable
        The function, ``fun(x, *args) -> float``, or a problem of `pursuit.problems`, for which the
        whole loop is compiled. It may overwrite the x it is given, and must copy it to keep it.
    x0 : array_like
        The start.
    args : tuple
        Further arguments of `fun`.
    method : str or type
        A name out of `pursuit.methods()`, any ``ep-cma-<m>``, or a scheme's class.
    rng : int, numpy.random.Generator or None
        What `numpy.random.default_rng` takes. The same seed gives the same run, bit for bit.
    sigma0 : float
        The first step size: about the distance to the minimiser, divided by the root of n.
    ftarget : float
        Stop when a value not above this one is found.
    maxiter, maxfev : int
        Stop after so many iterations or evaluations.
    maxtime : float
        Stop after so many seconds.
    options : mapping
        The method's own: ``p`` (success probability of adaptive steps), ``reading`` (of the paper),
        ``kappa`` or ``m`` and ``L``, and ``damping`` for SARP; ``c_c``, ``c_cov`` and ``c_p`` for CMA and
        EP-CMA; ``oracle`` and ``tolerance`` for RP and SARP.
    trace : bool
        Whether to return the course of the run.

    Returns
    -------
    Result
        SciPy's `OptimizeResult`, with the best point seen.

    Examples
    --------
    >>> import pursuit
    >>> def sphere(x):
    ...     return float(x @ x)
    >>> result = pursuit.minimize(sphere, [1.0, 2.0, 3.0], rng=1, ftarget=1e-9)
    >>> result.fun <= 1e-9, result.message
    (True, 'The target value ftarget was reached.')

    One of the paper's problems, with the method that knows its condition number:

    >>> problem = pursuit.problems.exp(20, 1e4)
    >>> result = pursuit.minimize(problem, problem.x0, method="sarp", rng=1, ftarget=1e-9)
    >>> result.success
    True
    """
    start = checked_point("x0", x0)
    objective = _checked_objective(fun, args, start.size)
    sigma0 = checked_number("sigma0", sigma0, above=0.0)
    scheme = create_scheme(method, start.size, options, objective)
    limits = Limits(
        target=-math.inf if ftarget is None else checked_number("ftarget", ftarget),
        iterations=_UNLIMITED if maxiter is None else checked_count("maxiter", maxiter, at_least=1),
        evaluations=_UNLIMITED if maxfev is None else checked_count("maxfev", maxfev, at_least=1),
        patience=scheme.patience(start.size),
    )
    outcome = run(
        scheme,
        objective,
        start,
        sigma0=sigma0,
        rng=np.random.default_rng(rng),
        limits=limits,
        maxtime=math.inf if maxtime is None else checked_number("maxtime", maxtime, above=0.0),
    )
    result = Result(
        x=outcome.x,
        fun=outcome.fun,
        nit=outcome.nit,
        nfev=outcome.nfev,
        nfaulty=outcome.faulty,
        sigma=outcome.sigma,
        success=outcome.reason in (Reason.TARGET, Reason.STALLED),
        status=int(outcome.reason),
        message=outcome.reason.sentence,
        method=method if isinstance(method, str) else method.__name__,
    )
    if trace:
        result.trace = outcome.trace
    return result


def _checked_objective(fun: Any, args: tuple[Any, ...], n: int) -> Any:
    """Return the objective that a run will call: a problem as it is, a function with its arguments."""
    if not callable(fun):
        raise TypeError(f"fun must be callable, but {fun!r} was given.")
    if value.handles(type(fun)):
        if args:
            raise ValueError(f"A problem takes no further arguments, but args={args!r} was given.")
        if fun.n != n:
            raise ValueError(f"x0 must have the problem's {fun.n} entries, but it has {n}.")
        return fun
    if not args:
        return fun
    return lambda x: fun(x, *args)
