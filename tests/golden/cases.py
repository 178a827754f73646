"""Which runs are written down in `trajectories.csv`: every method on every problem through every driver."""

import hashlib
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import scipy.optimize

import pursuit
from conformance.own import Bowl, Narrowing
from helpers import options_of_problem

METHODS = {
    **{name: (name, {}) for name in pursuit.list_methods()},
    "ep-cma-3": ("ep-cma-3", {}),
    "rp-bracketing": ("rp", {"line_search": "bracketing"}),
    "sarp-bracketing": ("sarp", {"line_search": "bracketing"}),
    "own": (Narrowing, {"offspring": 3}),
}
# These use BLAS and LAPACK, whose last bits depend on the processor: their runs are the same on one machine,
# and not written down.
PROGRAMS = ("auto", "differences", "evolution")
UNRECORDED = (*PROGRAMS, "l-cma")
RECORDED = [name for name in METHODS if name not in UNRECORDED]
# A rotation without rounding errors, whose bits depend on no library.
HADAMARD = 0.5 * np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], dtype=float)
PROBLEMS = {
    "exp": pursuit.problems.exp(5, 1e4),
    "lin": pursuit.problems.lin(21, 1e4),
    "two": pursuit.problems.two(6, 1e6),
    "rosenbrock": pursuit.problems.rosenbrock(9),
    "rotated-exp": pursuit.problems.rotated(pursuit.problems.exp(4, 1e3), 1)._replace(Q=HADAMARD),
    "own": Bowl(6),
}
# Of these, for which a loop is compiled around each problem, some problems will do.
RIVALS = ("sep-cma", "cr-fm-nes", "r1-nes", "lm-cma", "l-cma", "spsa", "rg", "ars", "arp", "acdm")
SEEDS = (1, 2, 3)
ITERATIONS = 400
TARGET = 1e-9


class Case(NamedTuple):
    method: str
    problem: str
    driver: str
    seed: int


class Row(NamedTuple):
    nit: int
    nfev: int
    fun: str
    digest: str


def arguments(case):
    method, options = METHODS[case.method]
    problem = PROBLEMS[case.problem]
    options = {**options, **options_of_problem(case.method, problem)}
    return {"method": method, "options": options, "rng": case.seed, "ftarget": TARGET}


def compiled(case, problem):
    return pursuit.minimize(problem, problem.x0, **arguments(case), maxiter=ITERATIONS, trace=True)


def python(case, problem):
    return pursuit.minimize(problem.__call__, problem.x0, **arguments(case), maxiter=ITERATIONS, trace=True)


def mapped(case, problem):
    # A program's round is evaluated to its end, even if the first of its points reaches the target.
    batch = 1 if case.method in PROGRAMS else None
    return pursuit.minimize(
        problem.__call__,
        problem.x0,
        **arguments(case),
        maxiter=ITERATIONS,
        trace=True,
        workers=map,
        batch=batch,
    )


def bounded(fun, case, problem):
    # Some minima lie inside these bounds, some on them, and some outside; the start is inside.
    bounds = [(start - 0.5, start + 1.0) for start in problem.x0]
    bounds[0] = (None, problem.x0[0] + 2.0)
    return pursuit.minimize(
        fun, problem.x0, **arguments(case), bounds=bounds, sigma0=0.5, maxiter=ITERATIONS, trace=True
    )


def compiled_in_bounds(case, problem):
    return bounded(problem, case, problem)


def python_in_bounds(case, problem):
    return bounded(problem.__call__, case, problem)


def resumed(fun, case, problem):
    """Run in three parts, each from the checkpoint that the one before has left."""
    with tempfile.TemporaryDirectory() as folder:
        for share in (0.1, 0.5, 1.0):
            result = pursuit.minimize(
                fun,
                problem.x0,
                **arguments(case),
                maxiter=int(share * ITERATIONS),
                checkpoint=Path(folder, "run.npz"),
                trace=True,
            )
    return result


def compiled_and_resumed(case, problem):
    return resumed(problem, case, problem)


def python_and_resumed(case, problem):
    return resumed(problem.__call__, case, problem)


def interrupted_and_resumed(case, problem):
    """End every part by an exception in the middle of an iteration."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.npz")
        for calls in (50, 111, math.inf):
            count = 0

            def fragile(x, most=calls):
                nonlocal count
                count += 1
                if count > most:
                    raise OSError("The simulator has crashed.")
                return problem(x)

            try:
                return pursuit.minimize(
                    fragile,
                    problem.x0,
                    **arguments(case),
                    maxiter=ITERATIONS,
                    checkpoint=path,
                    trace=True,
                )
            except OSError:
                assert path.exists()
    return None


def asked_and_told(case, problem):
    """Save and load the optimizer now and then, in the middle of iterations as well."""
    given = arguments(case)
    optimizer = pursuit.Optimizer(
        problem.x0, given["method"], rng=given["rng"], options=given["options"], sigma0=0.25, trace=True
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "optimizer.npz")
        for count in range(ITERATIONS):
            X = optimizer.ask()
            optimizer.tell(X, [problem(x) for x in X])
            if optimizer.stop():
                break
            if count in (0, 7, 100):
                optimizer.save(path)
                own = given["method"] if isinstance(given["method"], type) else None
                optimizer = pursuit.Optimizer.load(path, method=own, trace=True)
    return optimizer.result


def by_scipy(case, problem):
    given = arguments(case)
    options = {**given["options"], "rng": given["rng"], "ftarget": TARGET, "maxiter": ITERATIONS}
    return scipy.optimize.minimize(
        lambda x: problem(x),
        problem.x0,
        method=pursuit.scipy_method(given["method"]),
        options={**options, "trace": True},
    )


@numba.njit
def quartic(x, weight):
    total = 0.0
    for i in range(x.shape[0]):
        total += weight * x[i] * x[i] + x[i] ** 4
    return total


def jitted(case, problem):
    given = arguments(case)
    return pursuit.minimize(quartic, problem.x0 + 0.5, (0.25,), **given, maxiter=ITERATIONS, trace=True)


# A loop is compiled for each kind of problem, and `conformance` compares all of them with Python's.
EVERYWHERE: tuple[Callable[..., object], ...] = (python, asked_and_told)
ON_SOME: tuple[Callable[..., object], ...] = (
    compiled,
    mapped,
    python_in_bounds,
    compiled_and_resumed,
    python_and_resumed,
    interrupted_and_resumed,
    by_scipy,
)
# These give the same run, if there are no bounds.
ALIKE = (python, *(driver for driver in ON_SOME if driver is not python_in_bounds))
DRIVERS = {driver.__name__: driver for driver in (*EVERYWHERE, *ON_SOME, compiled_in_bounds, jitted)}
SOME = ("lin", "rosenbrock")


def cases_of(method):
    """Yield all cases of a method."""
    is_rival = method in RIVALS
    for seed in SEEDS:
        for problem in SOME if is_rival else PROBLEMS:
            drivers = EVERYWHERE + (ON_SOME if problem in SOME else ())
            yield from (Case(method, problem, driver.__name__, seed) for driver in drivers)
        if not is_rival:
            yield Case(method, "lin", "compiled_in_bounds", seed)
        if method == "rp":
            yield Case(method, "rosenbrock", "jitted", seed)


def row_of(case):
    """Run a case and return what is written down of it."""
    result = DRIVERS[case.driver](case, PROBLEMS[case.problem])
    numbers = [result.fun, result.sigma]
    counts = [result.nit, result.nfev, result.nfaulty, result.status]
    columns = [result.x, numbers, result.trace.fun, counts, result.trace.nit, result.trace.nfev]
    types = [np.float64] * 3 + [np.int64] * 3
    data = b"".join(np.asarray(c, dtype=t).tobytes() for c, t in zip(columns, types, strict=True))
    return Row(
        int(result.nit), int(result.nfev), repr(float(result.fun)), hashlib.sha256(data).hexdigest()[:16]
    )
