"""`adaptive-sarp` as its module's docstring says, in plain NumPy.

It returns the list of (f(y), the best value so far, the step size) after each iteration, which is
a line looked along: one row of `normals`.
"""

import numpy as np


class Carried:
    """y and v, moved along, and the test that ends momentum."""

    def __init__(self, x, c, zeta):
        self.y, self.v, self.n = x.copy(), x.copy(), len(x)
        self.c, self.zeta, self.t = c, zeta, 0.0
        self.past, self.round, self.next_look = [], [], 0.0

    def move(self, s, m, value):
        root = max(1.0, self.zeta * self.t / self.n)
        theta, gamma = m / (self.n * np.sqrt(self.c) * root), root / np.sqrt(self.c)
        self.y = (theta * self.v + self.y + s) / (1 + theta)
        self.v = (1 - theta) * self.v + theta * self.y + gamma * s
        self.t += m
        self.next_look -= m
        if self.next_look <= 0:
            self.next_look += max(1.0, 2 * self.n / 16)
            self.round.append(value)
        if len(self.round) == 16:
            higher = sum(new > old for new, old in zip(self.round, self.past, strict=False))
            self.past, self.round = self.round, []
            if higher > 8:
                self.v, self.t, self.past = self.y.copy(), self.t / 2, []


class Flat:
    """A direction that y keeps going in."""

    def __init__(self, n, learning):
        self.p, self.size, self.way = None, 0.0, np.zeros(n)
        self.n, self.due, self.every = n, learning * n, learning * n

    def learn(self, move, m, size):
        self.way = (1 - m / (5 * self.n)) * self.way + move
        self.due -= m
        if self.due <= 0:
            self.due += self.every
            if self.way.any():
                self.p, self.size = self.way * np.sqrt(self.n / (self.way @ self.way)), size


def adaptive_sarp(f, x, sigma, normals, c=2.5, zeta=1.0, p=0.5, learning=50.0):
    n, best, course = len(x), f(x), []
    rows = iter(normals)
    at, flat = Carried(x, c, zeta), Flat(n, learning)
    m = 1.0

    def tried(u, length):
        """Return the step that succeeds, if any, and the next step size."""
        nonlocal best
        for sign in (1, -1):
            value = f(at.y + sign * length * u)
            if value <= here:
                best = min(best, here, value)
                return sign * length * u, length * np.exp(1 / 3)
        best = min(best, here)
        return None, length * np.exp(-p / (3 * (1 - p)))

    try:
        while True:
            here, steps = f(at.y), []
            if flat.p is not None:
                next(rows)
                step, flat.size = tried(flat.p, flat.size)
                flat.size = min(flat.size, 1e5 * sigma)
                steps.append(step)
                course.append((here, best, sigma))
            for _ in range(int(m)):
                step, sigma = tried(next(rows), sigma)
                steps.append(step)
                course.append((here, best, sigma))
            trials = int(m)
            steps = [step for step in steps if step is not None]
            s = sum(steps, np.zeros(n))
            succeeded = True
            if len(steps) > 1:
                next(rows)
                s, _ = tried(s, 1.0)
                succeeded = s is not None
                s = s if succeeded else np.zeros(n)
                course.append((here, best, sigma))
            m = min(max(1.0, np.sqrt(n)), 1.05 * m) if succeeded else max(1.0, m / 2)
            before = at.y
            at.move(s, trials, here)
            flat.learn(at.y - before, trials, sigma)
    except StopIteration:
        return course
