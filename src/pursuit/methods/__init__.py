"""The paper's ten schemes, some of our own, some by others to compare with, and the contracts for yours.

They are imported when they are used: step methods import Numba, which programs do not need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pursuit.methods.auto import Auto
    from pursuit.methods.catalogue import create_scheme, list_methods
    from pursuit.methods.contract import Pair, Points, ask, count_points, is_valid, spread, tell, write_point
    from pursuit.methods.differences.program import Differences
    from pursuit.methods.evolution.program import Evolution
    from pursuit.methods.hooks import Needs, Numbers, Patience, Scheme, State
    from pursuit.methods.line_searches import (
        AdaptiveStep,
        Bracketing,
        ExactStep,
        Line,
        MirroredStep,
        Step,
        begin_search,
        continue_search,
    )
    from pursuit.methods.paper.adaptive_sarp import AdaptiveSarp
    from pursuit.methods.paper.cma import Cma
    from pursuit.methods.paper.ep_cma import EpCma
    from pursuit.methods.paper.random_pursuit import RandomPursuit
    from pursuit.methods.paper.sarp import Sarp
    from pursuit.methods.programs import Ending, Probes, Program, Start
    from pursuit.methods.rivals.acdm import Acdm
    from pursuit.methods.rivals.arp import AcceleratedPursuit
    from pursuit.methods.rivals.ars import AcceleratedSearch
    from pursuit.methods.rivals.cr_fm_nes import CrFmNes
    from pursuit.methods.rivals.l_cma import LCma
    from pursuit.methods.rivals.lm_cma import LmCma
    from pursuit.methods.rivals.r1_nes import R1Nes
    from pursuit.methods.rivals.rg import RandomGradient
    from pursuit.methods.rivals.sep_cma import SepCma
    from pursuit.methods.rivals.spsa import Spsa

__all__ = [
    "AcceleratedPursuit",
    "AcceleratedSearch",
    "Acdm",
    "AdaptiveSarp",
    "AdaptiveStep",
    "Auto",
    "Bracketing",
    "Cma",
    "CrFmNes",
    "Differences",
    "Ending",
    "EpCma",
    "Evolution",
    "ExactStep",
    "LCma",
    "Line",
    "LmCma",
    "MirroredStep",
    "Needs",
    "Numbers",
    "Pair",
    "Patience",
    "Points",
    "Probes",
    "Program",
    "R1Nes",
    "RandomGradient",
    "RandomPursuit",
    "Sarp",
    "Scheme",
    "SepCma",
    "Spsa",
    "Start",
    "State",
    "Step",
    "ask",
    "begin_search",
    "continue_search",
    "count_points",
    "create_scheme",
    "is_valid",
    "list_methods",
    "spread",
    "tell",
    "write_point",
]

_PLACES = {
    "AcceleratedPursuit": "rivals.arp",
    "AcceleratedSearch": "rivals.ars",
    "Acdm": "rivals.acdm",
    "AdaptiveSarp": "paper.adaptive_sarp",
    "AdaptiveStep": "line_searches",
    "Auto": "auto",
    "Bracketing": "line_searches",
    "Cma": "paper.cma",
    "CrFmNes": "rivals.cr_fm_nes",
    "Differences": "differences.program",
    "Ending": "programs",
    "EpCma": "paper.ep_cma",
    "Evolution": "evolution.program",
    "ExactStep": "line_searches",
    "LCma": "rivals.l_cma",
    "Line": "line_searches",
    "LmCma": "rivals.lm_cma",
    "MirroredStep": "line_searches",
    "Needs": "hooks",
    "Numbers": "hooks",
    "Pair": "contract",
    "Patience": "hooks",
    "Points": "contract",
    "Probes": "programs",
    "Program": "programs",
    "R1Nes": "rivals.r1_nes",
    "RandomGradient": "rivals.rg",
    "RandomPursuit": "paper.random_pursuit",
    "Sarp": "paper.sarp",
    "Scheme": "hooks",
    "SepCma": "rivals.sep_cma",
    "Spsa": "rivals.spsa",
    "Start": "programs",
    "State": "hooks",
    "Step": "line_searches",
    "ask": "contract",
    "begin_search": "line_searches",
    "continue_search": "line_searches",
    "count_points": "contract",
    "create_scheme": "catalogue",
    "is_valid": "contract",
    "list_methods": "catalogue",
    "spread": "contract",
    "tell": "contract",
    "write_point": "contract",
}


def __getattr__(name: str) -> Any:
    """Import a name from its module."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    """Return all names, those that are not imported yet among them."""
    return sorted({*globals(), *__all__})
