"""The run: the two drivers of a session, the clock, and the outcome."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compilation import compiled
from pursuit.problems.contract import sources_of, value
from pursuit.schemes.contract import Scheme, ask, tell
from pursuit.session import BlackBox, Session, fill, iterate, lay_out, open_session, pose, snapshot, turn
from pursuit.stopping import Reason
from pursuit.tally import Limits, Trace, finished_trace, open_books
from pursuit.vectors import SERIAL

# The normals that the Python loop draws at a time, so that passing the generator costs little.
_BLOCK = 4096
# How long the compiled loop runs between two looks at the clock, in seconds.
_LEG = 0.05


class Outcome(NamedTuple):
    """What a run came to."""

    x: Vector
    fun: float
    nit: int
    nfev: int
    faulty: int
    sigma: float
    reason: Reason
    trace: Trace


def run(
    scheme: Scheme,
    objective: Any,
    x0: Vector,
    *,
    sigma0: float,
    rng: np.random.Generator,
    limits: Limits,
    maxtime: float = math.inf,
    whole: bool = True,
) -> Outcome:
    """Minimise `objective` from `x0`, which the run makes its own, and return what came of it.

    Parameters
    ----------
    scheme : Scheme
        Created for this many variables.
    objective : Problem or callable
        A problem, or any function of a point.
    x0 : ndarray
        The start; it is overwritten.
    sigma0 : float
        The first step size.
    rng : numpy.random.Generator
        The source of all randomness.
    limits : Limits
        When to stop.
    maxtime : float
        The limit of time, in seconds.
    whole : bool
        Whether to compile the whole loop if the objective is a problem. The trajectory is the same.
    """
    end = time.perf_counter() + maxtime
    can_compile = value.handles(type(objective))
    whole = whole and can_compile
    fx = float(objective(x0.copy()))
    if not math.isfinite(fx):
        raise ValueError(f"The objective must be finite at x0, but it is {fx} there.")
    n, draws = x0.size, scheme.draws(x0.size)
    # The compiled loop needs the normals of one iteration and one point at a time.
    block = np.empty((1 if whole else max(1, _BLOCK // draws), draws))
    points = np.empty((1 if whole else scheme.points(), n))
    values = np.empty(scheme.points())
    sources = [ask.source_of(type(scheme)), tell.source_of(type(scheme)), *sources_of(objective)]
    tally, trace = open_books(fx, sigma0)
    compiled(fill)(rng, block)
    session = compiled(open_session, *sources)(
        SERIAL, scheme, objective if can_compile else BlackBox(), scheme.init(x0, fx, sigma0),
        tally, trace, limits, block, points, values,
    )  # fmt: skip
    look = compiled(snapshot, *sources)
    reason = Reason.RUNNING
    try:
        if whole:
            legs = _compiled_legs(compiled(iterate, *sources), session, rng, look)
        else:
            legs = _python_legs(objective, session, rng, sources, block, points, values)
        for _ in legs:
            if time.perf_counter() > end:
                reason = Reason.MAXTIME
                break
    except KeyboardInterrupt:
        reason = Reason.INTERRUPTED
    state, tally, own_reason = look(session)
    return Outcome(
        x=state.x,
        fun=state.fx,
        nit=tally.nit,
        nfev=tally.nfev,
        faulty=tally.faulty,
        sigma=state.sigma,
        reason=Reason(own_reason) if own_reason != Reason.RUNNING else reason,
        trace=finished_trace(tally, trace, state.f),
    )


def _compiled_legs(
    iterate_session: Any, session: Session, rng: np.random.Generator, look: Any
) -> Iterator[None]:
    """Drive a session in compiled legs of about `_LEG` seconds; yield after each."""
    iterations, leg = 0, 1
    while True:
        before = time.perf_counter()
        iterations += leg
        iterate_session(session, rng, iterations)
        _, _, reason = look(session)
        if reason != Reason.RUNNING:
            return
        yield
        if time.perf_counter() - before < _LEG:
            leg *= 2


def _python_legs(
    objective: Callable[[Vector], float],
    session: Session,
    rng: np.random.Generator,
    sources: list[Callable[..., Any]],
    block: NDArray[np.float64],
    points: NDArray[np.float64],
    values: Vector,
) -> Iterator[None]:
    """Drive a session from Python, an evaluation at a time; yield after each round of them."""
    fill_block, pose_session = compiled(fill), compiled(pose, *sources)
    turn_session, look = compiled(turn, *sources), compiled(snapshot, *sources)
    rows = list(points)
    wanted = compiled(lay_out, *sources)(session)
    while True:
        for j in range(wanted):
            values[j] = objective(rows[j])
        if wanted:
            wanted = turn_session(session)
            yield
            continue
        _, _, reason = look(session)
        if reason != Reason.RUNNING:
            return
        fill_block(rng, block)
        wanted = pose_session(session)
