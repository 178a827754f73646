"""A sampler for Optuna's studies: ``optuna.create_study(sampler=PursuitSampler(seed=1))``."""

from __future__ import annotations

import contextlib
import math
import threading
from typing import Any

import numpy as np
from optuna.distributions import FloatDistribution
from optuna.samplers import RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import StudyDirection
from optuna.trial import TrialState

from pursuit.optimizer import Optimizer

_WIDTH = 0.2
"""The first step size, as a part of the range of a parameter."""


class PursuitSampler:
    """A sampler of continuous parameters; others, and those that not every trial has, are drawn at random.

    The first trial is drawn at random, too. Our method begins at the best trial so far, which may be one of a
    study that was loaded, and goes on from trials that were enqueued if they are better.

    Parameters
    ----------
    seed : int
        The seed.
    **settings
        Anything else that `pursuit.Optimizer` takes but the start and bounds. The unit of `sigma0`, by
        default 0.2, is the range of a parameter. For several jobs pass ``batch``, the points of a round.
    """

    def __init__(self, seed: int | None = None, **settings: Any) -> None:
        self._random = RandomSampler(seed)
        self._settings = {"sigma0": _WIDTH, "rng": seed, **settings}
        self._space = IntersectionSearchSpace()
        self._optimizer: Optimizer | None = None
        self._names: list[str] = []
        self._asked: dict[int, Any] = {}
        """The points of the trials that are running."""
        self._lock = threading.RLock()

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        """Return the continuous parameters that all trials have."""
        with self._lock:
            found = self._space.calculate(study)
        return {
            name: one
            for name, one in found.items()
            if isinstance(one, FloatDistribution) and one.step is None and not one.single()
        }

    def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> dict[str, Any]:
        """Return the next point; nothing where values of others have to be awaited."""
        if not search_space:
            return {}
        with self._lock:
            if self._optimizer is None or list(search_space) != self._names:
                self._begin(study, search_space)
            assert self._optimizer is not None
            if self._optimizer.stop():
                return {}
            running = {point.tobytes() for point in self._asked.values()}
            free = [point for point in self._optimizer.ask() if point.tobytes() not in running]
            if not free:
                return {}
            self._asked[trial.number] = free[0]
            return {
                name: _outside(number, search_space[name])
                for name, number in zip(self._names, free[0], strict=True)
            }

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
        """Return a random value."""
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Any, trial: Any) -> None:
        """Do nothing."""

    def after_trial(self, study: Any, trial: Any, state: Any, values: Any) -> None:
        """Take the value of a trial; one that failed or was pruned counts as NaN."""
        with self._lock:
            if self._optimizer is None:
                return
            value = _sign(study) * float(values[0]) if state == TrialState.COMPLETE else math.nan
            point = self._asked.pop(trial.number, None)
            if point is not None:
                self._optimizer.tell([point], [value])
            elif value < self._optimizer.result.fun and set(self._names) <= trial.params.keys():
                known = _inside(trial.params, {name: trial.distributions[name] for name in self._names})
                with contextlib.suppress(ValueError):  # it may be one of those that were asked for
                    self._optimizer.tell([known], [value])

    def reseed_rng(self) -> None:
        """Draw other random values from now on."""
        self._random.reseed_rng()

    def _begin(self, study: Any, space: dict[str, Any]) -> None:
        """Begin at the best trial so far."""
        done = [trial for trial in study.get_trials(deepcopy=False) if trial.state == TrialState.COMPLETE]
        best = min(done, key=lambda trial: _sign(study) * trial.value)
        self._names, self._asked = list(space), {}
        start = _inside(best.params, space)
        self._optimizer = Optimizer(start, bounds=[(0.0, 1.0)] * len(space), **self._settings)
        # Its value is known already.
        self._optimizer.tell(self._optimizer.ask(), [_sign(study) * best.value])


def _sign(study: Any) -> float:
    return -1.0 if study.direction == StudyDirection.MAXIMIZE else 1.0


def _inside(params: dict[str, Any], space: dict[str, Any]) -> Any:
    """Return parameters as parts of their ranges."""
    numbers = []
    for name, one in space.items():
        low, high, value = (math.log(x) if one.log else x for x in (one.low, one.high, params[name]))
        numbers.append((value - low) / (high - low))
    return np.clip(numbers, 0.0, 1.0)


def _outside(number: float, one: Any) -> float:
    """Return a part of a range as a parameter."""
    low, high = (math.log(x) if one.log else x for x in (one.low, one.high))
    value = low + float(number) * (high - low)
    return float(np.clip(math.exp(value) if one.log else value, one.low, one.high))
