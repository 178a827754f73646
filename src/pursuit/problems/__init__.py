"""The paper's four test problems, and any problem rotated."""

from pursuit.problems.contract import Problem, evaluate, line_minimizer, value
from pursuit.problems.paper import exp, lin, rosenbrock, two
from pursuit.problems.transform import rotated

__all__ = ["Problem", "evaluate", "exp", "lin", "line_minimizer", "rosenbrock", "rotated", "two", "value"]
