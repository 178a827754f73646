"""What compiled code depends on beyond this package: files, and constants taken from elsewhere.

Numba compiles into a loop whatever the loop calls, and freezes the global constants that are used there. So
the code of a run depends on the classes of its scheme and of its problem, on the classes of records inside
them (such as the problem inside bounds), on the functions registered for these classes, and on everything
that these functions use in turn: jitted helpers, generic functions and constants, from any file.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from pursuit.compiling.dispatch import forms_of, implementations_of

# These change only with their version, or not at all.
_TRUSTED = {"builtins", "llvmlite", "numba", "numpy", "pursuit", "scipy", *sys.stdlib_module_names}
# The names of the module that Python was started with, in that process and in those that it starts.
_SCRIPTS = ("__main__", "__mp_main__")
UNKNOWN = "?"
"""Stands for what nobody can trace, such as code typed at a prompt."""


def definitions_in(*roots: Any) -> Iterator[Any]:
    """Yield functions and classes, and the classes of records and of all records inside these."""
    for root in roots:
        if isinstance(root, FunctionType | type):
            yield root
        elif isinstance(root, tuple):
            yield type(root)
            yield from definitions_in(*root)


def reach_of(*records: Any) -> tuple[str, ...]:
    """Return what code from outside this package works on these records, or on records of these classes.

    These are names of modules with hashes of their files, and constants; `UNKNOWN` is among them if this is
    not all, or not the same in every process.

    Examples
    --------
    >>> import pursuit
    >>> from pursuit.compiling.reach import reach_of
    >>> reach_of(pursuit.problems.exp(3, 10.0))
    ()
    """
    return tuple(_traced(tuple(definitions_in(*records)), frozenset(), set()))


def _traced(value: Any, names: frozenset[str], seen: set[Any]) -> Iterator[str]:
    """Yield what a value depends on; `names` are all names used beside it, its attributes among them."""
    value = getattr(value, "py_func", value)  # of a function that Numba has jitted
    if isinstance(value, tuple):
        for entry in value:
            yield from _traced(entry, names, seen)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, bool | int | float | complex | str | bytes | None | np.generic):
        yield repr(value)
    elif isinstance(value, type | FunctionType):
        if value not in seen:
            seen.add(value)
            yield from _defined(value, names, seen)
    elif not _is_trusted(value):
        yield from _named(vars(value), names, seen) if isinstance(value, ModuleType) else (UNKNOWN,)


def _defined(value: Any, names: frozenset[str], seen: set[Any]) -> Iterator[str]:
    """Yield what a class or a function depends on."""
    is_class = isinstance(value, type)
    # A closure is always visited: a sum of this package may hold a user's term.
    cells = (cell.cell_contents for cell in getattr(value, "__closure__", None) or ())
    yield from _traced((*(implementations_of if is_class else forms_of)(value), *cells), names, seen)
    # Other processes do not find the class of a script, nor one that a function makes anew.
    if is_class and ("<locals>" in value.__qualname__ or value.__module__ in _SCRIPTS):
        yield UNKNOWN
    elif not _is_trusted(value):
        path = Path(getattr(sys.modules.get(value.__module__), "__file__", None) or "")
        yield f"{value.__module__} {file_hash(path)}" if path.is_file() else UNKNOWN
        if not is_class:
            yield from _traced(value.__defaults__, names, seen)
            yield from _code(value.__code__, value.__globals__, seen)


def _code(code: CodeType, scope: dict[str, Any], seen: set[Any]) -> Iterator[str]:
    """Yield what is in memory, whose file may have been edited since, with the functions within it."""
    yield code.co_code.hex()
    for constant in code.co_consts:
        yield from _code(constant, scope, seen) if isinstance(constant, CodeType) else (repr(constant),)
    yield from _named(scope, frozenset(code.co_names), seen)


def _named(scope: dict[str, Any], names: frozenset[str], seen: set[Any]) -> Iterator[str]:
    """Yield what those of the names depend on that a function or a module knows."""
    for name in sorted(names & scope.keys()):
        value = scope[name]
        yield name
        if isinstance(value, FunctionType) and not (_is_trusted(value) or forms_of(value)):
            yield UNKNOWN  # Numba may have been told to compile other code in its place.
        yield from _traced(value, names, seen)


def _is_trusted(value: Any) -> bool:
    """Say whether something comes with a library whose version decides what it is."""
    home = getattr(value, "__module__", None) or getattr(value, "__name__", "")
    return str(home).partition(".")[0] in _TRUSTED


def file_hash(path: Path) -> str:
    """Return a hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
