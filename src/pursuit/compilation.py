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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

_PACKAGE = Path(__file__).parent
_numba_config: Any = numba.config


@functools.cache
def code_hash() -> str:
    """Return a hash of all sources of this package and of Numba's version.

    Examples
    --------
    >>> from pursuit.compilation import code_hash
    >>> len(code_hash())
    16
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
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
    foreign = frozenset(path for path in map(_source_file, sources) if path not in _own_files())
    return _compiled(function, foreign)


@functools.cache
def _compiled(function: Callable[..., Any], foreign: frozenset[str | None]) -> Any:
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


def _cache_folder(foreign: frozenset[str | None]) -> Path | None:
    """Return the folder for functions that depend on these files beside our own, if there can be one."""
    if None in foreign:
        return None
    digest = hashlib.sha256(code_hash().encode())
    for path in sorted(path for path in foreign if path is not None):
        digest.update(Path(path).read_bytes())
    folder = _user_cache() / digest.hexdigest()[:16]
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
