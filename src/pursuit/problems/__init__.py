"""The paper's four test problems, and any problem rotated."""

from pursuit.problems.contract import evaluate, line_minimizer, value
from pursuit.problems.protocol import Problem
from pursuit.problems.quadratic import exp, lin, two
from pursuit.problems.rosenbrock_problem import rosenbrock
from pursuit.problems.rotation import rotated

__all__ = ["Problem", "evaluate", "exp", "lin", "line_minimizer", "rosenbrock", "rotated", "two", "value"]
