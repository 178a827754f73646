"""Compiled functions, kept on disk and never used after a source they depend on has changed.

Numba keeps them (``cache=True``), but watches only the file of the function that is called, while ours call
schemes and problems from other files, a user's own among them. Its index of what is kept for a function lists
all types, cannot be read where one of these cannot be imported, and is overwritten by processes that compile
at the same time. So there is a folder for each function and the types of its arguments, named by a hash of
all that its code depends on: an edited source means another folder.

Numba compiles into a loop whatever the loop calls, and freezes the global constants that are used there. So
the code of a run depends on the classes of its scheme and of its problem, on the classes of records inside
them (such as the problem inside bounds), on the functions registered for these classes, and on everything
that these functions use in turn: jitted helpers, generic functions and constants, from any file.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from pursuit.compiling import jit
from pursuit.compiling.dispatch import forms_of, implementations_of
from pursuit.compiling.jit import compilation
from pursuit.optional import version_of

_PACKAGE = Path(__file__).parents[1]
# What fixes a trajectory, by folder. The rest of the package sets up runs and reports on them.
_FOLDERS = ("compiling", "engine", "gpu", "methods", "problems")
# How many versions of the package keep their compiled code: a few, for people who switch between them.
_VERSIONS_KEPT = 3
# These change only with their version, or not at all.
_TRUSTED = {"builtins", "llvmlite", "numba", "numpy", "pursuit", "scipy", *sys.stdlib_module_names}
# The names of the module that Python was started with, in that process and in those that it starts.
_SCRIPTS = ("__main__", "__mp_main__")
UNKNOWN = "?"
"""Stands for what nobody can trace, such as code typed at a prompt."""
# Numba has one setting for its folder, which two threads must not change at the same time.
_one_at_a_time = threading.RLock()


def code_hash(*records: Any) -> str:
    """Return a hash of all code that a run depends on: this package, Numba's version, and a user's own.

    Parameters
    ----------
    *records : NamedTuple
        The scheme and the problem of the run.

    Examples
    --------
    >>> from pursuit.compiling.cache import code_hash
    >>> len(code_hash())
    16
    """
    return _digest(_package_hash(), *reach_of(*records))


def compiled(function: Callable[..., Any], *records: Any) -> Any:
    """Return `function` compiled by Numba for what it is called with, and kept on disk.

    Without a compiler the function is interpreted: it does the same, and takes numbers that are not finite as
    quietly.

    Parameters
    ----------
    function : callable
        A function of this package.
    *records : NamedTuple
        The records that it will be called with. Where something that they lead to cannot be traced to a
        file, nothing is kept on disk.
    """
    if not jit.has_compiler():
        return np.errstate(all="ignore")(function)
    return _compiled(function, *definitions_in(*records))


@functools.cache
def _compiled(function: Callable[..., Any], *definitions: Any) -> Compiled:
    return Compiled(function, cache_folder(*definitions))


def specialized(function: Any, *arguments: Any) -> Any:
    """Return a compiled function for arguments of these types alone.

    It does not check the types of its arguments, which takes Numba half a microsecond per call.
    """
    return function.compile(*arguments)[1] if isinstance(function, Compiled) else function


def cache_folder(*records: Any) -> Path | None:
    """Return where to keep what is compiled for these records or classes of records, if anywhere."""
    texts = reach_of(*records)
    return None if UNKNOWN in texts else _version_folder() / _digest(*texts)


class Compiled:
    """A function that Numba compiles for the types of its arguments.

    It releases Python's lock, as all functions compiled here do, so that other threads run meanwhile. That
    costs each call less than 0.1 microseconds.
    """

    def __init__(self, function: Callable[..., Any], folder: Path | None) -> None:
        self._function, self._folder = function, folder
        self._made: dict[Any, tuple[Any, Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Call it."""
        dispatcher, _ = next(iter(self._made.values()), None) or self.compile(*arguments)
        return dispatcher(*arguments)

    def compile(self, *arguments: Any) -> tuple[Any, Any]:
        """Return Numba's function, compiled for arguments of these types, and its entry for these alone."""
        types = tuple(map(jit.numba().typeof, arguments))
        with _one_at_a_time:
            if types not in self._made:
                name = _digest(self._function.__qualname__, *map(str, types))
                self._made[types] = _compile(self._function, types, self._folder and self._folder / name)
            return self._made[types]


def _compile(function: Callable[..., Any], types: Any, folder: Path | None) -> tuple[Any, Any]:
    """Return Numba's function, compiled for types or found in a folder, and its entry for these types."""
    numba, is_kept = jit.numba(), folder is not None and _can_be_written(folder)
    setting = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = str(folder) if is_kept else setting
        dispatcher = numba.njit(nogil=True, cache=is_kept)(function)
    finally:
        numba.config.CACHE_DIR = setting
    with compilation(function, expected=not (folder and is_kept and [*folder.rglob("*.nbc")])):
        for _ in range(2 if is_kept else 0):
            try:
                return dispatcher, dispatcher.compile(types)
            except numba.NumbaError:
                raise
            except Exception:
                # What is kept is damaged, or the disk is full.
                shutil.rmtree(str(folder), ignore_errors=True)
        return dispatcher, dispatcher.compile(types)


def _can_be_written(folder: Path) -> bool:
    """Make a folder, and say whether files can be written there: if not, Numba would look for another."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        return True
    return False


@functools.cache
def _version_folder() -> Path:
    """Return the folder of this version of the package, and delete those that were not used for long."""
    folder = _user_cache() / _digest(_package_hash(), platform.python_version(), np.__version__)
    with contextlib.suppress(OSError):  # Nothing can be written there, or another process is deleting them.
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for path in sorted(folder.parent.iterdir(), key=os.path.getmtime)[:-_VERSIONS_KEPT]:
            shutil.rmtree(path, ignore_errors=True)
    return folder


def _user_cache() -> Path:
    """Return the folder for caches of this package: what Numba was told, or the platform's own."""
    if told := jit.numba().config.CACHE_DIR:
        return Path(told).absolute() / "pursuit"
    local, caches = os.environ.get("LOCALAPPDATA", "~"), os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    own = {"win32": f"{local}/pursuit/cache", "darwin": "~/Library/Caches/pursuit"}
    return Path(own.get(sys.platform, f"{caches}/pursuit")).expanduser()


@functools.cache
def _package_hash() -> str:
    """Return a hash of Numba's version and of all sources of the package that fix a trajectory."""
    paths = sorted(path for folder in _FOLDERS for path in _PACKAGE.joinpath(folder).rglob("*.py"))
    texts = (f"{path.relative_to(_PACKAGE).as_posix()} {_file_hash(path)}" for path in paths)
    return _digest(version_of("numba"), *texts)


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
    >>> from pursuit.compiling.cache import reach_of
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
        yield f"{value.__module__} {_file_hash(path)}" if path.is_file() else UNKNOWN
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


def _file_hash(path: Path) -> str:
    """Return a hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
