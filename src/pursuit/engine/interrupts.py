"""Ctrl-C at the right moment.

An exception that a signal raises while Numba turns a compiled result into Python objects can crash the
process. So interruptions wait while a run is at work, and are delivered where they do no harm: at once while
the objective is evaluated, and otherwise between two steps.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interrupts:
    """A context in which Ctrl-C waits until the run is ready for it.

    Outside the main thread, where Python handles no signals, it does nothing.
    """

    def __init__(self) -> None:
        self._allowed = False
        self._pending = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        """Take over the handling of Ctrl-C."""
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        """Hand it back; what waits is delivered now."""
        self._allowed = False
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self.deliver()

    def allow(self) -> None:
        """Deliver what waits, and until `hold` whatever comes, immediately."""
        self._allowed = True
        self.deliver()

    def hold(self) -> None:
        """Make interruptions wait from now on."""
        self._allowed = False

    def deliver(self) -> None:
        """Deliver what waits."""
        if self._pending:
            self._pending = False
            self._before(signal.SIGINT, None)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._allowed:
            self._before(number, frame)
        else:
            self._pending = True
