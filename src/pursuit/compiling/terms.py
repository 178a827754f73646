"""What is known of functions of an index, from their code: which entries they read, whether they branch."""

from __future__ import annotations

import dis
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

_CALLS = frozenset({"CALL", "CALL_FUNCTION_EX", "CALL_KW"})
_STORES = frozenset({"STORE_SUBSCR", "STORE_SLICE"})


def index_of_all(function: Callable[..., Any]) -> Callable[[int], Any] | None:
    """Return what makes of n an index with which `function(i, *arrays)` works for all i < n at once.

    None if it has to be called for one i after the other: if it branches, calls functions, or takes powers,
    whose last bits are not the same for whole arrays.

    Examples
    --------
    >>> from pursuit.compiling.terms import index_of_all
    >>> index_of_all(lambda i, x: x[i] * x[i])(3)
    slice(None, 3, None)
    >>> index_of_all(lambda i, x: x[i] * x[i + 1])(3)
    array([0, 1, 2])
    >>> index_of_all(lambda i, x: abs(x[i])) is None
    True
    """
    names = [f"{code.opname} {code.argrepr}" for code in dis.get_instructions(function)]
    if any(name.split()[0] in _CALLS or "JUMP" in name or "**" in name for name in names):
        return None
    # A slice is faster, but what it reads changes with the array.
    writes = any(name.split()[0] in _STORES for name in names)
    return np.arange if writes or not reads_own_entries_only(function) else slice


def reads_own_entries_only(term: Callable[..., Any]) -> bool:
    """Say whether `term(i, *arrays)` uses i for its entries alone, as far as its code shows.

    Examples
    --------
    >>> from pursuit.compiling.terms import reads_own_entries_only
    >>> reads_own_entries_only(lambda i, x, y: x[i] * y[i])
    True
    >>> reads_own_entries_only(lambda i, x: x[i] * x[i + 1])
    False
    """
    index = term.__code__.co_varnames[0]
    for before, code in itertools.pairwise(dis.get_instructions(term)):
        # Some instructions load or store two variables.
        names = before.argval if isinstance(before.argval, tuple) else (before.argval,)
        names = names if "_FAST" in before.opname else (None,)
        is_entry = reads_entries(code) or code.opname in _STORES
        if index in names[:-1] or is_entry != (names[-1] == index) or code.opname in _CALLS:
            return False
    return True


def reads_entries(instruction: dis.Instruction) -> bool:
    """Say whether an instruction of Python reads entries of an array; from Python 3.14 on as an operation."""
    return instruction.opname in ("BINARY_SUBSCR", "BINARY_SLICE") or (
        instruction.opname == "BINARY_OP" and instruction.argrepr == "[]"
    )
