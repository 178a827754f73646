"""Minimise functions of many variables from their values alone, at a cost per step that grows like n."""

from pursuit import problems
from pursuit.adapters.scipy import scipy_method
from pursuit.many import minimize_many
from pursuit.methods.catalogue import list_methods
from pursuit.minimize import minimize, warmup
from pursuit.optimizer import Optimizer
from pursuit.reporting.compare import compare
from pursuit.reporting.comparison import Comparison
from pursuit.reporting.plotting import plot_runs
from pursuit.reporting.records import History, Log
from pursuit.result import Result, Results

__all__ = [
    "Comparison", "History", "Log", "Optimizer", "Result", "Results", "compare", "list_methods", "minimize",
    "minimize_many", "plot_runs", "problems", "scipy_method", "warmup",
]  # fmt: skip
__version__ = "0.1.0"
