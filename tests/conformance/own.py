"""A user's own schemes and a user's own problem, written against the contracts as a user would."""

from typing import NamedTuple

import numpy as np

from pursuit.methods import Points, ask, tell
from pursuit.problems import evaluate, value


class Narrowing(NamedTuple):
    """A (1+lambda) search with a step size that halves when nothing better was drawn."""

    offspring: int

    @classmethod
    def create(cls, n, *, offspring=4):
        return cls(offspring)

    def init(self, x, fx, sigma):
        return State(x, fx, fx, sigma, np.empty((self.offspring, x.size)), np.empty((self.offspring, x.size)))

    def points(self):
        return self.offspring

    def draws(self, n):
        return self.offspring * n

    def patience(self, n):
        return 10_000


class State(NamedTuple):
    x: np.ndarray
    fx: float
    f: float
    sigma: float
    steps: np.ndarray
    trials: np.ndarray


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
    if values[best] > state.fx:
        return State(state.x, state.fx, state.fx, 0.7 * state.sigma, state.steps, state.trials)
    for i in range(state.x.shape[0]):
        state.x[i] += state.steps[best, i]
    return State(state.x, values[best], values[best], 1.5 * state.sigma, state.steps, state.trials)


class Bowl(NamedTuple):
    """The function sum_i |x_i - i|^3, which has no exact line minimiser here."""

    n: int

    @property
    def x0(self):
        return np.zeros(self.n)

    @property
    def minimizer(self):
        return np.arange(self.n, dtype=float)

    @property
    def m(self):
        return 1.0

    @property
    def L(self):
        return 100.0

    def __call__(self, x):
        return evaluate(self, x)


@value.register(Bowl)
def _value(team, bowl, x):
    total = 0.0
    for i in range(bowl.n):
        total += abs(x[i] - i) ** 3
    return total
