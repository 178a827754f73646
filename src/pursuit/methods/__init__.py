"""The paper's ten schemes, two that accelerate by themselves, and the contract for writing another."""

from pursuit.methods.auto import Auto
from pursuit.methods.auto_values import AutoValues
from pursuit.methods.catalogue import create_scheme, methods
from pursuit.methods.cma import Cma
from pursuit.methods.contract import Patience, Points, Scheme, ask, tell
from pursuit.methods.ep_cma import EpCma
from pursuit.methods.line_searches import (
    AdaptiveStep,
    Bracketing,
    ExactStep,
    Line,
    MirroredStep,
    Probe,
    Step,
    begin_search,
    continue_search,
)
from pursuit.methods.random_pursuit import RandomPursuit
from pursuit.methods.sarp import Sarp

__all__ = [
    "AdaptiveStep",
    "Auto",
    "AutoValues",
    "Bracketing",
    "Cma",
    "EpCma",
    "ExactStep",
    "Line",
    "MirroredStep",
    "Patience",
    "Points",
    "Probe",
    "RandomPursuit",
    "Sarp",
    "Scheme",
    "Step",
    "ask",
    "begin_search",
    "continue_search",
    "create_scheme",
    "methods",
    "tell",
]
