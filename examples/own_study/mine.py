"""A scheme and a problem for the study in mine.toml."""

from typing import NamedTuple

import numpy as np

import pursuit
from pursuit.methods import Points, ask, tell


class Bowl(NamedTuple):
    """The sum of the squares of x - 1. SARP takes the condition number from m and L."""

    n: int
    m = L = 2.0

    @property
    def x0(self):
        return np.zeros(self.n)

    @property
    def minimizer(self):
        return np.ones(self.n)

    def __call__(self, x):
        return pursuit.problems.evaluate(self, x)


@pursuit.problems.value.register(Bowl)
def _value(team, problem, x):
    return np.sum((x - 1.0) ** 2)


def bowl(n):
    return Bowl(n)


class State(NamedTuple):
    x: np.ndarray
    fx: float
    f: float
    sigma: float
    steps: np.ndarray
    trials: np.ndarray


class Narrowing(NamedTuple):
    """Tries several points around the best one, ever closer until one of them is better."""

    offspring: int

    @classmethod
    def create(cls, n, *, offspring=5):
        return cls(offspring)

    def init(self, x, fx, sigma):
        shape = (self.offspring, x.size)
        return State(x=x, fx=fx, f=fx, sigma=sigma, steps=np.empty(shape), trials=np.empty(shape))

    def points(self):
        return self.offspring

    def draws(self, n):
        return self.offspring * n


@ask.register(Narrowing)
def _ask(team, scheme, state, normals):
    n = state.x.shape[0]
    for j in range(scheme.offspring):
        for i in range(n):
            state.steps[j, i] = state.sigma * normals[j * n + i]
            state.trials[j, i] = state.x[i] + state.steps[j, i]
    return Points(state.trials)


@tell.register(Narrowing)
def _tell(team, scheme, state, query, values):
    best = np.argmin(values)
    fx, sigma = state.fx, 0.9 * state.sigma
    if values[best] < fx:
        fx, sigma = values[best], 1.5 * state.sigma
        for i in range(state.x.shape[0]):
            state.x[i] += state.steps[best, i]
    return State(x=state.x, fx=fx, f=fx, sigma=sigma, steps=state.steps, trials=state.trials)
