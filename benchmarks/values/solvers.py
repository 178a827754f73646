"""The methods that are compared: ours by the names that `minimize` knows, and those of other packages.

Adapters return the point that the solver recommends, where it gives one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import pursuit
from benchmarks.peers.adapters import (
    LINEAR,
    OUTSIDER,
    QUADRATIC,
    Fun,
    Solve,
    Solver,
    fcmaes_crfmnes,
    using_pursuit,
    using_pycma,
)
from benchmarks.values.spsa import GAINS, using_spsa
from pursuit.checks import Vector

SPSA = "SPSA"
"""How the names of all SPSA's gains begin."""
OURS = ("differences", "auto")
DETERMINISTIC = ("L-BFGS-B", "NEWUOA", "BOBYQA", "COBYQA")
"""Their runs differ by the noise alone, so they are made once where there is none."""
# A step of these takes so long beyond this number of variables that budgets are out of reach.
MOST_VARIABLES = {"NEWUOA": 200, "BOBYQA": 200, "COBYQA": 30, "pycma": 1000}
# Where NLopt's methods end, in units of their first step.
_LEAST_STEP = 1e-13


def lbfgsb(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> Vector:
    """SciPy's L-BFGS-B with forward differences, until the budget or a failing line search ends it."""
    from scipy.optimize import minimize

    # It has neither a seed nor a first step size.
    options = {"maxfun": maxfev, "maxiter": maxfev, "ftol": 0.0, "gtol": 0.0}
    return np.asarray(minimize(fun, x0, method="L-BFGS-B", options=options).x)


def cobyqa(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> Vector:
    """SciPy's COBYQA, which has no seed."""
    from scipy.optimize import minimize

    options = {
        "maxfev": maxfev,
        "maxiter": maxfev,
        "initial_tr_radius": sigma0,
        "final_tr_radius": _LEAST_STEP * sigma0,
    }
    return np.asarray(minimize(fun, x0, method="COBYQA", options=options).x)


def using_nlopt(name: str) -> Solve:
    """Return one of Powell's methods in NLopt, without bounds; it has no seed."""

    def solve(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> Vector | None:
        import nlopt

        solver = nlopt.opt(getattr(nlopt, name), x0.size)
        solver.set_min_objective(lambda x, gradient: fun(x))
        solver.set_initial_step(sigma0)
        solver.set_xtol_rel(_LEAST_STEP)
        solver.set_maxeval(maxfev)
        try:
            return np.asarray(solver.optimize(x0))
        except nlopt.RoundoffLimited:
            # It has come as far as rounding lets it.
            return None

    return solve


_PEERS = (
    Solver("L-BFGS-B", "scipy", OUTSIDER, lbfgsb),
    Solver("NEWUOA", "nlopt", QUADRATIC, using_nlopt("LN_NEWUOA")),
    Solver("BOBYQA", "nlopt", QUADRATIC, using_nlopt("LN_BOBYQA")),
    Solver("COBYQA", "scipy", QUADRATIC, cobyqa),
    Solver("pycma", "cma", QUADRATIC, using_pycma()),
    Solver("CR-FM-NES", "fcmaes", LINEAR, fcmaes_crfmnes),
)
PEERS = tuple(solver.name for solver in _PEERS)
# Only for noise.
_SPSAS = tuple(Solver(f"{SPSA} {gain:g}", "numpy", LINEAR, using_spsa(gain)) for gain in GAINS)
SPSAS = tuple(solver.name for solver in _SPSAS)
_OTHERS = {solver.name: solver for solver in (*_PEERS, *_SPSAS)}


def solver_named(name: str) -> Solver:
    """Return the solver of that name: a peer, or one of our methods."""
    if name in _OTHERS:
        return _OTHERS[name]
    if name in ours():
        return Solver(name, "pursuit", LINEAR, using_pursuit(name), ours=True)
    known = ", ".join((*ours(), *_OTHERS))
    raise ValueError(f"There is no method {name!r}; there are {known}.")


def ours() -> Sequence[str]:
    """Return the names of our methods."""
    return tuple(pursuit.methods())
