"""Many runs of one problem in one call: `minimize_many`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pursuit.checks import (
    Vector,
    checked_array,
    checked_choice,
    checked_count,
    checked_generator,
    checked_seeds,
    checked_trace,
    with_known_arguments,
)
from pursuit.engine.driving import Interrupts, drive
from pursuit.engine.evaluation import Here, checked_workers
from pursuit.engine.outcome import Outcome
from pursuit.engine.processes import Excused, begin_worker, check_pickles, failures_for
from pursuit.engine.setup import Setup, set_up
from pursuit.engine.staged import StagedRun
from pursuit.engine.stopping import FTOL, XTOL, Reason
from pursuit.methods.catalogue import DEFAULT_METHOD
from pursuit.methods.stages import Task
from pursuit.problems.contract import Problem
from pursuit.problems.objective import Extras, function_of_point
from pursuit.problems.structure import Structure, structure_of
from pursuit.reporting.progress import showing_compilation
from pursuit.result import Result, Results, result_of


class _OneRun(NamedTuple):
    """All that a run needs; it pickles if the function does."""

    number: int
    task: Task
    seed: Any
    trace: bool | str
    on_error: str


@with_known_arguments
def minimize_many(
    fun: Callable[..., Any] | Problem,
    x0: Any,
    seeds: int | Sequence[Any] | None = None,
    args: tuple[Any, ...] = (),
    method: str | type = DEFAULT_METHOD,
    *,
    rng: Any = None,
    bounds: Any = None,
    sigma0: float | ArrayLike = 1.0,
    ftarget: float | None = None,
    xtol: float = XTOL,
    ftol: float = FTOL,
    maxiter: int | None = None,
    maxfev: int | None = None,
    options: Mapping[str, Any] | None = None,
    restarts: int = 0,
    trace: bool | str = False,
    device: str = "cpu",
    workers: int = -1,
    on_error: str = "raise",
) -> Results:
    """Minimise a function many times: with many seeds, from many starts, or both.

    Parameters
    ----------
    fun : callable
        As in `pursuit.minimize`. Functions jitted by Numba and problems run in threads; a Python function
        runs in processes, which must be able to import it.
    x0 : array_like, or parameters of another structure as in `pursuit.minimize`
        The start of all runs, or a start for each of them, one per row; a list of starts that are no arrays
        is one for each run if there are no seeds.
    seeds : int, sequence or None
        How many runs to make from one start, or the seed of each run. Without it there is one run for each
        start.
    args : tuple
        Further arguments for `fun`.
    method : str or type
        As in `pursuit.minimize`.
    rng : int, numpy.random.SeedSequence or None
        What the seeds are spawned from, if they are not given.
    bounds, sigma0, ftarget, xtol, ftol, maxiter, maxfev, options, restarts, trace, on_error
        As in `pursuit.minimize`, for each run.
    device : {"cpu", "gpu"}
        Where to make the runs. A GPU (extra ``gpu``) makes thousands at a time, of functions that Numba can
        compile. It has random numbers of its own, so its runs differ from those of a CPU with the same seeds.
    workers : int
        How many runs to make at a time on a CPU; -1 for one per core.

    Returns
    -------
    Results
        The results in the order of the runs, each with its `seed`: ``minimize(fun, x0, rng=result.seed)``
        makes the same run, bit for bit. After Ctrl-C, those of the runs that had begun.

    Notes
    -----
    An exception raised by `fun` reaches the caller; its attribute ``pursuit_results`` holds the results of
    the runs that had ended.

    Examples
    --------
    >>> import pursuit
    >>> problem = pursuit.problems.exp(20, 1e2)
    >>> results = pursuit.minimize_many(problem, problem.x0, seeds=11, rng=1, ftarget=1e-9)
    >>> len(results), results.success_share
    (11, 1.0)
    >>> single = pursuit.minimize(problem, problem.x0, rng=results[3].seed, ftarget=1e-9)
    >>> single.nfev == results[3].nfev
    True
    """
    structure, x0 = _without_structure(x0, several=seeds is None)
    starts, given = _starts_and_seeds(x0, seeds, rng)
    limits = {"ftarget": ftarget, "xtol": xtol, "ftol": ftol, "maxiter": maxiter, "maxfev": maxfev}
    task = Task(
        structure.shaped(starts[0]), method, limits,
        sigma0=sigma0, bounds=bounds, options=options, restarts=restarts, fun=fun, args=args,
    ).flattened()  # fmt: skip
    trace = checked_trace(trace)
    if failures_for(on_error).excuses and callable(fun):
        task = task._replace(fun=Excused(function_of_point(task.fun, args)), args=())
    runs = [
        _OneRun(number, task._replace(x0=start), seed, trace, on_error)
        for number, (start, seed) in enumerate(zip(starts, given, strict=True))
    ]
    # What is wrong for all runs is an error at once, and what they share is compiled once.
    setup, _ = set_up(task)
    if checked_choice("device", device, ("cpu", "gpu")) == "gpu":
        if trace == "x":
            raise ValueError('trace="x" is for runs on a CPU: a GPU keeps no points, so pass trace=True.')
        return Results(_run_on_gpu(runs))
    count = min(checked_count_of(workers), len(runs))
    return Results(_run_all(runs, count, in_threads=setup.can_be_compiled or count == 1))


def _without_structure(x0: Any, *, several: bool) -> tuple[Structure, Any]:
    """Return the structure of starts and the starts as flat arrays: an array is one of these, or several."""
    if isinstance(x0, list | tuple) and not hasattr(x0, "_fields"):
        with contextlib.suppress(TypeError):
            return Structure(), checked_array("x0", x0)
        if several:
            structure, _ = structure_of(x0[0])
            return structure, [structure.flat(start, f"x0[{number}]") for number, start in enumerate(x0)]
    return structure_of(x0)


def _starts_and_seeds(x0: Any, seeds: Any, rng: Any) -> tuple[list[NDArray[np.float64]], list[Any]]:
    """Return a start and a seed for every run."""
    starts = np.atleast_1d(checked_array("x0", x0))
    if starts.ndim not in (1, 2) or starts.shape[0] == 0:
        raise ValueError(f"x0 must be a point, or points one per row, but its shape is {starts.shape}.")
    if seeds is None and starts.ndim == 1:
        raise ValueError("With one start, seeds must say how many runs to make, but none were given.")
    if seeds is None or not isinstance(seeds, Sequence | np.ndarray):
        count = len(starts) if seeds is None else checked_count("seeds", seeds, at_least=1)
        given: list[Any] = list(checked_seeds(rng).spawn(count))
    else:
        given = list(seeds)
        if not given:
            raise ValueError("seeds must hold at least one seed, but it is empty.")
    if starts.ndim == 1:
        return [starts] * len(given), given
    if len(starts) != len(given):
        raise ValueError(
            f"There must be a seed for each of {len(starts)} starts, but there are {len(given)}."
        )
    return list(starts), given


def checked_count_of(workers: Any) -> int:
    """Return how many runs to make at a time."""
    count = checked_workers(workers)
    if not isinstance(count, int):
        kind = "a callable" if callable(count) else "an executor"
        raise TypeError(f"workers must be an integer here, but {kind} was given.")
    return count


def _run_all(runs: list[_OneRun], count: int, *, in_threads: bool) -> list[Result]:
    """Execute runs, `count` at a time, and return the results in their order."""
    stopped = threading.Event()
    found: dict[int, Result] = {}
    with executor_of(count, in_threads=in_threads) as executor:
        if not in_threads:
            check_pickles(runs[0].task.fun)
        begin: dict[Future[Result], int] = {
            executor.submit(_execute, one, *((stopped,) if in_threads else ())): one.number for one in runs
        }
        try:
            for future in as_completed(begin):
                found[begin[future]] = future.result()
        except KeyboardInterrupt:
            # First those that have not begun: a worker that is free would take the next of them.
            for future in begin:
                future.cancel()
            stopped.set()
            for future, number in begin.items():
                if in_threads and not future.cancelled():
                    found[number] = future.result()
        except BrokenExecutor:
            raise RuntimeError(
                "A worker died: it may have run out of memory, or the function may have ended its process."
            ) from None
        except BaseException as error:
            for future in begin:
                future.cancel()
            stopped.set()
            with contextlib.suppress(AttributeError):
                error.pursuit_results = Results(_in_order(found))  # type: ignore[attr-defined]
            raise
    return _in_order(found)


def _run_on_gpu(runs: list[_OneRun]) -> list[Result]:
    """Execute runs on a GPU, all at a time."""
    # Numba's compiler for GPUs is an extra.
    from pursuit.gpu.batch import Batch
    from pursuit.gpu.schedule import run_batches

    groups: dict[tuple[bytes, bytes], list[tuple[_OneRun, Setup, Vector]]] = {}
    for one in runs:
        setup, start = set_up(one.task)
        box, scale = setup.box, setup.scale
        # The margins of bounds and the offset of scaled variables can depend on the start.
        place = (
            b"" if box is None else box.margin.tobytes(),
            b"" if scale is None else scale.offset.tobytes(),
        )
        groups.setdefault(place, []).append((one, setup, start))
    batches = [
        Batch(
            group[0][1],
            group[0][1].limits,
            np.array([start for _, _, start in group]),
            [setup.value_at(start) for _, setup, start in group],
            [checked_seeds(one.seed) for one, _, _ in group],
        )
        for group in groups.values()
    ]
    with contextlib.suppress(KeyboardInterrupt):
        run_batches(batches)
    found = {
        one.number: _finished(batch.outcome(run), setup, one)
        for batch, group in zip(batches, groups.values(), strict=True)
        for run, (one, setup, _) in enumerate(group)
    }
    return _in_order(found)


def _in_order(found: dict[int, Result]) -> list[Result]:
    return [found[number] for number in sorted(found)]


@contextlib.contextmanager
def executor_of(count: int, *, in_threads: bool) -> Iterator[Executor]:
    """Yield `count` threads, or processes that end with this context whatever they are doing."""
    # Imported here, since most programs make one run at a time.
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    if in_threads:
        with ThreadPoolExecutor(count) as threads:
            yield threads
        return
    processes = ProcessPoolExecutor(count, initializer=begin_worker)
    try:
        yield processes
    finally:
        for process in list((processes._processes or {}).values()):
            process.kill()
        processes.shutdown(cancel_futures=True)


def _execute(one: _OneRun, stopped: threading.Event | None = None) -> Result:
    """Make one run, in this thread."""
    setup, start = set_up(one.task)
    if stopped is not None and setup.can_be_compiled and hasattr(one.task.fun, "_fields"):
        # Threads must not write into the same arrays.
        from pursuit.problems.contract import with_own_arrays

        setup, start = set_up(one.task._replace(fun=with_own_arrays(one.task.fun)))
    generator = checked_generator(one.seed)
    with showing_compilation(False):
        extras = Extras()
        value = setup.value_at(start, extras=extras)
        first = setup.first_snapshot(start, value, generator, trace=one.trace)
        run = StagedRun(setup, first, generator, here=True, extras=extras)

    def monitor(_: object) -> Reason:
        return Reason.INTERRUPTED if stopped is not None and stopped.is_set() else Reason.RUNNING

    fun, failures = function_of_point(one.task.fun, one.task.args), failures_for(one.on_error)
    here = Here(fun, failures.read)
    with Interrupts() as interrupts:
        reason = drive(run, here, interrupts=interrupts, monitor=monitor)
        outcome = run.outcome(reason, last=True)
    result = _finished(outcome, setup, one)
    result.message = failures.said_after(result.message)
    return result


def _finished(outcome: Outcome, setup: Setup, one: _OneRun) -> Result:
    """Return the result of a run; one that did not stop by itself was interrupted."""
    if outcome.reason == Reason.RUNNING:
        outcome = outcome._replace(reason=Reason.INTERRUPTED, message=Reason.INTERRUPTED.sentence())
    result = result_of(outcome, setup, trace=one.trace)
    result.seed = one.seed
    return result
