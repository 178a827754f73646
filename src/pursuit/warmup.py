"""Compiling methods before they are needed: `warmup`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.jit import announcing
from pursuit.methods.catalogue import DEFAULT_METHOD, method_name, options_of, resolved
from pursuit.minimize import minimize

# A run that is just long enough for everything to be called.
_VARIABLES, _EVALUATIONS = 5, 50


def warmup(methods: str | type | Sequence[str | type] = DEFAULT_METHOD) -> dict[str, float]:
    """Compile what methods need to minimise a Python function, and keep it on disk.

    Otherwise the first run of each method does so, which takes some seconds.

    Parameters
    ----------
    methods : str, type, or sequence of these
        Names from `pursuit.list_methods()`, or classes of schemes.

    Returns
    -------
    dict
        How many seconds each method took; 0 if everything was compiled before.

    Notes
    -----
    What is compiled depends neither on the function nor on the number of variables, except that functions
    jitted by Numba are compiled together with the method, in their first run.

    Examples
    --------
    >>> import pursuit
    >>> list(pursuit.warmup(["rp", "cma"]))
    ['rp', 'cma']
    >>> pursuit.warmup("rp")
    {'rp': 0.0}
    """
    chosen = [methods] if isinstance(methods, str | type) else list(methods)
    parts = {method_name(method): _parts_of(method) for method in chosen}
    return {name: sum(map(_seconds_to_compile, used)) for name, used in parts.items()}


def _parts_of(method: str | type) -> tuple[str | type, ...]:
    """Return the methods that a method may use: itself, or those that it chooses from."""
    cls, _ = resolved(method, _VARIABLES)
    parts: tuple[str | type, ...] = cls.parts() if hasattr(cls, "parts") else (method,)
    return parts


def _seconds_to_compile(method: str | type) -> float:
    """Run a method for a moment, and return the seconds that this took if anything was compiled."""
    compiled: list[str] = []
    # Some methods cannot do without one of these; if a method has both, one will do.
    known = [name for name in ("kappa", "L") if name in options_of(method, _VARIABLES)]
    options: dict[str, Any] = dict.fromkeys(known[:1], 10.0)
    begin = time.perf_counter()
    with announcing(compiled.append):
        minimize(_sphere, np.ones(_VARIABLES), method=method, options=options, rng=1, maxfev=_EVALUATIONS)
    return time.perf_counter() - begin if compiled else 0.0


def _sphere(x: Vector) -> float:
    return float(x @ x)
