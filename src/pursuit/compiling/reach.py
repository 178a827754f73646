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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher

from pursuit.compiling.dispatch import implementations_in, implementations_of

# These change only with their version, or not at all.
_TRUSTED = frozenset({"builtins", "llvmlite", "numba", "numpy", "pursuit", "scipy", *sys.stdlib_module_names})
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


class Reach(NamedTuple):
    """What code from outside this package a compiled function depends on."""

    files: frozenset[str]
    modules: frozenset[str]
    constants: str
    """A hash of the constants, empty if there are none."""
    is_complete: bool
    """Whether this is all. It is not if a source cannot be found, such as that of code typed at a prompt, or
    if something is used whose dependencies are unknown."""


def reach_of(*roots: Any) -> Reach:
    """Return what compiled code that works on these records, or calls these functions, depends on.

    Examples
    --------
    >>> import pursuit
    >>> from pursuit.compiling.reach import reach_of
    >>> reach_of(pursuit.problems.exp(3, 10.0)).files
    frozenset()
    """
    return _reach_of(frozenset(_definitions_in(roots)))


def _definitions_in(root: Any) -> Iterator[Any]:
    """Yield functions, and the classes of records and of all records inside these."""
    if isinstance(root, FunctionType):
        yield root
    elif isinstance(root, tuple):
        if hasattr(root, "_fields"):
            yield type(root)
        for entry in root:
            yield from _definitions_in(entry)


@functools.cache
def _reach_of(definitions: frozenset[Any]) -> Reach:
    walk = _Walk()
    for definition in sorted(definitions, key=lambda definition: str(definition.__name__)):
        if isinstance(definition, type):
            walk.visit_class(definition)
        else:
            walk.visit_function(definition)
    return walk.reach


class _Walk:
    """A walk through everything that can be reached."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._modules: set[str] = set()
        self._constants: dict[str, None] = {}
        self._seen: set[int] = set()
        self._is_complete = True

    @property
    def reach(self) -> Reach:
        """What was found so far."""
        text = "\n".join(self._constants).encode()
        digest = hashlib.sha256(text).hexdigest() if text else ""
        return Reach(frozenset(self._files), frozenset(self._modules), digest, self._is_complete)

    def visit_class(self, cls: type) -> None:
        """Visit a class and the functions that are registered for it."""
        if "<locals>" in cls.__qualname__:
            # A class made by a function is made again in every process: what was compiled for it cannot be
            # told from what was compiled for the next class that this function makes.
            self._is_complete = False
        if not _is_trusted(cls):
            self._add_source(cls)
        for function in implementations_of(cls):
            self.visit_function(function)

    def visit_function(self, function: Callable[..., Any]) -> None:
        """Visit a function, and what it uses unless it belongs to this package or to a library that it needs.

        A closure is always visited: a sum of this package may hold a user's term.
        """
        if id(function) in self._seen or not isinstance(function, FunctionType):
            return
        self._seen.add(id(function))
        for cell in function.__closure__ or ():
            self._visit_value("", cell.cell_contents, ())
        if _is_trusted(function):
            return
        self._add_source(function)
        names = frozenset(_names_in(function.__code__))
        for name in sorted(names & function.__globals__.keys()):
            self._visit_value(name, function.__globals__[name], names)
        for default in function.__defaults__ or ():
            self._visit_value("", default, ())

    def _visit_value(self, name: str, value: Any, names: Iterable[str]) -> None:
        """Visit what a name stands for; `names` are all names used beside it, attributes included."""
        implementations = implementations_in(value) if isinstance(value, FunctionType) else None
        if isinstance(value, _PLAIN):
            self._constants[f"{name} {value!r}"] = None
        elif isinstance(value, np.ndarray):
            self._constants[f"{name} {value.dtype} {value.shape} {value.tobytes().hex()}"] = None
        elif isinstance(value, tuple):
            for entry in value:
                self._visit_value(name, entry, names)
        elif isinstance(value, Dispatcher):
            self.visit_function(value.py_func)
        elif implementations is not None:
            for function in implementations:
                self.visit_function(function)
        elif isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] not in _TRUSTED:
                for attribute in names:
                    if hasattr(value, attribute):
                        self._visit_value(f"{name}.{attribute}", getattr(value, attribute), names)
        elif isinstance(value, type):
            self.visit_class(value)
        elif not _is_trusted(value):
            self._is_complete = False

    def _add_source(self, defined: Any) -> None:
        try:
            path = inspect.getsourcefile(defined)
        except TypeError:
            path = None
        if path is None or not Path(path).is_file():
            self._is_complete = False
        else:
            self._files.add(path)
            self._modules.add(defined.__module__)


def _is_trusted(defined: Any) -> bool:
    """Say whether something comes with a library whose version decides what it is."""
    return str(getattr(defined, "__module__", "")).partition(".")[0] in _TRUSTED


def _names_in(code: CodeType) -> Iterator[str]:
    """Yield the global names and the attributes that code uses, functions within it included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
