"""`values`: slopes, curvatures and noise from differences of values.

    measure the noise of a value, from values on a line (`noise.py`), and lengthen the first probes until it
        does not hide curvature
    begin with steps in blocks of coordinates (`blocks.py`), while they serve
    repeat:
        measure the noise again now and then; if it has appeared only now, forget what it has spoilt
        probe along every coordinate, one side of it, as far as noise, curvature and the latest step suggest;
        probe the other side as well where the curvature is not known, and along a part of the others in turn
        g, D <- slopes and curvatures (`curvature.py`)
        p <- -g/|D|, or -g/median |D| where the curvatures are nearly alike,
             or -H^-1 g from the memory of L-BFGS (`quasi_newton.py`) where curvature changes or noise rules
        noise does not rule:
            evaluate f(y + p); s <- minimum of the model in the span of p and of the last few steps, whose
            curvatures follow from the changes of g along them (`model.py`)
        noise rules, for it hides g or what f is to fall by:
            s <- minimum of a model in the span of p and of the last step, from values so far away that the
            noise does not hide them
        y <- y + s, or a longer or shorter step, if f falls, or under noise rises by no more than that
        x <- the best point seen; under noise, y, or the mean of the latest y once f is level
    until nothing is won for some sweeps, or f is too rough, flat or unbounded (`ending.py`)

An iteration of the engine is a round of points (`Round`): probes along some of the coordinates, or points on
a line or in a plane. The time per evaluation and the memory are Theta(n).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_count
from pursuit.compiling.inner import inner
from pursuit.methods.contract import Findings, Patience, Round, Rounds, ask, tell, write_move
from pursuit.methods.values.block_probes import begin_blocks, place_block, probed_block
from pursuit.methods.values.blocks import block_size, end_blocks, judge_step, take_block_slopes
from pursuit.methods.values.curvature import ALONG, REACH, VECTORS, WEIGHTS, P, S, Y
from pursuit.methods.values.directions import (
    choose_direction,
    conclude,
    plan_plane,
    probed_along,
    probed_plane,
)
from pursuit.methods.values.ending import last_step, note_gain
from pursuit.methods.values.noise import VALUES
from pursuit.methods.values.noise_line import APART, ATTEMPTS, begin_sweep, draw_line, measured_noise
from pursuit.methods.values.probes import (
    place_ahead,
    place_back,
    place_planned,
    probed_ahead,
    probed_back,
    seed_of,
    take_planned,
)
from pursuit.methods.values.quasi_newton import Pairs
from pursuit.methods.values.remarks import remark_on
from pursuit.methods.values.singles import tried_singly
from pursuit.methods.values.state import (
    BLOCK_BEGIN,
    BLOCK_END,
    BLOCK_JUDGE,
    BLOCK_PROBE,
    BLOCK_SLOPES,
    BLOCK_TRY,
    CHOOSE,
    CONCLUDE,
    END,
    EVALUATE_AGAIN,
    FIRST,
    LISTS,
    LOOK_ALONG,
    LOOK_IN_PLANE,
    MEASURE_NOISE,
    MOST_SAMPLES,
    MOVE,
    NUMBERS,
    PLAN_PLANE,
    PROBE_AHEAD,
    PROBE_BACK,
    SEEN,
    STAY,
    STEP,
    SWEEP,
    TRY,
    ValuesState,
    is_noisy,
)
from pursuit.methods.values.trials import (
    end_trials,
    evaluated_again,
    move,
    place_after_step,
    stay,
    tried,
    try_step,
)

# The first probes, as a part of sigma0.
_FIRST_PROBE = 1e-3
# Vectors beside the memory of steps and the points of a round: those of the state, and the best point.
_VECTORS = VECTORS + 1
_MOST_VECTORS, _MOST_BYTES = 200, 1 << 28
# How many numbers the points of a round may have together.
_ROOM_FOR_NUMBERS = 1_000_000
# The most points of a round that nobody has asked for.
_MOST_POINTS = 64
# They have this part of the memory: steps that are remembered are worth more.
_ROUNDS = 20


class Values(NamedTuple):
    """Steps from measured slopes, curvatures and noise."""

    pairs: int
    """How many steps are remembered."""
    room: int
    """The most points of a round."""
    at_once: int
    """How many points are evaluated at the same time."""
    kinks: int
    """After how many kinks to end, 0 for as long as steps lead down."""
    lower: Vector
    """Bounds; empty arrays if there are none."""
    upper: Vector
    sizes: Vector
    """The first step sizes along the coordinates; an empty array if they are all the same."""

    @property
    def constants(self) -> tuple[str, ...]:
        """What is never written."""
        return ("lower", "upper", "sizes")

    @property
    def is_compiled_apart(self) -> bool:
        """That it is compiled once for all problems."""
        return True

    @classmethod
    def create(cls, n: int, *, memory: int | None = None, kinks: int = 0) -> Values:
        """Return the scheme for n variables, with a memory of so many vectors, but no fewer than 16.

        A step that is remembered takes two of them, and a point of a round one: rounds of many points are for
        workers. It ends where so many kinks were met, if that is not 0.
        """
        if memory is None:
            memory = min(_MOST_VECTORS, _MOST_BYTES // (8 * n))
        memory = checked_count("memory", memory, at_least=0)
        room = max(1, min(_MOST_POINTS, n, _ROOM_FOR_NUMBERS // n, memory // _ROUNDS))
        return cls(
            pairs=min(n, max(1, (memory - _VECTORS - room) // 2)),
            room=room,
            at_once=1,
            kinks=checked_count("kinks", kinks, at_least=0),
            lower=np.empty(0),
            upper=np.empty(0),
            sizes=np.empty(0),
        )

    def batched(self, n: int, rounds: Rounds) -> Values:
        """Return the scheme with rounds of as many probes as there may be: these are independent anyway.

        Points of a round that are more than the scheme's own share come on top of its memory.
        """
        most = max(rounds.at_once, min(rounds.most, _ROOM_FOR_NUMBERS // n))
        return self._replace(room=min(most, max(2 * n, VALUES)), at_once=rounds.at_once)

    def within(self, lower: Vector, upper: Vector) -> Values:
        """Return the scheme that poses no points outside of these bounds."""
        return self._replace(lower=lower, upper=upper)

    def scaled(self, sigma: Vector) -> Values:
        """Return the scheme with these first step sizes."""
        return self._replace(sizes=sigma)

    def init(self, x: Vector, fx: float, sigma: float) -> ValuesState:
        """Return the first state."""
        n = x.size
        sizes = self.sizes if self.sizes.size else np.full(n, sigma)
        begins_with_blocks = self.lower.size == self.sizes.size == 0
        now = np.zeros(1, dtype=NUMBERS)
        for name, number in {
            "fx": fx,
            "f": fx,
            "level": fx,
            "sigma": sigma,
            "sigma0": sigma,
            "phase": MEASURE_NOISE,
            "both_sides": 1.0,
            "planned": VALUES,
            "noise": -1.0,
            "noise_at": abs(fx),
            "apart": APART,
            "caution": 60.0,
            "change": 1e-4,
            "radius": math.sqrt(np.sum(sizes**2)),
            "is_scaled": 1.0,
            "multiple": 1.0,
            "tau": block_size(n, self.room if self.at_once > 1 else 1) if begins_with_blocks else 0,
            "beta": 1.0,
        }.items():
            now[name] = number
        vectors = np.zeros((VECTORS, n))
        vectors[Y], vectors[WEIGHTS], vectors[ALONG] = x, 1.0, np.nan
        vectors[REACH] = _FIRST_PROBE * sizes
        lists = np.zeros((LISTS, max(self.room, MOST_SAMPLES)))
        # Which says to whoever reads a checkpoint that values may be infinite.
        lists[SEEN] = math.inf
        lists[FIRST, :VALUES] = APART * (np.arange(VALUES) - VALUES // 2)
        return ValuesState(
            x=x,
            fx=fx,
            f=fx,
            sigma=sigma,
            vectors=vectors,
            pairs=Pairs.create(n, self.pairs),
            lists=lists,
            now=now,
        )

    def draws(self, n: int) -> int:
        """Return how many standard normals an iteration takes: all signs come from the first."""
        return 1

    def points(self) -> int:
        """Return the most points that a query poses at once."""
        return self.room

    def patience(self, n: int) -> Patience:
        """Return after how many rounds without a better point to give up: some forty sweeps of probes.

        The first window must not end before the first step.
        """
        sweep = 3 + 2 * n // self.room
        window = max(3 * (3 + n // self.room), ATTEMPTS * math.ceil(VALUES / self.room) + sweep)
        return Patience(40 * sweep, share=0.5, window=window)

    def findings(self, state: ValuesState) -> Findings:
        """Return what was found out about the noise of a value, and about kinks and jumps."""
        now = state.now[0]
        noise = float(now["noise"])
        return Findings(
            noise=noise if noise >= 0.0 else None,
            is_estimate=bool(now["is_estimate"]),
            remark=remark_on(now),
        )


@ask.register(Values)
def _ask(team, scheme, state, normals):
    now = state.now[0]
    if now.key == 0.0:
        now.key = normals[0]
    seed = seed_of(now)
    if now.phase == PROBE_AHEAD:
        count = place_ahead(scheme, state, seed)
    elif now.phase == PROBE_BACK:
        count = place_back(scheme, state)
    elif now.phase == BLOCK_PROBE:
        count = place_block(scheme, state, seed)
    else:
        if now.phase == MEASURE_NOISE and now.made == 0:
            draw_line(scheme, state, seed)
        count = place_planned(scheme, state)
        if now.phase == TRY:
            count += place_after_step(scheme, state, seed)
    return Round(
        origin=state.vectors[Y],
        first=state.vectors[P],
        second=state.vectors[S],
        moves=state.lists,
        size=count,
        lower=scheme.lower,
        upper=scheme.upper,
        is_probing=now.phase not in (LOOK_ALONG, TRY, BLOCK_TRY),
    )


@tell.register(Values)
def _tell(team, scheme, state, query, values):
    now = state.now[0]
    now.spent += values.shape[0]
    if not is_noisy(state):
        _keep_best(team, state, query, values)
    _take_values(team, state, values)
    _begin(team, scheme, state)
    _step(team, scheme, state)
    return ValuesState(
        x=state.x,
        fx=now.fx,
        f=now.f,
        sigma=last_step(scheme, now),
        vectors=state.vectors,
        pairs=state.pairs,
        lists=state.lists,
        now=state.now,
    )


@inner
def _take_values(team, state, values):
    """Take the values of a round, whatever it was about."""
    now = state.now[0]
    if now.phase == PROBE_AHEAD:
        probed_ahead(state, values)
    elif now.phase == PROBE_BACK:
        probed_back(state, values, 0)
    elif now.phase == BLOCK_PROBE:
        probed_block(state, values)
    elif take_planned(state, values):
        if now.phase == MEASURE_NOISE:
            measured_noise(state)
        elif now.phase == LOOK_ALONG:
            probed_along(team, state)
        elif now.phase == LOOK_IN_PLANE:
            probed_plane(team, state)
        elif now.phase == TRY:
            tried(state)
        elif now.phase == BLOCK_TRY:
            if now.is_single:
                tried_singly(team, state)
            else:
                now.trial, now.phase = state.lists[SEEN, 0], BLOCK_JUDGE
        elif now.phase == EVALUATE_AGAIN:
            evaluated_again(team, state)


@inner
def _begin(team, scheme, state):
    """Do what follows from it in the beginning, where steps are in blocks of coordinates."""
    now = state.now[0]
    if now.phase == BLOCK_BEGIN:
        begin_blocks(team, state)
    if now.phase == BLOCK_JUDGE:
        judge_step(team, state)
    if now.phase == BLOCK_SLOPES:
        take_block_slopes(scheme, state)
    if now.phase == BLOCK_END:
        end_blocks(team, state)


@inner
def _step(team, scheme, state):
    """Do what follows from it for a sweep of probes, or for the step after it."""
    now = state.now[0]
    if now.phase == CONCLUDE:
        conclude(state)
    if now.phase == CHOOSE:
        choose_direction(team, scheme, state)
    if now.phase == PLAN_PLANE:
        plan_plane(team, state)
    if now.phase == STEP:
        try_step(team, scheme, state)
    if now.phase == END:
        end_trials(team, state)
    if now.phase == MOVE:
        move(team, scheme, state)
    if now.phase == STAY:
        stay(state)
    if now.phase == SWEEP:
        note_gain(state)
        begin_sweep(state)


@inner
def _keep_best(team, state, query, values):
    """Write the best point of a round into x if it is the best of all."""
    now = state.now[0]
    for j in range(values.shape[0]):
        if values[j] < now.fx:
            now.fx, now.is_estimate = values[j], 0
            write_move(team, query, j, state.x)
