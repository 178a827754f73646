"""The paper's ten schemes, some of our own, some by others to compare with, and the contracts for yours."""

from pursuit.methods.auto import Auto
from pursuit.methods.catalogue import create_scheme, list_methods
from pursuit.methods.contract import (
    Needs,
    Numbers,
    Pair,
    Patience,
    Points,
    Scheme,
    State,
    ask,
    count_points,
    is_valid,
    spread,
    tell,
    write_point,
)
from pursuit.methods.differences.program import Differences
from pursuit.methods.evolution.program import Evolution
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
    "AcceleratedPursuit", "AcceleratedSearch", "Acdm", "AdaptiveSarp", "AdaptiveStep", "Auto",
    "Bracketing", "Cma", "CrFmNes", "Differences", "Ending", "EpCma", "Evolution", "ExactStep", "LCma",
    "Line", "LmCma", "MirroredStep", "Needs", "Numbers", "Pair", "Patience", "Points", "Probes",
    "Program", "R1Nes", "RandomGradient", "RandomPursuit", "Sarp", "Scheme", "SepCma", "Spsa", "Start",
    "State", "Step", "ask", "begin_search", "continue_search", "count_points", "create_scheme",
    "is_valid", "list_methods", "spread", "tell", "write_point",
]  # fmt: skip
