"""The solvers: those of other packages, our methods, and functions of your own.

Each has the signature ``solve(f, x0, bounds, maxfev, seed, sigma0)``. Packages are imported when their solver
is called.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

import pursuit
from benchmarks.cutest.problems import Bounds
from pursuit.checks import Vector
from pursuit.compiling.cache import code_hash

Fun = Callable[[Vector], float]
# Where trust regions end, in units of the first.
_LEAST_STEP = 1e-13


class Solve(Protocol):
    """The call of a solver."""

    def __call__(
        self, f: Fun, x0: Vector, bounds: Bounds | None, maxfev: int, seed: int, sigma0: float
    ) -> Any:
        """Minimise `f`; what is returned does not matter, for the values of `f` are recorded."""


class Solver(NamedTuple):
    """A solver."""

    name: str
    spec: str
    """What `named` finds it by, in any process."""
    solve: Solve
    random: bool = True
    """Whether its runs depend on the seed."""
    version: str = ""
    """A hash of the code, if it is ours: runs of another version are outdated."""


def lbfgsb(f: Fun, x0: Vector, bounds: Bounds | None, maxfev: int, seed: int, sigma0: float) -> None:
    """SciPy's L-BFGS-B with forward differences, which has neither a seed nor a first step size."""
    from scipy.optimize import minimize

    minimize(f, x0, method="L-BFGS-B", bounds=_scipy(bounds), options={"maxfun": maxfev})


def cobyqa(f: Fun, x0: Vector, bounds: Bounds | None, maxfev: int, seed: int, sigma0: float) -> None:
    """SciPy's COBYQA, which has no seed."""
    from scipy.optimize import minimize

    options = {
        "maxfev": maxfev, "maxiter": maxfev, "initial_tr_radius": sigma0,
        "final_tr_radius": _LEAST_STEP * sigma0,
    }  # fmt: skip
    minimize(f, x0, method="COBYQA", bounds=_scipy(bounds), options=options)


def powell(f: Fun, x0: Vector, bounds: Bounds | None, maxfev: int, seed: int, sigma0: float) -> None:
    """NLopt's NEWUOA, or BOBYQA where there are bounds; they have no seed."""
    import nlopt

    solver = nlopt.opt(nlopt.LN_NEWUOA if bounds is None else nlopt.LN_BOBYQA, x0.size)
    solver.set_min_objective(lambda x, gradient: f(x))
    step = np.full(x0.size, sigma0)
    if bounds is not None:
        solver.set_lower_bounds(bounds[0])
        solver.set_upper_bounds(bounds[1])
        # It needs room for a step to both sides, and a little more.
        step = np.minimum(step, 0.49 * (bounds[1] - bounds[0]))
    solver.set_initial_step(step)
    solver.set_xtol_rel(_LEAST_STEP)
    solver.set_maxeval(maxfev)
    # It may have come as far as rounding lets it.
    with contextlib.suppress(nlopt.RoundoffLimited):
        solver.optimize(x0)


def pycma(f: Fun, x0: Vector, bounds: Bounds | None, maxfev: int, seed: int, sigma0: float) -> None:
    """Pycma, which keeps to the bounds itself."""
    import cma

    options: dict[str, Any] = {"seed": seed, "maxfevals": maxfev, "verbose": -9}
    if bounds is not None:
        options["bounds"] = [bounds[0], bounds[1]]
    strategy = cma.CMAEvolutionStrategy(x0, sigma0, options)
    while not strategy.stop():
        points = strategy.ask()
        strategy.tell(points, [f(x) for x in points])


def using_pursuit(method: str) -> Solve:
    """Return one of our methods."""

    def solve(f: Fun, x0: Vector, bounds: Bounds | None, maxfev: int, seed: int, sigma0: float) -> None:
        pursuit.minimize(f, x0, method=method, bounds=_scipy(bounds), rng=seed, sigma0=sigma0, maxfev=maxfev)

    return solve


_OTHERS: dict[str, tuple[Solve, bool]] = {
    "L-BFGS-B": (lbfgsb, False),
    "NEWUOA-BOBYQA": (powell, False),
    "COBYQA": (cobyqa, False),
    "pycma": (pycma, True),
}
PEERS = tuple(_OTHERS)


def named(spec: str) -> Solver:
    """Return a solver: a peer, one of our methods, or a function as ``[name=]module:function``.

    The module is a name to import or the path of a file.
    """
    if spec in _OTHERS:
        solve, random = _OTHERS[spec]
        return Solver(spec, spec, solve, random)
    if spec in pursuit.methods():
        return Solver(spec, spec, using_pursuit(spec), version=code_hash()[:8])
    place, colon, function = spec.rpartition(":")
    if not colon:
        known = ", ".join((*PEERS, *pursuit.methods()))
        raise ValueError(f"There is no solver {spec!r}; there are {known}, and NAME=MODULE:FUNCTION.")
    place = place.rpartition("=")[2]
    module = _module_at(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    return Solver(name_of(spec), spec, getattr(module, function))


def name_of(spec: str) -> str:
    """Return the name under which the runs of a solver are stored."""
    name, equals, place = spec.rpartition("=")
    return name if equals else place.rpartition("/")[2]


def _module_at(path: Path) -> Any:
    found = importlib.util.spec_from_file_location(path.stem, path)
    if found is None or found.loader is None:
        raise ValueError(f"There is no module at {path}.")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def _scipy(bounds: Bounds | None) -> Any:
    from scipy.optimize import Bounds as ScipyBounds

    return None if bounds is None else ScipyBounds(bounds[0], bounds[1])
