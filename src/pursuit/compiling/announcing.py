"""Who is told that something is being compiled; importing this does not import a compiler."""

from __future__ import annotations

import contextlib
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


def announce(function: Callable[..., Any]) -> None:
    """Say that a function is about to be compiled."""
    _logger.info("Compiling %s, which is not in the cache on disk.", function.__name__)
    for begin, _ in _listeners.get():
        begin(function.__name__)


def announce_end() -> None:
    """Say that it has been compiled."""
    for _, end in _listeners.get():
        end()
