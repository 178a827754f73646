"""The paper's ten schemes, two that accelerate by themselves, and the contract to write another."""

from pursuit.schemes.auto import Auto
from pursuit.schemes.auto_values import AutoValues
from pursuit.schemes.catalogue import create_scheme, methods
from pursuit.schemes.cma import Cma
from pursuit.schemes.contract import Patience, Points, Scheme, ask, tell
from pursuit.schemes.ep_cma import EpCma
from pursuit.schemes.random_pursuit import RandomPursuit
from pursuit.schemes.sarp import Sarp

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
