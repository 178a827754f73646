"""The paper's ten schemes, some of our own, some by others to compare with, and the contract for yours."""

from pursuit.methods.acdm import Acdm
from pursuit.methods.adaptive_sarp import AdaptiveSarp
from pursuit.methods.arp import AcceleratedPursuit
from pursuit.methods.ars import AcceleratedSearch
from pursuit.methods.auto import Auto
from pursuit.methods.catalogue import create_scheme, methods
from pursuit.methods.cma import Cma
from pursuit.methods.contract import Findings, Pair, Patience, Points, Round, Rounds, Scheme, ask, tell
from pursuit.methods.cr_fm_nes import CrFmNes
from pursuit.methods.ep_cma import EpCma
from pursuit.methods.l_cma import LCma
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
from pursuit.methods.lm_cma import LmCma
from pursuit.methods.momentum import RankedMomentum
from pursuit.methods.r1_nes import R1Nes
from pursuit.methods.random_pursuit import RandomPursuit
from pursuit.methods.rg import RandomGradient
from pursuit.methods.sarp import Sarp
from pursuit.methods.sep_cma import SepCma
from pursuit.methods.spsa import Spsa
from pursuit.methods.values.scheme import Values

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
    "EpCma",
    "ExactStep",
    "Findings",
    "LCma",
    "Line",
    "LmCma",
    "MirroredStep",
    "Pair",
    "Patience",
    "Points",
    "R1Nes",
    "RandomGradient",
    "RandomPursuit",
    "RankedMomentum",
    "Round",
    "Rounds",
    "Sarp",
    "Scheme",
    "SepCma",
    "Spsa",
    "Step",
    "Values",
    "ask",
    "begin_search",
    "continue_search",
    "create_scheme",
    "methods",
    "tell",
]
