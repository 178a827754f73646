"""The paper's four test problems, and any problem rotated."""

from pursuit.problems.contract import Problem, evaluate, line_minimizer, value
from pursuit.problems.quadratic import exp, lin, two
from pursuit.problems.rosenbrock import rosenbrock
from pursuit.problems.rotated import rotated

__all__ = ["Problem", "evaluate", "exp", "lin", "line_minimizer", "rosenbrock", "rotated", "two", "value"]
