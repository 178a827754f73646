"""Every solver once: a function that minimises through a package's own interface, with default settings.

Settings that serve a solver much better are arguments, and part of the name under which a suite lists it. A
solver gets the function, the start, the first step size, the limit of evaluations, the seed, and bounds or a
constraint where there are any. Packages are imported when their solver is called, so that the others work
without them.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

import pursuit
from benchmarks.behaviour import behaviour
from pursuit.checks import Vector

Fun = Callable[[Vector], float]
Bounds = tuple[Vector, Vector]
LINEAR, QUADRATIC, OUTSIDER = "linear", "quadratic", "outsider"
# Packages whose modules have other names.
_DISTRIBUTIONS = {"pybobyqa": "Py-BOBYQA"}
# Where trust regions end, in units of the first.
_LEAST_STEP = 1e-13


class Answer(NamedTuple):
    """What a solver returns."""

    x: Vector
    success: bool | None = None
    """Whether it says to have succeeded; None if it does not say."""
    message: str = ""
    fun: float | None = None
    fun_error: float | None = None
    """The standard error of `fun`, if it knows that."""


class Solve(Protocol):
    """The call of a solver."""

    def __call__(
        self,
        fun: Fun,
        x0: Vector,
        *,
        sigma0: Any,
        maxfev: int,
        seed: int,
        bounds: Bounds | None = None,
        constraint: Fun | None = None,
    ) -> Answer | None:
        """Minimise `fun`; return what the solver recommends, None where nobody needs it."""


class Solver(NamedTuple):
    """A solver and its properties."""

    name: str
    package: str
    solve: Solve
    memory: str = LINEAR
    """How its memory grows with n, `LINEAR` or `QUADRATIC`; or `OUTSIDER`: a method of another kind."""
    method: str = ""
    """The name of the method, if it is one of ours."""
    of_others: bool = False
    """Whether it is our version of a method of others: beside peers it counts neither as ours nor as one."""
    random: bool = True
    """Whether its runs depend on the seed."""
    dense: bool = False
    """Whether it keeps a matrix of n times n numbers, and so cannot run where n is large."""
    most: float = math.inf
    """The most variables with which a step is fast enough for the budgets."""
    replayable: bool = True
    """Whether it runs for any number of evaluations on prepared values, in whatever order."""
    lasts: int | None = None
    """How many evaluations it takes at least to solve the problem of those that are not, if these are few."""
    note: str = ""

    @property
    def ours(self) -> bool:
        """Whether it is a method of this library."""
        return bool(self.method)

    @property
    def identifier(self) -> str:
        """Its name as that of a Python function."""
        return self.name.replace(" ", "_").replace("-", "_")

    @property
    def installed(self) -> bool:
        """Whether its package is installed."""
        return not self.package or importlib.util.find_spec(self.package) is not None

    @property
    def version(self) -> str:
        """What its measurements are identified by: what a method does, or the version of a package."""
        if self.ours:
            return behaviour(self.method)
        name = _DISTRIBUTIONS.get(self.package, self.package)
        return importlib.metadata.version(name) if name and self.installed else ""


# --- ours, and functions of one's own --------------------------------------------------------------


def using_pursuit(method: str, **options: Any) -> Solve:
    """Return one of our methods."""

    def solve(
        fun: Fun, x0: Vector, *, sigma0: Any, maxfev: int, seed: int,
        bounds: Bounds | None = None, constraint: Fun | None = None,
    ) -> Answer:  # fmt: skip
        from scipy.optimize import NonlinearConstraint

        constraints: Any = () if constraint is None else NonlinearConstraint(constraint, -np.inf, 0.0)
        found = pursuit.minimize(
            fun, x0, method=method, rng=seed, sigma0=sigma0, maxfev=maxfev, options=options,
            bounds=_scipy_bounds(bounds), constraints=constraints,
        )  # fmt: skip
        return Answer(np.asarray(found.x), found.success, found.message, found.fun, found.get("fun_error"))

    return solve


def our(method: str, name: str = "", options: Any = None, **properties: Any) -> Solver:
    """Return one of our methods as a solver."""
    return Solver(
        name or method, "pursuit", using_pursuit(method, **(options or {})), method=method, **properties
    )


def solver_named(spec: str, among: Iterable[Solver] = ()) -> Solver:
    """Return a solver: one of these, one of our methods, or a function as ``NAME=MODULE:FUNCTION``.

    The module is a name to import or the path of a file. Its function is called as ``function(fun, x0,
    sigma0=..., maxfev=..., seed=..., bounds=...)``.
    """
    known = {solver.name: solver for solver in among}
    if spec in known:
        return known[spec]
    if spec in pursuit.list_methods():
        return our(spec)
    place, colon, function = spec.rpartition("=")[2].rpartition(":")
    if not colon:
        names = ", ".join((*known, *(one for one in pursuit.list_methods() if one not in known)))
        raise ValueError(f"There is no solver {spec!r}; there are {names}, and NAME=MODULE:FUNCTION.")
    module = _module_at(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    found = getattr(module, function)

    def solve(fun: Fun, x0: Vector, *, constraint: Fun | None = None, **asked: Any) -> None:
        found(fun, x0, **asked)

    # The whole, by which another process finds it.
    return Solver(spec, "", solve)


def _module_at(path: Path) -> Any:
    found = importlib.util.spec_from_file_location(path.stem, path)
    if found is None or found.loader is None:
        raise ValueError(f"There is no module at {path}.")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


# --- other packages --------------------------------------------------------------------------------


def using_pycma(
    prepare: Callable[[Any], object] = lambda strategy: None, within: bool = False, **mode: Any
) -> Solve:
    """Return pycma with some options; `prepare` may change its strategy before it starts.

    It ends after the generation that exceeds the limit, or `within` it.
    """

    def solve(
        fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int, bounds: Bounds | None = None, **_: Any
    ) -> Answer:
        import cma

        population = 4 + int(3.0 * math.log(x0.size))
        most = maxfev - population + 1 if within else maxfev
        options = {"seed": seed, "maxfevals": most, "verbose": -9, **mode}
        if bounds is not None:
            options["bounds"] = [*bounds]
        strategy = cma.CMAEvolutionStrategy(x0, sigma0, options)
        prepare(strategy)
        while not strategy.stop():
            points = strategy.ask()
            strategy.tell(points, [fun(x) for x in points])
        # The mean, which it recommends under noise.
        return Answer(np.asarray(strategy.result.xfavorite))

    return solve


def using_cmaes(name: str) -> Solve:
    """Return an optimiser of cmaes, in the loop that its users write."""

    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int, **_: Any) -> None:
        import cmaes

        optimizer = getattr(cmaes, name)(mean=x0.copy(), sigma=sigma0, seed=seed)
        spent = 0
        while spent < maxfev and not optimizer.should_stop():
            points = [optimizer.ask() for _ in range(optimizer.population_size)]
            optimizer.tell([(x, fun(x)) for x in points])
            spent += len(points)

    return solve


def using_pypop7(name: str, family: str = "es") -> Solve:
    """Return an optimiser of pypop7.

    It requires bounds, which it does not respect; it draws a new start within them when it restarts.
    """

    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int, **_: Any) -> None:
        module = importlib.import_module(f"pypop7.optimizers.{family}.{name.lower()}")
        problem = {
            "fitness_function": fun, "ndim_problem": x0.size,
            "lower_boundary": x0 - 5.0 * sigma0, "upper_boundary": x0 + 5.0 * sigma0,
        }  # fmt: skip
        options = {
            "mean": x0, "sigma": sigma0, "seed_rng": seed, "max_function_evaluations": maxfev, "verbose": 0,
        }  # fmt: skip
        getattr(module, name)(problem, options).optimize()

    return solve


def using_nevergrad(name: str) -> Solve:
    """Return an optimiser of nevergrad."""

    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int, **_: Any) -> None:
        import nevergrad as ng

        array = ng.p.Array(init=x0).set_mutation(sigma=sigma0)
        array.random_state.seed(seed)
        ng.optimizers.registry[name](array, budget=maxfev).minimize(fun)

    return solve


def using_fcmaes(population: Callable[[int], int] | None = None) -> Solve:
    """Return CR-FM-NES of fcmaes, with 32 points a round or with a population that follows from n."""

    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int, **_: Any) -> Answer:
        from fcmaes import crfmnescpp

        size = 32 if population is None else population(x0.size)
        rg = np.random.Generator(np.random.PCG64DXSM(seed))
        result = crfmnescpp.minimize(
            fun, x0=x0, input_sigma=sigma0, max_evaluations=maxfev, popsize=size + size % 2, rg=rg
        )
        return Answer(np.asarray(result.x))

    return solve


def using_scipy(method: str, **settings: Any) -> Solve:
    """Return a method of SciPy; `settings` are options, or ``jac``. None of them has a seed."""

    def solve(
        fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int,
        bounds: Bounds | None = None, constraint: Fun | None = None,
    ) -> Answer:  # fmt: skip
        from scipy.optimize import minimize

        limits: dict[str, dict[str, Any]] = {
            "L-BFGS-B": {"maxfun": maxfev, "maxiter": maxfev},
            # It has a limit of iterations alone, with n + 1 values each.
            "SLSQP": {"maxiter": maxfev // (x0.size + 1)},
            "COBYLA": {"maxiter": maxfev},
            "COBYQA": {
                "maxfev": maxfev, "maxiter": maxfev, "initial_tr_radius": sigma0,
                "final_tr_radius": _LEAST_STEP * sigma0,
            },
        }  # fmt: skip
        options = {**limits.get(method, {"maxfev": maxfev, "maxiter": maxfev}), **settings}
        if method == "Nelder-Mead":
            options["initial_simplex"] = x0 + sigma0 * np.vstack([np.zeros(x0.size), np.eye(x0.size)])
        constraints: Any = ()
        if constraint is not None:
            constraints = {"type": "ineq", "fun": lambda x: -constraint(x)}
        found = minimize(
            fun, x0, method=method, jac=options.pop("jac", None), bounds=_scipy_bounds(bounds),
            constraints=constraints, options=options,
        )  # fmt: skip
        return Answer(np.asarray(found.x), bool(found.success), str(found.message), float(found.fun))

    return solve


def using_nlopt(name: str = "", least: float = _LEAST_STEP) -> Solve:
    """Return one of Powell's methods in NLopt, without a name the one that suits the bounds."""

    def solve(
        fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int, bounds: Bounds | None = None, **_: Any
    ) -> Answer | None:
        import nlopt

        chosen = name or ("LN_NEWUOA" if bounds is None else "LN_BOBYQA")
        solver = nlopt.opt(getattr(nlopt, chosen), x0.size)
        solver.set_min_objective(lambda x, gradient: fun(x))
        step = np.full(x0.size, sigma0)
        if bounds is not None:
            solver.set_lower_bounds(bounds[0])
            solver.set_upper_bounds(bounds[1])
            # It needs room for a step to both sides, and a little more.
            step = np.minimum(step, 0.49 * (bounds[1] - bounds[0]))
        solver.set_initial_step(step)
        solver.set_xtol_rel(least)
        solver.set_maxeval(maxfev)
        try:
            x = np.asarray(solver.optimize(x0))
        except nlopt.RoundoffLimited:
            # It has come as far as rounding lets it.
            return None
        ended = solver.last_optimize_result()
        return Answer(x, ended != nlopt.MAXEVAL_REACHED, f"NLopt's result {ended}")

    return solve


def using_pybobyqa() -> Solve:
    """Return Py-BOBYQA, whose trust region ends where those of the others do."""

    def solve(
        fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int, bounds: Bounds | None = None, **_: Any
    ) -> Answer:
        import pybobyqa

        # It needs room for two steps.
        step = sigma0 if bounds is None else min(sigma0, 0.49 * float(np.min(bounds[1] - bounds[0])))
        found = pybobyqa.solve(
            fun, x0, bounds=bounds, maxfun=maxfev, rhobeg=step, rhoend=_LEAST_STEP * step, do_logging=False
        )
        return Answer(np.asarray(found.x), found.flag == found.EXIT_SUCCESS, found.msg)

    return solve


def optuna_tpe(
    fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int, bounds: Bounds | None = None, **_: Any
) -> Answer:
    """Optuna's tree-structured Parzen estimator, which tries the start first, and needs bounds."""
    import optuna

    assert bounds is not None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    names = [f"x{j}" for j in range(x0.size)]
    limits = list(zip(names, bounds[0].tolist(), bounds[1].tolist(), strict=True))
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True))
    study.enqueue_trial(dict(zip(names, x0.tolist(), strict=True)))
    study.optimize(
        lambda trial: fun(np.array([trial.suggest_float(name, *limit) for name, *limit in limits])),
        n_trials=maxfev,
    )
    return Answer(np.array([study.best_params[name] for name in names]), fun=study.best_value)


def _scipy_bounds(bounds: Bounds | None) -> Any:
    from scipy.optimize import Bounds as ScipyBounds

    return None if bounds is None else ScipyBounds(bounds[0], bounds[1])
