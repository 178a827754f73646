"""The loop that drives a run until there is a reason to stop."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

from pursuit.checks import Vector
from pursuit.engine.counters import UNLIMITED
from pursuit.engine.stopping import Reason
from pursuit.problems.objective import as_value


class Interrupts:
    """A context in which Ctrl-C waits until the run is ready for it.

    An exception that a signal raises while Numba turns a compiled result into Python objects can crash the
    process. So interruptions wait while a run is at work, and are delivered where they do no harm: at once
    while the objective is evaluated, and otherwise between two steps.

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


Evaluate = Callable[[list[Vector], list[Any]], None]
"""Puts the values of points into a list of Nones; values found before an exception stay there.

The points are arrays of nobody else's, which a function may keep or overwrite."""
# How long a loop runs before others have a turn, in seconds.
_LEG = 0.05


class Here:
    """Evaluates points in this process, one after the other.

    What the objective returns is `read`, unless it is a float; by default it must be a real number.
    """

    def __init__(self, objective: Callable[[Vector], Any], read: Callable[[Any], Any] = as_value) -> None:
        self._objective, self._read = objective, read
        self.deadline: float = math.inf
        """When the time is up, on the clock of `time.perf_counter`."""

    def __call__(self, rows: list[Vector], values: list[Any]) -> None:
        """Evaluate all points."""
        objective, read = self._objective, self._read
        for j, row in enumerate(rows):
            result = objective(row)
            values[j] = result if type(result) is float else read(result)

    def some(self, rows: list[Vector], values: list[Any], target: float) -> None:
        """Evaluate points until one reaches the target, the time is up, or others want to have a turn."""
        objective, read, clock = self._objective, self._read, time.perf_counter
        end = min(clock() + _LEG, self.deadline)
        for j, row in enumerate(rows):
            result = objective(row)
            values[j] = result = result if type(result) is float else read(result)
            if result <= target or clock() >= end:
                return


class Driven(Protocol):
    """What `drive` needs of a run."""

    whole: bool
    """Whether compiled code evaluates its points."""
    rows: list[Vector]

    @property
    def target(self) -> float | None:
        """The value after which no more points of a round are evaluated; None if rounds have to be whole."""

    def run_leg(self, iterations: int) -> bool:
        """Run this many iterations in compiled code; return whether the run continues."""

    def receive(self, values: list[float]) -> None:
        """Take the values of `rows`."""

    def receive_part(self, values: list[float | None]) -> None:
        """Take the values of some of `rows`, after which the run does not continue."""


def drive(
    run: Driven,
    evaluate: Evaluate,
    *,
    interrupts: Interrupts,
    longest_leg: int = UNLIMITED,
    monitor: Callable[[Any], Reason] | None = None,
) -> Reason:
    """Drive a run until it stops by itself, or until `monitor` gives a reason to.

    Parameters
    ----------
    run : Run
        The run.
    evaluate : callable
        Puts the values of points into a list; not called if the whole loop is compiled.
    interrupts : Interrupts
        Told when Ctrl-C can do no harm.
    longest_leg : int
        The most iterations after which compiled code has to return to Python.
    monitor : callable or None
        Called after every leg or every round of evaluations.
    """
    leg, running = 1, True
    in_turn = getattr(evaluate, "some", None)
    while running:
        if run.whole:
            before = time.perf_counter()
            running = run.run_leg(leg)
            if time.perf_counter() - before < _LEG:
                leg = min(2 * leg, longest_leg)
        else:
            rows = run.rows
            if not rows:
                break
            values: list[Any] = [None] * len(rows)
            target = None if in_turn is None else run.target
            interrupts.allow()
            try:
                if in_turn is None or target is None:
                    evaluate(rows, values)
                else:
                    in_turn(rows, values, target)
            except BaseException:
                interrupts.hold()
                run.receive_part(values)
                raise
            interrupts.hold()
            del rows
            run.receive(values)
        interrupts.deliver()
        if monitor is not None:
            reason = monitor(run)
            if reason != Reason.RUNNING:
                return reason
    return Reason.RUNNING
