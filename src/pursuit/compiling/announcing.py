"""Who is told that something is being compiled; importing this does not import a compiler."""

from __future__ import annotations

import contextlib
import gc
import logging
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

_logger = logging.getLogger("pursuit")
_Listener = tuple[Callable[[str], None], Callable[[], None]]
_listeners: ContextVar[tuple[_Listener, ...]] = ContextVar("_listeners", default=())


@contextlib.contextmanager
def announcing(begin: Callable[[str], None], end: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Meanwhile, call `begin` with the name of each function about to be compiled, and `end` after it."""
    token = _listeners.set((*_listeners.get(), (begin, end)))
    try:
        yield
    finally:
        _listeners.reset(token)


@contextlib.contextmanager
def compilation(function: Callable[..., Any], *, expected: bool) -> Iterator[None]:
    """Say that a function is about to be compiled, if that is expected, and at the end that it has been.

    Meanwhile Python's garbage collector is off: the compiler makes millions of objects and keeps most of
    them, so collecting would take a sixth of the time and find little.
    """
    if not expected:
        yield
        return
    _logger.info("Compiling %s, which is not in the cache on disk.", function.__name__)
    listeners, was_enabled = _listeners.get(), gc.isenabled()
    for begin, _ in listeners:
        begin(function.__name__)
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
        for _, end in listeners:
            end()
