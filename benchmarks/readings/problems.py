"""Spectra that played no part in choosing a setting, for `path-test.toml`.

There is no rotated problem among them: normals have no preferred axes, so a rotation, which turns the start
as well, changes the distribution of no scheme's runs.
"""

from __future__ import annotations

import numpy as np

from pursuit.problems.paper import Quadratic


def stiff(n: int, L: float) -> Quadratic:
    """Return the quadratic with three stiff directions among n."""
    spectrum = np.ones(n)
    spectrum[-3:] = L
    return Quadratic(spectrum)


def soft(n: int, L: float) -> Quadratic:
    """Return the quadratic with three soft directions among n."""
    spectrum = np.full(n, L)
    spectrum[:3] = 1.0
    return Quadratic(spectrum)


def scattered(n: int, L: float) -> Quadratic:
    """Return a quadratic whose logarithmic curvatures are drawn evenly from [0, log L]."""
    exponents = np.sort(np.random.default_rng(n).uniform(size=n))
    exponents[0], exponents[-1] = 0.0, 1.0
    return Quadratic(L**exponents)
