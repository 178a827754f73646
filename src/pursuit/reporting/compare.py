"""Several methods on a function of your own, with several seeds: `compare`."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from pursuit.checks import Vector, checked_count, checked_number, shown, with_known_arguments
from pursuit.engine.counting import CountedFunction, RunEnded
from pursuit.engine.processes import check_pickles
from pursuit.engine.setup import set_up
from pursuit.engine.stopping import FTOL, XTOL
from pursuit.many import checked_count_of, executor_of
from pursuit.methods.catalogue import method_name
from pursuit.methods.stages import Task
from pursuit.minimize import minimize
from pursuit.problems.boxes import checked_box
from pursuit.problems.contract import Problem
from pursuit.problems.objective import as_value
from pursuit.reporting.comparison import ComparedRun, Comparison

_EVALUATIONS_EACH = 1000
_REACHED = "target"
# What serves to check arguments where no method is one of ours.
_ANY_METHOD = "rp"


class OtherMethod(Protocol):
    """Another optimiser: it minimises `fun`, whose calls are counted, and may return anything."""

    def __call__(
        self, fun: Callable[[Any], float], x0: Vector, *, maxfev: int, seed: int, sigma0: Any
    ) -> object:
        """Start at x0 with the step size sigma0; all random numbers come from the seed."""


class _Task(NamedTuple):
    """All that a run needs; it pickles if the function and the method do."""

    fun: Any
    x0: Vector
    settings: Mapping[str, Any]
    """`maxfev`, `ftarget`, `sigma0` and `bounds`."""
    repeats: int
    label: str = ""
    method: Any = None
    seed: int = 0


@with_known_arguments
def compare(
    fun: Callable[[Any], Any] | Problem,
    x0: Any,
    methods: Sequence[str | type | OtherMethod] | Mapping[str, str | type | OtherMethod] = (
        "auto",
        "differences",
        "evolution",
        "rp",
    ),
    *,
    seeds: int | Iterable[int] = range(5),
    maxfev: int | None = None,
    ftarget: float | None = None,
    sigma0: float | ArrayLike = 1.0,
    bounds: Any = None,
    repeats: int = 0,
    workers: int = 1,
) -> Comparison:
    """Compare methods on a function: run each with several seeds.

    Parameters
    ----------
    fun : callable
        The function, as in `pursuit.minimize`.
    x0 : array_like
        The start of all runs.
    methods : sequence, or mapping from names
        Names from `pursuit.list_methods()`, classes of schemes, or functions that call another optimiser:
        ``method(fun, x0, *, maxfev, seed, sigma0)``, which may return anything. The `fun` that it gets counts
        its calls, and ends the run when the target is reached or `maxfev` is spent. A mapping gives the
        methods names of your choice.
    seeds : int or iterable of int
        The seed of each run of a method, or how many runs to make, with the seeds 0, 1, 2 and so on.
    maxfev : int
        The maximum number of evaluations of a run; by default 1000 per variable.
    ftarget : float
        A run ends when a value at or below this one is found.
    sigma0 : float or array_like
        The first step size, as in `pursuit.minimize`.
    bounds : scipy.optimize.Bounds, sequence of pairs, or None
        As in `pursuit.minimize`. A function that calls another optimiser gets them as its argument `bounds`,
        if there are any. Outside them values are infinite, and `fun` is not called.
    repeats : int
        For noisy functions: how many more times to evaluate the point at which a run ended. These evaluations
        are not counted, and the run is judged by their mean. The point is the `x` of our results; for another
        optimiser it is the point that it returns, if it returns one, otherwise the best that it evaluated. By
        default, our methods are judged by `fun`, which may be an estimate, and others by the smallest value
        seen; if ours found noise, the table says so.
    workers : int
        How many runs to make at a time, each in a process of its own; -1 for one per core. With several,
        other processes must be able to import the functions, and runs may take longer than they do alone.

    Returns
    -------
    Comparison
        A table when printed, with `rows`, `runs` and `plot`.

    Examples
    --------
    >>> import pursuit
    >>> problem = pursuit.problems.exp(10, 1e2)
    >>> found = pursuit.compare(problem, problem.x0, ("cma", "rp"), seeds=3, maxfev=20_000, ftarget=1e-6)
    >>> [(row.method, row.success_share) for row in found.rows]
    [('cma', 1.0), ('rp', 1.0)]
    >>> found.rows[0].nfev_to_target < found.rows[1].nfev_to_target
    True
    """
    named = _checked_methods(methods)
    chosen = _checked_seeds_of(seeds)
    target = None if ftarget is None else checked_number("ftarget", ftarget)
    most = None if maxfev is None else checked_count("maxfev", maxfev, at_least=1)
    limits = {"ftarget": target, "xtol": XTOL, "ftol": FTOL, "maxiter": None, "maxfev": most}
    task = Task(x0, _ANY_METHOD, limits, sigma0=sigma0, bounds=bounds, fun=fun).flattened()
    # What is wrong for all runs is an error at once.
    for method in [method for method in named.values() if _is_own(method)] or [_ANY_METHOD]:
        setup, _ = set_up(task._replace(method=method))
    start = setup.task.x0
    most = most or _EVALUATIONS_EACH * start.size
    again = checked_count("repeats", repeats, at_least=0)
    settings = {"maxfev": most, "ftarget": target, "sigma0": task.sigma0, "bounds": task.bounds}
    shared = _Task(task.fun, start, settings, again)
    jobs = [
        shared._replace(label=label, method=named[label], seed=seed) for label in named for seed in chosen
    ]
    count = min(checked_count_of(workers), len(jobs))
    runs = [_execute(job) for job in jobs] if count == 1 else _in_processes(jobs, count)
    runs = [run._replace(x=task.structure.shaped(run.x)) for run in runs]
    return Comparison(runs, maxfev=most, ftarget=target, repeats=again)


def _checked_methods(methods: Any) -> dict[str, Any]:
    """Return methods by their names."""
    if isinstance(methods, str) or not isinstance(methods, Iterable):
        raise TypeError(
            f"methods must be a sequence of methods, such as ('auto', 'cma'), but {shown(methods)} was given."
        )
    pairs = (
        [(str(name), method) for name, method in methods.items()]
        if isinstance(methods, Mapping)
        else [(_name_of(method), method) for method in methods]
    )
    if not pairs:
        raise ValueError("methods must hold at least one method, but it is empty.")
    for name, method in pairs:
        if not (isinstance(method, str) or callable(method)):
            raise TypeError(
                "A method is a name, a scheme's class, or a function that calls another optimiser, "
                f"but {shown(method)} was given."
            )
        if [other for other, _ in pairs].count(name) > 1:
            raise ValueError(
                f"There must be one method of each name, but there are several named {shown(name)}: "
                "pass a mapping from names to methods."
            )
    return dict(pairs)


def _name_of(method: Any) -> str:
    if _is_own(method):
        return method_name(method)
    return str(getattr(method, "__name__", None) or shown(method))


def _is_own(method: Any) -> bool:
    return isinstance(method, str | type)


def _checked_seeds_of(seeds: Any) -> list[int]:
    if not isinstance(seeds, Iterable) or isinstance(seeds, str):
        return list(range(checked_count("seeds", seeds, at_least=1)))
    chosen = [checked_count("A seed", seed, at_least=0) for seed in seeds]
    if not chosen:
        raise ValueError("seeds must hold at least one seed, but it is empty.")
    return chosen


def _in_processes(tasks: list[_Task], count: int) -> list[ComparedRun]:
    """Make runs in `count` processes, and return them in the order of the tasks."""
    check_pickles(tasks[0].fun)
    for label, method in {task.label: task.method for task in tasks}.items():
        check_pickles(method, f"the method {label}")
    with executor_of(count, in_threads=False) as executor:
        try:
            return list(executor.map(_execute, tasks))
        except BrokenExecutor:
            raise RuntimeError(
                "A worker died: it may have run out of memory, or the function or a method may have ended "
                "its process."
            ) from None


def _execute(task: _Task) -> ComparedRun:
    """Make one run, and judge it by the mean of new values if `repeats` asks for that."""
    try:
        run = _own_run(task) if _is_own(task.method) else _other_run(task)
        if not task.repeats:
            return run
        values = [as_value(task.fun(run.x.copy())) for _ in range(task.repeats)]
        return run._replace(fun=float(np.mean(values)))
    except Exception as error:
        error.add_note(f"This ended the run of the method {task.label} with the seed {task.seed}.")
        raise


def _own_run(task: _Task) -> ComparedRun:
    result = minimize(task.fun, task.x0, method=task.method, rng=task.seed, trace=True, **task.settings)
    target = task.settings["ftarget"]
    return ComparedRun(
        method=task.label,
        seed=task.seed,
        fun=result.fun,
        nfev=result.nfev,
        reached=result.nfev if target is not None and result.fun <= target else math.inf,
        seconds=result.time,
        progress_nfev=result.trace.nfev,
        progress_fun=np.fmin.accumulate(result.trace.fun),
        x=result.x,
        is_estimate=result.fun_is_estimate,
    )


def _other_run(task: _Task) -> ComparedRun:
    """Call another optimiser with a function that counts its calls."""
    given = {name: setting for name, setting in task.settings.items() if name != "ftarget"}
    target = task.settings["ftarget"]
    if given["bounds"] is None:
        del given["bounds"]
    better: list[tuple[int, float]] = []
    latest = best = task.x0

    def fun(x: Any) -> float:
        nonlocal latest
        latest = np.array(x, dtype=np.float64)
        return inside(latest)

    def reason_to_end(value: float) -> str:
        nonlocal best
        # `counted.best` includes this value already.
        if counted.best < (better[-1][1] if better else math.inf):
            better.append((counted.evaluations, counted.best))
            best = latest
        return _REACHED if target is not None and value <= target else ""

    inside = _inside(task.fun, task.x0, task.settings["bounds"])
    counted = CountedFunction(fun, given["maxfev"], reason_to_end)
    returned = None
    begin = time.perf_counter()
    with contextlib.suppress(RunEnded):
        returned = task.method(counted, task.x0.copy(), seed=task.seed, **given)
    seconds = time.perf_counter() - begin
    if not better:
        raise RuntimeError("The method ended before it had found a finite value.")
    better.append((counted.evaluations, counted.best))
    nfev, values = zip(*better, strict=True)
    point = _point_of(returned, task.x0)
    return ComparedRun(
        method=task.label,
        seed=task.seed,
        fun=counted.best,
        nfev=counted.evaluations,
        reached=counted.evaluations if counted.status == _REACHED else math.inf,
        seconds=seconds,
        progress_nfev=np.array(nfev, dtype=np.int64),
        progress_fun=np.array(values, dtype=np.float64),
        x=best if point is None else point,
        is_estimate=False,
    )


def _point_of(returned: object, x0: Vector) -> Vector | None:
    """Return the point that another optimiser returned; None if it returned something else."""
    if isinstance(returned, np.ndarray) and returned.shape == x0.shape:
        return np.array(returned, dtype=np.float64)
    return None


def _inside(fun: Callable[[Any], Any], x0: Vector, bounds: Any) -> Callable[[Any], float]:
    """Return a function that is infinite outside the bounds, and does not write into its argument."""
    box = checked_box(bounds, x0)

    def value(x: Any) -> float:
        point = np.array(x, dtype=np.float64)
        if box is not None and not ((box.lower <= point) & (point <= box.upper)).all():
            return math.inf
        return as_value(fun(point))

    return value
