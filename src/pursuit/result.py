"""The result that people get."""

from __future__ import annotations

from scipy.optimize import OptimizeResult

from pursuit.engine.run import Outcome


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
        Whether the run ended as it should: at the target, or where nothing was left to win.
    status : int
        The reason for stopping, a `pursuit.engine.stopping.Reason`.
    message : str
        The same as a sentence.
    method : str
        The method's name.
    sigma : float
        The step size at the end.
    time : float
        How many seconds `minimize` took, without the time for compiling and for evaluating the start.
    nfaulty : int
        How many values were NaN; they counted as infinite.
    trace : Trace
        With ``trace=True``: the arrays `nit`, `nfev` and `fun` at about 50 iterations per decade, among them
        the first, the last and the best.
    """


def result_of(outcome: Outcome, method: str, *, trace: bool) -> Result:
    """Return an outcome as a result, with the trace if it is wanted."""
    result = Result(
        x=outcome.x,
        fun=outcome.fun,
        nit=outcome.nit,
        nfev=outcome.nfev,
        nfaulty=outcome.faulty,
        sigma=outcome.sigma,
        success=outcome.reason.is_success,
        status=int(outcome.reason),
        message=outcome.message,
        method=method,
    )
    if trace:
        result.trace = outcome.trace()
    return result
