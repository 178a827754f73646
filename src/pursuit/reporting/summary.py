"""A result as people read it: `print(result)`."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pursuit.checks import shown
from pursuit.problems.structure import flat_of, structure_of

_WIDTH = 79
# Of longer points, the first and the last few entries are shown.
_MOST_ENTRIES, _ENTRIES_AT_EACH_END = 10, 3


def summary_of(result: Mapping[str, Any]) -> str:
    """Return what matters of a result, a line for each field; fields that it lacks are left out.

    Examples
    --------
    >>> print(summary_of({"fun": 0.25, "nfev": 3, "nit": 2, "x": [0.5, 0.0]}))
    fun      0.25
    nfev     3 evaluations, in 2 iterations
    x        [0.5 0. ]
    """
    return "\n".join(
        textwrap.fill(
            text,
            _WIDTH,
            initial_indent=f"{name:9}",
            subsequent_indent=" " * 9,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, text in _lines(result)
    )


def _lines(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield names of fields, each with a text."""
    if "fun" in result:
        yield "fun", _value(result["fun"], result.get("fun_is_estimate"), result.get("fun_error"))
    if "maxcv" in result:
        yield "maxcv", f"{result['maxcv']:.2g}, by how much constraints are violated at most"
    if "success" in result:
        yield "success", str(bool(result["success"]))
    if "message" in result:
        yield "message", result["message"]
    if "nfev" in result:
        iterations = f", in {_counted(result['nit'], 'iteration')}" if "nit" in result else ""
        yield "nfev", _counted(result["nfev"], "evaluation") + iterations
    if result.get("nfaulty"):
        yield "nfaulty", f"{result['nfaulty']} of the values were NaN"
    if "time" in result:
        yield "time", f"{result['time']:.3g} s"
    if "sigma" in result:
        yield "sigma", f"{result['sigma']:.3g}, the step size"
    if result.get("noise") is not None:
        yield "noise", f"{result['noise']:.2g}, the standard deviation of the noise of a value"
    if "active_mask" in result:
        mask = flat_of(result["active_mask"])
        yield "bounds", f"{np.count_nonzero(mask)} of {mask.size} variables at a bound"
    if "method" in result:
        yield "method", result["method"]
    if "seed" in result:
        yield "seed", shown(result["seed"])
    if "trace" in result:
        columns = ", ".join(result["trace"]._fields)
        yield "trace", f"{columns}: {len(result['trace'].nit)} entries each"
    if "x" in result:
        x = result["x"]
        yield "x", shown(x, 300) if structure_of(x)[0].tree else _shortened(np.asarray(x))


def _value(fun: float, is_estimate: Any, error: float | None) -> str:
    """Return a value; of an estimate, the digits that its error leaves."""
    if not is_estimate:
        return f"{fun:.10g}"
    if not error or not math.isfinite(error) or not math.isfinite(fun):
        return f"{fun:.10g}, an estimate"
    digits = 2 + math.floor(math.log10(abs(fun) or error)) - math.floor(math.log10(error))
    return f"{fun:.{min(max(digits, 1), 10)}g} ± {error:.2g}, an estimate"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shortened(x: Any) -> str:
    """Return a point on a line or two, with dots for the middle of a long one."""
    text = np.array2string(
        x, max_line_width=10**6, precision=6, threshold=_MOST_ENTRIES, edgeitems=_ENTRIES_AT_EACH_END
    )
    return text if x.size <= _MOST_ENTRIES else f"{text}, {x.size} variables"
