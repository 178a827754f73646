"""`values`: slopes, curvatures and noise from differences of values.

    measure the noise of a value (`noise.py`)
    repeat:
        probe along every coordinate, one side of it, as far as noise, curvature and the latest step suggest;
        probe the other side as well where the curvature is not known, and along a part of the others in turn
        g, D <- slopes and curvatures (`curvature.py`)
        p <- -g/|D|, or -g/median |D| where the curvatures are nearly alike,
             or -H^-1 g from the memory of L-BFGS where the curvature changes (`quasi_newton.py`)
        noise does not matter:
            evaluate f(y + p); s <- minimum of the model in the span of p and of the last few steps, whose
            curvatures follow from the changes of g along them (`quadratic_model.py`)
        noise matters:
            s <- minimum of a model in the span of p and of the last step, from values so far away that the
            noise does not hide them
        y <- y + s, or a longer or shorter step, if f falls

An iteration of the engine is a round of points (`Round`): probes along some of the coordinates, or points on
a line or in a plane. The time per evaluation and the memory are Theta(n).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from pursuit.checks import Vector, checked_count
from pursuit.compiling.vectors import Matrix, add, copy, dot
from pursuit.methods.contract import (
    COORDINATE,
    FIRST_MULTIPLE,
    LENGTH,
    SECOND_MULTIPLE,
    Patience,
    Round,
    ask,
    tell,
    write_move,
)
from pursuit.methods.curvature import (
    ALONG,
    BEFORE,
    HALFWAY,
    MEAN,
    OTHER_SIDE,
    REACH,
    SCALE,
    SLOPES,
    TWO_SIDED,
    VECTORS,
    WEIGHTS,
    P,
    S,
    Y,
    error_of,
    known,
    quantile,
    sampled,
    slope_from_one,
    slope_from_two,
)
from pursuit.methods.noise import VALUES, are_told_apart, noise_level
from pursuit.methods.quadratic_model import model_minimizer
from pursuit.methods.quasi_newton import Pairs, add_pair, apply_inverse, break_chain, chain_of, row_of

inner = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)

_EPS = 2.2e-16
# The first probes, as a part of sigma0.
_FIRST_PROBE = 1e-3
# Probes as a part of the latest step along a coordinate: at most, and divided by the change of curvature.
_PROBE, _PROBE_BY_CHANGE, _LEAST_PROBE = 0.3, 0.003, 0.01
# The first distance of the points from which noise is measured, as a multiple of a probe.
_APART = 1e-2
# How much of the mean slope the change of curvature may spoil.
_SPOILT = 2e-3
# No probe is shorter than this part of the coordinate itself.
_SHORTEST = 4e-10
# Nor than this, whose square is a number.
_TINY = 1e-140
# One in so many coordinates is probed on both sides, more under noise.
_IN_TURN, _IN_TURN_UNDER_NOISE = 32, 8
# The noise is measured again after so many steps.
_NOISE_EVERY = 10
# Curvatures that differ by less than this factor are alike: a rotation makes such differences.
_ALIKE = 4.0
# The steps in whose span the model is.
_STEPS = 4
# Where curvature changes by more, or predictions are worse than this, the memory of L-BFGS is used.
_CURVED, _MISJUDGED = 0.01, 1e-3
# Vectors beside the memory of steps.
_VECTORS = 14
_MOST_VECTORS, _MOST_BYTES = 200, 1 << 28
# The most points of a round, and how many numbers they may have together.
_ROOM, _ROOM_FOR_NUMBERS = 64, 4_000_000
# What a round is about.
_NOISE, _AHEAD, _BACK, _ALONG, _PLANE, _TRIAL, _AGAIN = range(7)
# What is to be done before the next one. Each is done in one place, since Numba compiles every call anew.
_CONCLUDE, _STEP, _END, _SWEEP = range(7, 11)
# The rows of the plan.
_FIRST, _SECOND, _VALUES = range(3)
# How many changes of curvature are looked at.
_SAMPLES = 64


class Values(NamedTuple):
    """Steps from measured slopes, curvatures and noise."""

    pairs: int
    """How many steps are remembered."""
    room: int
    """The most points of a round."""
    lower: Vector
    """Bounds; empty arrays if there are none."""
    upper: Vector

    @classmethod
    def create(cls, n: int, *, memory: int | None = None) -> Values:
        """Return the scheme for n variables, with a memory of so many vectors."""
        if memory is None:
            memory = min(_MOST_VECTORS, _MOST_BYTES // (8 * n))
        memory = checked_count("memory", memory, at_least=0)
        return cls(
            pairs=min(n, max(1, (memory - _VECTORS) // 2)),
            room=max(1, min(_ROOM, n, _ROOM_FOR_NUMBERS // n)),
            lower=np.empty(0),
            upper=np.empty(0),
        )

    def within(self, lower: Vector, upper: Vector) -> Values:
        """Return the scheme that poses no points outside of these bounds."""
        return self._replace(lower=lower, upper=upper)

    def init(self, x: Vector, fx: float, sigma: float) -> ValuesState:
        """Return the first state."""
        n = x.size
        now = np.zeros(1, dtype=_NUMBERS)
        for name, number in (
            ("fx", fx),
            ("f", fx),
            ("sigma", sigma),
            ("phase", _NOISE),
            ("both_sides", 1.0),
            ("planned", VALUES),
            ("noise", -1.0),
            ("noise_at", abs(fx)),
            ("apart", _APART),
            ("caution", 60.0),
            ("change", 1e-4),
            ("radius", sigma * math.sqrt(n)),
            ("is_scaled", 1.0),
            ("multiple", 1.0),
        ):
            now[name] = number
        vectors = np.zeros((VECTORS, n))
        vectors[Y], vectors[WEIGHTS], vectors[ALONG] = x, 1.0, np.nan
        vectors[REACH] = _FIRST_PROBE * sigma
        plan = np.zeros((3, VALUES))
        plan[_FIRST] = _APART * (np.arange(VALUES) - VALUES // 2)
        return ValuesState(
            x=x,
            fx=fx,
            f=fx,
            sigma=sigma,
            vectors=vectors,
            pairs=Pairs.create(n, self.pairs),
            samples=np.zeros(_SAMPLES),
            moves=np.zeros((4, self.room)),
            plan=plan,
            now=now,
        )

    def draws(self, n: int) -> int:
        """Return how many standard normals an iteration takes: the signs of all probes come from one."""
        return 1

    def points(self) -> int:
        """Return the most points that a query poses at once."""
        return self.room

    def patience(self, n: int) -> Patience:
        """Return after how many rounds without a better point to give up: some forty sweeps of probes."""
        return Patience(40 * (3 + 2 * n // self.room))


# The numbers of a state, in a record that is changed where it stands: compiled code that returned a new record
# instead, for each of the phases, would take minutes to compile.
_NUMBERS = np.dtype(
    [
        (name, np.float64)
        for name in (
            # f at the best point, at y, and the latest step.
            "fx",
            "f",
            "sigma",
            # A round: what it is about, the next coordinate, from where on coordinates are probed on both sides
            # in turn, whether all are, and whether those are that were not, since their curvatures turned out to
            # be too inexact.
            "phase",
            "cursor",
            "window",
            "both_sides",
            "rest",
            # Points in the plane of p and s: how many are planned, and how many of them were evaluated.
            "planned",
            "made",
            # Noise: its standard deviation (below 0 before it is measured), |f| where it was measured, the
            # distance of the points from which it was measured, where they had to be far apart, and as a multiple
            # of the probes, in which attempt, and in how many steps it is measured again.
            "noise",
            "noise_at",
            "spacing",
            "apart",
            "attempt",
            "due",
            # A probe is at least sqrt(caution noise/|D|) long. Whether noise hides what single values say, and for
            # how many steps it is taken to do so.
            "caution",
            "noise_rules",
            "forced",
            # By how much D changes from one point to the next, relative to itself, how many samples of that there
            # are, and the noise of the values that D comes from.
            "change",
            "taken",
            "old_noise",
            # How far to go at most, steps in a row that did not lead down, how far off predictions are on average,
            # the root mean square of the slopes, the typical |D|, whether p is -g/|D|, and whether the step that
            # led here is known, and the slopes before it.
            "radius",
            "failures",
            "misjudged",
            "slope",
            "typical",
            "is_scaled",
            "has_before",
            # The mean under noise: over how many iterates, and averages of their values over many and few.
            "averaged",
            "slow",
            "fast",
            # A step that is tried: f(y + p), g'p, whether p comes from the memory, what f is to fall by, whether
            # the step was cut, how many were tried, the last value, and the multiple of s.
            "along",
            "along_slope",
            "from_memory",
            "predicted",
            "is_cut",
            "tries",
            "value",
            "multiple",
        )
    ]
)


class ValuesState(NamedTuple):
    """The state of `values`; `f` is f(y), and `sigma` the root mean square of the latest step."""

    x: Vector
    fx: float
    f: float
    sigma: float
    vectors: Matrix
    """y and what is known there, a row for each: see `curvature.py`."""
    pairs: Pairs
    samples: Vector
    """Changes of some curvatures at y, relative to themselves."""
    moves: Matrix
    """Where the points of a round are."""
    plan: Matrix
    """Points in the plane of p and s, which may take several rounds: multiples of p and of s, and values."""
    now: Any
    """The numbers, a record."""


@ask.register(Values)
def _ask(team, scheme, state, normals):
    now = state.now[0]
    if now.phase == _AHEAD:
        count = _place_ahead(scheme, state, _seed_of(normals[0]))
    elif now.phase == _BACK:
        count = _place_back(scheme, state)
    else:
        if now.phase == _NOISE and now.made == 0:
            _draw_line(state, _seed_of(normals[0]))
        count = _place_planned(scheme, state)
    return Round(
        origin=state.vectors[Y],
        first=state.vectors[P],
        second=state.vectors[S],
        moves=state.moves,
        count=count,
        lower=scheme.lower,
        upper=scheme.upper,
    )


@tell.register(Values)
def _tell(team, scheme, state, query, values):
    now = state.now[0]
    if not now.noise_rules:
        _keep_best(team, state, query, values)
    if now.phase == _AHEAD:
        _probed_ahead(state, values)
    elif now.phase == _BACK:
        _probed_back(state, values)
    else:
        _evaluated(team, state, values)
    if now.phase == _CONCLUDE:
        _conclude(team, scheme, state)
    if now.phase == _STEP:
        _try_step(team, scheme, state)
    if now.phase == _END:
        _end_trials(team, scheme, state)
    if now.phase == _SWEEP:
        _begin_sweep(state)
    return ValuesState(
        x=state.x,
        fx=now.fx,
        f=now.f,
        sigma=now.sigma,
        vectors=state.vectors,
        pairs=state.pairs,
        samples=state.samples,
        moves=state.moves,
        plan=state.plan,
        now=state.now,
    )


@inner
def _evaluated(team, state, values):
    """Take the values of planned points."""
    now = state.now[0]
    for j in range(values.shape[0]):
        state.plan[_VALUES, int(now.made) + j] = values[j]
    now.made += values.shape[0]
    if now.made < now.planned:
        return
    if now.phase == _NOISE:
        _measured_noise(state)
    elif now.phase == _ALONG:
        _probed_along(team, state)
    elif now.phase == _PLANE:
        _probed_plane(team, state)
    elif now.phase == _TRIAL:
        _tried(state)
    else:
        _evaluated_again(team, state)


@inner
def _keep_best(team, state, query, values):
    """Write the best point of a round into x if it is the best of all."""
    now = state.now[0]
    for j in range(values.shape[0]):
        if values[j] < now.fx:
            now.fx = values[j]
            write_move(team, query, j, state.x)


@inner
def _level(state):
    """Return the noise of a value, that of rounding at least."""
    now = state.now[0]
    return max(now.noise, 2.0 * _EPS * abs(now.f))


@inner
def _seed_of(normal):
    return np.uint64(abs(normal) * 1e15)


@inner
def _sign(seed, i):
    """Return 1 or -1, as good as at random: a hash of the coordinate."""
    z = seed + np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return 1.0 if (z >> np.uint64(40)) & np.uint64(1) else -1.0


@inner
def _draw_line(state, seed):
    """Write a random direction into p, along each coordinate as long as a probe."""
    for i in range(state.vectors.shape[1]):
        state.vectors[P, i] = _sign(seed, i) * abs(state.vectors[REACH, i])


@inner
def _place_planned(scheme, state):
    """Write where the next planned points are, and return how many."""
    moves, now = state.moves, state.now[0]
    made = int(now.made)
    count = min(scheme.room, int(now.planned) - made)
    for j in range(count):
        moves[FIRST_MULTIPLE, j], moves[SECOND_MULTIPLE, j] = (
            state.plan[_FIRST, made + j],
            state.plan[_SECOND, made + j],
        )
        moves[COORDINATE, j] = -1
    return count


@inner
def _place_ahead(scheme, state, seed):
    """Write where the next probes are, and return how many."""
    moves, reach = state.moves, state.vectors[REACH]
    cursor = int(state.now[0].cursor)
    count = min(scheme.room, reach.shape[0] - cursor)
    noise = _level(state)
    for j in range(count):
        i = cursor + j
        reach[i] = _inside(scheme, state.vectors[Y], i, _sign(seed, i), _probe_length(state, i, noise))
        moves[FIRST_MULTIPLE, j] = moves[SECOND_MULTIPLE, j] = 0.0
        moves[COORDINATE, j], moves[LENGTH, j] = i, reach[i]
    return count


@inner
def _probe_length(state, i, noise):
    """Return how long a probe shall be."""
    now = state.now[0]
    shortest = max(_SHORTEST * abs(state.vectors[Y, i]), _TINY)
    h = max(abs(state.vectors[REACH, i]), shortest)
    is_known = known(state.vectors, i)
    bend = abs(state.vectors[ALONG, i]) if is_known else now.typical
    if bend > 0.0:
        if now.slope > 0.0 and is_known:
            h = max(min(h, _SPOILT * now.slope / (max(now.change, 1e-9) * bend)), shortest)
        h = max(h, math.sqrt(now.caution * noise / bend))
    return h


@inner
def _inside(scheme, y, i, sign, h):
    """Return a probe of this length, on the other side or shorter where bounds want it."""
    if scheme.lower.shape[0] == 0:
        return sign * h
    below, above = y[i] - scheme.lower[i], scheme.upper[i] - y[i]
    if h > below and h > above:
        return above if above >= below else -below
    if sign > 0.0:
        return h if h <= above else -h
    return -h if h <= below else h


@inner
def _back_ratio(scheme, y, i, h):
    """Return where the second probe is, as a multiple of the first."""
    if scheme.lower.shape[0] == 0:
        return OTHER_SIDE
    return OTHER_SIDE if scheme.lower[i] <= y[i] - h <= scheme.upper[i] else HALFWAY


@inner
def _turn(state):
    """Return how many coordinates are probed on both sides in turn."""
    return -(-state.vectors.shape[1] // (_IN_TURN_UNDER_NOISE if state.now[0].noise_rules else _IN_TURN))


@inner
def _needs_back(state, i):
    """Say whether the other side of a coordinate is to be probed."""
    now = state.now[0]
    if state.vectors[TWO_SIDED, i] or state.vectors[REACH, i] == 0.0:
        return False
    if (
        now.both_sides
        or now.rest
        or not known(state.vectors, i)
        or not math.isfinite(state.vectors[SLOPES, i])
    ):
        return True
    return (i - int(now.window)) % state.vectors.shape[1] < _turn(state)


@inner
def _next_back(state, i):
    """Return the first coordinate from i on whose other side is to be probed; n if there is none."""
    n = state.vectors.shape[1]
    while i < n and not _needs_back(state, i):
        i += 1
    return i


@inner
def _place_back(scheme, state):
    moves, reach, n = state.moves, state.vectors[REACH], state.vectors.shape[1]
    i, count = int(state.now[0].cursor), 0
    while i < n and count < scheme.room:
        moves[FIRST_MULTIPLE, count] = moves[SECOND_MULTIPLE, count] = 0.0
        moves[COORDINATE, count] = i
        moves[LENGTH, count] = _back_ratio(scheme, state.vectors[Y], i, reach[i]) * reach[i]
        count += 1
        i = _next_back(state, i + 1)
    return count


@inner
def _measured_noise(state):
    """Take the values on a line: note the noise, or plan longer or shorter distances."""
    now, values = state.now[0], state.plan[_VALUES]
    finite = True
    for j in range(VALUES):
        finite = finite and math.isfinite(values[j])
    if (not finite or not are_told_apart(values)) and now.attempt < 5:
        now.attempt += 1
        now.apart *= 10.0 if finite else 0.1
        _plan_line(state)
        return
    level = noise_level(values) if finite else 0.0
    if now.noise >= 0.0 and not abs(now.f) < 0.1 * now.noise_at:
        level = math.sqrt(0.6 * now.noise * now.noise + 0.4 * level * level)
    now.noise, now.noise_at, now.due = level, abs(now.f), _NOISE_EVERY
    now.spacing = now.apart * _median_reach(state) if now.apart > _APART else 0.0
    now.phase, now.cursor = _AHEAD, 0


@inner
def _median_reach(state):
    reach = state.vectors[REACH]
    squares = sampled(reach * reach, True)
    return math.sqrt(quantile(squares, 0.5)) if squares.shape[0] > 0 else 1e-300


@inner
def _plan_line(state):
    """Plan the values on a line from which noise is measured."""
    now = state.now[0]
    for j in range(VALUES):
        state.plan[_FIRST, j], state.plan[_SECOND, j] = now.apart * (j - VALUES // 2), 0.0
    _begin_plan(now, _NOISE, VALUES)


@inner
def _begin_plan(now, phase, planned):
    now.phase, now.planned, now.made = phase, planned, 0


@inner
def _begin_sweep(state):
    """Plan the probes from y, or to measure the noise first if that is due."""
    now = state.now[0]
    state.vectors[TWO_SIDED][:] = 0
    now.taken = now.rest = 0
    if now.due > 0 and not abs(now.f) < 0.1 * now.noise_at:
        now.due -= 1
        now.phase, now.cursor = _AHEAD, 0
        return
    now.apart = max(_APART, min(0.1 * now.spacing / max(_median_reach(state), 1e-300), 10.0))
    now.attempt = 0
    _plan_line(state)


@inner
def _probed_ahead(state, values):
    """Take the values of probes on one side."""
    now = state.now[0]
    cursor = int(now.cursor)
    for j in range(values.shape[0]):
        state.vectors[SLOPES, cursor + j] = values[j] - now.f
    now.cursor += values.shape[0]
    if now.cursor == state.vectors.shape[1]:
        _probe_back(state)


@inner
def _probe_back(state):
    """Plan the probes on other sides; if there are none, conclude."""
    now = state.now[0]
    now.phase, now.cursor = _BACK, _next_back(state, 0)
    if now.cursor == state.vectors.shape[1]:
        now.phase = _CONCLUDE


@inner
def _probed_back(state, values):
    """Take the values of probes on the other side."""
    now, moves, last = state.now[0], state.moves, 0
    noise = _level(state)
    for j in range(values.shape[0]):
        last = int(moves[COORDINATE, j])
        ratio = moves[LENGTH, j] / state.vectors[REACH, last]
        ahead, back = state.vectors[SLOPES, last], values[j] - now.f
        state.vectors[SLOPES, last], change = slope_from_two(state.vectors, last, ahead, ratio, back, noise)
        state.vectors[TWO_SIDED, last] = 1
        if math.isfinite(change) and now.taken < state.samples.shape[0]:
            state.samples[int(now.taken)] = change
            now.taken += 1
    now.cursor = _next_back(state, last + 1)
    if now.cursor < state.vectors.shape[1]:
        return
    if not now.rest and _curvature_is_inexact(state):
        now.rest = 1
        _probe_back(state)
    else:
        now.phase = _CONCLUDE


@inner
def _curvature_is_inexact(state):
    """Say whether curvatures from when f was larger, and its noise, spoil the slopes from one side."""
    now, noise = state.now[0], _level(state)
    error = slope = blur = 0.0
    for i in range(state.vectors.shape[1]):
        h = state.vectors[REACH, i]
        if not state.vectors[TWO_SIDED, i] and h != 0.0:
            one = slope_from_one(state.vectors, i, state.vectors[SLOPES, i])
            slope += one * one
            error += (0.5 * h * error_of(state.vectors, i, now.old_noise)) ** 2
            blur += (noise / h) ** 2
    return error > 1e-6 * slope and error > 100.0 * blur


@inner
def _conclude(team, scheme, state):
    """Make slopes of all probes from y, and choose where to go."""
    now, g, n = state.now[0], state.vectors[SLOPES], state.vectors.shape[1]
    noise = _level(state)
    both = probes = 0
    square = blur = shift = spread = 0.0
    for i in range(n):
        if state.vectors[TWO_SIDED, i]:
            both += 1
        else:
            g[i] = slope_from_one(state.vectors, i, g[i])
        h = state.vectors[REACH, i]
        if h != 0.0:
            # With random sides, the probes measure f(y) as well.
            shift += g[i] * h
            spread += g[i] * h * g[i] * h
            blur += 1.5 * (noise / h) ** 2
            probes += 1
        square += g[i] * g[i]
    if now.taken > 0:
        now.change += 0.3 * (np.median(state.samples[: int(now.taken)]) - now.change)
    now.old_noise += (noise - now.old_noise) * both / n
    now.window = (now.window + _turn(state)) % n
    now.both_sides = 0
    if probes > 8:
        mean = shift / probes
        variance = (spread / probes - mean * mean) / probes
        if variance < noise * noise:
            now.f += mean * noise * noise / (noise * noise + variance)
    now.slope = math.sqrt(square / n)
    scales = sampled(state.vectors[SCALE], True)
    now.typical = quantile(scales, 0.5) if scales.shape[0] > 0 else 0.0
    if not square > 0.0 or not now.typical > 0.0:
        _without_slope(state)
        return
    now.noise_rules = math.sqrt(blur / square) > (0.01 if now.noise_rules else 0.1) or now.forced > 0
    now.forced = max(0, now.forced - 1)
    _choose_direction(team, scheme, state, scales)


@inner
def _without_slope(state):
    """Probe farther, where f is flat as far as was seen."""
    reach, now = state.vectors[REACH], state.now[0]
    for i in range(reach.shape[0]):
        reach[i] = min(10.0 * abs(reach[i]), 1e100)
    _lose_track(state)
    now.phase = _SWEEP


@inner
def _lose_track(state):
    """Take note that a step has failed."""
    now = state.now[0]
    now.failures += 1
    now.has_before = 0
    break_chain(state.pairs)


@inner
def _choose_direction(team, scheme, state, scales):
    """Choose p, and look along it, or under noise in the plane of p and the last step."""
    now, g, p, n = state.now[0], state.vectors[SLOPES], state.vectors[P], state.vectors.shape[1]
    is_scaled = quantile(scales, 0.9) > _ALIKE * quantile(scales, 0.1)
    least = 1e-12 * scales[-1]
    for i in range(n):
        scale = (
            state.vectors[SCALE, i]
            if known(state.vectors, i) and state.vectors[SCALE, i] > 0.0
            else now.typical
        )
        state.vectors[WEIGHTS, i] = max(scale, least) if is_scaled else 1.0
    if is_scaled != bool(now.is_scaled):
        break_chain(state.pairs)
    elif now.has_before:
        add_pair(team, state.pairs, state.vectors[S], g, state.vectors[BEFORE])
    now.is_scaled, now.has_before = is_scaled, 0
    copy(team, p, g)
    _release_bounds(scheme, state.vectors[Y], g, p)
    most = state.pairs.products.shape[0]
    now.from_memory = not now.noise_rules and (
        now.change > _CURVED or now.misjudged > _MISJUDGED or most >= 0.6 * n
    )
    if not (now.from_memory and apply_inverse(team, state.pairs, state.vectors[WEIGHTS], p)):
        for i in range(n):
            p[i] /= _weight(state, i)
    scale_by(p, -1.0)
    _release_bounds(scheme, state.vectors[Y], g, p)
    now.radius = max(now.radius, math.sqrt(2.0 * _level(state) / now.typical))
    length = math.sqrt(dot(team, n, p, p))
    if length > now.radius:
        scale_by(p, now.radius / length)
    if now.noise_rules:
        _plan_plane(team, state)
        return
    state.plan[_FIRST, 0], state.plan[_SECOND, 0] = 1.0, 0.0
    now.along_slope, now.tries = dot(team, n, g, p), 0
    _begin_plan(now, _ALONG, 1)


@inner
def scale_by(v, factor):
    for i in range(v.shape[0]):
        v[i] *= factor


@inner
def _weight(state, i):
    """Return the curvature that p is scaled by."""
    return state.vectors[WEIGHTS, i] if state.now[0].is_scaled else state.now[0].typical


@inner
def _release_bounds(scheme, y, g, p):
    """Set p to 0 where a bound is reached and the way down leads outside."""
    for i in range(scheme.lower.shape[0]):
        if (y[i] <= scheme.lower[i] and g[i] > 0.0) or (y[i] >= scheme.upper[i] and g[i] < 0.0):
            p[i] = 0.0


@inner
def _probed_along(team, state):
    """Take f(y + p), and try the step that the model in the span of p and the last steps suggests."""
    now, n, g, p, pairs = (
        state.now[0],
        state.vectors.shape[1],
        state.vectors[SLOPES],
        state.vectors[P],
        state.pairs,
    )
    now.along = state.plan[_VALUES, 0]
    if now.along == math.inf and now.tries < 40:
        scale_by(p, 0.1)
        now.along_slope *= 0.1
        now.tries += 1
        _begin_plan(now, _ALONG, 1)
        return
    k = 1 + min(chain_of(pairs), 1 if now.from_memory else _STEPS)
    slopes, hessian = np.empty(k), np.empty((k, k))
    slopes[0] = now.along_slope
    hessian[0, 0] = 2.0 * (now.along - now.f - now.along_slope)
    for a in range(1, k):
        row = row_of(pairs, a - 1)
        slopes[a] = dot(team, n, g, pairs.steps[row])
        hessian[0, a] = hessian[a, 0] = dot(team, n, pairs.changes[row], p)
        for b in range(1, a + 1):
            other = row_of(pairs, b - 1)
            one = dot(team, n, pairs.changes[row], pairs.steps[other])
            two = dot(team, n, pairs.changes[other], pairs.steps[row])
            hessian[a, b] = hessian[b, a] = 0.5 * (one + two)
    minimizer = model_minimizer(slopes, hessian, 1e-10)
    for i in range(n):
        state.vectors[S, i] = minimizer[0] * p[i]
    for a in range(1, k):
        add(team, state.vectors[S], minimizer[a], pairs.steps[row_of(pairs, a - 1)])
    _suggest(now, slopes, hessian, minimizer)


@inner
def _suggest(now, slopes, hessian, minimizer):
    """Take note of what f is to fall by, with s written already."""
    now.predicted = 0.0
    for a in range(slopes.shape[0]):
        now.predicted -= minimizer[a] * slopes[a]
        for b in range(slopes.shape[0]):
            now.predicted -= 0.5 * minimizer[a] * hessian[a, b] * minimizer[b]
    now.phase = _STEP


@inner
def _try_step(team, scheme, state):
    """Try y + s."""
    now, n, s = state.now[0], state.vectors.shape[1], state.vectors[S]
    length = math.sqrt(dot(team, n, s, s))
    if not math.isfinite(length):
        scale_by(state.vectors[REACH], 0.3)
        _lose_track(state)
        now.phase = _SWEEP
        return
    now.is_cut = length > now.radius
    if now.is_cut:
        scale_by(s, now.radius / length)
    for i in range(scheme.lower.shape[0]):
        s[i] = min(max(state.vectors[Y, i] + s[i], scheme.lower[i]), scheme.upper[i]) - state.vectors[Y, i]
    now.tries, now.value = 0, math.inf
    _try_multiple(state, 1.0)


@inner
def _try_multiple(state, multiple):
    now = state.now[0]
    now.multiple = multiple
    state.plan[_FIRST, 0], state.plan[_SECOND, 0] = 0.0, multiple
    _begin_plan(now, _TRIAL, 1)


@inner
def _plan_plane(team, state):
    """Plan points in the plane of p and the last step, far enough for noise not to hide them."""
    now, noise = state.now[0], _level(state)
    has_step = chain_of(state.pairs) > 0
    if has_step:
        copy(team, state.vectors[S], state.pairs.steps[row_of(state.pairs, 0)])
    along = math.sqrt(50.0 * noise / max(_energy(state, state.vectors[P]), 1e-300))
    aside = math.sqrt(50.0 * noise / max(_energy(state, state.vectors[S]), 1e-300))
    for j in range(6):
        sign = 1.0 if j % 2 == 0 else -1.0
        state.plan[_FIRST, j] = sign * max(0.5, along) if j < 2 or j > 3 else 0.0
        state.plan[_SECOND, j] = sign * max(0.5, aside) if j > 1 else 0.0
    _begin_plan(now, _PLANE, 6 if has_step else 2)


@inner
def _energy(state, v):
    """Return v'Dv."""
    energy = 0.0
    for i in range(v.shape[0]):
        energy += _weight(state, i) * v[i] * v[i]
    return energy


@inner
def _probed_plane(team, state):
    """Take the values in the plane of p and the last step, and try the step that they suggest."""
    now, n, level = state.now[0], state.vectors.shape[1], _level(state)
    k = 2 if now.planned == 6 else 1
    slopes, hessian = np.zeros(k), np.zeros((k, k))
    for a in range(k):
        v = state.vectors[P] if a == 0 else state.vectors[S]
        length = state.plan[_FIRST, 0] if a == 0 else state.plan[_SECOND, 2]
        ahead, back = state.plan[_VALUES, 2 * a], state.plan[_VALUES, 2 * a + 1]
        slope = dot(team, n, state.vectors[SLOPES], v)
        if math.isfinite(ahead) and math.isfinite(back):
            slopes[a] = (ahead - back) / (2.0 * length)
            bend = (ahead + back - 2.0 * now.f) / (length * length)
            hessian[a, a] = max(bend, 0.05 * _energy(state, v))
            if a == 0:
                _judge_probes(state, slope, slopes[0], 3.0 * level / (1.4 * length))
        else:
            slopes[a], hessian[a, a] = slope, 1e300
    if k == 2:
        mixed = state.plan[_VALUES, 4] + state.plan[_VALUES, 5] + 2.0 * now.f
        for j in range(4):
            mixed -= state.plan[_VALUES, j]
        mixed /= 2.0 * state.plan[_FIRST, 0] * state.plan[_SECOND, 2]
        if math.isfinite(mixed):
            hessian[0, 1] = hessian[1, 0] = mixed
    minimizer = model_minimizer(slopes, hessian, 0.05)
    for i in range(n):
        state.vectors[S, i] = minimizer[0] * state.vectors[P, i] + (
            minimizer[1] * state.vectors[S, i] if k == 2 else 0.0
        )
    now.along = math.inf
    _suggest(now, slopes, hessian, minimizer)


@inner
def _judge_probes(state, promised, found, error):
    """Lengthen probes while the slope along p is what they promise, and shorten them where it is not."""
    now, level, blur = state.now[0], _level(state), 0.0
    for i in range(state.vectors.shape[1]):
        h = state.vectors[REACH, i]
        if h != 0.0:
            blur += 1.5 * (level / h) ** 2
    square = state.vectors.shape[1] * now.slope * now.slope
    is_less = found - promised * max(0.0, 1.0 - blur / square) > error + 0.5 * abs(promised)
    now.caution = max(4.0, 0.5 * now.caution) if is_less else min(1e4, 1.5 * now.caution)


@inner
def _tried(state):
    """Take the value of a trial: try a longer or a shorter step, or end."""
    now = state.now[0]
    value, before = state.plan[_VALUES, 0], now.value
    enough = now.f + (3.0 * _level(state) if now.noise_rules else 0.0)
    is_longer = now.multiple > 1.0
    now.value, now.tries = value, now.tries + 1
    multiple = 0.0
    if is_longer and not value < before:
        now.value, now.multiple = before, 0.5 * now.multiple
    elif value < enough:
        grows = is_longer or now.is_cut or now.f - value > 1.5 * now.predicted
        if now.multiple >= 1.0 and grows and not now.noise_rules and now.tries < 7:
            multiple = 2.0 * now.multiple
    elif now.tries <= (4 if now.noise_rules else 12):
        multiple = 0.3 * now.multiple
    if multiple > 0.0:
        _try_multiple(state, multiple)
    else:
        now.phase = _END


@inner
def _end_trials(team, scheme, state):
    """Go where the best trial was, if f falls."""
    now, n, s = state.now[0], state.vectors.shape[1], state.vectors[S]
    rules, multiple = now.noise_rules, now.multiple
    length = multiple * math.sqrt(dot(team, n, s, s))
    if multiple < 1.0:
        now.radius = max(0.5 * now.radius if rules else 0.0, 2.0 * length)
        now.both_sides = not rules
    else:
        now.radius = max(now.radius, 4.0 * length)
    if not rules and not now.is_cut:
        found = now.value if now.value < math.inf else now.f
        off = min(1.0, abs((now.f - found) / max(now.predicted, 1e-300) - 1.0))
        now.misjudged += 0.2 * (off - now.misjudged)
    if not rules and now.along < now.value:
        # p itself is better than what the model has made of it.
        copy(team, s, state.vectors[P])
        now.value, multiple = now.along, 1.0
    if now.value < now.f + (3.0 * _level(state) if rules else 0.0):
        _move(team, scheme, state, multiple)
    else:
        _fail(state)


@inner
def _move(team, scheme, state, multiple):
    """Go to the next y."""
    now, n, y, s, reach = (
        state.now[0],
        state.vectors.shape[1],
        state.vectors[Y],
        state.vectors[S],
        state.vectors[REACH],
    )
    for i in range(n):
        new = y[i] + multiple * s[i]
        if scheme.lower.shape[0] > 0:
            new = min(max(new, scheme.lower[i]), scheme.upper[i])
        s[i] = new - y[i]
        y[i] = new
    part = min(_PROBE, max(_LEAST_PROBE, _PROBE_BY_CHANGE / max(now.change, 1e-9)))
    energy = _energy(state, s) / n
    for i in range(n):
        reach[i] = part * max(abs(s[i]), 0.1 * math.sqrt(energy / _weight(state, i)))
    copy(team, state.vectors[BEFORE], state.vectors[SLOPES])
    now.f, now.sigma = now.value, math.sqrt(dot(team, n, s, s) / n)
    now.failures, now.has_before = 0, 1
    if now.noise_rules:
        # The value that was accepted was a lucky one: another at the same point.
        _plan_again(state, 1)
    else:
        now.averaged = 0
        now.phase = _SWEEP


@inner
def _fail(state):
    """Stay, and probe closer by."""
    now, reach = state.now[0], state.vectors[REACH]
    for i in range(reach.shape[0]):
        shortest = 1e-14 * (now.sigma + abs(state.vectors[Y, i]))
        reach[i] = max(abs(reach[i]) * (0.5 if now.noise_rules else 0.1), shortest)
    _lose_track(state)
    now.due = 0
    if now.failures >= 2 and _level(state) > 1e-13 * abs(now.f):
        now.forced = 20
    if now.noise_rules:
        _plan_again(state, 4)
    else:
        now.phase = _SWEEP


@inner
def _plan_again(state, times):
    """Plan to evaluate f(y) so many times more."""
    for j in range(times):
        state.plan[_FIRST, j] = state.plan[_SECOND, j] = 0.0
    _begin_plan(state.now[0], _AGAIN, times)


@inner
def _evaluated_again(team, state):
    """Take further values of f(y), under noise."""
    now, total = state.now[0], 0.0
    count = int(now.planned)
    for j in range(count):
        total += state.plan[_VALUES, j]
    mean = total / count
    if math.isfinite(mean):
        now.f = 0.5 * (now.f + mean) if count == 1 else mean
    first = now.averaged == 0
    for i in range(state.vectors.shape[1]):
        state.vectors[MEAN, i] += (1.0 if first else 0.15) * (state.vectors[Y, i] - state.vectors[MEAN, i])
    now.slow += (1.0 if first else 0.15) * (now.f - now.slow)
    now.fast += (1.0 if first else 0.4) * (now.f - now.fast)
    now.averaged += 1
    # Not the luckiest point is returned, but y, or the mean once f no longer falls.
    if abs(now.slow - now.fast) < _level(state):
        copy(team, state.x, state.vectors[MEAN])
        now.fx = now.slow
    else:
        copy(team, state.x, state.vectors[Y])
        now.fx = now.f
    now.phase = _SWEEP
