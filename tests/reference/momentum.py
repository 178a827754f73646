"""`momentum` as its modules' docstrings say, in plain NumPy.

It returns the list of (f(y), the best value so far, the step size) after each of its queries.
"""

import numpy as np

MASK = 2**64 - 1


def mixed(word):
    """SplitMix64's function of a word, in Python's integers."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def directions(key, number, m, n):
    """Return z_1 ... z_m, one a row."""
    gamma = 0x9E3779B97F4A7C15
    of_round = mixed((mixed(int(abs(key) * 2.0**50)) + number * gamma) & MASK)
    z = np.empty((m, n))
    for i in range(m):
        start = mixed((of_round + i * gamma) & MASK)
        for j in range(n):
            word = mixed((start + j * gamma) & MASK)
            z[i, j] = sum((word >> shift) & 0xFFFF for shift in (0, 16, 32, 48))
    return (z - 2.0 * 65535.0) / np.sqrt((2.0**32 - 1.0) / 3.0)


class Scales:
    """D, and the evidence that it should change."""

    def __init__(self, n):
        self.D, self.G, self.N, self.trust = np.ones(n), np.zeros(n), 0.0, 0.0

    def learn(self, r, z):
        m, n = z.shape
        g = r @ (z**2 - 1.0)
        kept = 1.0 - min(1.0, m / (20 * n))
        self.G, self.N = kept * self.G + g, kept**2 * self.N + 2.0 * (r @ r)
        square = np.sum((self.G - self.G.mean()) ** 2)
        self.trust = max(0.0, 1.0 - n * self.N / square) if square > 0.0 else 0.0
        change = np.clip(-0.1 * self.trust * g, -1.0, 1.0)
        self.D = self.D * np.exp(change - change.mean())


class Carried:
    """y and v, moved along, and the two tests that end momentum."""

    def __init__(self, x, c, zeta):
        self.y, self.v, self.n = x.copy(), x.copy(), len(x)
        self.c, self.zeta, self.t = c, zeta, 0.0
        self.past, self.round, self.next_look = [], [], 0.0
        self.e = self.since = 0.0

    def opposed(self, s, m, sigma, scales):
        span = max(self.n, 0.3 * self.t)
        a = min(1.0, m / span)
        s, way = s / scales.D, (self.v - self.y) / scales.D
        if s.any() and way @ way > self.n * (1e-6 * sigma) ** 2:
            cosine = s @ way / (np.linalg.norm(s) * np.linalg.norm(way))
            self.e = (1 - a) * self.e + a * np.sqrt(self.n) * cosine
        wait = span if scales.trust >= 0.1 else max(span, self.t - 5 * self.n)
        is_opposed = self.since > wait and self.e < -2.0 * np.sqrt(a / (2.0 - a))
        self.since += m
        return is_opposed

    def move(self, s, steps, value):
        root = max(1.0, self.zeta * self.t / self.n)
        theta, gamma = steps / (self.n * np.sqrt(self.c) * root), root / np.sqrt(self.c)
        self.y = (theta * self.v + self.y + s) / (1 + theta)
        self.v = (1 - theta) * self.v + theta * self.y + gamma * s
        self.t += steps
        self.next_look -= steps
        if self.next_look <= 0:
            self.next_look += max(1.0, 2 * self.n / 16)
            self.round.append(value)
        if len(self.round) == 16:
            higher = sum(new > old for new, old in zip(self.round, self.past, strict=False))
            self.past, self.round = self.round, []
            if higher > 8:
                self.begin_anew()

    def begin_anew(self):
        self.v, self.t, self.past, self.round = self.y.copy(), self.t / 2, [], []
        self.e = self.since = 0.0


class Flat:
    """A direction that y keeps going in."""

    def __init__(self, n, learning):
        self.p, self.size, self.way = None, 0.0, np.zeros(n)
        self.n, self.due, self.every = n, learning * n, learning * n

    def learn(self, move, steps, size):
        self.way = (1 - steps / (5 * self.n)) * self.way + move
        self.due -= steps
        if self.due <= 0:
            self.due += self.every
            if self.way.any():
                self.p, self.size = self.way * np.sqrt(self.n / (self.way @ self.way)), size


def ranks_of(values):
    """Return ranks in [-1, 1], ties averaged."""
    below = (values[:, None] > values).sum(axis=1)
    above = (values[:, None] < values).sum(axis=1)
    return (below - above) / (len(values) - 1)


def momentum(f, x, sigma, key, queries, m, first, c=2.0, zeta=1.0, learning=50.0):
    """Minimise a function without noise that is finite everywhere, from its start x."""
    n, best, best_sigma, course = len(x), f(x), sigma, []
    at, flat, scales, eta, number = Carried(x, c, zeta), Flat(n, learning), Scales(n), 1.0, 0
    best_x = x.copy()

    def evaluated(point):
        nonlocal best, best_x, best_sigma
        value = f(point)
        if value < best:
            best, best_x, best_sigma = value, point, sigma
        return value

    while len(course) < queries:
        pairs_now = min(m, first * 2**number)
        z = directions(key, number, pairs_now, n)
        number += 1
        fy = evaluated(at.y)
        pairs = np.array([[evaluated(at.y + side * sigma * scales.D * u) for side in (1, -1)] for u in z])
        q = ranks_of(pairs.ravel()).reshape(pairs_now, 2)
        s = eta * sigma * scales.D * (0.5 * (q[:, 1] - q[:, 0]) @ z)
        scales.learn(q.mean(axis=1), z)
        flat_step = 0.0 * s
        if flat.size > 0.0:
            sides = [evaluated(at.y + side * flat.size * flat.p) <= fy for side in (1, -1)]
            flat_step = (1 if sides[0] else -1) * any(sides) * flat.size * flat.p
            s = s + flat_step
            flat.size = min(flat.size * np.exp(1 / 3 if any(sides) else -1 / 3), 1e5 * sigma)
        course.append((fy, best, sigma))
        steps, is_better = eta * pairs_now, evaluated(at.y + s) <= fy
        if not is_better:
            course.append((fy, best, sigma))
            evaluated(at.y)
            s = flat_step = 0.0 * s
        eta = min(1.0, 1.1 * eta) if is_better else max(1.0 / pairs_now, 0.8 * eta)
        change = np.mean(pairs.min(axis=1) <= fy) - 0.5 * eta
        sigma *= np.exp(change if pairs_now == m else min(change, 0.0))
        is_opposed, before = at.opposed(s - flat_step, pairs_now, sigma, scales), at.y
        at.move(s, steps, fy)
        flat.learn(at.y - before, steps, sigma)
        if is_opposed:
            at.begin_anew()
        if sigma > 10.0 * best_sigma:
            sigma = best_sigma
            at.y = best_x.copy()
            flat.way[:] = 0.0
            at.begin_anew()
        course.append((fy, best, sigma))
    return course[:queries]
