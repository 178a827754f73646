"""Which method is compared with which implementation of others, and where these differ from the source."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.peers.adapters import LINEAR, Fun, Solver, using_cmaes, using_pursuit, using_pypop7
from pursuit.checks import Vector
from pursuit.methods.samples import usual_population


def fcmaes_crfmnes(fun: Fun, x0: Vector, *, sigma0: float, maxfev: int, seed: int) -> None:
    """Minimise with a population of the usual size, since 32 points, the default, would be another method."""
    from fcmaes import crfmnescpp

    size = usual_population(x0.size)
    crfmnescpp.minimize(
        fun, x0=x0, input_sigma=sigma0, popsize=size + size % 2, max_evaluations=maxfev,
        rg=np.random.Generator(np.random.PCG64DXSM(seed)),
    )  # fmt: skip


class Pair(NamedTuple):
    """A method of ours and an independent implementation of it."""

    ours: Solver
    theirs: Solver
    note: str
    """Where theirs differs from the source that ours follows."""


def _ours(name: str, method: str, **options: str) -> Solver:
    return Solver(name, "pursuit", LINEAR, using_pursuit(method, **options), ours=True)


_WEIGHTS = "The weights of pypop7 are ln((λ + 1)/2) - ln j, where the source has ln(μ + 1) - ln j."
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
)
TIMED = ("cr-fm-nes", "lm-cma", "lm-cma of 2017")
"""Those of ours whose time is measured."""


def solvers() -> dict[str, Solver]:
    """Return all solvers by name, each once."""
    return {solver.name: solver for pair in PAIRS for solver in (pair.ours, pair.theirs)}
