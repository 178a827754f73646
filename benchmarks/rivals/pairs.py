"""Which method is compared with which implementation of others, and where these differ from the source."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.adapters import (
    LINEAR,
    QUADRATIC,
    Fun,
    Solver,
    using_cmaes,
    using_pursuit,
    using_pypop7,
)
from pursuit.checks import Vector
from pursuit.methods.cma_rates import CmaRates
from pursuit.methods.samples import usual_population


def fcmaes_crfmnes(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> None:
    """Minimise with a population of the usual size, since 32 points, the default, would be another method."""
    from fcmaes import crfmnescpp

    size = usual_population(x0.size)
    crfmnescpp.minimize(
        fun, x0=x0, input_sigma=sigma0, popsize=size + size % 2, max_evaluations=maxfev,
        rg=np.random.Generator(np.random.PCG64DXSM(seed)),
    )  # fmt: skip


def pycma_of_2006(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> None:
    """Minimise with the rates of 2006 in place of those that pycma has now."""
    import cma

    options = {"seed": seed, "maxfevals": maxfev, "verbose": -9, "CMA_active": False}
    strategy = cma.CMAEvolutionStrategy(x0, sigma0, options)
    rates = CmaRates.create(x0.size, strategy.popsize)
    strategy.sp.cc = rates.c_c
    strategy.sp.c1, strategy.sp.cmu = rates.c_cov / rates.mu_eff, rates.c_cov * (1.0 - 1.0 / rates.mu_eff)
    strategy.adapt_sigma.cs, strategy.adapt_sigma.damps = rates.c_sigma, rates.d_sigma
    while not strategy.stop():
        points = strategy.ask()
        strategy.tell(points, [fun(x) for x in points])


class Pair(NamedTuple):
    """A method of ours and an independent implementation of it."""

    ours: Solver
    theirs: Solver
    note: str
    """Where theirs differs from the source that ours follows."""


def _ours(name: str, method: str, **options: Any) -> Solver:
    return Solver(name, "pursuit", LINEAR, using_pursuit(method, **options), ours=True)


_WEIGHTS = "The weights of pypop7 are ln((λ + 1)/2) - ln j, where the source has ln(μ + 1) - ln j."
# More eigenvectors than variables: then all are kept.
_ALL = 10_000
PAIRS = (
    Pair(
        _ours("sep-cma", "sep-cma"),
        Solver("pypop7 SEPCMAES", "pypop7", LINEAR, using_pypop7("SEPCMAES")),
        _WEIGHTS,
    ),
    Pair(
        _ours("sep-cma", "sep-cma"),
        Solver("cmaes SepCMA", "cmaes", LINEAR, using_cmaes("SepCMA")),
        "cmaes learns p_c at the rate 2/((n + 1.3)² + μ_eff) of a full matrix, and the points at the whole "
        "c_cov, (n + 2)/3 times that of a full matrix. The source divides c_cov between both by μ_eff.",
    ),
    Pair(
        _ours("cr-fm-nes", "cr-fm-nes"),
        Solver("fcmaes CR-FM-NES", "fcmaes", LINEAR, fcmaes_crfmnes),
        "fcmaes gets the population of ours; its default is 32 points for every n.",
    ),
    Pair(
        _ours("r1-nes", "r1-nes"),
        Solver("pypop7 R1NES", "pypop7", LINEAR, using_pypop7("R1NES", "nes")),
        "",
    ),
    Pair(
        _ours("lm-cma", "lm-cma"),
        Solver("pypop7 LMCMAES", "pypop7", LINEAR, using_pypop7("LMCMAES")),
        _WEIGHTS,
    ),
    Pair(
        _ours("lm-cma of 2017", "lm-cma", version="2017"),
        Solver("pypop7 LMCMA", "pypop7", LINEAR, using_pypop7("LMCMA")),
        _WEIGHTS,
    ),
    Pair(
        _ours("l-cma, m = n", "l-cma", m=_ALL),
        Solver("pycma with the rates of 2006", "cma", QUADRATIC, pycma_of_2006),
        "Nobody else has l-cma, but with m = n it is the CMA-ES. pycma gets the rates of ours, those of "
        "2006, and no negative weights; its weights are ln((λ + 1)/2) - ln j, where the source has "
        "ln(μ + 1) - ln j.",
    ),
)
TIMED = ("cr-fm-nes", "lm-cma", "lm-cma of 2017")
"""Those of ours whose time is measured."""


def solvers() -> dict[str, Solver]:
    """Return all solvers by name, each once."""
    return {solver.name: solver for pair in PAIRS for solver in (pair.ours, pair.theirs)}
