"""Minimise functions of many variables from their values alone, at a cost per step that grows like n."""

from pursuit import problems, schemes
from pursuit.api import minimize
from pursuit.integrations.scipy import scipy_method
from pursuit.optimizer import Optimizer
from pursuit.result import Result
from pursuit.schemes.catalogue import methods

__all__ = ["Optimizer", "Result", "methods", "minimize", "problems", "schemes", "scipy_method"]
__version__ = "0.1.0"
