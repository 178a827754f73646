"""What is known of functions of an index, from their code: which entries they read, whether they branch."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

import numpy as np

_SUBSCRIPTS = frozenset({"BINARY_SUBSCR", "BINARY_SLICE"})
_CALLS = frozenset({"CALL", "CALL_FUNCTION_EX", "CALL_KW"})
_LOAD = "LOAD_FAST"
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
    instructions = list(dis.get_instructions(function))
    if any(
        instruction.opname in _CALLS
        or "JUMP" in instruction.opname
        or (instruction.opname == "BINARY_OP" and "**" in instruction.argrepr)
        for instruction in instructions
    ):
        return None
    # A slice is faster, but what it reads changes with the array.
    writes = any(instruction.opname in _STORES for instruction in instructions)
    return np.arange if writes or not reads_own_entries_only(function) else slice


def reads_own_entries_only(term: Callable[..., Any]) -> bool:
    """Say whether every entry that `term(i, *arrays)` reads is entry i, as far as its code shows.

    Examples
    --------
    >>> from pursuit.compiling.terms import reads_own_entries_only
    >>> reads_own_entries_only(lambda i, x, y: x[i] * y[i])
    True
    >>> reads_own_entries_only(lambda i, x: x[i] * x[i + 1])
    False
    """
    code = term.__code__
    index = code.co_varnames[0]
    before = None
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in _CALLS or (name == "STORE_FAST" and instruction.argval == index):
            return False
        if reads_entries(instruction):
            own = before is not None and before.opname.startswith(_LOAD) and _last(before.argval) == index
            if not own:
                return False
        before = instruction
    return True


def reads_entries(instruction: dis.Instruction) -> bool:
    """Say whether an instruction of Python reads entries of an array; from Python 3.14 on as an operation."""
    return instruction.opname in _SUBSCRIPTS or (
        instruction.opname == "BINARY_OP" and instruction.argrepr == "[]"
    )


def _last(names: Any) -> Any:
    """Return the name that was loaded last: some instructions load two."""
    return names[-1] if isinstance(names, tuple) else names
