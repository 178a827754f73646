"""The results of runs, as callers get them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_count, checked_number
from pursuit.engine.evaluation import Map, checked_workers, evaluator
from pursuit.engine.outcome import Outcome
from pursuit.engine.setup import Setup
from pursuit.engine.staged import StagedRun
from pursuit.methods.stages import Stage
from pursuit.problems.boxes import active_mask, checked_box
from pursuit.problems.objective import as_value, function_of_point
from pursuit.problems.structure import structure_of
from pursuit.reporting.curvature import covariance_of, measured_curvature
from pursuit.reporting.plotting import plot_run
from pursuit.reporting.records import History, fields_of, plain_result, summary_of


class Result(dict[str, Any]):
    """The result of a minimisation: a dictionary with the fields of SciPy's `OptimizeResult` and some more.

    Printing it shows what matters, with x shortened; every field is an attribute, too. It is no subclass of
    `OptimizeResult`, since importing `scipy.optimize` takes longer than importing this whole package; where
    one is needed, `scipy.optimize.OptimizeResult(result)` has the same fields.

    Attributes
    ----------
    x : ndarray
        The best point seen. Under noise, if the method estimates values, the point that it estimates to be
        the best, which need not have been evaluated.
    fun : float
        Its value, or an estimate of it.
    fun_is_estimate : bool
        Whether `fun` is an estimate, such as the average of several noisy values, and not a value seen.
    fun_error : float or None
        The standard error of that estimate; None if `fun` is a value seen, or if the error is not known.
    nit, nfev : int
        The iterations and the evaluations spent.
    success : bool
        Whether the target was reached; without one, whether the method has looked around x and found nothing
        better.
    status : int
        The reason for stopping, a `pursuit.engine.stopping.Reason`.
    message : str
        The reason as a sentence, with what the method has found out about the function, if anything: that
        its values are noisy, or that it has kinks.
    method : str
        The method's name; for `auto` also what was at work, as ``"auto (differences, evolution)"``.
    stages : tuple of Stage
        The outcome of each stage of the run, if `auto` changed the method or the run was restarted: its
        `method`, `nfev`, `fun` and so on. Empty if there can be only one stage.
    sigma : float
        The step size at the end. If `sigma0` is a vector, it is that of the variable with the smallest entry,
        and those of the others are in proportion.
    time : float
        How many seconds `minimize` took, without the time for compiling and for evaluating the start.
    nfaulty : int
        How many values were NaN; they counted as infinite.
    noise : float or None
        The standard deviation of the noise of a value, rounding included, as the method has measured it near
        the end; None if it does not measure noise. Only `differences` does.
    trace : History
        With ``trace=True``: the arrays `nit`, `nfev` and `fun` at about 50 iterations per decade, among them
        the first, the last and the best; `method`, which was at work, `sigma`, the step size, and `at_bound`,
        how many variables of its best point were at a bound. With ``trace="x"`` also `x`, the best point so
        far in each of its rows.
    active_mask : ndarray of int
        With bounds: which variables are at one, as in SciPy: -1 at the lower, 1 at the upper, else 0.
    seed : object
        The seed of a run of `minimize_many`.
    extra : object
        What `fun` returned beside its value at x, if it returns pairs. None if it was not this point that had
        the lowest value, as under noise, or if the point was evaluated before the run was resumed.
    maxcv : float
        With constraints: by how much they are violated at x, at most.
    hess, jac : ndarray
        Second derivatives and gradient at x, once `hessian` has measured them.

    Examples
    --------
    >>> import pursuit
    >>> problem = pursuit.problems.exp(3, 1e2)
    >>> print(pursuit.minimize(problem, problem.x0, method="rp", rng=1, maxfev=200))  # doctest: +ELLIPSIS
    fun      ...
    success  False
    message  The evaluation limit maxfev was reached.
    nfev     200 evaluations, in 199 iterations
    time     ... s
    sigma    ..., the step size
    method   rp
    x        [...]
    """

    # The entries of the dictionary are attributes; their types are declared for type checkers.
    x: NDArray[np.float64]
    fun: float
    fun_is_estimate: bool
    fun_error: float | None
    nit: int
    nfev: int
    success: bool
    status: int
    message: str
    method: str
    stages: tuple[Stage, ...]
    sigma: float
    time: float
    nfaulty: int
    noise: float | None
    trace: History
    active_mask: NDArray[np.int64]
    seed: Any
    extra: Any
    maxcv: float
    hess: NDArray[np.float64]
    jac: NDArray[np.float64]

    _run: StagedRun | None = None
    """The run, if it can go on; copies and pickles of a result do without it."""

    def __getstate__(self) -> None:
        return None

    if not TYPE_CHECKING:  # Type checkers know the fields above, and only these.

        def __getattr__(self, name: str) -> Any:
            """Return a field."""
            try:
                return self[name]
            except KeyError:
                raise AttributeError(f"A result has no field {name!r}.", name=name, obj=self) from None

        __setattr__ = dict.__setitem__

        def __delattr__(self, name: str) -> None:
            """Delete a field."""
            self.__getattr__(name)
            del self[name]

    def __dir__(self) -> list[str]:
        """Return all names, those of the fields among them."""
        return sorted({*object.__dir__(self), *self})

    def __repr__(self) -> str:
        return summary_of(self) or "Result()"

    def hessian(
        self,
        fun: Callable[..., Any],
        args: tuple[Any, ...] = (),
        *,
        bounds: Any = None,
        workers: int | Map | Executor = 1,
        accuracy: float | None = None,
    ) -> NDArray[np.float64]:
        """Measure the second derivatives of `fun` at x, and keep them as `hess`, and the gradient as `jac`.

        This takes about n^2 + 9 n evaluations, which are not counted, and more where parameters are strongly
        correlated.

        Parameters
        ----------
        fun, args, bounds, workers
            As in `pursuit.minimize`.
        accuracy : float
            Which part of the second derivatives the noise of f may make up: the smaller, the longer the
            steps. By default from 1e-7, without noise, to 0.05.

        Returns
        -------
        ndarray
            The matrix, with NaN for variables at a bound, for which `fun` is not evaluated elsewhere.

        Examples
        --------
        >>> import pursuit
        >>> def f(x):
        ...     return 2.0 * x[0] ** 2 + (x[1] - x[0]) ** 2
        >>> result = pursuit.minimize(f, [1.0, 2.0], rng=1)
        >>> result.hessian(f).round(4)
        array([[ 6., -2.],
               [-2.,  2.]])
        """
        structure, x = structure_of(self.x)
        x = np.array(x, dtype=np.float64)
        box = checked_box(structure.bounds(bounds), x)
        room = np.full(x.size, np.inf) if box is None else np.minimum(box.upper - x, x - box.lower)
        free = np.flatnonzero(room > 0.0)
        accuracy = None if accuracy is None else checked_number("accuracy", accuracy, above=0.0)
        found = np.full(x.size, np.nan), np.full((x.size, x.size), np.nan)
        objective = function_of_point(structure.function(fun), args)
        with evaluator(objective, checked_workers(workers), as_value) as evaluate:

            def values_at(points: NDArray[np.float64]) -> Vector:
                rows, values = np.tile(x, (len(points), 1)), [None] * len(points)
                rows[:, free] = points
                evaluate(list(rows), values)
                return np.array(values, dtype=np.float64)

            measured = measured_curvature(values_at, x[free], room[free], self.noise or 0.0, accuracy)
        found[0][free], found[1][np.ix_(free, free)] = measured
        self.jac, self.hess = found
        return self.hess

    def covariance(self, *, sigma: float | None = None, residuals: int | None = None) -> NDArray[np.float64]:
        """Return the covariance of the parameters x that were fitted, by `hess`: call `hessian` before.

        Without arguments f is taken for the negative logarithm of a likelihood, whose covariance is the
        inverse of the Hessian. If noise has kept x from the minimum, how far x is from it is added.

        Parameters
        ----------
        sigma : float
            f is a sum of squares of residuals with this standard deviation, 1 if they were divided by it.
        residuals : int
            f is a sum of squares of so many residuals, whose standard deviation follows from f.

        Returns
        -------
        ndarray
            The matrix, with NaN for variables at a bound.
        """
        if "hess" not in self:
            raise ValueError(
                "The covariance follows from second derivatives: call result.hessian(fun) before."
            )
        factor = 1.0
        if sigma is not None:
            factor = 2.0 * checked_number("sigma", sigma, above=0.0) ** 2
        if residuals is not None:
            fitted = int(np.sum(~np.isnan(self.jac)))
            spare = checked_count("residuals", residuals, at_least=fitted + 1) - fitted
            factor = 2.0 * self.fun / spare
        return covariance_of(self.jac, self.hess, factor)

    def standard_errors(self, *, sigma: float | None = None, residuals: int | None = None) -> Any:
        """Return the standard error of each parameter, as x is given: the roots of `covariance`.

        Examples
        --------
        >>> import numpy as np
        >>> import pursuit
        >>> t = np.linspace(0.0, 1.0, 50)
        >>> y = 2.0 + 3.0 * t + 0.1 * np.cos(40.0 * t)  # pretends to be noisy
        >>> def misfit(x):
        ...     return np.sum((x[0] + x[1] * t - y) ** 2)
        >>> result = pursuit.minimize(misfit, [0.0, 0.0], rng=1)
        >>> _ = result.hessian(misfit)
        >>> result.standard_errors(residuals=50).round(4)
        array([0.0201, 0.0346])
        """
        structure, _ = structure_of(self.x)
        return structure.shaped(np.sqrt(np.diag(self.covariance(sigma=sigma, residuals=residuals))))

    def to_dict(self) -> dict[str, Any]:
        """Return all that JSON can take of it: points as flat lists, what is not finite as text.

        An `extra` that JSON does not take is left out.

        Examples
        --------
        >>> import json, pursuit
        >>> result = pursuit.minimize(lambda x: x @ x, [1.0, 2.0], rng=1, trace=True)
        >>> text = json.dumps(result.to_dict())
        >>> same = pursuit.Result.from_dict(json.loads(text))
        >>> same.fun == result.fun, (same.trace.nfev == result.trace.nfev).all()
        (True, np.True_)
        """
        return plain_result(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any], x0: Any = None) -> Result:
        """Return the result that `to_dict` has written.

        Parameters
        ----------
        data : dict
            What it has returned.
        x0 : object
            A point with the structure of the start, if that was a dictionary or the like.
        """
        structure, _ = structure_of(x0)
        return cls(fields_of(data, structure))

    def plot(self, ax: Any = None, *, fmin: float | None = None) -> Any:
        """Draw the best value so far against evaluations, in a colour for each method that was at work.

        Under noise, the method's estimates of the value are drawn if it makes them; both lines end at `fun`.
        A panel below shows the step size. For a run with bounds, another one shows how many variables are at
        a bound, and the legend says how many ended there.

        The run must have been made with ``trace=True``, and Matplotlib must be installed.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
            Where to draw the values, and nothing else; by default all is drawn on a new figure.
        fmin : float
            The smallest value that f can have, if you know it: then values minus `fmin` are shown. By
            default the values themselves are shown.

        Returns
        -------
        matplotlib.axes.Axes
            The axes of the values; their `figure` has the other panels.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> import pursuit
        >>> problem = pursuit.problems.exp(10, 1e2)
        >>> ax = pursuit.minimize(problem, problem.x0, method="rp", rng=1, maxfev=999, trace=True).plot()
        >>> [panel.get_ylabel() for panel in ax.figure.axes]
        ['best value so far', 'step size']
        """
        return plot_run(self, fmin=fmin, ax=ax)


class Results(Sequence[Result]):
    """The results of many runs, in the order of the runs.

    Examples
    --------
    >>> import pursuit
    >>> problem = pursuit.problems.exp(10, 1e2)
    >>> results = pursuit.minimize_many(problem, problem.x0, seeds=[1, 2, 3], method="cma", ftarget=1e-9)
    >>> len(results), results.success_share, bool(results.nfev.min() > 100)
    (3, 1.0, True)
    """

    def __init__(self, results: Iterable[Result]) -> None:
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> Results: ...

    def __getitem__(self, index: int | slice) -> Result | Results:
        return Results(self._results[index]) if isinstance(index, slice) else self._results[index]

    @property
    def fun(self) -> NDArray[np.float64]:
        """The value that each run found."""
        return np.array([result.fun for result in self], dtype=np.float64)

    @property
    def nfev(self) -> NDArray[np.int64]:
        """The evaluations that each run made."""
        return np.array([result.nfev for result in self], dtype=np.int64)

    @property
    def best(self) -> Result:
        """The result with the smallest value; among equal ones, that with the fewest evaluations."""
        return min(self, key=_rank)

    @property
    def median(self) -> Result:
        """The middle result, ordered as for `best`; of two in the middle, the better one."""
        return sorted(self, key=_rank)[(len(self) - 1) // 2]

    @property
    def success_share(self) -> float:
        """The share of the runs that succeeded."""
        return sum(bool(result.success) for result in self) / len(self)

    def __repr__(self) -> str:
        if not self:
            return "<Results: no runs>"
        return (
            f"<Results: {len(self)} runs, {self.success_share:.0%} successful, best value "
            f"{self.best.fun:.6g}, median {self.median.fun:.6g}, evaluations {self.nfev.min()} to "
            f"{self.nfev.max()}>"
        )


def _rank(result: Result) -> tuple[float, int]:
    return result.fun, result.nfev


def result_of(outcome: Outcome, setup: Setup, *, trace: bool | str = False) -> Result:
    """Return an outcome as a result, with the trace if it is wanted, and the bounds hit if there are any."""
    method, shaped = setup.name, setup.task.structure.shaped
    at_work = list(dict.fromkeys(stage.method for stage in outcome.stages))
    result = Result(
        x=shaped(outcome.x), fun=outcome.fun, fun_is_estimate=outcome.is_estimate, fun_error=outcome.error,
        noise=outcome.noise, nit=outcome.nit, nfev=outcome.nfev, nfaulty=outcome.faulty, sigma=outcome.sigma,
        success=outcome.is_success, status=int(outcome.reason), message=outcome.message,
        method=method if at_work in ([], [method]) else f"{method} ({', '.join(at_work)})",
        stages=outcome.stages,
    )  # fmt: skip
    if outcome.extra:
        (result.extra,) = outcome.extra
    if trace:
        result.trace = _history(outcome, method)
        if trace == "x" and outcome.points is not None:
            result.trace.x = shaped(outcome.points())
    if setup.box is not None:
        result.active_mask = shaped(active_mask(outcome.x, setup.box))
    return result


def _history(outcome: Outcome, method: str) -> History:
    """Return the trace of a run with the method that was at work."""
    nit, nfev, fun, sigma, at_bound = outcome.trace()
    names = [stage.method for stage in outcome.stages] or [method]
    last = np.cumsum([stage.nfev for stage in outcome.stages[:-1]], dtype=np.int64)
    at_work = np.array(names)[np.searchsorted(last, nfev)]
    return History(nit, nfev, fun, method=at_work, sigma=sigma, at_bound=at_bound)
