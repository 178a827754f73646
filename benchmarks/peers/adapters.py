"""Every solver, in a few lines, through its own public interface and with its default settings.

Where other settings serve a solver much better, it is there twice, and its second name says so.

A solver gets the function, the start, the first step size, the limit of evaluations and the seed, and nothing
else; where it has no parameter for one of them, a comment says so. Packages are imported when their solver is
called, so that the others work where one is not installed.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from pursuit.checks import Vector

Fun = Callable[[Vector], float]
DENSE_LIMIT = 10_000
"""From this n on, solvers that keep a matrix of n times n numbers are not run."""
NO_ROOM = "It keeps a matrix of n² numbers."
LINEAR, QUADRATIC, OUTSIDER = "linear", "quadratic", "outsider"


class Solve(Protocol):
    """The call of an adapter."""

    def __call__(self, fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> Vector | None:
        """Minimise `fun`; return the point that the solver recommends, None where nobody needs it."""


class Solver(NamedTuple):
    """A solver and its properties."""

    name: str
    package: str
    memory: str
    """How its memory grows with n, `LINEAR` or `QUADRATIC`; or `OUTSIDER`: a method of another kind."""
    solve: Solve
    ours: bool = False
    of_others: bool = False
    """Whether it is our version of a method of others: where ours and peers are compared, it is neither."""
    dense: bool = False
    """Whether it keeps a matrix of n times n numbers, and so cannot run where n is large."""
    replayable: bool = True
    """Whether it runs for any number of evaluations on prepared values, in whatever order."""
    lasts: int | None = None
    """How many evaluations it takes at least to solve the problem of those that are not, if these are few."""
    note: str = ""

    @property
    def identifier(self) -> str:
        """Its name as that of a Python function."""
        return self.name.replace(" ", "_").replace("-", "_")

    @property
    def installed(self) -> bool:
        """Whether its package is installed."""
        return importlib.util.find_spec(self.package) is not None

    @property
    def version(self) -> str:
        """The version of its package, empty where that is not installed."""
        return importlib.metadata.version(self.package) if self.installed else ""


# --- ours ------------------------------------------------------------------------------------------


def using_pursuit(method: str, **options: Any) -> Solve:
    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> Vector:
        import pursuit

        result = pursuit.minimize(
            fun, x0, method=method, rng=seed, sigma0=sigma0, maxfev=maxfev, options=options
        )
        return np.asarray(result.x)

    return solve


# --- cma (pycma) -----------------------------------------------------------------------------------


def using_pycma(**mode: Any) -> Solve:
    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> Vector:
        import cma

        options = {"seed": seed, "maxfevals": maxfev, "verbose": -9, **mode}
        strategy = cma.CMAEvolutionStrategy(x0, sigma0, options)
        while not strategy.stop():
            points = strategy.ask()
            strategy.tell(points, [fun(x) for x in points])
        # The mean, which it recommends under noise.
        return np.asarray(strategy.result.xfavorite)

    return solve


# --- cmaes -----------------------------------------------------------------------------------------


def using_cmaes(name: str) -> Solve:
    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> None:
        import cmaes

        optimizer = getattr(cmaes, name)(mean=x0.copy(), sigma=sigma0, seed=seed)
        # It has no limit of evaluations: the user writes the loop.
        spent = 0
        while spent < maxfev and not optimizer.should_stop():
            points = [optimizer.ask() for _ in range(optimizer.population_size)]
            optimizer.tell([(x, fun(x)) for x in points])
            spent += len(points)

    return solve


# --- pypop7 ----------------------------------------------------------------------------------------


def using_pypop7(name: str, family: str = "es") -> Solve:
    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> None:
        module = importlib.import_module(f"pypop7.optimizers.{family}.{name.lower()}")
        # It requires bounds, which it does not respect; it draws a new start within them when it restarts.
        problem = {
            "fitness_function": fun, "ndim_problem": x0.size,
            "lower_boundary": x0 - 5.0 * sigma0, "upper_boundary": x0 + 5.0 * sigma0,
        }  # fmt: skip
        options = {
            "mean": x0, "sigma": sigma0, "seed_rng": seed, "max_function_evaluations": maxfev, "verbose": 0,
        }  # fmt: skip
        getattr(module, name)(problem, options).optimize()

    return solve


# --- nevergrad -------------------------------------------------------------------------------------


def using_nevergrad(name: str) -> Solve:
    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> None:
        import nevergrad as ng

        array = ng.p.Array(init=x0).set_mutation(sigma=sigma0)
        array.random_state.seed(seed)
        ng.optimizers.registry[name](array, budget=maxfev).minimize(fun)

    return solve


# --- fcmaes ----------------------------------------------------------------------------------------


def fcmaes_crfmnes(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> Vector:
    from fcmaes import crfmnescpp

    rg = np.random.Generator(np.random.PCG64DXSM(seed))
    result = crfmnescpp.minimize(fun, x0=x0, input_sigma=sigma0, max_evaluations=maxfev, rg=rg)
    return np.asarray(result.x)


# --- scipy -----------------------------------------------------------------------------------------


def scipy_lbfgsb(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> None:
    from scipy.optimize import minimize

    # It has neither a seed nor a first step size. Its tolerances are the default ones.
    minimize(fun, x0, method="L-BFGS-B", options={"maxfun": maxfev, "maxiter": maxfev})


def scipy_lbfgsb_precise(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> None:
    """With more accurate slopes, more of its memory, and until its line search fails.

    Forward differences and the default tolerances end it before 1e-9.
    """
    from scipy.optimize import minimize

    # It has neither a seed nor a first step size.
    options = {"maxfun": maxfev, "maxiter": maxfev, "ftol": 0.0, "gtol": 0.0, "maxcor": 50, "maxls": 50}
    minimize(fun, x0, method="L-BFGS-B", jac="3-point", options=options)


def scipy_powell(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> None:
    from scipy.optimize import minimize

    # It has neither a seed nor a first step size. Its tolerances are the default ones.
    minimize(fun, x0, method="Powell", options={"maxfev": maxfev, "maxiter": maxfev})


def _of_others(method: str, note: str, **properties: Any) -> Solver:
    return Solver(
        method, "pursuit", LINEAR, using_pursuit(method), ours=True, of_others=True, note=f"ours, {note}",
        **properties,
    )  # fmt: skip


DEFAULT = "scipy L-BFGS-B"
PRECISE = "scipy L-BFGS-B 3-point"
_CHOSEN = "a mode that people must choose"
SOLVERS = (
    Solver(
        "auto",
        "pursuit",
        LINEAR,
        using_pursuit("auto"),
        ours=True,
        replayable=False,
        lasts=3000,
        note="the default",
    ),
    Solver(
        "differences", "pursuit", LINEAR, using_pursuit("differences"), ours=True, replayable=False,
        lasts=3000,
    ),
    Solver("evolution", "pursuit", LINEAR, using_pursuit("evolution"), ours=True, replayable=False),
    Solver("adaptive-sarp", "pursuit", LINEAR, using_pursuit("adaptive-sarp"), ours=True, replayable=False),
    Solver("ep-cma-4", "pursuit", LINEAR, using_pursuit("ep-cma-4"), ours=True),
    Solver("rp", "pursuit", LINEAR, using_pursuit("rp"), ours=True),
    Solver("pycma", "cma", QUADRATIC, using_pycma(), dense=True),
    Solver("pycma diagonal", "cma", LINEAR, using_pycma(CMA_diagonal=True), note=_CHOSEN),
    Solver("cmaes CMA", "cmaes", QUADRATIC, using_cmaes("CMA"), dense=True),
    Solver("cmaes SepCMA", "cmaes", LINEAR, using_cmaes("SepCMA")),
    _of_others("sep-cma", "of Ros and Hansen's method"),
    Solver("pypop7 LMCMA", "pypop7", LINEAR, using_pypop7("LMCMA"), note="Loshchilov's of 2017"),
    _of_others("lm-cma", "of Loshchilov's method of 2014", replayable=False, lasts=5000),
    Solver("pypop7 LMMAES", "pypop7", LINEAR, using_pypop7("LMMAES")),
    Solver("pypop7 MMES", "pypop7", LINEAR, using_pypop7("MMES")),
    Solver("pypop7 RMES", "pypop7", LINEAR, using_pypop7("RMES")),
    Solver("pypop7 R1ES", "pypop7", LINEAR, using_pypop7("R1ES")),
    Solver(
        "pypop7 OPOC2009", "pypop7", QUADRATIC, using_pypop7("OPOC2009"), dense=True, note="a (1+1)-CMA-ES"
    ),
    Solver("nevergrad OnePlusOne", "nevergrad", LINEAR, using_nevergrad("OnePlusOne")),
    Solver("nevergrad DiagonalCMA", "nevergrad", LINEAR, using_nevergrad("DiagonalCMA")),
    Solver("fcmaes CR-FM-NES", "fcmaes", LINEAR, fcmaes_crfmnes, note="32 points a round"),
    _of_others("cr-fm-nes", "of Nomura and Ono's method"),
    Solver(
        DEFAULT, "scipy", OUTSIDER, scipy_lbfgsb, replayable=False,
        note="gradients by finite differences",
    ),
    Solver(
        PRECISE, "scipy", OUTSIDER, scipy_lbfgsb_precise, replayable=False,
        note="gradients by three-point differences, 50 pairs of vectors, no tolerances",
    ),
    Solver("scipy Powell", "scipy", OUTSIDER, scipy_powell, dense=True, replayable=False),
)  # fmt: skip
"""All of them, in the order of the tables. SARP is not among ours: it needs the condition number."""


def __getattr__(name: str) -> Solve:
    """Return a solver by its identifier, so that `pursuit coco` accepts, say, `...:pypop7_LMCMA`."""
    for solver in SOLVERS:
        if solver.identifier == name:
            return solver.solve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def solver_named(name: str) -> Solver:
    """Return the solver of that name."""
    return next(solver for solver in SOLVERS if solver.name == name)
