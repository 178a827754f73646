"""Table 1 of the paper, misprints mended, with matrices and polynomials written out."""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial


@dataclass
class Quadratic:
    A: np.ndarray

    def __call__(self, x):
        return 0.5 * x @ self.A @ x

    def exact_step(self, x, u):
        return -(x @ self.A @ u) / (u @ self.A @ u)


class Rosenbrock:
    def __call__(self, x):
        return sum(100 * (x[i] ** 2 - x[i + 1]) ** 2 + (x[i] - 1) ** 2 for i in range(len(x) - 1))

    def exact_step(self, x, u):
        along = [Polynomial([a, b]) for a, b in zip(x, u, strict=True)]
        value = self(along)
        roots = value.deriv().roots()
        real = roots[abs(roots.imag) < 1e-8 * (1 + abs(roots))].real
        lowest = min(real, key=value)
        for _ in range(5):  # companion-matrix roots are good to a few digits only where they nearly coincide
            lowest -= value.deriv()(lowest) / value.deriv(2)(lowest)
        return lowest


def make(name, n, L):
    """Return the problem and its start."""
    i = np.arange(1, n + 1)
    if name == "exp":
        return Quadratic(np.diag(float(L) ** ((i - 1) / (n - 1)))), np.ones(n)
    if name == "lin":
        return Quadratic(np.diag(1 + (i - 1) * (L - 1) / (n - 1))), np.ones(n)
    if name == "two":
        return Quadratic(np.diag(np.where(i <= n // 2, 1.0, L))), np.ones(n)
    return Rosenbrock(), np.zeros(n)
