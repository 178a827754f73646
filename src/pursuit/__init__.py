"""Minimise functions of many variables from their values alone, at a cost per step that grows like n."""

from pursuit import problems, schemes
from pursuit.api import Result, minimize
from pursuit.schemes.catalogue import methods

__all__ = ["Result", "methods", "minimize", "problems", "schemes"]
__version__ = "0.1.0"
