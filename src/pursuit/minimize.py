"""What people call: `minimize`."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pursuit.checks import Vector, checked_count, checked_number, checked_point
from pursuit.compiling.cache import compiled
from pursuit.engine import checkpoint as checkpoints
from pursuit.engine.interrupts import Interrupts
from pursuit.engine.iteration import BlackBox
from pursuit.engine.monitor import Watch, scipy_style
from pursuit.engine.run import Memory, Outcome, Run, drive, first_memory
from pursuit.engine.stopping import Reason
from pursuit.engine.tally import UNLIMITED, Limits
from pursuit.methods.catalogue import DEFAULT_METHOD, create_scheme, method_text
from pursuit.methods.contract import Scheme
from pursuit.problems.bounds import Bounded, Box, checked_box, preimage, reflect
from pursuit.problems.contract import Problem, value
from pursuit.problems.objective import Map, as_value, checked_objective, function_of_point
from pursuit.result import Result, result_of


def minimize(
    fun: Callable[..., Any] | Problem,
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    method: str | type = DEFAULT_METHOD,
    *,
    bounds: Any = None,
    rng: Any = None,
    sigma0: float = 1.0,
    ftarget: float | None = None,
    maxiter: int | None = None,
    maxfev: int | None = None,
    maxtime: float | None = None,
    callback: Callable[..., object] | None = None,
    options: Mapping[str, Any] | None = None,
    trace: bool = False,
    workers: int | Map = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
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
        reflected at the bounds, by mirrors that are rounded over a margin of `sigma0`.
    rng : int, numpy.random.Generator or None
        What `numpy.random.default_rng` takes. The same seed gives the same run, bit for bit.
    sigma0 : float
        The first step size, by which every variable is varied at first. Too large a one costs a few
        failures, too small a one a few successes; it adapts.
    ftarget : float
        Stop when a value not above this one is found.
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
        EP-CMA; ``oracle`` and ``tolerance`` for RP and SARP.
    trace : bool
        Whether to return the course of the run.
    workers : int or map-like callable
        How many processes evaluate the points of an iteration at once (-1: one for each core), or a
        callable like `map` that does. Of the built-in methods only SARP has more than one point.
    checkpoint : path
        Where to keep what is needed to resume. If the file exists already, the run that it holds goes on.
    checkpoint_every : float
        How often to write it, in seconds; at the end it is written in any case.
    progress : bool
        Whether to show a line of progress, if standard error is a terminal.

    Returns
    -------
    Result
        SciPy's `OptimizeResult`, with the best point seen.

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
    start = checked_point("x0", x0)
    n = start.size
    sigma0 = checked_number("sigma0", sigma0, above=0.0)
    box = checked_box(bounds, start, sigma0)
    objective = checked_objective(fun, args, n, box)
    scheme = create_scheme(method, n, options, objective)
    limits = Limits.of(
        scheme,
        n,
        target=-math.inf if ftarget is None else checked_number("ftarget", ftarget),
        iterations=UNLIMITED if maxiter is None else checked_count("maxiter", maxiter, at_least=1),
        evaluations=UNLIMITED if maxfev is None else checked_count("maxfev", maxfev, at_least=1),
    )
    seconds = math.inf if maxtime is None else checked_number("maxtime", maxtime, above=0.0)
    every = checked_number("checkpoint_every", checkpoint_every, at_least=0.0)
    setting = checkpoints.Setting(method_text(method), dict(options or {}), n, sigma0, box)
    generator = np.random.default_rng(rng)
    name = method if isinstance(method, str) else method.__qualname__
    call = scipy_style(callback, lambda outcome: result_of(outcome, name, trace=False))

    def save(run: Run) -> None:
        if checkpoint is not None:
            checkpoints.save(checkpoint, setting, run.remember())

    with _mapped(workers) as apply:
        # Workers get the function itself, at points inside the bounds: nothing else need pickle.
        evaluated = objective if apply is None else function_of_point(fun, args)
        if checkpoint is not None and Path(checkpoint).exists():
            memory, generator = _resumed(checkpoint, setting, scheme)
        else:
            start = start if box is None else preimage(start, box)
            fx = _value_at_start(evaluated, start, apply, box)
            memory = first_memory(scheme, start, fx, sigma0, generator)
        can_compile = value.handles(type(objective))
        whole = can_compile and apply is None
        with Interrupts() as interrupts:
            known = objective if can_compile else BlackBox()
            run = Run(scheme, known, memory, generator, limits, whole=whole, box=box)
            watch = Watch(
                maxtime=seconds,
                callback=call,
                save=save if checkpoint is not None else None,
                save_every=every,
                progress=progress,
            )
            longest = UNLIMITED if call is None else 1
            try:
                outcome = _driven(run, evaluated, whole, apply, watch, interrupts, longest, name)
            finally:
                save(run)
    return result_of(outcome, name, trace=trace)


def _driven(
    run: Run,
    objective: Any,
    whole: bool,
    apply: Map | None,
    watch: Watch,
    interrupts: Interrupts,
    longest_leg: int,
    name: str,
) -> Outcome:
    """Drive a run to its end; attach what it has found to an exception that ends it early."""
    try:
        reason = drive(
            run,
            objective,
            whole=whole,
            interrupts=interrupts,
            apply=apply,
            longest_leg=longest_leg,
            watch=None if watch.is_idle else watch,
        )
    except KeyboardInterrupt:
        reason = Reason.INTERRUPTED
    except Exception as error:
        interrupts.keep_out()
        with contextlib.suppress(AttributeError):
            error.pursuit_result = result_of(run.outcome(), name, trace=True)  # type: ignore[attr-defined]
            error.add_note("What was found before this is in the attribute pursuit_result of the exception.")
        raise
    interrupts.keep_out()
    watch.close(run)
    return run.outcome(reason, last=True)


def _value_at_start(objective: Any, start: Vector, apply: Map | None, box: Box | None) -> float:
    point = start.copy()
    if box is not None and not isinstance(objective, Bounded):
        compiled(reflect)(point[np.newaxis], box)
    return as_value(objective(point) if apply is None else next(iter(apply(objective, [point]))))


def _resumed(
    path: str | os.PathLike[str], setting: checkpoints.Setting, scheme: Scheme
) -> tuple[Memory, np.random.Generator]:
    """Return the memory and the generator of a checkpoint, if it is one of the same run."""
    found, memory = checkpoints.load(path)
    for name in ("method", "options", "n", "sigma0"):
        if getattr(found, name) != getattr(setting, name):
            raise ValueError(
                f"{os.fspath(path)} holds a run with {name}={getattr(found, name)!r}, which cannot go on "
                f"with {name}={getattr(setting, name)!r}."
            )
    if not _same_box(found.box, setting.box):
        raise ValueError(f"{os.fspath(path)} holds a run with other bounds, which cannot go on with these.")
    if isinstance(memory, checkpoints.Unstarted):
        raise ValueError(f"{os.fspath(path)} holds an optimizer that was told nothing yet.")
    recalled = memory(scheme)
    return recalled, checkpoints.generator_in_state(recalled.generator)


def _same_box(one: Box | None, other: Box | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one.lower, other.lower) and np.array_equal(one.upper, other.upper)


@contextlib.contextmanager
def _mapped(workers: Any) -> Iterator[Map | None]:
    """Give the map that `workers` stands for; None for a single worker, which needs none."""
    if callable(workers):
        yield workers
        return
    count = checked_count("workers", workers, at_least=-1)
    if count == 0:
        raise ValueError("workers must be positive, or -1 for one for each core, but 0 was given.")
    if count == 1:
        yield None
        return
    with Pool(None if count == -1 else count) as pool:
        yield pool.map
