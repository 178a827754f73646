"""What people call: `minimize`."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pursuit.augmented import check_nothing_else, minimize_within
from pursuit.checks import checked_flag, checked_generator, checked_number, checked_point, shown
from pursuit.constraints import checked_constraints
from pursuit.engine import checkpoint as checkpoints
from pursuit.engine.evaluation import (
    Futures,
    Map,
    Processes,
    TimeLimitError,
    at_once,
    checked_workers,
    evaluator,
    number_of_workers,
)
from pursuit.engine.interrupts import Interrupts
from pursuit.engine.monitor import Monitor, scipy_style, showing_compilation
from pursuit.engine.outcome import Outcome
from pursuit.engine.run import Evaluate, Memory, Threads, Unstarted, drive, here
from pursuit.engine.saver import Saver
from pursuit.engine.setup import Setup, rounds_of, set_up
from pursuit.engine.staged import StagedRun
from pursuit.engine.stages import stage_of
from pursuit.engine.stopping import FTOL, XTOL, Reason
from pursuit.engine.tally import UNLIMITED
from pursuit.methods.catalogue import DEFAULT_METHOD
from pursuit.methods.contract import Rounds, findings_of
from pursuit.problems.bounds import Box
from pursuit.problems.contract import Problem
from pursuit.problems.objective import function_of_point, row_by_row
from pursuit.result import Result, result_of

# A value may be off by so many standard deviations of the noise, that with which it was stored included.
_LUCK = 10.0


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
        up to two, other methods one. By default four for each worker, or what the method likes if their
        number is not known.
    checkpoint : path
        Where to keep what is needed to resume. If the file exists already, the run that it holds is resumed.
    checkpoint_every : float
        How often to write it, in seconds; at the end it is written in any case.
    checkpoint_check : bool
        Whether a run that is resumed evaluates the stored point once more, which does not count, and refuses
        to go on if the value is another, by more than the noise that the method has measured.
    progress : bool
        Whether to show a line of progress, if standard error is a terminal. It also says what is being
        compiled, which takes some seconds if it was never done before; so does the logger ``pursuit``, at
        the level INFO.

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
    wanted = checked_constraints(constraints, checked_point("x0", x0))
    if wanted is not None:
        beside = {
            "ftarget": ftarget, "maxiter": maxiter, "trace": trace, "checkpoint": checkpoint,
            "restarts": restarts, "vectorized": vectorized, "batch": batch,
        }  # fmt: skip
        check_nothing_else(beside, workers)
        return minimize_within(
            minimize, function_of_point(fun, args), x0, wanted, ctol=ctol, bounds=bounds, sigma0=sigma0,
            maxfev=maxfev, maxtime=maxtime, callback=callback,
            given={"method": "values" if method == DEFAULT_METHOD else method, "bounds": bounds,
                   "rng": checked_generator(rng), "sigma0": sigma0, "options": options, "progress": progress},
        )  # fmt: skip
    trace, progress = checked_flag("trace", trace), checked_flag("progress", progress)
    checkpoint_check = checked_flag("checkpoint_check", checkpoint_check)
    there = number_of_workers(workers)
    workers, vectorized = checked_workers(workers), checked_flag("vectorized", vectorized)
    if vectorized and workers != 1:
        raise ValueError("With vectorized=True one call evaluates all points of a round: leave workers at 1.")
    limits = {"ftarget": ftarget, "xtol": xtol, "ftol": ftol, "maxiter": maxiter, "maxfev": maxfev}
    with showing_compilation(progress):
        setup, start = set_up(
            x0,
            method,
            sigma0=sigma0,
            bounds=bounds,
            options=options,
            limits=limits,
            restarts=restarts,
            rounds=rounds_of(batch, there, vectorized=vectorized),
            fun=row_by_row(fun, args) if vectorized else fun,
            args=() if vectorized else args,
        )
    seconds = math.inf if maxtime is None else checked_number("maxtime", maxtime, above=0.0)
    every = checked_number("checkpoint_every", checkpoint_every, at_least=0.0)
    generator = checked_generator(rng)
    call = scipy_style(callback, lambda outcome: result_of(outcome, setup.name, trace=False))

    save = None if checkpoint is None else Saver(checkpoint, setup.setting)
    with (
        showing_compilation(progress),
        _crew_of(setup, function_of_point(fun, args), workers, vectorized=vectorized) as crew,
    ):
        elsewhere = None if crew.is_here else crew.evaluate
        found, memory = None, None
        if checkpoint is not None and Path(checkpoint).exists():
            found = checkpoints.Checkpoint(checkpoint)
            _check_batch(checkpoint, found.setting.rounds, batch)
            setup, memory, generator = _resumed(found, checkpoint, setup)
            if checkpoint_check and isinstance(memory, Memory):
                noise = findings_of(setup.scheme, memory.state).noise or 0.0
                _check_objective(checkpoint, memory, setup.value_at(memory.state.x, elsewhere), noise)
        if memory is None:
            memory = setup.first_memory(start, setup.value_at(start, elsewhere), generator)
        with Interrupts() as interrupts:
            whole = setup.can_be_compiled and crew.is_here

            def begun(_: object = None) -> StagedRun:
                return StagedRun(setup, memory, generator, whole=whole, threads=crew.threads)

            run = begun() if found is None else found.checked(begun)
            monitor = Monitor(maxtime=seconds, callback=call, save=save, save_every=every, progress=progress)
            if isinstance(crew.evaluate, Processes | Futures):
                crew.evaluate.deadline = monitor.deadline
            # A callback is called after every iteration.
            longest_leg = UNLIMITED if call is None else 1
            try:
                outcome = _driven(run, crew.evaluate, monitor, interrupts, longest_leg, setup.name)
            finally:
                run.settle()
                if save is not None:
                    save(run)
    result = result_of(outcome, setup.name, trace=trace)
    result.time = monitor.seconds
    return result


class _Crew(NamedTuple):
    """Who evaluates the points of a run."""

    evaluate: Evaluate
    is_here: bool = False
    """Whether that is this process alone, where a whole loop may be compiled."""
    threads: Threads | None = None
    """Its threads, if it has several for that."""


@contextlib.contextmanager
def _crew_of(
    setup: Setup, fun: Callable[[Any], Any], workers: int | Map | Executor, *, vectorized: bool
) -> Iterator[_Crew]:
    """Give who evaluates the points of a run."""
    if vectorized:
        yield _Crew(at_once(fun))
    elif workers == 1:
        yield _Crew(here(setup.objective), is_here=True)
    elif isinstance(workers, int) and setup.can_be_compiled:
        with ThreadPoolExecutor(workers) as executor:
            yield _Crew(here(setup.objective), is_here=True, threads=Threads(executor, workers))
    else:
        # Workers get the function itself, at points inside the bounds: nothing else need pickle.
        with evaluator(fun, workers) as evaluate:
            yield _Crew(evaluate)


def _driven(
    run: StagedRun, evaluate: Evaluate, monitor: Monitor, interrupts: Interrupts, longest_leg: int, name: str
) -> Outcome:
    """Drive a run to its end; attach what it has found to an exception that ends it early."""
    try:
        reason = drive(
            run,
            evaluate,
            interrupts=interrupts,
            longest_leg=longest_leg,
            monitor=None if monitor.is_idle else monitor,
        )
    except KeyboardInterrupt:
        reason = Reason.INTERRUPTED
    except TimeLimitError:
        reason = Reason.MAXTIME
    except Exception as error:
        interrupts.hold()
        with contextlib.suppress(AttributeError):
            error.pursuit_result = result_of(run.outcome(), name, trace=True)  # type: ignore[attr-defined]
            error.add_note("What was found before this is in the attribute pursuit_result of the exception.")
        raise
    interrupts.hold()
    monitor.close(run)
    return run.outcome(reason, last=True)


def _check_objective(path: str | os.PathLike[str], memory: Memory, found: float, noise: float) -> None:
    """Complain of an objective that is not the one of a checkpoint, given its value at the best point."""
    stored = memory.state.fx
    if found != stored and not abs(found - stored) <= _LUCK * noise:
        raise ValueError(
            f"{os.fspath(path)} holds a run of another function: at its best point the value is {found!r}, "
            f"but {stored!r} was stored. If the function is noisy or was changed on purpose, pass "
            "checkpoint_check=False."
        )


def _check_batch(path: str | os.PathLike[str], stored: Rounds | None, batch: int | None) -> None:
    """Complain of a batch that is not the one of a checkpoint, whose rounds are then those of its workers."""
    wanted = rounds_of(batch)
    if wanted is not None and wanted != stored:
        raise ValueError(
            f"{os.fspath(path)} holds a run with batch={stored.most if stored else None}, which cannot be "
            f"resumed with batch={batch}."
        )


def _resumed(
    found: checkpoints.Checkpoint, path: str | os.PathLike[str], setup: Setup
) -> tuple[Setup, Memory | Unstarted, np.random.Generator]:
    """Return setup, memory and generator of a checkpoint, if it is one of the same run."""
    for name in ("method", "options", "restarts", "n", "sigma0"):
        stored, given = getattr(found.setting, name), getattr(setup.setting, name)
        if not _same(stored, given):
            raise ValueError(
                f"{os.fspath(path)} holds a run with {name}={shown(stored, 300)}, which cannot be resumed "
                f"with {name}={shown(given, 300)}."
            )
    if not _same_box(found.setting.box, setup.setting.box):
        raise ValueError(
            f"{os.fspath(path)} holds a run with other bounds, which cannot be resumed with these."
        )
    past, stored = found.past, found.setting.rounds
    if found.is_unstarted and past is None:
        raise ValueError(f"{os.fspath(path)} holds an optimizer that was told nothing yet.")
    if stored != setup.task.rounds:
        # How many workers there are now makes no difference to a run that has begun.
        setup = setup._replace(task=setup.task._replace(rounds=stored))
        setup = found.checked(lambda _: setup.at(setup.stage))
    if past is not None:
        setup = setup._replace(task=setup.task._replace(x0=past.x0))
        known = {setup.setting.method: setup.task.method}
        setup = found.checked(lambda _: setup.at(stage_of(past.stage, known)))
    setup = found.checked(setup.resumed)
    return (setup, *found.memory(setup.scheme))


def _same(one: Any, other: Any) -> bool:
    """Say whether two settings are the same; options may hold arrays."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return np.array_equal(one, other)


def _same_box(one: Box | None, other: Box | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(np.array_equal(*sides) for sides in zip(one[:2], other[:2], strict=True))
