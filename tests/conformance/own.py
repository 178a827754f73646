"""A user's own schemes and a user's own problem, written against the contracts as a user would."""

from typing import NamedTuple

import numpy as np

from pursuit.methods import Needs, Numbers, Points, State, ask, tell
from pursuit.problems import evaluate, value


class Narrowing(NamedTuple):
    """A (1+lambda) search with a step size that halves when nothing better was drawn."""

    offspring: int

    @classmethod
    def create(cls, n, *, offspring=4):
        return cls(offspring)

    def init(self, x, fx, sigma):
        shape = (self.offspring, x.size)
        return State(Arrays(x, np.empty(shape), np.empty(shape)), Numbers(fx, fx, sigma))

    def needs(self, n):
        return Needs(normals=self.offspring * n, points=self.offspring, patience=10_000)


class Arrays(NamedTuple):
    x: np.ndarray
    steps: np.ndarray
    trials: np.ndarray


@ask.register(Narrowing)
def _ask(team, scheme, arrays, numbers, normals):
    n = arrays.x.shape[0]
    for j in range(scheme.offspring):
        for i in range(n):
            arrays.steps[j, i] = numbers.sigma * normals[j * n + i]
            arrays.trials[j, i] = arrays.x[i] + arrays.steps[j, i]
    return Points(arrays.trials)


@tell.register(Narrowing)
def _tell(team, scheme, arrays, numbers, query, values):
    best = np.argmin(values)
    if values[best] > numbers.fx:
        return Numbers(numbers.fx, numbers.fx, 0.7 * numbers.sigma)
    for i in range(arrays.x.shape[0]):
        arrays.x[i] += arrays.steps[best, i]
    return Numbers(values[best], values[best], 1.5 * numbers.sigma)


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
