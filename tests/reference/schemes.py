"""Figs. 1 and 2 of the paper. Every function returns the list of (f(x_k), x_k, sigma_k), k = 1, 2, ...

`normals` has one row per iteration. Where the paper draws from N(0, C), the row is multiplied by a factor
of C, which is formed in full.
"""

import numpy as np


def line_search(f, x, u, sigma, p, exact):
    """Return x_+, sigma_+ and the step taken, as a multiple of u."""
    if exact:
        step = f.exact_step(x, u)
        return x + step * u, abs(step), step
    if f(x + sigma * u) <= f(x):
        return x + sigma * u, sigma * np.exp(1 / 3), sigma
    return x, sigma * np.exp(-p / (3 * (1 - p))), 0.0


def rp(f, x, sigma, normals, *, p=0.27, exact=False):
    course = []
    for u in normals:
        x, sigma, _ = line_search(f, x, u, sigma, p, exact)
        course.append((f(x), x, sigma))
    return course


def sarp(f, x, sigma, normals, *, kappa, c, p=0.27, exact=False):
    n = len(x)
    y, v = x, x
    theta = np.sqrt(1 / (c * n**2 * kappa))
    course = []
    for u in normals:
        x, sigma, step = line_search(f, y, u, sigma, p, exact)
        y = (theta * v + x) / (1 + theta)
        v = (1 - theta) * v + theta * y + theta * n * kappa * step * u
        course.append((f(x), x, sigma))
    return course


def cma(f, x, sigma, normals, *, c_p, p=0.27):
    n = len(x)
    c_c, c_cov = 2 / (n + 2), 2 / (n**2 + 6)
    C, path = np.eye(n), np.zeros(n)
    course = []
    for z in normals:
        u = np.linalg.cholesky(C) @ z
        x_new, sigma_new, _ = line_search(f, x, u, sigma, p, False)
        success = sigma_new > sigma
        if success:
            path = (1 - c_c) * path + np.sqrt(c_c * (2 - c_c)) * u
            C = (1 - c_cov) * C + c_cov * np.outer(path, path)
        else:
            path = (1 - c_p) * path
        x, sigma = x_new, sigma_new
        course.append((f(x), x, sigma))
    return course


def ep_cma(f, x, sigma, normals, *, m, c_p, p=0.27):
    n = len(x)
    c_c = 2 / (n + 2)
    c_cov = 1 / 5 if m == 1 else 2 / (6 + m)
    stored, path, q = [np.zeros(n)] * (m - 1), np.zeros(n), 0
    course = []
    for k, row in enumerate(normals, start=1):
        C, factor = np.eye(n), np.eye(n)
        for old in [*stored, path]:
            C = (1 - c_cov) * C + c_cov * np.outer(old, old)
            factor = np.column_stack([np.sqrt(1 - c_cov) * factor, np.sqrt(c_cov) * old])
        np.testing.assert_allclose(factor @ factor.T, C, rtol=1e-12, atol=1e-12 * np.trace(C))
        u = factor @ row
        x_new, sigma_new, _ = line_search(f, x, u, sigma, p, False)
        success = sigma_new > sigma
        path = (1 - c_c) * path + np.sqrt(c_c * (2 - c_c)) * u if success else (1 - c_p) * path
        if k > q + n**2 / m:
            stored = [*stored, path][1:] if m > 1 else []
            q = k
        x, sigma = x_new, sigma_new
        course.append((f(x), x, sigma))
    return course
