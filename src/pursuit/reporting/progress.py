"""The progress of a run: a line in a terminal or a notebook, lines in a log file, and the logger."""

from __future__ import annotations

import contextlib
import datetime
import logging
import math
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, Protocol, TextIO

from pursuit.compiling.jit import announcing
from pursuit.engine.counters import UNLIMITED, Limits
from pursuit.engine.outcome import Outcome

# How often something new is shown, in seconds.
_TERMINAL_EVERY, _NOTEBOOK_EVERY, _LOG_EVERY = 0.2, 0.5, 5.0
# After how many seconds of compiling to say why nothing else happens.
_SILENCE = 1.0
# How long to wait for another function to be compiled.
_SOON = 0.2
# What separates the parts of a line, of which a narrow terminal leaves out the last; and which is the time.
_GAP, _TIME = "  ", 2
_COMPILING = "compiling (once per method) ..."
_logger = logging.getLogger("pursuit")


class Display(Protocol):
    """A place where lines are shown."""

    every: float
    """How often, in seconds."""

    def show(self, text: str) -> None:
        """Show a line, in place of the one before if it can be replaced."""

    def close(self) -> None:
        """Leave the last line as it is."""

    def clear(self, text: str) -> None:
        """Take the last line away, or replace it by a text where an empty line would be left."""


class _TerminalLine:
    """One line of a terminal, written over and over; parts at its end that do not fit are left out."""

    every = _TERMINAL_EVERY

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._length = 0

    def show(self, text: str) -> None:
        room = max(1, shutil.get_terminal_size().columns - 1)
        while len(text) > room and _GAP in text:
            text = text.rpartition(_GAP)[0]
        shown = text[:room]
        self._write(f"\r{shown:{self._length}}")
        self._length = len(shown)

    def close(self) -> None:
        self._write("\n")

    def clear(self, text: str) -> None:
        self._write(f"\r{'':{self._length}}\r")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class _NotebookLine:
    """One output of a cell, replaced over and over: so a notebook that is saved holds a single line."""

    every = _NOTEBOOK_EVERY

    def __init__(self) -> None:
        self._output: Any = None

    def show(self, text: str) -> None:
        from IPython.display import display

        content = {"text/plain": text}
        if self._output is None:
            self._output = display(content, raw=True, display_id=True)
        else:
            self._output.update(content, raw=True)

    def close(self) -> None:
        """Do nothing: the last line stays."""

    def clear(self, text: str) -> None:
        self.show(text)


class _Lines:
    """Lines one after the other, for files and for the logger."""

    every = _LOG_EVERY

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def show(self, text: str) -> None:
        self._write(text)

    def close(self) -> None:
        """Do nothing: every line has ended."""

    def clear(self, text: str) -> None:
        self.show(text)


class _Glance(NamedTuple):
    """The counts of a run at some time."""

    time: float
    nfev: int
    nit: int


class Progress:
    """Shows the progress of a run from time to time.

    Parameters
    ----------
    wanted : bool
        Whether to show it where standard error goes. The logger ``pursuit`` always reports it, if messages
        of level INFO are enabled.
    maxtime : float
        The most seconds that the run may take.
    """

    def __init__(self, wanted: bool, maxtime: float = math.inf) -> None:
        self._begin = time.perf_counter()
        self._maxtime = maxtime
        displays: list[Display] = [shown] if wanted and (shown := _display()) is not None else []
        if _logger.isEnabledFor(logging.INFO):
            displays.append(_Lines(partial(_logger.info, "%s")))
        # A terminal is written to at once; the first line of a log is due after a while.
        self._due = [
            (self._begin + (display.every if display.every == _LOG_EVERY else 0.0), display)
            for display in displays
        ]
        self._first: _Glance | None = None
        """What was seen of the run first: the evaluations before it was resumed are not ours."""
        self.next: float = self._begin if self._due else math.inf
        """When something is due, on the clock of `time.perf_counter`; never if nobody would see it."""

    def show(self, run: Any, now: float) -> None:
        """Show the progress of a run wherever that is due."""
        outcome = run.outcome()
        self._first = self._first or _Glance(now, outcome.nfev, outcome.nit)
        for place, (due, display) in enumerate(self._due):
            if now >= due:
                display.show(self._text(run, outcome, now))
                self._due[place] = (now + display.every, display)
        self.next = min(due for due, _ in self._due)

    def close(self, run: Any) -> None:
        """Show everywhere how a run ended."""
        if self._due:
            text = self._text(run, run.outcome(), time.perf_counter(), is_last=True)
            for _, display in self._due:
                display.show(text)
                display.close()

    def _text(self, run: Any, outcome: Outcome, now: float, *, is_last: bool = False) -> str:
        first = self._first
        rate = (outcome.nfev - first.nfev) / (now - first.time) if first and now > first.time else 0.0
        parts = [
            f"f {outcome.fun:.6e}",
            f"{outcome.nfev} evaluations" + (f" ({_brief(rate)}/s)" if rate else ""),
            _duration(now - self._begin),
            run.setup.stage.method,
            f"sigma {outcome.sigma:.1e}",
        ]
        left = self._left(outcome, run.setup.limits, now)
        if math.isfinite(left) and not is_last:
            parts[_TIME] += f", at most {_duration(left)} left"
        return _GAP.join(parts)

    def _left(self, outcome: Outcome, limits: Limits, now: float) -> float:
        """Return how many seconds are left until a limit is reached; infinite if that is not known."""
        left = [self._begin + self._maxtime - now]
        if self._first is not None:
            since, nfev, nit = self._first
            for limit, count, before in (
                (limits.evaluations, outcome.nfev, nfev),
                (limits.iterations, outcome.nit, nit),
            ):
                if limit < UNLIMITED and count > before:
                    left.append((limit - count) * (now - since) / (count - before))
        return max(0.0, min(left))


def _display() -> Display | None:
    """Return what suits standard error: a line in a terminal or a notebook, else lines; None without it."""
    stream = sys.stderr
    if stream is None:
        return None
    if type(stream).__module__.startswith("ipykernel"):
        return _NotebookLine()
    if stream.isatty():
        return _TerminalLine(stream)
    return _Lines(lambda text: print(f"pursuit: {text}", file=stream, flush=True))


@contextlib.contextmanager
def showing_compilation(wanted: bool) -> Iterator[None]:
    """Say that something is being compiled, once it has taken a second.

    Unless this is `wanted`, only a terminal or a notebook says so, and only for the main process.
    """
    from multiprocessing import parent_process  # here, since importing the package need not wait for it

    display = _display()
    is_mine = parent_process() is None
    if display is None or not (wanted or (is_mine and not isinstance(display, _Lines))):
        yield
        return
    patience = _Patience(display)
    with announcing(patience.begin, patience.end):
        try:
            yield
        finally:
            patience.close()


class _Patience:
    """Says that something is being compiled when that takes long, and takes it back at the end.

    Several functions in a row count as one.
    """

    def __init__(self, display: Display) -> None:
        self._display = display
        self._since, self._ended = -math.inf, -math.inf
        self._is_shown = False
        self._timer: threading.Timer | None = None
        self._one_at_a_time = threading.Lock()

    def begin(self, name: str) -> None:
        """Show soon that something is compiled."""
        with self._one_at_a_time:
            now = time.perf_counter()
            if now - self._ended > _SILENCE:
                self._since = now
            self._wait(None if self._is_shown else self._since + _SILENCE - now, self._show)

    def end(self) -> None:
        """Take back soon what was shown, unless more is compiled."""
        with self._one_at_a_time:
            self._ended = time.perf_counter()
            self._wait(_SOON if self._is_shown else None, self._clear)

    def close(self) -> None:
        """Take back at once what was shown."""
        with self._one_at_a_time:
            self._wait(None, self._clear)
        self._clear()

    def _wait(self, seconds: float | None, action: Callable[[], None]) -> None:
        """Do something after this many seconds, instead of what was scheduled before."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else threading.Timer(max(0.0, seconds), action)
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def _show(self) -> None:
        with self._one_at_a_time:
            if threading.current_thread() is self._timer:
                self._is_shown = True
                self._display.show(_COMPILING)

    def _clear(self) -> None:
        with self._one_at_a_time:
            if self._is_shown and self._timer in (None, threading.current_thread()):
                self._is_shown = False
                self._display.clear(f"compiled in {_duration(self._ended - self._since)}")


def _brief(number: float) -> str:
    return f"{number:.0f}" if number >= 10.0 else f"{number:.2g}"


def _duration(seconds: float) -> str:
    """Return a time in readable form.

    Examples
    --------
    >>> from pursuit.reporting.progress import _duration
    >>> _duration(1.25), _duration(3725.0)
    ('1.2 s', '1:02:05')
    """
    return f"{seconds:.1f} s" if seconds < 60.0 else str(datetime.timedelta(seconds=round(seconds)))
