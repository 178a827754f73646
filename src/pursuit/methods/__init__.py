"""The paper's ten schemes, two that accelerate by themselves, and the contract to write another."""

from pursuit.methods.auto import Auto
from pursuit.methods.auto_values import AutoValues
from pursuit.methods.catalogue import create_scheme, methods
from pursuit.methods.cma import Cma
from pursuit.methods.contract import Patience, Points, Scheme, ask, tell
from pursuit.methods.ep_cma import EpCma
from pursuit.methods.random_pursuit import RandomPursuit
from pursuit.methods.sarp import Sarp

__all__ = [
    "Auto",
    "AutoValues",
    "Cma",
    "EpCma",
    "Patience",
    "Points",
    "RandomPursuit",
    "Sarp",
    "Scheme",
    "ask",
    "create_scheme",
    "methods",
    "tell",
]
