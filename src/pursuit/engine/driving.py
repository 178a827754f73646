"""The loop that drives a run until there is a reason to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from pursuit.checks import Vector
from pursuit.engine.interrupts import Interrupts
from pursuit.engine.stopping import Reason
from pursuit.engine.tally import UNLIMITED
from pursuit.problems.objective import as_value

Evaluate = Callable[[list[Vector], list[Any]], None]
"""Puts the values of points into a list of Nones; values found before an exception stay there."""
# How long the compiled loop runs before it returns to Python, in seconds.
_LEG = 0.05


def here(objective: Callable[[Vector], Any], read: Callable[[Any], Any] = as_value) -> Evaluate:
    """Return what evaluates points in this process, one after the other.

    What the objective returns is `read`, unless it is a float; by default it must be a real number.
    """

    def evaluate(rows: list[Vector], values: list[Any]) -> None:
        for j, row in enumerate(rows):
            result = objective(row)
            values[j] = result if type(result) is float else read(result)

    return evaluate


class Driven(Protocol):
    """What `drive` needs of a run."""

    whole: bool
    rows: list[Vector]

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
    while running:
        if run.whole:
            before = time.perf_counter()
            running = run.run_leg(leg)
            if time.perf_counter() - before < _LEG:
                leg = min(2 * leg, longest_leg)
        else:
            if not run.rows:
                break
            values: list[Any] = [None] * len(run.rows)
            interrupts.allow()
            try:
                evaluate(run.rows, values)
            except BaseException:
                interrupts.hold()
                run.receive_part(values)
                raise
            interrupts.hold()
            run.receive(values)
        interrupts.deliver()
        if monitor is not None:
            reason = monitor(run)
            if reason != Reason.RUNNING:
                return reason
    return Reason.RUNNING
