"""`momentum`: ranks of mirrored rounds, learnt scales, a flat direction and momentum.

    y <- x_0;  v <- x_0;  D <- 1;  eta <- 1;  m <- max(4, sqrt(n))
    repeat:
        evaluate y and y +- sigma D z_i, i = 1 ... m, and y +- p if a flat direction p is known
        q <- the ranks of the 2m values, scaled to [-1, 1] (`ranks.py`)
        s <- eta sigma D sum_i (q_i- - q_i+)/2 z_i, and +p or -p if f falls along it
        if f(y + s) <= f(y): let eta grow towards 1
        else: s <- 0 unless values are noisy; shrink eta towards 1/m
        sigma <- sigma exp(the part of the pairs one side of which is no worse than y - eta/2)
        learn D from the ranks (`diagonal.py`)
        if steps oppose momentum (`drift.py`): v <- y
        carry y and v along (`acceleration.py`), and learn p (`flat_direction.py`)

Ranks of points around the same y tell more than successes do. The difference of a pair's ranks is the slope
along z_i, however little the values can be trusted; their mean is the curvature along it.

- *Noise* is noticed where y + s was worse than y, but no longer is when y is evaluated again. Then a sum is
  added without being tried, as if it were a success, and the mean of the latest y is returned: noise hides
  which of the points seen is the best.
- *Smaller rounds at first*, of 1, 2, 4, ... pairs, unless m is given: sigma may have to become much smaller,
  and changes once per round. It grows only in rounds of m pairs: a few pairs lead far away on a rough
  landscape.
- *Shorter steps from points farther apart*: where sums overshoot, eta is small, and sigma stays large. The
  differences of mirrored pairs do not see the curvature that keeps single points from being better.
- *Where f has no value at y*, or where sigma has grown far beyond what it was at the best point, y and v go
  back to that point.

The scheme uses only comparisons of f: it is invariant under increasing transformations of f. Its points are
written one by one (`mirrored_rounds.py`), so that the memory is a few vectors. An iteration of the engine is
a round, or a part of one: all points that do not depend on others' values, then y + s, then y again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_count
from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import copy, scale
from pursuit.methods.acceleration import Momentum, restarted
from pursuit.methods.contract import ask, tell
from pursuit.methods.diagonal import Diagonal, rescale, variance_of
from pursuit.methods.drift import opposes
from pursuit.methods.flat_direction import (
    FARTHEST,
    LEARNING,
    FlatDirection,
    carry_and_learn,
    checked_learning,
)
from pursuit.methods.hooks import Findings, Patience, Rounds
from pursuit.methods.mirrored_rounds import MirroredRound, entry_of, start_of, write_place
from pursuit.methods.momentum_state import AGAIN, BACK, MOVE, NUMBERS, SUM, TRIALS, RankedState
from pursuit.methods.ranks import write_ranks

_FEWEST = 4
# How many numbers the points of a query may have together: a larger round is divided.
_ROOM_FOR_NUMBERS = 1_000_000
# How eta changes after sums that are better than y, and after others.
_UP, _DOWN = 1.1, 0.8
# The share of pairs that are to have a side no worse than y, where eta is 1.
_WANTED = 0.5
# How the length of the step along p changes.
_FLAT_CHANGE = 1.0 / 3.0
# How far sigma may grow beyond what it was at the best point.
_CAP = 10.0
# And how far, if values are noisy, beyond the largest one that led to a better point before that showed:
# where there is only noise, half of the points look better however far away they are.
_NOISY_CAP = 100.0
# How much the latest doubtful comparison counts, and which share of them means that values are noisy.
_LATEST, _NOISY = 0.1, 0.1
# Over how many pairs the mean of y is taken, divided by n.
_MEAN_SPAN = 2.0
_NOISE = (
    "Noise hides which point is the best, so x is the mean of the latest iterates, and fun is the mean of "
    "their values."
)


class RankedMomentum(NamedTuple):
    """Momentum from ranks of mirrored rounds."""

    momentum: Momentum
    m: int
    """How many pairs a round has."""
    first: int
    """How many the first round has; they double."""
    room: int
    """The most points of a query."""
    learning: float

    @classmethod
    def create(
        cls,
        n: int,
        *,
        m: int | None = None,
        damping: float = 2.0,
        growth: float = 1.0,
        learning: float = LEARNING,
    ) -> RankedMomentum:
        """Return the scheme for n variables; the defaults need no knowledge of the problem."""
        first = 1 if m is None else checked_count("m", m, at_least=1)
        m = max(_FEWEST, round(math.sqrt(n))) if m is None else first
        return cls(
            momentum=Momentum.create(damping, growth),
            m=m,
            first=first,
            room=max(1, min(2 * m + 3, _ROOM_FOR_NUMBERS // n)),
            learning=checked_learning(learning),
        )

    def batched(self, n: int, rounds: Rounds) -> RankedMomentum:
        """Return the scheme with more pairs, so that the last points of a round leave no worker idle."""
        parts = -(-(2 * self.m + 3) // rounds.at_once)
        m = max(self.m, (parts * rounds.at_once - 3) // 2)
        most = max(rounds.at_once, min(rounds.most, _ROOM_FOR_NUMBERS // n))
        return self._replace(m=m, room=min(most, 2 * m + 3))

    @classmethod
    def wider(
        cls, n: int, options: Mapping[str, Any], times: int, at_most: int | None = None
    ) -> dict[str, Any]:
        """Return the options of a search `times` times as wide, with at most `at_most` pairs per round."""
        m = cls.create(n, **options).m
        wide = times * m if at_most is None else min(times * m, max(m, at_most))
        return {**options, "m": wide}

    def init(self, x: Vector, fx: float, sigma: float) -> RankedState:
        """Return the first state."""
        now = np.zeros(1, dtype=NUMBERS)
        now["fx"] = now["f"] = now["mean_value"] = fx
        now["sigma"] = now["best_sigma"] = now["widest"] = sigma
        now["eta"] = 1.0
        now["pairs"], now["until"] = self.first, 2 * self.first + 1
        return RankedState(
            x=x,
            fx=fx,
            f=fx,
            sigma=sigma,
            y=x.copy(),
            v=x.copy(),
            s=np.zeros(x.size),
            mean=x.copy(),
            diagonal=Diagonal.create(x.size),
            flat=FlatDirection.create(x.size, self.learning),
            past=self.momentum.first_past(),
            seen=np.full(2 * self.m + 5, math.inf),
            now=now,
        )

    def draws(self, n: int) -> int:
        """Return how many standard normals an iteration takes: all directions come from the first."""
        return 1

    def points(self) -> int:
        """Return the largest number of points in a query."""
        return self.room

    def patience(self, n: int) -> Patience:
        """Return after how many iterations without a better point to give up: two make a round."""
        pairs = 2 * self.m + 2
        return Patience(
            2 * (10_000 + 1_000 * n) // pairs, share=1.0, window=2 * max(20, (500 + 10 * n) // pairs)
        )

    def findings(self, state: RankedState) -> Findings:
        """Return whether values are noisy."""
        is_noisy = bool(state.now["is_noisy"][0])
        return Findings(is_estimate=is_noisy, remark=_NOISE if is_noisy else "")


@ask.register(RankedMomentum)
def _ask(team, scheme, state, normals):
    now = state.now[0]
    place = int(now.place)
    return MirroredRound(
        y=state.y,
        scales=state.diagonal.scales,
        first=state.flat.p,
        second=state.s,
        # All rounds have the same key, so it makes no difference how they are divided into iterations.
        key=now.key if now.key != 0.0 else normals[0],
        number=int(now.number),
        sigma=now.sigma,
        length=now.flat_sigma,
        m=int(now.pairs),
        place=place,
        size=min(scheme.room, int(now.until) - place),
    )


@tell.register(RankedMomentum)
def _tell(team, scheme, state, query, values):
    now, past, flat = state.now[0], state.past, state.flat
    _keep(state, query, values)
    if now.place == now.until:
        if now.phase == TRIALS:
            _sum_up(state, query)
        elif now.phase == SUM:
            _tried(state, query)
        else:
            _evaluated_again(state, query)
    if now.phase == MOVE:
        past, flat = _move(team, scheme, state, query.m)
    if now.phase == BACK:
        past = _back_at_best(team, state, past)
    if now.phase == MOVE or now.phase == BACK:
        _plan_round(now, scheme.m)
    return RankedState(
        x=state.x,
        fx=now.fx,
        f=now.f,
        sigma=now.sigma,
        y=state.y,
        v=state.v,
        s=state.s,
        mean=state.mean,
        diagonal=state.diagonal,
        flat=flat,
        past=past,
        seen=state.seen,
        now=state.now,
    )


@inner
def _keep(state, query, values):
    """Keep the values of a round, and the best point if it is among them."""
    now = state.now[0]
    now.key = query.key
    for j in range(values.shape[0]):
        place = query.place + j
        state.seen[place] = values[j]
        if values[j] < now.fx and not now.is_noisy:
            now.fx, now.best_sigma = values[j], query.sigma
            now.widest = max(now.widest, query.sigma)
            write_place(query, place, state.x)
    now.place += values.shape[0]


@inner
def _plan_round(now, m):
    """Plan to evaluate the points of a new round."""
    now.number += 1
    now.pairs = min(m, 2 * now.pairs)
    now.phase, now.place, now.until = TRIALS, 0, 2 * now.pairs + (3 if now.flat_sigma > 0.0 else 1)


@inner
def _sum_up(state, query):
    """Write the step that the ranks of a round suggest into s, and learn scales from them."""
    now, m, n = state.now[0], query.m, state.y.shape[0]
    now.f = state.seen[0]
    if now.f == math.inf:
        now.phase = BACK
        return
    ranks = np.empty(2 * m)
    write_ranks(ranks, state.seen[1 : 2 * m + 1])
    s, scales, latest = state.s, state.diagonal.scales, state.diagonal.latest
    for j in range(n):
        s[j] = latest[j] = 0.0
    now.successes, now.steps, now.flat_step, variance = 0.0, now.eta * m, 0.0, 0.0
    for i in range(m):
        ahead, back = ranks[2 * i], ranks[2 * i + 1]
        slope, curvature = 0.5 * (back - ahead), 0.5 * (ahead + back)
        variance += variance_of(curvature)
        now.successes += (min(state.seen[2 * i + 1], state.seen[2 * i + 2]) <= now.f) / m
        start = start_of(query, i)
        for j in range(n):
            z = entry_of(start, j)
            s[j] += slope * z
            latest[j] += curvature * (z * z - 1.0)
    for j in range(n):
        s[j] *= now.eta * query.sigma * scales[j]
    now.variance, now.trust = rescale(state.diagonal, now.variance, variance, m)
    if now.flat_sigma > 0.0:
        _add_flat(state, state.seen[2 * m + 1] <= now.f, state.seen[2 * m + 2] <= now.f)
    now.phase, now.place, now.until = SUM, 2 * m + 3, 2 * m + 4


@inner
def _add_flat(state, ahead, back):
    """Add a step along the flat direction to s, if f does not rise on one of the two sides."""
    now = state.now[0]
    if ahead or back:
        now.flat_step = now.flat_sigma if ahead else -now.flat_sigma
        for j in range(state.s.shape[0]):
            state.s[j] += now.flat_step * state.flat.p[j]
    change = math.exp(_FLAT_CHANGE if ahead or back else -_FLAT_CHANGE)
    now.flat_sigma = min(now.flat_sigma * change, FARTHEST * now.sigma)


@inner
def _tried(state, query):
    """Take the value at y + s."""
    now, place = state.now[0], 2 * query.m + 3
    if state.seen[place] <= now.f:
        now.eta = min(1.0, _UP * now.eta)
        now.phase = MOVE
    else:
        now.phase, now.place, now.until = AGAIN, place + 1, place + 2


@inner
def _evaluated_again(state, query):
    """Take the second value at y, and give up a step that was worse, unless values are noisy."""
    now, place = state.now[0], 2 * query.m + 4
    is_doubtful = state.seen[place] >= state.seen[place - 1]
    now.doubt += _LATEST * ((1.0 if is_doubtful else 0.0) - now.doubt)
    if now.doubt > _NOISY:
        now.is_noisy = 1.0
    else:
        now.flat_step = 0.0
        for j in range(state.s.shape[0]):
            state.s[j] = 0.0
    now.eta = max(1.0 / query.m, _DOWN * now.eta)
    now.phase = MOVE


@inner
def _move(team, scheme, state, m):
    """Go to the next y after m pairs; return the past of momentum and the flat direction."""
    now, n = state.now[0], state.y.shape[0]
    change = now.successes - _WANTED * now.eta
    now.sigma *= math.exp(change if m == scheme.m else min(change, 0.0))
    is_opposed = opposes(now, state, m, state.past.age)
    past, flat, is_new = carry_and_learn(team, scheme, state, now.steps, now.f)
    if is_opposed:
        past = restarted(team, past, state.y, state.v)
    if past.age < state.past.age + now.steps:  # it has begun again
        now.drift = now.since = 0.0
    if is_new:
        now.flat_sigma = now.sigma
    weight = min(1.0, m / (_MEAN_SPAN * n))
    for j in range(n):
        state.mean[j] += weight * (state.y[j] - state.mean[j])
    now.mean_value += weight * (now.f - now.mean_value)
    if now.is_noisy:
        copy(team, state.x, state.mean)
        now.fx = now.mean_value
        now.sigma = min(now.sigma, _NOISY_CAP * now.widest)
        now.best_sigma += weight * (now.sigma - now.best_sigma)
    if now.sigma > _CAP * now.best_sigma:
        now.phase = BACK
    return past, flat


@inner
def _back_at_best(team, state, past):
    """Go back to the best point, without momentum, after y got lost; return the past."""
    now = state.now[0]
    copy(team, state.y, state.x)
    scale(team, state.flat.displacement, 0.0)
    now.sigma, now.drift, now.since = now.best_sigma, 0.0, 0.0
    return restarted(team, past, state.y, state.v)
