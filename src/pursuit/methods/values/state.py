"""The state of `values`: vectors, pairs of steps and slopes, numbers, and what the next round is about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.inner import inner
from pursuit.compiling.vectors import Matrix
from pursuit.methods.values.quasi_newton import Pairs

MOST_SAMPLES = 64
"""How long lists are at least: there are never more planned points than that, nor samples."""
_EPS = 2.2e-16
ROUNDING = 1e-12
"""Noise of no more than this part of |f| comes from rounding."""
BENDS = 4
"""In one of so many blocks, a curvature is measured."""
# What a round is about.
(
    MEASURE_NOISE, PROBE_AHEAD, PROBE_BACK, LOOK_ALONG, LOOK_IN_PLANE, TRY, EVALUATE_AGAIN,
    BLOCK_PROBE, BLOCK_TRY,
) = range(9)  # fmt: skip
# What is to be done before the next one. Each is done in one place, since Numba compiles every call anew.
(
    CONCLUDE, CHOOSE, PLAN_PLANE, STEP, END, MOVE, STAY, SWEEP,
    BLOCK_BEGIN, BLOCK_JUDGE, BLOCK_SLOPES, BLOCK_END,
) = range(9, 21)  # fmt: skip
# The rows of the lists: those of `Round.moves`, then planned points in the plane of p and s by multiples of p
# and of s, and their values, and changes of some curvatures at y, relative to themselves.
FIRST, SECOND, SEEN, SAMPLES, LISTS = range(4, 9)

_NUMBERS = {
    "fx": "f at the best point",
    "f": "f(y)",
    "sigma": "the root mean square of the latest step",
    "sigma0": "its first value",
    "travelled": "the length of all steps",
    "spent": "evaluations so far",
    "key": "the number that all signs come from",
    # Rounds.
    "phase": "what the next round is about",
    "cursor": "the next coordinate to probe, or the next of a block",
    "window": "from where on coordinates are probed on both sides, in turn",
    "both_sides": "whether all of them are",
    "rest": "whether those are that were not, since their curvatures turned out to be too inexact",
    "looked": "how many of the next coordinates are probed together with the step that leads there",
    "planned": "points on a line or in a plane that are to be evaluated",
    "made": "those of them that were",
    # Noise.
    "noise": "the standard deviation of the noise of a value, below 0 before it is measured",
    "first_noise": "the same from points as close as possible, when it is measured for the first time",
    "first_apart": "how far apart these were, as a multiple of the probes",
    "noise_at": "|f| where it was measured",
    "first_at": "|f| where it was measured for the first time",
    "is_relative": "whether it falls as |f| does",
    "spacing": "the distance of the points it was measured from, where they had to be far apart",
    "apart": "the same as a multiple of the probes",
    "suspect": "noise that is far above what it was before, and not confirmed",
    "attempt": "how often the distance was changed",
    "due": "in how many steps it is measured again",
    "caution": "a probe is at least sqrt(caution noise/|D|) long",
    "noise_rules": "whether noise hides what single values say",
    "forced": "for how many steps it is taken to do so",
    # Curvature.
    "change": "by how much D changes from one point to the next, relative to itself",
    "taken": "how many samples of that there are from this y",
    "old_noise": "the noise of the values that D comes from",
    "typical": "the median of |D|",
    "low": "its 10 % quantile",
    "high": "its 90 % quantile",
    "largest": "the largest",
    "is_scaled": "whether p is -g/|D|",
    # Steps.
    "blur": "the error of the vector of slopes that comes from noise",
    "slope": "the root mean square of the slopes",
    "radius": "how long a step may be",
    "failures": "steps in a row that did not lead down",
    "misjudged": "how far off predictions are, on average",
    "has_before": "whether the step that led to y is known, and the slopes before it",
    "along": "f(y + p)",
    "along_slope": "g'p",
    "from_memory": "whether p comes from the memory of L-BFGS",
    "predicted": "what f is to fall by",
    "is_cut": "whether the step was too long",
    "tries": "how many steps were tried",
    "meets_wall": "whether one of them led to where f has no value",
    "value": "f after the latest of them, or in the beginning f(x)",
    "multiple": "which multiple of s it was",
    "kinks": "how often values on a line were neither those of noise nor of a smooth function",
    "rough": "how often in a row values were those of kinks or jumps",
    "is_misled": "whether steps promise much, and keep little of it",
    "flat": "how often in a row all slopes were 0",
    "level": "f(y) when something was won for the last time",
    "idle": "sweeps since then; those that promised nothing count twice",
    "has_won": "whether anything was ever won",
    "is_unbounded": "whether f seems to fall without end",
    # The mean under noise.
    "is_estimate": "whether fx is not a value seen",
    "repeats": "whether f had the same values when it was evaluated again at the same point",
    "is_rough": "whether it had, although they do not follow slopes and curvatures",
    "averaged": "over how many points it goes",
    "slow": "the average of their values, over many",
    "fast": "and over few",
    # Blocks, in the beginning.
    "tau": "the coordinates of a block, 0 where there are none",
    "position": "where the block is in the order of coordinates",
    "order": "the key of that order",
    "theta": "the weight of z in y",
    "beta": "the curvature along a block's step as a multiple of the mean curvature",
    "mean_curvature": "that along coordinates, 0 before it is measured",
    "probe": "how long a probe is",
    "untried": "whether the latest step is tried together with the probes from where it leads",
    "unknown": "whether f(y) is evaluated together with the probes",
    "trial": "f after the latest step",
    "here": "f(y), while all this is evaluated",
    "block_square": "the sum of the squares of the block's slopes",
    "is_single": "whether coordinates have curvatures of their own",
    "is_mixed": "whether blocks are of directions that mix all coordinates",
    "blocks": "how many steps there were",
    "chain": "and since momentum began",
}
NUMBERS = np.dtype([(name, np.float64) for name in _NUMBERS])
"""The numbers of a state, in a record that is changed where it stands.

Compiled code that returned a new record instead, for each of the phases, would take minutes to compile.
"""


class ValuesState(NamedTuple):
    """The state of `values`; `f` is f(y), and `sigma` the root mean square of the latest step."""

    x: Vector
    fx: float
    f: float
    sigma: float
    vectors: Matrix
    """y and what is known there, a row for each: see `curvature.py`."""
    pairs: Pairs
    lists: Matrix
    """Points of a round, planned points, and samples: a few short rows."""
    now: Any
    """The numbers, a record."""

    def is_valid(self) -> bool:
        """Say whether all that compiled code uses as an index or a count is one."""
        now, n = {name: float(self.now[name][0]) for name in NUMBERS.names or ()}, self.x.size
        counts = (
            "cursor",
            "window",
            "looked",
            "planned",
            "made",
            "taken",
            "tau",
            "position",
            "order",
            "blocks",
            "untried",
            "unknown",
        )
        if not all(0.0 <= now[name] < 2**53 and now[name].is_integer() for name in ("phase", *counts)):
            return False
        if now["tau"] > n or now["looked"] >= n or now["taken"] > MOST_SAMPLES:
            return False
        if now["phase"] in (PROBE_AHEAD, PROBE_BACK):
            return now["cursor"] < n
        if now["phase"] == BLOCK_PROBE:
            points = points_of_block.py_func(self.now.view(np.recarray)[0])
            return max(now["untried"], now["unknown"]) <= 1 and now["cursor"] < points
        return now["phase"] <= BLOCK_TRY and now["made"] < now["planned"] <= MOST_SAMPLES


@inner
def points_of_block(now):
    """Return how many points the probes of a block make: one probe is two-sided now and then, or all."""
    other_sides = (now.blocks + now.untried) % BENDS == 0 if now.mean_curvature > 0.0 else now.tau
    return now.untried + now.unknown + now.tau + other_sides


@inner
def noise_of_value(state):
    """Return the noise of a value, that of rounding at least."""
    now = state.now[0]
    part = min(1.0, abs(now.f) / now.noise_at) if now.is_relative else 1.0
    return max(part * now.noise, 2.0 * _EPS * abs(now.f))


@inner
def is_blurred(state):
    """Say whether something hides what single values say, and is more than rounding."""
    now = state.now[0]
    return now.noise_rules and noise_of_value(state) > ROUNDING * abs(now.f)


@inner
def is_noisy(state):
    """Say whether that is noise: if f repeats its values, it is f itself that is rough."""
    return is_blurred(state) and not state.now[0].repeats


@inner
def begin_plan(now, phase, planned):
    """Plan so many points on a line or in a plane."""
    now.phase, now.planned, now.made = phase, planned, 0


@inner
def scale_by(v, factor):
    """Multiply a vector by a number."""
    for i in range(v.shape[0]):
        v[i] *= factor
