"""Random smooth functions in boxes, whose slopes and curvatures are known exactly."""

from typing import Any, NamedTuple

import numpy as np


class RandomProblem(NamedTuple):
    """A sum of a quadratic function, fourth powers, exponentials and logistic losses of z = scales x."""

    scales: Any
    matrix: Any
    linear: Any
    fourth: Any
    rates: Any
    losses: Any
    lower: Any
    upper: Any
    x0: Any
    sigma0: float

    def __call__(self, x):
        """Return f(x), of complex numbers as well."""
        z = self.scales * x
        quadratic = 0.5 * (z @ (self.matrix @ z)) + self.linear @ z
        # log(1 + exp(t)) without a large power of e.
        t = self.losses @ z
        logistic = np.where(t.real > 0.0, t, 0.0) + np.log1p(np.exp(np.where(t.real > 0.0, -t, t)))
        # Far away f is infinite.
        with np.errstate(over="ignore"):
            f = quadratic + self.fourth @ z**4 + np.sum(np.exp(self.rates @ z)) + np.sum(logistic)
        return f if np.iscomplexobj(f) else float(f)

    def _powers_and_shares(self, z):
        with np.errstate(over="ignore"):
            return np.exp(self.rates @ z), 1.0 / (1.0 + np.exp(-self.losses @ z))

    def slopes(self, x):
        """Return the gradient."""
        z = self.scales * x
        powers, shares = self._powers_and_shares(z)
        g = self.matrix @ z + self.linear + 4.0 * self.fourth * z**3
        return self.scales * (g + powers @ self.rates + shares @ self.losses)

    def bends(self, x):
        """Return the second derivatives along the coordinates."""
        z = self.scales * x
        powers, shares = self._powers_and_shares(z)
        d = np.diagonal(self.matrix) + 12.0 * self.fourth * z**2
        d = d + powers @ self.rates**2 + (shares * (1.0 - shares)) @ self.losses**2
        return self.scales**2 * d

    def promise(self, x):
        """Return by how much f could still fall along one of the coordinates, up to a factor of two.

        That is the projected gradient in the units of f: a slope times the way to the minimum of a parabola,
        or to the bound.
        """
        g, d = self.slopes(x), self.bends(x)
        room = np.where(g > 0.0, x - self.lower, self.upper - x)
        way = np.where(d > 0.0, np.abs(g) / np.abs(d), np.inf)
        return float(np.max(np.abs(g) * np.minimum(np.minimum(room, way), 1.0 / self.scales)))


def random_problem(seed):
    """Return a problem in 2 to 12 variables whose scales differ by up to 1e4; it may not be convex."""
    rng = np.random.default_rng([33, seed])
    n = int(rng.integers(2, 13))
    scales = 10.0 ** (rng.uniform(-2.0, 2.0, n) * (rng.random() < 0.5))
    A = rng.standard_normal((n, n))
    # Some of the eigenvalues are negative, in one problem of four; then fourth powers bound f.
    is_convex = rng.random() < 0.75
    weights = np.geomspace(1.0, 10.0 ** rng.uniform(0.0, 3.0), n) * np.where(
        is_convex | (rng.random(n) < 0.7), 1.0, -1.0
    )
    Q = np.linalg.qr(A)[0]
    fourth = rng.exponential(1.0, n) * (rng.random() < 0.5) + (0.0 if is_convex else 0.5)
    lower, upper = -rng.exponential(1.0, n), rng.exponential(1.0, n)
    is_open = rng.random((2, n)) < rng.choice([0.0, 0.3, 0.7])
    lower, upper = np.where(is_open[0], -np.inf, lower), np.where(is_open[1], np.inf, upper)
    x0 = np.clip(rng.uniform(-1.5, 1.5, n), lower, upper)
    return RandomProblem(
        scales=scales,
        matrix=(Q * weights) @ Q.T,
        linear=rng.standard_normal(n) * 10.0 ** rng.uniform(-1.0, 2.0),
        fourth=fourth,
        rates=rng.standard_normal((int(rng.integers(0, 4)), n)),
        losses=3.0 * rng.standard_normal((int(rng.integers(0, 6)), n)),
        lower=lower / scales,
        upper=upper / scales,
        x0=np.clip(x0 / scales, lower / scales, upper / scales),
        sigma0=float(10.0 ** rng.uniform(-1.0, 1.0)),
    )
