"""`evolution`: an evolution strategy for functions with kinks, jumps, plateaus or strong noise.

    repeat:
        z_i <- normal vectors, i = 1 ... lambda
        evaluate x_i = m + sigma M z_i, projected into the bounds (`distribution.py`)
        rank the values
        m <- the weighted mean of the better half
        p <- (1 - c) p + sqrt(c (2 - c) mu_eff) (the weighted mean of their z_i)
        M learns from p and the z_i (`distribution.py`)
        sigma <- sigma exp((c/d) (|p|/E|z| - 1))

This is MA-ES with active weights up to 200 variables, and LM-MA-ES with a diagonal beyond. Only ranks are
used, so that runs are the same for every increasing transformation of f, as long as values are not noisy.

- *Noise* is noticed where a point that is evaluated again has another value. Then one point of every round
  is, and where noise makes up most of what values differ by, sigma grows until it does not (`noise.py`).
- *The end* is believed only if a second search, from the best point and with a new M, gains nothing, and
  if nothing better is found around that point (`pursuit.methods.check`), nor along a ridge of kinks
  (`pursuit.methods.ridges`), where M can be wrong.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector, checked_count, checked_flag
from pursuit.methods.check import find_better
from pursuit.methods.evolution.distribution import Cloud, first_matrix, rates_of
from pursuit.methods.evolution.noise import evidence_of, heard, is_pure, look, widened
from pursuit.methods.evolution.state import Average, State, check_state
from pursuit.methods.programs import CONVERGED, FLAT, NOISE, STUCK, UNBOUNDED, Asking, Box, Ending, Start
from pursuit.methods.ridges import MOST_VARIABLES, follow_ridge

# More points of a round than these bring nothing but parallel work: as a multiple of the usual number.
_MOST_POINTS = 4
# sigma grows by this factor after a round of equal values, and shrinks by it if lower ones are known.
_CHANGE = math.sqrt(2.0)
# A run ends as flat after equal values in rounds of this many points for each variable.
_FLAT = 10
# A search ends after so many rounds, and evaluations for each variable, without a gain; and under noise,
# where more is needed to see one, and where nothing but noise is seen. Before the first gain M must be
# learnt, as on ridges of kinks: that takes so many times as long.
_IDLE, _IDLE_SWEEPS, _NOISY_SWEEPS, _PURE_SWEEPS, _UNLEARNT = 60, 30, 120, 30, 3
# Gains count if they are more than this part of what f has fallen by so far, or under noise of that; those of
# a second search, and of the last look around, if they are more than the last.
_GAIN, _OF_NOISE, _REAL_GAIN = 1e-16, 0.1, 1e-10
# The first sigma of another search, as a part of the longest steps that have helped.
_NARROW = 0.01
# How many values the last look may spend on ridges, as a part of those before.
_SLOPES = 0.25
# f is taken to be unbounded if it is negative and still falling at steps of this many first steps.
_FAR = 1e12
_KEPT = "f seems to be unbounded below: it is negative, and still falls very far from the start."
_CONVERGED = "Converged: nothing better was found around x."
_HIDDEN = "Noise hides whatever is left to gain."
_PURE = "Nothing but noise is seen around x: nothing shows where f might be lower."


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
        usual, is_given = 4 + int(3.0 * math.log(n)), popsize is not None
        size = checked_count("popsize", popsize, at_least=4) if is_given else usual
        return cls(size, is_given, checked_flag("once", once))

    @classmethod
    def wider(cls, n: int, options: dict[str, Any], factor: int) -> dict[str, Any]:
        """Return the options of a wider search: one with rounds of more points."""
        return {**options, "popsize": factor * cls.create(n, **options).popsize, "once": True}

    def begin(self, start: Start) -> State:
        """Return the first state."""
        x, f = start.x, start.value
        return State(
            x=x, f=f, box=Box.of(start), xtol=start.xtol, ftol=start.ftol, batch=start.batch,
            matrix=first_matrix(x.size), path=np.zeros(x.size), start=f, lowest_x=x, lowest=f,
            average=Average(x, f), record=Average(x, f),
        )  # fmt: skip

    def iterate(self, state: State, rng: np.random.Generator) -> Asking:
        """Make one round."""
        if state.rounds == 0:
            yield from look(state, state.x, state.f)
        popsize = self.popsize
        if not self.is_given:
            popsize = max(popsize, min(state.batch, _MOST_POINTS * popsize))
        spread, seed = state.scale * state.box.sigma0, int(rng.integers(2**63))
        cloud = Cloud(state.x, spread, state.matrix, state.box, popsize, seed, state.estimate)
        values = heard(state, cloud, (yield cloud))
        state.rounds, state.evaluations = state.rounds + 1, state.evaluations + len(cloud)
        best = int(np.argmin(values))
        if values[best] < state.lowest:
            _improve(state, cloud.rows(best, best + 1)[0], float(values[best]))
        _learn(state, cloud, values)
        _widen(state, values)
        state.f = float(np.median(values) if state.estimate else values[best])
        if not state.estimate and state.rounds & (state.rounds - 1) == 0:
            # Values that repeat by chance, as those of a simulation that counts, are soon seen to differ.
            yield from look(state, state.lowest_x, state.lowest)
        yield from _judge(state, popsize, rng, self.once)

    def best(self, state: State) -> tuple[Vector, float, float]:
        """Return the point that the evidence supports."""
        if not state.estimate:
            return state.lowest_x, state.lowest, 0.0
        return (state.x, state.f, state.error) if state.error is not None else evidence_of(state).estimated()

    def check(self, state: State, n: int) -> None:
        """Reject a state that is not one for n variables."""
        check_state(state, n)


def _improve(state: State, x: Vector, f: float) -> None:
    """Keep the best point."""
    state.lowest_x, state.lowest = x, f
    state.longest = max(state.longest, state.scale * state.matrix.longest)


def _least_gain(state: State, part: float) -> float:
    """Return the gain that counts, given the part of what f has fallen by."""
    return max(state.ftol * abs(state.lowest), part * (state.start - state.lowest))


def _learn(state: State, cloud: Cloud, values: Vector) -> None:
    """Move the mean, and learn the path, M and sigma from a round."""
    n, rates = state.x.size, rates_of(state.x.size, cloud.popsize)
    ranks = np.argsort(np.argsort(values, kind="stable"))
    positive, step = rates.positive[ranks], np.zeros(n)
    for part, Z in cloud.normals():
        step += positive[part] @ Z
    # What bounds cut off is no step: otherwise sigma would grow while the mean is pressed to a bound.
    moved = state.x + cloud.spread * state.matrix.stretched(step[np.newaxis])[0]
    state.x = state.box.clip(moved) if state.box.is_bounded else moved
    if state.x is not moved and not np.array_equal(state.x, moved):
        step = step + state.matrix.shrunk((state.x - moved) / cloud.spread)
    c = rates.path
    state.path = (1.0 - c) * state.path + math.sqrt(c * (2.0 - c) * rates.mass) * step
    state.matrix = state.matrix.learnt(state.path, step, cloud.normals(), rates.signed[ranks], rates)
    expected = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
    change = c / rates.damping * (float(np.linalg.norm(state.path)) / expected - 1.0)
    state.scale *= math.exp(min(widened(state, change), 1.0))


def _widen(state: State, values: Vector) -> None:
    """Let sigma grow where all values are equal, and shrink where none of them is as low as the lowest."""
    if values.min() < values.max():
        state.flat = 0
    elif values[0] > state.lowest:
        # A plateau, or no values at all: what is known to be lower is closer to where it was seen.
        state.x, state.flat, state.scale = state.lowest_x, 0, state.scale / _CHANGE
    else:
        state.flat, state.scale = state.flat + values.size, state.scale * _CHANGE


def _judge(state: State, popsize: int, rng: np.random.Generator, once: bool) -> Asking:
    """End the run, or begin another search, if nothing is left to gain this way."""
    n, value, length = state.x.size, state.lowest, state.scale * state.matrix.longest
    least = _least_gain(state, _GAIN)
    patience = (_IDLE * popsize + _IDLE_SWEEPS * n) * (1 if state.longest else _UNLEARNT)
    if state.estimate:
        value, least = state.average.value, _OF_NOISE * state.noise
        patience = (_PURE_SWEEPS if is_pure(state) else _NOISY_SWEEPS) * n + 2 * _IDLE
    if value < state.gained - least:
        state.gained, state.gained_at = value, state.evaluations
    if not (math.isfinite(length + value) and np.isfinite(state.x).all()):
        _restart(state, state.lowest_x, state.lowest, 1.0)
        state.ending = Ending(STUCK, "The values of f are too extreme to compute with.")
    elif state.flat >= _FLAT * n:
        state.ending = Ending(FLAT, "All values around x are equal: nothing shows where f might be lower.")
    elif length > _FAR and state.lowest < min(0.0, state.start):
        state.ending = Ending(UNBOUNDED, _KEPT)
    elif state.evaluations - state.gained_at > patience or (
        length <= state.xtol * (state.longest or state.xtol) and not state.estimate
    ):
        yield from _end_search(state, rng, once)


def _restart(state: State, x: Vector, f: float, scale: float) -> None:
    """Begin another search at a point, with steps of this length."""
    state.x, state.f, state.scale, state.error = x, f, scale, None
    state.matrix, state.path = first_matrix(x.size), np.zeros_like(x)
    state.average = state.record = Average(x, f, state.noise, state.average.spread)
    state.gained, state.gained_at, state.began_with = math.inf, state.evaluations, state.lowest


def _end_search(state: State, rng: np.random.Generator, once: bool) -> Asking:
    """End the run if nothing is left to gain, nor anything better lies around the best point.

    Without noise, a second search must have gained nothing before that is looked at, unless `once` is enough.
    """
    least, length = _least_gain(state, _REAL_GAIN), _NARROW * (state.longest or 1.0)
    x, f, gained = state.lowest_x, state.lowest, 0.0 if once else state.began_with - state.lowest
    if state.estimate:
        x, f, state.error = yield from evidence_of(state).settled()
        state.x, state.f, gained, least = x, f, 0.0, 0.0
    if gained <= least:
        reach = max(state.longest, state.scale * state.matrix.longest)
        better = yield from find_better(x, f, state.box, state.noise, rng, reach=reach, least=least)
        if better is None and not state.estimate and x.size <= MOST_VARIABLES:
            box, most = state.box.wider(reach), int(_SLOPES * state.evaluations)
            better = yield from follow_ridge(x, f, box, rng, least=least, most=most)
        if better is None:
            converged = Ending(NOISE, _HIDDEN) if state.estimate else Ending(CONVERGED, _CONVERGED)
            state.ending = Ending(FLAT, _PURE) if is_pure(state) else converged
            return
        length = float(np.max(np.abs(better[0] - x) / state.box.sigma0))
        x, f = better
        _improve(state, x, f)
    _restart(state, x, f, length)
