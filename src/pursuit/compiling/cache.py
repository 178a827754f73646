"""Compiled functions that are kept on disk, and never used after a source they depend on has changed.

Numba's own cache watches only the file of the function that is called. Ours calls schemes and problems
from other files, a user's own among them, so the folder that it is kept in is named by a hash of all of
them: an edited source means another folder.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numba

_PACKAGE = Path(__file__).parents[1]
# What fixes a trajectory, by folder. The rest of the package calls runs and tells of them.
_FOLDERS = ("compiling", "engine", "methods", "problems")
_numba_config: Any = numba.config


def code_hash(*sources: Callable[..., Any] | None) -> str:
    """Return a hash of all code that a run depends on: this package, Numba's version, and `sources`.

    Parameters
    ----------
    *sources : callable or None
        Functions that may come from elsewhere; the files in which they are defined count.

    Examples
    --------
    >>> from pursuit.compiling.cache import code_hash
    >>> len(code_hash())
    16
    """
    return _hash(frozenset(source and source.file for source in _foreign(sources)))


@functools.cache
def _hash(foreign: frozenset[str | None]) -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in _FOLDERS:
        for path in sorted(_PACKAGE.joinpath(folder).rglob("*.py")):
            digest.update(path.relative_to(_PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    for file in sorted(file for file in foreign if file is not None):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()[:16]


def compiled(function: Callable[..., Any], *sources: Callable[..., Any] | None) -> Any:
    """Return `function` compiled by Numba, cached on disk under a hash of all it depends on.

    Parameters
    ----------
    function : callable
        A function of this package.
    *sources : callable or None
        Functions that it will call and that may come from elsewhere. Where the source of one cannot be
        found, as at an interactive prompt, or where it is None, nothing is kept on disk.
    """
    return _compiled(function, _foreign(sources))


def at_once(function: Any, *arguments: Any) -> Callable[..., Any]:
    """Return a compiled function for arguments of these types alone.

    It does not look at the types of what it is given, which takes Numba half a microsecond in every call.
    """
    entry: Callable[..., Any] = function.compile(tuple(numba.typeof(argument) for argument in arguments))
    return entry


@functools.cache
def _compiled(function: Callable[..., Any], foreign: frozenset[_Source | None]) -> Any:
    folder = _cache_folder(foreign)
    if folder is None:
        return numba.njit(function)
    # The folder is read when the function is decorated and not later. So Numba's setting is ours only
    # for this moment, and what other packages cache stays where it was.
    before = _numba_config.CACHE_DIR
    _numba_config.CACHE_DIR = str(folder)
    try:
        return numba.njit(cache=True)(function)
    finally:
        _numba_config.CACHE_DIR = before


def _cache_folder(foreign: frozenset[_Source | None]) -> Path | None:
    """Return the folder for functions that depend on these files beside our own, if there can be one."""
    known = frozenset(source for source in foreign if source is not None)
    if len(known) < len(foreign):
        return None
    # What is kept names the modules of a user's classes: a copy under another name must not find it.
    modules = sorted({source.module for source in known})
    folder = _user_cache() / "-".join([_hash(frozenset(source.file for source in known)), *modules])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _user_cache() -> Path:
    """Return the folder for caches of this package: what Numba was told, or the platform's own."""
    if _numba_config.CACHE_DIR:
        return Path(_numba_config.CACHE_DIR) / "pursuit"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "pursuit" / "cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/pursuit").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "pursuit"


class _Source(NamedTuple):
    """Where a function from outside of this package is defined."""

    module: str
    file: str


def _foreign(sources: Iterable[Callable[..., Any] | None]) -> frozenset[_Source | None]:
    """Return where these are defined, if not in this package; None for what cannot be found."""
    found = ((source, _source_file(source)) for source in sources)
    return frozenset(
        None if file is None else _Source(getattr(source, "__module__", ""), file)
        for source, file in found
        if file not in _own_files()
    )


def _source_file(function: Callable[..., Any] | None) -> str | None:
    if function is None:
        return None
    try:
        path = inspect.getsourcefile(function)
    except TypeError:
        return None
    return path if path is not None and Path(path).is_file() else None


@functools.cache
def _own_files() -> frozenset[str]:
    return frozenset(str(path) for path in _PACKAGE.rglob("*.py"))
