"""The paper's ten schemes, and the contract to write another."""

from pursuit.schemes.catalogue import create_scheme, methods
from pursuit.schemes.cma import Cma
from pursuit.schemes.contract import Points, Scheme, ask, tell
from pursuit.schemes.ep_cma import EpCma
from pursuit.schemes.random_pursuit import RandomPursuit
from pursuit.schemes.sarp import Sarp

__all__ = [
    "Cma",
    "EpCma",
    "Points",
    "RandomPursuit",
    "Sarp",
    "Scheme",
    "ask",
    "create_scheme",
    "methods",
    "tell",
]
