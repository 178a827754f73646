"""`auto` and `auto-values` as their modules' docstrings say, in plain NumPy.

Every function returns the list of (f(y), the best value so far, the step size) after each iteration, which is
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


def auto(f, x, sigma, normals, c=2.5, zeta=1.0, p=0.5):
    n, best, course = len(x), f(x), []
    rows = iter(normals)
    at = Carried(x, c, zeta)
    m = 1.0
    try:
        while True:
            here, s, successes = f(at.y), np.zeros(n), 0
            for _ in range(int(m)):
                u = next(rows)
                signs = [sign for sign in (1, -1) if f(at.y + sign * sigma * u) <= here]
                best = min([best, here, *(f(at.y + sign * sigma * u) for sign in signs[:1])])
                if signs:
                    s = s + signs[0] * sigma * u
                    successes += 1
                    sigma *= np.exp(1 / 3)
                else:
                    sigma *= np.exp(-p / (3 * (1 - p)))
                course.append((here, best, sigma))
            trials = int(m)
            if successes > 1:
                next(rows)
                signs = [sign for sign in (1, -1) if f(at.y + sign * s) <= here]
                best = min([best, *(f(at.y + sign * s) for sign in signs[:1])])
                s = signs[0] * s if signs else 0 * s
                course.append((here, best, sigma))
                m = min(max(1.0, np.sqrt(n)), 1.05 * m) if signs else max(1.0, m / 2)
            else:
                m = min(max(1.0, np.sqrt(n)), 1.05 * m)
            at.move(s, trials, here)
    except StopIteration:
        return course


def auto_values(f, x, sigma, normals, c=1.3, zeta=1.0, learning=50.0):
    n, best, course = len(x), f(x), []
    rows = iter(normals)
    at = Carried(x, c, zeta)
    m, h, curvature, stretch = max(1, round(np.sqrt(n))), 1e-3 * sigma, 0.0, None
    p, w, way, due = None, 0.0, np.zeros(n), learning * n
    try:
        while True:
            here, s, slope = f(at.y), np.zeros(n), 0.0
            if w > 0:
                reach, pair = h * np.sqrt(w), []
                for sign in (1, -1):
                    next(rows)
                    pair.append(f(at.y + sign * reach * p))
                    best = min(best, here, pair[-1])
                    course.append((here, best, h))
                d = (pair[0] - pair[1]) / (2 * reach)
                bend = (pair[0] - 2 * here + pair[1]) / reach**2
                w = min(curvature / bend, 16 * w) if bend > 0 else w
                s, slope = -w * d * p, w * d * d
            for _ in range(m):
                u = next(rows)
                u = u * np.sqrt(n / (u @ u))
                there = f(at.y + h * u)
                best = min(best, here, there)
                d = (there - here) / h - h * curvature / 2
                s, slope = s - d * u, slope + d * d
                course.append((here, best, h))
            if slope == 0:
                h *= 4
                continue
            stretch = h / np.sqrt(slope / m) if stretch is None else stretch
            next(rows)
            there = f(at.y + stretch * s)
            best = min(best, there)
            if there == here:
                h, stretch, length = 4 * h, 4 * stretch, 0.0
            else:
                bend = 2 * (there - here + stretch * slope) / stretch**2
                length = min(slope / bend, 4 * stretch) if bend > 0 else 4 * stretch
                if bend > 0:
                    curvature = 0.8 * curvature + 0.2 * bend / slope if curvature else bend / slope
                stretch = np.sqrt(stretch * length)
                h = h / 2 + 0.3 / 2 * length * np.sqrt(slope / m)
            course.append((here, best, h))
            before = at.y
            at.move(length * s, m, here)
            way = (1 - m / (5 * n)) * way + at.y - before
            due -= m
            if due <= 0:
                due += learning * n
                p, w = way * np.sqrt(n / (way @ way)), 1.0
    except StopIteration:
        return course
