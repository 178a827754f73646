"""What people call: `minimize`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from numpy.typing import ArrayLike

from pursuit.augmented import minimize_within
from pursuit.checks import checked_flag
from pursuit.constraints import given_constraints
from pursuit.engine.evaluation import Map, number_of_workers
from pursuit.engine.setup import Task, rounds_of
from pursuit.engine.stopping import FTOL, XTOL
from pursuit.methods.catalogue import DEFAULT_METHOD
from pursuit.problems.contract import Problem
from pursuit.result import Result
from pursuit.running import Conduct, minimize_task


def minimize(
    fun: Callable[..., Any] | Problem,
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    method: str | type = DEFAULT_METHOD,
    *,
    bounds: Any = None,
    constraints: Any = (),
    ctol: float = 1e-6,
    rng: Any = None,
    sigma0: float | ArrayLike = 1.0,
    ftarget: float | None = None,
    xtol: float = XTOL,
    ftol: float = FTOL,
    maxiter: int | None = None,
    maxfev: int | None = None,
    maxtime: float | None = None,
    callback: Callable[..., object] | None = None,
    options: Mapping[str, Any] | None = None,
    restarts: int = 0,
    trace: bool = False,
    workers: int | Map | Executor = 1,
    vectorized: bool = False,
    batch: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    checkpoint_check: bool = True,
    progress: bool = False,
) -> Result:
    """Minimise a function of several variables from its values alone.

    Parameters
    ----------
    fun : callable
        The function, ``fun(x, *args) -> float``. For a function jitted by Numba and for a problem of
        `pursuit.problems` the whole loop is compiled. It may overwrite the x it is given, and must copy
        it to keep it.
    x0 : array_like
        The start.
    args : tuple
        Further arguments of `fun`.
    method : str or type
        A name out of `pursuit.methods()`, any ``ep-cma-<m>``, or a scheme's class.
    bounds : scipy.optimize.Bounds, sequence of pairs, or None
        Lower and upper bounds, infinite or None for none. `fun` is never called outside; points are
        reflected at the bounds, by mirrors that are rounded over a margin of `sigma0`, unless the method
        keeps to the bounds by itself.
    constraints : NonlinearConstraint, LinearConstraint, dict, or a sequence of them
        As for `scipy.optimize.minimize`. They hold at the result up to `ctol`; `fun` may be called elsewhere,
        and x0 need not fulfil them. See `pursuit.augmented` for the method, which repeats runs of `method`.
    ctol : float
        By how much constraints may be violated.
    rng : int, numpy.random.Generator or None
        What `numpy.random.default_rng` takes. The same seed gives the same run, bit for bit.
    sigma0 : float or array_like
        The first step size, by which every variable is varied at first, or one for each variable, where
        these have different units. Too large a one costs a few failures, too small a one a few successes;
        it adapts.
    ftarget : float
        Stop when a value not above this one is found.
    xtol, ftol : float
        Stop when nothing is left to win, judged by the last tenth of the run: when all of its steps together
        are no longer than `xtol` times the longest step that has ever helped, or when all of its values
        differ by no more than `ftol` times the best. By default this is where digits end; 0 switches it off.
    maxiter, maxfev : int
        Stop after so many iterations or evaluations.
    maxtime : float
        Stop after so many seconds.
    callback : callable
        Called after every iteration, as in SciPy: with ``intermediate_result``, if that is the name of its
        only parameter, else with the best point so far. A `StopIteration` from it stops the run.
    options : mapping
        The method's own: ``p`` (success probability of adaptive steps), ``reading`` (of the paper),
        ``kappa`` or ``m`` and ``L``, and ``damping`` for SARP; ``c_c``, ``c_cov`` and ``c_p`` for CMA and
        EP-CMA; ``line_search`` and ``tolerance`` for RP and SARP; ``memory`` for `values` and `auto`, and
        ``m``, the pairs of a round, for `momentum` and `auto`.
    restarts : int
        How often to begin again after a run has stalled, for functions with many valleys: at a new point,
        between the bounds of a variable that has both, and otherwise about `sigma0` away from the best point.
        `momentum` and `auto` search more widely each time, and narrowly in between, which is not counted.
        Without `ftarget` or a limit, all of them are made.
    trace : bool
        Whether to return the history of the run.
    workers : int, concurrent.futures.Executor, Dask client, or map-like callable
        Who evaluates the points of a round at once: so many processes (-1: one for each core), an executor
        or a client of Dask, or a callable like `map`. Several processes are threads instead for a function
        jitted by Numba, which must then be safe to call from several threads.
    vectorized : bool
        Whether `fun` takes all points of a round in one call, as an array with one point a row, and returns
        their values: an array of NumPy, JAX or torch, wherever that may be.
    batch : int
        The most points of a round. The same seed and the same batch give the same run, whoever evaluates it.
        `values` and `momentum`, and so `auto`, pose as many independent points as they are given; SARP poses
        up to two, other methods one. By default eight for each worker, or what the method likes if their
        number is not known.
    checkpoint : path
        Where to keep what is needed to resume. If the file exists already, the run that it holds is resumed.
    checkpoint_every : float
        How often to write it, in seconds; at the end it is written in any case.
    checkpoint_check : bool
        Whether a run that is resumed evaluates the stored point once more, which does not count, and refuses
        to go on if the value is another, by more than the noise that the method has measured.
    progress : bool
        Whether to show how far the run has come: value, evaluations and their rate, the method at work, the
        time, and how much is left at most where a limit says so. In a terminal and in a notebook that is a
        line, elsewhere a line on standard error every five seconds. The logger ``pursuit`` says the same at
        the level INFO, with or without this. What is compiled for the first time takes some seconds; people
        at a terminal or a notebook are told so after one second, in any case.

    Returns
    -------
    Result
        SciPy's `OptimizeResult`, with the best point seen, or under noise, where the method estimates values,
        with what it takes for the best.

    Notes
    -----
    An exception of `fun` goes through to the caller; what was found before it is in its attribute
    ``pursuit_result``.

    Examples
    --------
    >>> import pursuit
    >>> def sphere(x):
    ...     return x @ x
    >>> result = pursuit.minimize(sphere, [1.0, 2.0, 3.0], rng=1, ftarget=1e-9)
    >>> result.fun <= 1e-9, result.message
    (True, 'The target value ftarget was reached.')

    One of the paper's problems, with the method that knows its condition number:

    >>> problem = pursuit.problems.exp(20, 1e4)
    >>> result = pursuit.minimize(problem, problem.x0, method="sarp", rng=1, ftarget=1e-9)
    >>> result.success
    True
    """
    vectorized = checked_flag("vectorized", vectorized)
    task = Task(
        x0, method, {"ftarget": ftarget, "xtol": xtol, "ftol": ftol, "maxiter": maxiter, "maxfev": maxfev},
        sigma0=sigma0, bounds=bounds, options=options, restarts=restarts,
        rounds=rounds_of(batch, number_of_workers(workers), vectorized=vectorized), fun=fun, args=args,
    )  # fmt: skip
    conduct = Conduct(
        rng=rng, workers=workers, vectorized=vectorized, batch=batch, maxtime=maxtime, callback=callback,
        trace=trace, progress=progress, checkpoint=checkpoint, checkpoint_every=checkpoint_every,
        checkpoint_check=checkpoint_check,
    ).checked()  # fmt: skip
    wanted = given_constraints(constraints)
    return minimize_within(task, conduct, wanted, ctol) if wanted else minimize_task(task, conduct)
