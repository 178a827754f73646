"""What compiled code depends on beyond this package: files, and constants taken from elsewhere.

Numba compiles into a loop whatever the loop calls, and freezes the global constants that are used there. So
the code of a run depends on the classes of its scheme and of its problem, on the classes of records inside
them (such as the problem inside bounds), on the functions registered for these classes, and on everything
that these functions use in turn: jitted helpers, generic functions and constants, from any file.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from pursuit.compiling import jit
from pursuit.compiling.dispatch import implementations_in, implementations_of

# These change only with their version, or not at all.
_TRUSTED = frozenset({"builtins", "llvmlite", "numba", "numpy", "pursuit", "scipy", *sys.stdlib_module_names})
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
# The names of the module that Python was started with, in that process and in those that it starts.
_SCRIPTS = ("__main__", "__mp_main__")
# Stands for something whose dependencies nobody can see.
_UNKNOWN = "?"


class Reach(NamedTuple):
    """What code from outside this package a compiled function depends on."""

    texts: tuple[str, ...]
    """Names of modules with hashes of their files, and constants."""
    is_complete: bool
    """Whether this is all, and the same in every process. It is not if a source cannot be found, such as that
    of code typed at a prompt, or if something is used whose dependencies are unknown."""


def definitions_in(*roots: Any) -> Iterator[Any]:
    """Yield functions and classes, and the classes of records and of all records inside these."""
    for root in roots:
        if isinstance(root, FunctionType | type):
            yield root
        elif isinstance(root, tuple):
            if hasattr(root, "_fields"):
                yield type(root)
            yield from definitions_in(*root)


@functools.cache
def reach_of(*definitions: Any) -> Reach:
    """Return what compiled code that works on records of these classes, or calls these functions, depends on.

    Examples
    --------
    >>> import pursuit
    >>> from pursuit.compiling.reach import definitions_in, reach_of
    >>> reach_of(*definitions_in(pursuit.problems.exp(3, 10.0)))
    Reach(texts=(), is_complete=True)
    """
    texts = tuple(_traced(definitions, frozenset(), set()))
    return Reach(texts, _UNKNOWN not in texts)


def _traced(value: Any, names: frozenset[str], seen: set[Any]) -> Iterator[str]:
    """Yield what a value depends on; `names` are all names used beside it, its attributes among them."""
    value = getattr(value, "py_func", value)  # of a function that Numba has jitted
    if isinstance(value, _PLAIN):
        yield repr(value)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, tuple):
        for entry in value:
            yield from _traced(entry, names, seen)
    elif isinstance(value, ModuleType):
        yield from () if value.__name__.partition(".")[0] in _TRUSTED else _named(vars(value), names, seen)
    elif not isinstance(value, type | FunctionType):
        yield from () if _is_trusted(value) else (_UNKNOWN,)
    elif value not in seen:
        seen.add(value)
        yield from _source_of(value)
        registered = implementations_of(value) if isinstance(value, type) else _forms_of(value)
        # A closure is always visited: a sum of this package may hold a user's term.
        cells = getattr(value, "__closure__", None) or ()
        yield from _traced((*registered, *(cell.cell_contents for cell in cells)), names, seen)
        if isinstance(value, FunctionType) and not _is_trusted(value):
            yield from _traced(value.__defaults__, names, seen)
            for code in _codes_in(value.__code__):
                # What is in memory: its file may have been edited since.
                constants = [entry for entry in code.co_consts if not isinstance(entry, CodeType)]
                yield f"{code.co_code.hex()} {constants}"
                yield from _named(value.__globals__, frozenset(code.co_names), seen)


def _named(scope: dict[str, Any], names: frozenset[str], seen: set[Any]) -> Iterator[str]:
    """Yield what those of the names depend on that a function or a module knows."""
    for name in sorted(names & scope.keys()):
        value = scope[name]
        yield name
        if isinstance(value, FunctionType) and not (_is_trusted(value) or _forms_of(value)):
            yield _UNKNOWN  # Numba may have been told to compile other code in its place.
        yield from _traced(value, names, seen)


def _forms_of(function: FunctionType) -> list[Any]:
    """Return all that may be compiled in place of a function; nothing if that is unknown."""
    return implementations_in(function) or [jit.compiled_form(function)] * jit.is_compilable(function)


def _source_of(defined: Any) -> Iterator[str]:
    """Yield the module of a class or a function with a hash of its file, unless it comes with a version."""
    # Other processes do not find the class of a script, nor one that a function makes anew.
    if isinstance(defined, type) and ("<locals>" in defined.__qualname__ or defined.__module__ in _SCRIPTS):
        yield _UNKNOWN
    try:
        yield from (
            () if _is_trusted(defined) else (f"{defined.__module__} {file_hash(inspect.getfile(defined))}",)
        )
    except (OSError, TypeError):
        yield _UNKNOWN


def _is_trusted(defined: Any) -> bool:
    """Say whether something comes with a library whose version decides what it is."""
    return str(getattr(defined, "__module__", "")).partition(".")[0] in _TRUSTED


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield code, and that of the functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes_in(constant)


def file_hash(path: str | Path) -> str:
    """Return a hash of a file's bytes."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
