"""The tools: those of other packages with settings that serve them, and our methods by their names.

Others get variables in units of their first steps, so that parameters of different sizes are no obstacle; our
methods get the variables as they are, and the step sizes. What keeps to no bounds is shown the nearest point
inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize

import pursuit
from benchmarks.peers.adapters import using_pycma
from benchmarks.tasks.task import Case
from benchmarks.values.spsa import using_spsa
from pursuit.checks import Vector
from pursuit.compiling.cache import code_hash

Fun = Callable[[Vector], float]
# Where trust regions and simplices end, in units of the first step.
_LEAST_STEP = 1e-12
# ARS: directions in a round, how many of them are used, the distance of the values, and the step.
_DIRECTIONS, _USED, _DISTANCE, _STRIDE = 8, 4, 1.0, 0.5


class Answer(NamedTuple):
    """What a tool returns."""

    x: Vector
    success: bool | None = None
    """Whether it says to have succeeded; None if it does not say."""
    message: str = ""
    fun: float | None = None
    fun_error: float | None = None
    """The standard error of `fun`, if it knows that."""


Solve = Callable[[Fun, Case, int, int], Answer]
"""Minimise a function, given the rest of the case, the limit of evaluations and the seed."""


def using_scipy(method: str, **settings: Any) -> Solve:
    """Return a method of SciPy; `settings` are options, or ``jac``."""

    def solve(fun: Fun, case: Case, maxfev: int, seed: int) -> Answer:
        limits = {
            "L-BFGS-B": {"maxfun": maxfev, "maxiter": maxfev},
            # It has a limit of iterations alone, with n + 1 values each.
            "SLSQP": {"maxiter": maxfev // (case.x0.size + 1)},
            "COBYLA": {"maxiter": maxfev},
        }
        options = {**limits.get(method, {"maxfev": maxfev, "maxiter": maxfev}), **settings}
        if method == "Nelder-Mead":
            options["initial_simplex"] = case.x0 + np.vstack([np.zeros(case.x0.size), np.eye(case.x0.size)])
        constraints: Any = ()
        if case.constraint is not None:
            constraints = {"type": "ineq", "fun": lambda x: -case.constraint(x)}
        found = scipy.optimize.minimize(
            fun, case.x0, method=method, jac=options.pop("jac", None), constraints=constraints,
            bounds=scipy.optimize.Bounds(case.lower, case.upper), options=options,
        )  # fmt: skip
        return Answer(found.x, bool(found.success), str(found.message), float(found.fun))

    return solve


def pycma(fun: Fun, case: Case, maxfev: int, seed: int) -> Answer:
    """Pycma, which keeps to the bounds itself; it returns the mean of its distribution."""
    bounded = {"bounds": [case.lower, case.upper]} if np.isfinite(case.lower).any() else {}
    population = 4 + int(3.0 * math.log(case.x0.size))
    # It ends after the generation that exceeds the limit. Its tolerances are meant for values of about one.
    found = using_pycma(popsize=population, tolfun=1e-14, tolfunhist=1e-15, **bounded)(
        fun, case.x0, sigma0=1.0, maxfev=maxfev - population + 1, seed=seed
    )
    assert found is not None
    return Answer(found)


def spsa(gain: float) -> Solve:
    """Return SPSA with a gain."""

    def solve(fun: Fun, case: Case, maxfev: int, seed: int) -> Answer:
        found = using_spsa(gain)(_inside(fun, case), case.x0, sigma0=1.0, maxfev=maxfev, seed=seed)
        assert found is not None
        return Answer(found)

    return solve


def ars(fun: Fun, case: Case, maxfev: int, seed: int) -> Answer:
    """Augmented random search of Mania, Guy and Recht (NeurIPS 2018), their V1-t."""
    rng, x, value = np.random.default_rng(seed), case.x0.copy(), _inside(fun, case)
    for _ in range(maxfev // (2 * _DIRECTIONS)):
        directions = rng.standard_normal((_DIRECTIONS, x.size))
        values = np.array([[value(x + sign * _DISTANCE * d) for sign in (1, -1)] for d in directions])
        used = np.argsort(values.min(axis=1))[:_USED]
        spread = float(values[used].std())
        if spread > 0.0:
            x = x - _STRIDE / (_USED * spread) * (values[used] @ (1.0, -1.0)) @ directions[used]
    return Answer(x)


def bobyqa(fun: Fun, case: Case, maxfev: int, seed: int) -> Answer:
    """NLopt's BOBYQA, which has no seed."""
    import nlopt

    solver = nlopt.opt(nlopt.LN_BOBYQA, case.x0.size)
    solver.set_min_objective(lambda x, gradient: fun(x))
    solver.set_lower_bounds(case.lower)
    solver.set_upper_bounds(case.upper)
    # It needs room for a step to both sides.
    solver.set_initial_step(np.minimum(1.0, 0.49 * (case.upper - case.lower)))
    solver.set_xtol_rel(_LEAST_STEP)
    solver.set_maxeval(maxfev)
    x = np.asarray(solver.optimize(case.x0))
    ended = solver.last_optimize_result()
    return Answer(x, ended != nlopt.MAXEVAL_REACHED, f"NLopt's result {ended}")


def optuna_tpe(fun: Fun, case: Case, maxfev: int, seed: int) -> Answer:
    """Optuna's tree-structured Parzen estimator, which tries the start first."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    names = [f"x{j}" for j in range(case.x0.size)]
    limits = list(zip(names, case.lower.tolist(), case.upper.tolist(), strict=True))
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True))
    study.enqueue_trial(dict(zip(names, case.x0.tolist(), strict=True)))
    study.optimize(
        lambda trial: fun(np.array([trial.suggest_float(name, *limit) for name, *limit in limits])),
        n_trials=maxfev,
    )
    return Answer(np.array([study.best_params[name] for name in names]), fun=study.best_value)


def ours(method: str) -> Solve:
    """Return one of our methods."""

    def solve(fun: Fun, case: Case, maxfev: int, seed: int) -> Answer:
        constraints: Any = ()
        if case.constraint is not None:
            constraints = scipy.optimize.NonlinearConstraint(case.constraint, -np.inf, 0.0)
        bounded = np.isfinite(case.lower).any()
        found = pursuit.minimize(
            fun, case.x0, method=method, rng=seed, sigma0=case.sigma0, maxfev=maxfev, constraints=constraints,
            bounds=scipy.optimize.Bounds(case.lower, case.upper) if bounded else None,
        )  # fmt: skip
        return Answer(found.x, found.success, found.message, found.fun, found.get("fun_error"))

    return solve


_SIMPLEX = {"xatol": _LEAST_STEP, "fatol": 1e-14, "adaptive": True}
_RADII = {"initial_tr_radius": 1.0, "final_tr_radius": 1e-10}
PEERS: dict[str, Solve] = {
    "pycma": pycma,
    "L-BFGS-B": using_scipy("L-BFGS-B", ftol=1e-15, gtol=1e-9),
    "L-BFGS-B central": using_scipy("L-BFGS-B", ftol=1e-15, gtol=1e-10, jac="3-point"),
    "Nelder-Mead": using_scipy("Nelder-Mead", **_SIMPLEX),
    "BOBYQA": bobyqa,
    "COBYQA": using_scipy("COBYQA", **_RADII),
    "COBYLA": using_scipy("COBYLA", rhobeg=1.0, tol=1e-10),
    "SLSQP": using_scipy("SLSQP", ftol=1e-12),
    "SPSA 0.07": spsa(0.07),
    "SPSA 0.2": spsa(0.2),
    "ARS": ars,
    "Optuna TPE": optuna_tpe,
}
PACKAGES = ("scipy", "cma", "nlopt", "optuna")


def scaled(case: Case) -> Case:
    """Return a case in units of the first steps."""
    size, inner = case.sigma0, case.constraint
    return case._replace(
        fun=lambda x, rng: case.fun(x * size, rng), gap=lambda x: case.gap(x * size), x0=case.x0 / size,
        sigma0=np.ones(size.size), lower=case.lower / size, upper=case.upper / size,
        constraint=None if inner is None else lambda x: inner(x * size),
    )  # fmt: skip


def version_of(solver: str) -> str:
    """Return a hash of the code, if a method is ours: runs of another version are outdated."""
    if solver in PEERS:
        return ""
    if solver not in pursuit.methods():
        raise ValueError(
            f"There is no solver {solver!r}; there are {', '.join((*PEERS, *pursuit.methods()))}."
        )
    return code_hash()[:8]


def _inside(fun: Fun, case: Case) -> Fun:
    return lambda x: fun(np.clip(x, case.lower, case.upper)) if np.isfinite(x).all() else math.inf
