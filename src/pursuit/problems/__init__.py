"""The paper's four test problems, and any problem rotated.

They are imported when they are used, since Numba compiles them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pursuit.problems.contract import evaluate, line_minimizer, value
    from pursuit.problems.protocol import Problem
    from pursuit.problems.quadratic import exp, lin, two
    from pursuit.problems.rosenbrock_problem import rosenbrock
    from pursuit.problems.rotation import rotated

__all__ = ["Problem", "evaluate", "exp", "lin", "line_minimizer", "rosenbrock", "rotated", "two", "value"]

_PLACES = {
    "Problem": "protocol",
    "evaluate": "contract",
    "exp": "quadratic",
    "lin": "quadratic",
    "line_minimizer": "contract",
    "rosenbrock": "rosenbrock_problem",
    "rotated": "rotation",
    "two": "quadratic",
    "value": "contract",
}


def __getattr__(name: str) -> Any:
    """Import a name from its module."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    """Return all names, those that are not imported yet among them."""
    return sorted({*globals(), *__all__})
