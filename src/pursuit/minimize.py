"""Minimising a function: `minimize`; and compiling what methods need before that: `warmup`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pursuit.checks import Vector, checked_flag, with_known_arguments
from pursuit.compiling.jit import announcing
from pursuit.constraints import given_constraints
from pursuit.constraints.augmented import minimize_within
from pursuit.engine.evaluation import Map, number_of_workers
from pursuit.engine.processes import failures_for
from pursuit.engine.running import Conduct, minimize_task
from pursuit.engine.setup import rounds_of
from pursuit.engine.stopping import FTOL, XTOL
from pursuit.methods.catalogue import DEFAULT_METHOD, method_name, options_of, resolved
from pursuit.methods.contract import Rounds
from pursuit.methods.stages import Task
from pursuit.problems.contract import Problem
from pursuit.result import Result


@with_known_arguments
def minimize(
    fun: Callable[..., Any] | Problem,
    x0: Any,
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
    trace: bool | str = False,
    workers: int | Map | Executor = 1,
    vectorized: bool = False,
    batch: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    checkpoint_check: bool = True,
    progress: bool = False,
    on_error: str = "raise",
    known: tuple[Any, ArrayLike] | None = None,
    eval_timeout: float | None = None,
) -> Result:
    """Minimise a function of several variables from its values alone.

    Parameters
    ----------
    fun : callable
        The function, ``fun(x, *args) -> float``; it may return a pair of that and anything else, which is
        ``result.extra`` for the best point. If it is jitted by Numba or a problem of
        `pursuit.problems`, the whole loop of a step method is compiled. A Python function gets a new array
        in each call, which it may keep or overwrite; compiled code must copy x to keep it.
    x0 : array_like, or a dict, list, tuple, dataclass or named tuple of floats and arrays, nested
        The start; a number for a function of one variable, which gets an array of one entry. `fun`,
        constraints and callbacks get points of the same structure, and ``result.x`` is one. `bounds` and
        `sigma0` may have it too, with a pair or a number for each part or for each entry. If x0 is the result
        of an earlier call with the same arguments but for limits, its run goes on as from a checkpoint; one
        that has ended by itself, has more than 100 000 variables or was copied begins again at its x.
    args : tuple
        Further arguments for `fun`.
    method : str or type
        A name from `pursuit.list_methods()`, any ``ep-cma-<m>``, or a scheme's class.
    bounds : scipy.optimize.Bounds, sequence of pairs, or None
        Lower and upper bounds, infinite or None where there is none. `fun` is never called outside them:
        unless the method itself keeps to bounds, points are reflected at them, smoothly over a margin of
        `sigma0`.
    constraints : NonlinearConstraint, LinearConstraint, dict, or a sequence of them
        As for `scipy.optimize.minimize`. They hold at the result up to `ctol`; `fun` may be called elsewhere,
        and x0 need not fulfil them. This takes repeated runs of `method`: see `constraints.augmented`.
    ctol : float
        By how much constraints may be violated.
    rng : int, numpy.random.Generator or None
        What `numpy.random.default_rng` takes. The same seed gives the same run, bit for bit.
    sigma0 : float or array_like
        The first step size, by how much variables change at first: one number for all, or one for each
        variable, if they have different units. It adapts; a size that is too large costs a few failed steps,
        one that is too small a few short ones.
    ftarget : float
        Stop when a value at or below this one is found.
    xtol, ftol : float
        Stop when nothing is left to gain, judged by the last tenth of the run: when all of its steps together
        are no longer than `xtol` times the longest step that ever led to a better point, or when all of its
        values differ by no more than `ftol` times the best. The defaults are near the limits of double
        precision; 0 switches a test off.
    maxiter, maxfev : int
        Stop after this many iterations or evaluations.
    maxtime : float
        Stop after this many seconds. The clock starts when the start has been evaluated and what the method
        needs is compiled, which takes longer than some runs: see `pursuit.warmup`.
    callback : callable
        Called after every iteration, as in SciPy: with ``intermediate_result``, if that is the name of its
        only parameter, else with the best point so far. A `StopIteration` from it stops the run.
    options : mapping
        Options of the method: ``p`` (success probability of adaptive steps), ``reading`` (of the paper),
        ``kappa`` or ``m`` and ``L``, and ``damping`` for SARP; ``c_c``, ``c_cov`` and ``c_p`` for CMA and
        EP-CMA; ``line_search`` and ``tolerance`` for RP and SARP; ``popsize``, the number of points in a
        round, for `evolution` and `auto`.
    restarts : int
        How many times to start again after a run has stalled, for functions with many valleys. Each restart
        begins at a new point: between the bounds of a variable that has both, otherwise about `sigma0` away
        from the best point. `evolution` and `auto` search more widely each time; their narrow searches in
        between are not counted. Each takes about as many evaluations as all before it: give `ftarget`,
        `maxfev` or `maxtime` as well. Without them, all restarts are made.
    trace : bool or "x"
        Whether to return the history of the run. With "x" it also has the best point so far at each of its
        entries, ``result.trace.x``. That takes memory for about 50 points per decade of iterations, each of
        n numbers, in checkpoints, too; with constraints, for each point that was better than all before.
    workers : int, concurrent.futures.Executor, Dask client, or map-like callable
        What evaluates the points of a round in parallel: a number of processes (-1 for one per core), an
        executor, a Dask client, or a callable like `map`.
    vectorized : bool
        Whether `fun` takes all points of a round in one call, as an array with one point per row, and
        returns their values: an array of NumPy, JAX or torch, on any device.
    batch : int
        The maximum number of points in a round. The same seed and the same batch give the same run, whatever
        evaluates the points. `differences` and `evolution`, and so `auto`, fill rounds of this size; SARP
        proposes up to two points at once, the other methods of the paper one, and methods with a population
        all of it. By default eight for each worker, who then get the next point as soon as they are free, or
        the method's choice if the number of workers is not known.
    checkpoint : path
        The file in which to keep what is needed to resume. If it exists already, the run that it holds is
        resumed.
    checkpoint_every : float
        How often to write it, in seconds; it is always written at the end.
    checkpoint_check : bool
        Whether a resumed run first evaluates the stored point again, which is not counted, and refuses to
        continue if the value differs by more than the noise that the method has measured.
    progress : bool
        Whether to show progress: the value, the evaluations and their rate, the method at work, the time so
        far, and the most that can be left if there is a limit. In a terminal or a notebook this is one line,
        updated in place, elsewhere a line on standard error every five seconds. The logger ``pursuit``
        reports the same at level INFO, with or without this. Compiling a method for the first time takes
        some seconds; a terminal or a notebook always says so, after one second.
    on_error : {"raise", "nan"}
        What an exception in `fun` does: by default it ends the run; with "nan" it counts as NaN, and
        `message` says how many there were. At x0 it ends the run in any case. With "nan", loops are not
        compiled together with `fun`.
    known : pair (X, F)
        Points, one per row or a list, and their values, from earlier evaluations. The run begins at the best
        of them, or at the minimum of a quadratic through those near it, if f is really lower there than at
        x0: to see that takes up to two evaluations. Points outside the bounds and values that are not finite
        are left out.
    eval_timeout : float
        How many seconds an evaluation may take. One that takes longer counts as NaN, and its process is
        killed with all that it has started: with a timeout, even one worker is a process.

    Returns
    -------
    Result
        The fields of SciPy's `OptimizeResult` and more, with the best point seen; under noise, if the method
        estimates values, with the point that it estimates to be the best.

    Notes
    -----
    An exception raised by `fun` reaches the caller; its attribute ``pursuit_result`` holds what was found
    before.

    Examples
    --------
    >>> import pursuit
    >>> def sphere(x):
    ...     return x @ x
    >>> result = pursuit.minimize(sphere, [1.0, 2.0, 3.0], rng=1, ftarget=1e-9)
    >>> result.fun <= 1e-9, result.message
    (True, 'The target value ftarget was reached.')

    One of the paper's problems, with a method that uses its condition number:

    >>> problem = pursuit.problems.exp(20, 1e4)
    >>> result = pursuit.minimize(problem, problem.x0, method="sarp", rng=1, ftarget=1e-9)
    >>> result.success
    True
    """
    vectorized = checked_flag("vectorized", vectorized)
    earlier = x0 if isinstance(x0, Result) else None
    rounds = rounds_of(batch, number_of_workers(workers), vectorized=vectorized)
    if rounds is None and eval_timeout is not None:
        rounds = Rounds(1, 1)  # nothing that takes long is to follow an evaluation that reaches the target
    task = Task(
        x0 if earlier is None else earlier.x, method,
        {"ftarget": ftarget, "xtol": xtol, "ftol": ftol, "maxiter": maxiter, "maxfev": maxfev},
        sigma0=sigma0, bounds=bounds, options=options, restarts=restarts, rounds=rounds, fun=fun, args=args,
    ).flattened()  # fmt: skip
    conduct = Conduct(
        rng=rng, workers=workers, vectorized=vectorized, batch=batch, maxtime=maxtime, callback=callback,
        trace=trace, progress=progress, checkpoint=checkpoint, checkpoint_every=checkpoint_every,
        checkpoint_check=checkpoint_check, failures=failures_for(on_error), eval_timeout=eval_timeout,
        known=known, earlier=earlier,
    ).checked()  # fmt: skip
    wanted = [task.structure.constraint(one) for one in given_constraints(constraints)]
    return minimize_within(task, conduct, wanted, ctol) if wanted else minimize_task(task, conduct)


# A run that is just long enough for everything to be called.
_VARIABLES, _EVALUATIONS = 5, 50


def warmup(methods: str | type | Sequence[str | type] = DEFAULT_METHOD) -> dict[str, float]:
    """Compile what methods need to minimise a Python function, and keep it on disk.

    Otherwise the first run of each method does so, which takes some seconds.

    Parameters
    ----------
    methods : str, type, or sequence of these
        Names from `pursuit.list_methods()`, or classes of schemes.

    Returns
    -------
    dict
        How many seconds each method took; 0 if everything was compiled before.

    Notes
    -----
    What is compiled depends neither on the function nor on the number of variables, except that functions
    jitted by Numba are compiled together with the method, in their first run.

    Examples
    --------
    >>> import pursuit
    >>> list(pursuit.warmup(["rp", "cma"]))
    ['rp', 'cma']
    >>> pursuit.warmup("rp")
    {'rp': 0.0}
    """
    chosen = [methods] if isinstance(methods, str | type) else list(methods)
    parts = {method_name(method): _parts_of(method) for method in chosen}
    return {name: sum(map(_seconds_to_compile, used)) for name, used in parts.items()}


def _parts_of(method: str | type) -> tuple[str | type, ...]:
    """Return the methods that a method may use: itself, or those that it chooses from."""
    cls, _ = resolved(method, _VARIABLES)
    parts: tuple[str | type, ...] = cls.parts() if hasattr(cls, "parts") else (method,)
    return parts


def _seconds_to_compile(method: str | type) -> float:
    """Run a method for a moment, and return the seconds that this took if anything was compiled."""
    compiled: list[str] = []
    # Some methods cannot do without one of these; if a method has both, one will do.
    known = [name for name in ("kappa", "L") if name in options_of(method, _VARIABLES)]
    options: dict[str, Any] = dict.fromkeys(known[:1], 10.0)
    begin = time.perf_counter()
    with announcing(compiled.append):
        minimize(_sphere, np.ones(_VARIABLES), method=method, options=options, rng=1, maxfev=_EVALUATIONS)
    return time.perf_counter() - begin if compiled else 0.0


def _sphere(x: Vector) -> float:
    return float(x @ x)
