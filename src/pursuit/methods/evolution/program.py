"""`evolution`: an evolution strategy for functions with kinks, jumps, plateaus or strong noise.

    repeat:
        z_i <- normal vectors, i = 1 ... lambda
        evaluate x_i = m + sigma M z_i, projected into the bounds (`cloud.py`)
        rank the values; how far outside the bounds points were counts as well
        m <- the weighted mean of the better half
        p <- (1 - c) p + sqrt(c (2 - c) mu_eff) (the weighted mean of their z_i)
        M learns from p and the z_i (`matrix.py`)
        sigma <- sigma exp((c/d) (|p|/E|z| - 1))

This is MA-ES with active weights up to 200 variables, and LM-MA-ES with a diagonal beyond. Only ranks are
used, so that runs are the same for every increasing transformation of f, as long as values are not noisy.

- *Noise* is noticed where a point that is evaluated again has another value. Then one point of every round
  is, and where noise makes up most of what values differ by, sigma grows until it does not (`noise.py`).
- *The end* is believed only if a second search, from the best point and with a new M, gains nothing, and
  if nothing better is found around that point (`pursuit.methods.check`): on a ridge of kinks M can be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_count, checked_flag
from pursuit.methods.check import find_better
from pursuit.methods.evolution import noise
from pursuit.methods.evolution.checks import check_state
from pursuit.methods.evolution.cloud import Cloud, drawn
from pursuit.methods.evolution.matrix import DENSE, Full, Rates, Weights, first_matrix, rates_of, weights_of
from pursuit.methods.evolution.state import Average, Noise, State
from pursuit.methods.programs import CONVERGED, FLAT, STUCK, UNBOUNDED, Asking, Box, Ending, Request, Start

# More points of a round than these bring nothing but parallel work: as a multiple of the usual number.
_MOST_POINTS = 4
# Rounds grow to this multiple of their first size within so many evaluations for each variable: small ones
# gain most at first, and large ones do not lose the way on ridges and under noise.
_GROWTH, _GROWTH_SWEEPS = 2.0, 200
# sigma grows by this factor after a round of equal values, and shrinks by it where f has none.
_CHANGE = math.sqrt(2.0)
# A round of equal values is a plateau if they are above the lowest value by so many times the noise.
_CLEAR = 3.0
# A run ends as flat after equal values in rounds of this many points for each variable.
_FLAT = 10
# A search ends after this many rounds without a gain, and so many more for n evaluations.
_IDLE, _IDLE_SWEEPS = 60, 30
# Gains count if they are more than this part of what f has fallen by so far; those of a second search, and of
# the last look around, if they are more than that.
_GAIN, _REAL_GAIN = 1e-16, 1e-10
# The first sigma of another search, as a part of the longest steps that have helped.
_NARROW = 0.01
# Down to this power of a tenth of the first steps is looked for something better where none has helped.
_CLOSEST = 50
# f is taken to be unbounded if it is negative and still falling at steps of this many first steps.
_FAR = 1e12
# x is on a plateau if so many values at this part of the longest steps are equal.
_PLATEAU, _NEAR = 10, 1e-3
_CONVERGED = "Converged: a second search from x has found nothing better."
_ONCE = "Converged: this search finds nothing better."
_EQUAL = "All values around x are equal: nothing shows where f might be lower."
_KEPT = "f seems to be unbounded below: it is negative, and still falls very far from the start."


class Evolution(NamedTuple):
    """An evolution strategy: MA-ES for few variables, LM-MA-ES with a diagonal for many.

    Parameters
    ----------
    popsize : int
        How many points a round has.
    once : bool
        Whether to end without a second search, as where a restart follows.
    """

    popsize: int
    is_given: bool = False
    once: bool = False

    @classmethod
    def create(cls, n: int, *, popsize: int | None = None, once: bool = False) -> Evolution:
        """Return the program for n variables."""
        checked_flag("once", once)
        if popsize is None:
            return cls(4 + int(3.0 * math.log(n)), once=once)
        return cls(checked_count("popsize", popsize, at_least=4), is_given=True, once=once)

    @classmethod
    def wider(cls, n: int, options: dict[str, Any], factor: int) -> dict[str, Any]:
        """Return the options of a wider search: one with rounds of more points."""
        return {**options, "popsize": factor * cls.create(n, **options).popsize, "once": True}

    def begin(self, start: Start) -> State:
        """Return the first state."""
        popsize = self.popsize
        if not self.is_given:
            popsize = max(popsize, min(start.batch, _MOST_POINTS * popsize))
        return State(
            x=start.x,
            f=start.value,
            scale=1.0,
            box=Box.of(start),
            xtol=start.xtol,
            ftol=start.ftol,
            popsize=popsize,
            matrix=first_matrix(start.x.size),
            path=np.zeros(start.x.size),
            start_x=start.x,
            start=start.value,
            lowest_x=start.x,
            lowest=start.value,
            gained=start.value,
            average=Average(start.x, start.value, start.value),
            record=Average(start.x, start.value, start.value),
        )

    def iterate(self, state: State, rng: np.random.Generator) -> Asking:
        """Make one round."""
        if state.rounds == 0:
            yield from noise.look(state, state.x, state.f)
        popsize = self._round_size(state)
        weights = weights_of(state.x.size, popsize)
        rates = rates_of(state.x.size, popsize, weights.mass)
        cloud = drawn(state.x, state.scale * state.box.sigma0, state.matrix, state.box, popsize, rng)
        if state.estimate:
            cloud = replace(cloud, again=(int(rng.integers(popsize)),))
        values = yield cloud
        values = noise.heard(state, cloud, values)
        order = _ranked(cloud, values)
        best = int(np.argmin(values))
        state.rounds, state.evaluations = state.rounds + 1, state.evaluations + len(cloud)
        if values[best] < state.lowest:
            _improve(state, cloud.rows(best, best + 1)[0], float(values[best]))
        _learn(state, cloud, order, weights, rates)
        _widen(state, values)
        state.f = state.average.slow if state.estimate else float(values[best])
        if not state.estimate and state.rounds & (state.rounds - 1) == 0:
            # Values that repeat by chance, as those of a simulation that counts, are soon seen to differ.
            yield from noise.look(state, state.lowest_x, state.lowest)
        yield from _judge(state, rng, self.once)

    def _round_size(self, state: State) -> int:
        """Return the points of the next round, which grow unless they were asked for."""
        if self.is_given:
            return state.popsize
        part = min(1.0, state.evaluations / (_GROWTH_SWEEPS * state.x.size))
        return int(state.popsize * (1.0 + part * (_GROWTH - 1.0)))

    def best(self, state: State) -> tuple[Vector, float, float]:
        """Return the point that the evidence supports."""
        if not state.estimate:
            return state.lowest_x, state.lowest, 0.0
        return noise.answer_of(state)

    def check(self, state: State, n: int) -> None:
        """Reject a state that is not one for n variables."""
        check_state(state, n)
        most = self.popsize if self.is_given else _MOST_POINTS * self.popsize
        if not self.popsize <= state.popsize <= most:
            raise ValueError(f"its popsize must be from {self.popsize} to {most}, but is {state.popsize}")


def _ranked(cloud: Cloud, values: Vector) -> Any:
    """Return the order of the points: by values, to which how far outside they were is added."""
    outside = cloud.outside()
    finite = values[np.isfinite(values)]
    unit = float(np.subtract(*np.quantile(finite, [0.75, 0.25]))) if finite.size else 0.0
    return np.lexsort((outside, values + unit * outside))


def _improve(state: State, x: Vector, f: float) -> None:
    """Keep the best point."""
    state.lowest_x, state.lowest = x, f
    state.longest = max(state.longest, state.scale * state.matrix.longest)
    if f < state.gained - _least_gain(state, _GAIN):
        state.gained, state.gained_at = f, state.rounds


def _least_gain(state: State, part: float) -> float:
    """Return the gain that counts, given the part of what f has fallen by."""
    return max(state.ftol * abs(state.lowest), part * (state.start - state.lowest))


def _learn(state: State, cloud: Cloud, order: Any, weights: Weights, rates: Rates) -> None:
    """Move the mean, and learn the path, M and sigma from a ranked round."""
    n = state.x.size
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    signed, positive = weights.signed[rank], weights.positive[rank]
    step, squares = np.zeros(n), np.zeros(n)
    for part in cloud.parts():
        Z = cloud.normals(part)
        step += positive[part] @ Z
        if not isinstance(state.matrix, Full):
            squares += signed[part] @ (Z * Z - 1.0)
    step = _move(state, cloud.spread, step)
    c = rates.path
    state.path = (1.0 - c) * state.path + math.sqrt(c * (2.0 - c) * weights.mass) * step
    if isinstance(state.matrix, Full):
        Z = cloud.normals(slice(0, cloud.popsize))
        state.matrix = state.matrix.learnt(state.path, Z, weights._replace(signed=signed), rates)
    else:
        state.matrix = state.matrix.learnt(step, squares, cloud.popsize, weights, rates)
    expected = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
    change = c / rates.damping * (float(np.linalg.norm(state.path)) / expected - 1.0)
    if state.estimate:
        change = noise.widened(state, change)
    state.scale *= math.exp(min(change, 1.0))


def _move(state: State, spread: Vector | float, step: Vector) -> Vector:
    """Move the mean by M times a step; return the step that it has made, which bounds may have cut off.

    Otherwise sigma would grow while the mean is pressed to a bound, as it would always go the same way.
    """
    before, moved = state.x, state.x + spread * state.matrix.stretched(step[np.newaxis])[0]
    state.x = state.box.clip(moved) if state.box.is_bounded else moved
    if state.x is moved or np.array_equal(state.x, moved):
        return step
    made = (state.x - before) / spread
    if isinstance(state.matrix, Full):
        return np.asarray(np.linalg.lstsq(state.matrix.M, made, rcond=None)[0], dtype=np.float64)
    cut_off: Vector = (state.x - moved) / (spread * state.matrix.diagonal)
    return step + cut_off


def _widen(state: State, values: Vector) -> None:
    """Let sigma grow where all values are equal, and shrink where there are none, or none that is better."""
    if not np.isfinite(values).any():
        state.scale /= _CHANGE
    elif values.min() == values.max() > state.lowest + _CLEAR * state.noise:
        # A plateau: what is known to be lower is closer to where it was seen.
        state.x, state.scale = state.lowest_x, state.scale / _CHANGE
    elif values.min() == values.max():
        state.flat += 1
        state.scale *= _CHANGE
    else:
        state.flat = 0
        if state.longest == 0.0 and state.x.size > DENSE and not state.estimate:
            # Of many variables it takes n evaluations until the path shows that first steps are too long.
            state.scale /= _CHANGE


def _judge(state: State, rng: np.random.Generator, once: bool) -> Asking:
    """End the run, or begin another search, if nothing is left to gain this way."""
    length = state.scale * state.matrix.longest
    if not (math.isfinite(length + state.noise + state.average.slow) and np.isfinite(state.x).all()):
        _forget(state)
        state.ending = Ending(STUCK, "The values of f are too extreme to compute with.")
    elif state.flat * state.popsize >= _FLAT * state.x.size:
        if state.estimate:
            yield from noise.settle(state, rng)
        if state.ending or not state.estimate:
            state.ending = Ending(FLAT, _EQUAL)
    elif length > _FAR and state.lowest < min(0.0, state.start):
        state.ending = Ending(UNBOUNDED, _KEPT)
    elif state.estimate:
        yield from noise.judge(state, rng)
    else:
        patience = _IDLE + _IDLE_SWEEPS * state.x.size // state.popsize
        is_idle = state.rounds - max(state.gained_at, state.began) > patience
        if is_idle or length <= state.xtol * (state.longest or state.xtol):
            if once and state.longest:
                state.ending = Ending(CONVERGED, _ONCE)
                return
            yield from _end_search(state, rng)


def _forget(state: State) -> None:
    """Go back to the best point, without what may have overflowed."""
    state.x, state.f, state.scale = state.lowest_x, state.lowest, 1.0
    state.matrix, state.path = first_matrix(state.x.size), np.zeros_like(state.x)
    state.noise_model, state.average = Noise(), Average(state.x, state.f, state.f)


def _end_search(state: State, rng: np.random.Generator) -> Asking:
    """End the run if this search has gained nothing, and nothing better lies around the best point."""
    state.x = state.lowest_x
    if state.longest == 0.0 and state.searches == 0 and (yield from _look_closer(state, rng)):
        state.search_again(state.scale)
        return
    if state.began_with - state.lowest <= _least_gain(state, _REAL_GAIN):
        least = _least_gain(state, _REAL_GAIN)
        better = yield from find_better(
            state.lowest_x, state.lowest, state.box, 0.0, rng, reach=state.longest, least=least
        )
        if better is None:
            is_flat = yield from _is_flat(state, rng)
            state.ending = Ending(FLAT, _EQUAL) if is_flat else Ending(CONVERGED, _CONVERGED)
            return
        state.x, state.f = better
        _improve(state, *better)
    state.search_again(_NARROW * (state.longest or 1.0))


def _look_closer(state: State, rng: np.random.Generator) -> Generator[Request, Vector, bool]:
    """Take ever shorter steps along a line, where all may have been too long; say whether one has helped."""
    z = state.box.sigma0 * rng.standard_normal(state.x.size)
    for length in 10.0 ** -np.arange(1.0, _CLOSEST + 1.0):
        points = state.box.clip(state.x + length * np.array([z, -z]))
        values = yield points
        i = int(np.argmin(values))
        if values[i] < state.lowest - _least_gain(state, _GAIN):
            state.scale = float(length)
            state.x, state.f = points[i], float(values[i])
            _improve(state, state.x, state.f)
            return True
    return False


def _is_flat(state: State, rng: np.random.Generator) -> Generator[Request, Vector, bool]:
    """Say whether the values around the best point are all equal to the one there."""
    for _ in range(_PLATEAU):
        step = _NEAR * (state.longest or 1.0) * state.box.sigma0 * rng.standard_normal(state.x.size)
        values = yield state.box.clip(state.lowest_x + step)[np.newaxis]
        if values[0] != state.lowest:
            return False
    return True
