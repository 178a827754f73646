"""What the terms of sums read: a thread's own entries, or also entries of others."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

_SUBSCRIPTS = frozenset({"BINARY_SUBSCR", "BINARY_SLICE"})
_CALLS = frozenset({"CALL", "CALL_FUNCTION_EX", "CALL_KW"})
_LOAD = "LOAD_FAST"


def reads_own_entries_only(term: Callable[..., Any]) -> bool:
    """Say whether every entry that `term(i, *arrays)` reads is entry i, as far as its code shows.

    Examples
    --------
    >>> from pursuit.gpu.terms import reads_own_entries_only
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
