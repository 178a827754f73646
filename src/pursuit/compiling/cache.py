"""Compiled functions, kept on disk and never used after a source they depend on has changed.

Numba's own cache watches only the file of the function that is called. Ours calls schemes and problems from
other files, a user's own among them, so the folder of the cache is named by a hash of all that a function
depends on: an edited source means another folder. It holds one file for each signature, and no index: two
processes cannot overwrite each other's entries, and what one cannot read does not disturb the other.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

from pursuit.compiling import jit
from pursuit.compiling.announcing import announce, announce_end
from pursuit.compiling.reach import Reach, reach_of

_PACKAGE = Path(__file__).parents[1]
# What fixes a trajectory, by folder. The rest of the package sets up runs and reports on them.
_FOLDERS = ("compiling", "engine", "methods", "problems")
# The programs, which nothing compiled depends on.
_PROGRAMS = ("methods/differences/", "methods/evolution/")
# How many versions of the package keep their compiled code: a few, for people who switch between them.
_VERSIONS_KEPT = 3
# Numba's type hints do not cover all that it has.
_numba_config: Any = numba.config
# Numba has one setting for its folder, which two threads must not change at the same time.
_one_at_a_time = threading.Lock()


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
    reach = reach_of(*records)
    return _digest(_package_hash(with_programs=True), *_file_hashes(reach), reach.constants)


def compiled(function: Callable[..., Any], *records: Any) -> Any:
    """Return `function` compiled by Numba, cached on disk under a hash of all it depends on.

    It releases Python's lock, as all functions compiled here do, so that other threads run meanwhile. That
    costs each call less than 0.1 microseconds; what two functions share is compiled once only if both are
    compiled with the same options. Without a compiler the function is interpreted: it does the same, and
    takes numbers that are not finite as quietly.

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
    reach = reach_of(*records)
    with _one_at_a_time:
        return _compiled(function, reach)


def cache_folder(*records: Any) -> Path | None:
    """Return where to keep what is compiled for these records; None if it cannot be kept.

    Parameters
    ----------
    *records : NamedTuple
        The scheme and the problem of a run.
    """
    return _cache_folder(reach_of(*records))


def specialized(function: Any, *arguments: Any) -> Callable[..., Any]:
    """Return a compiled function for arguments of these types alone.

    It does not check the types of its arguments, which takes Numba half a microsecond per call.
    """
    if not hasattr(function, "compile"):
        return function  # type: ignore[no-any-return]
    entry: Callable[..., Any] = function.compile(tuple(numba.typeof(argument) for argument in arguments))
    return entry


@functools.cache
def _compiled(function: Callable[..., Any], reach: Reach) -> Any:
    dispatcher: Any = jit.numba().njit(nogil=True, no_cfunc_wrapper=True)(function)
    folder = _cache_folder(reach)
    if folder is None:
        dispatcher._cache = _NoCache(function)
    else:
        # Numba reads its setting when a cache is made and not later. So it is ours only for this moment, and
        # what other packages cache stays where it was.
        before = _numba_config.CACHE_DIR
        _numba_config.CACHE_DIR = str(folder)
        try:
            dispatcher._cache = _Cache(function)
        finally:
            _numba_config.CACHE_DIR = before
    return dispatcher


class _Cache(FunctionCache):
    """Numba's cache of a function, with `_Files` in place of an index and numbered files."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(self.cache_path, self._impl.filename_base, "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept for a signature; if nothing is, Numba compiles it next."""
        found = super().load_overload(sig, target_context)
        if found is None:
            announce(self._py_func)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature."""
        announce_end()
        super().save_overload(sig, data)


class _NoCache(NullCache):
    """Keeps nothing, but says what is compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Find nothing, so that Numba compiles it next."""
        announce(self._function)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep nothing of what was compiled."""
        announce_end()


class _Files(IndexDataCacheFile):
    """A file for each signature, found by its name."""

    def load(self, key: Any) -> Any:
        """Return what is kept for a signature; None if nothing is, or nothing that can be read."""
        try:
            return self._load_data(self._name_of(key))
        except Exception:
            # A damaged file, or one that names a module that this process cannot import: the function is
            # compiled again and the file overwritten.
            return None

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled for a signature, if it can be kept."""
        try:
            self._save_data(self._name_of(key), data)
        except OSError:
            return

    def _name_of(self, key: Any) -> str:
        return self._data_name_pattern.format(number=int(_digest(*map(str, key)), base=16))


def _cache_folder(reach: Reach) -> Path | None:
    """Return the folder for functions that depend on these files besides our own, if there can be one."""
    if not reach.is_complete:
        return None
    version = _user_cache() / _package_hash(with_programs=False)
    # What is kept names the modules of a user's classes: a copy under another name must not find it.
    folder = version / _digest(*_file_hashes(reach), *sorted(reach.modules), reach.constants)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(version)
    except OSError:
        return None
    if not os.access(folder, os.W_OK):
        return None
    _delete_older_versions(version)
    return folder


@functools.cache
def _delete_older_versions(version: Path) -> None:
    """Delete the code compiled for the versions of the package that were least recently used."""
    others = [path for path in version.parent.iterdir() if path.is_dir() and path != version]
    others.sort(key=_last_used, reverse=True)
    for path in others[_VERSIONS_KEPT - 1 :]:
        shutil.rmtree(path, ignore_errors=True)


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _user_cache() -> Path:
    """Return the folder for caches of this package: what Numba was told, or the platform's own."""
    if _numba_config.CACHE_DIR:
        return Path(_numba_config.CACHE_DIR) / "pursuit"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "pursuit" / "cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/pursuit").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "pursuit"


@functools.cache
def _package_hash(*, with_programs: bool) -> str:
    """Return a hash of Numba's version and of all sources of the package that fix a trajectory.

    Programs are never compiled: without them, it covers what compiled code depends on.
    """
    parts = [numba.__version__]
    for folder in _FOLDERS:
        for path in sorted(_PACKAGE.joinpath(folder).rglob("*.py")):
            name = path.relative_to(_PACKAGE).as_posix()
            if with_programs or not name.startswith(_PROGRAMS):
                parts += [name, _file_hash(str(path))]
    return _digest(*parts)


def _file_hashes(reach: Reach) -> list[str]:
    return sorted(_file_hash(file) for file in reach.files)


@functools.cache
def _file_hash(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
