"""Accelerated schemes of others, from their published pseudo-code, with all of x, y and v.

Every function returns a list of iterations, each (the value told, the best point of the iteration, sigma).
`normals` has one row per iteration.
"""

from statistics import NormalDist

import numpy as np


def arp(f, x, normals, m, L):
    """Follow Stich, Mueller and Gaertner 2013, ARP from gamma_0 = m, or L for m = 0."""
    n = len(x)
    theta = 1 / (L * n**2)
    v, gamma = x, m if m > 0 else L
    course = []
    for row in normals:
        beta = max(np.roots([1 / theta, gamma - m, -gamma]))
        new_gamma = (1 - beta) * gamma + beta * m
        lam = beta / new_gamma * m
        delta = beta * gamma / (gamma + beta * m)
        y = (1 - delta) * x + delta * v
        u = row / np.linalg.norm(row)
        step = f.exact_step(y, u)
        x = y + step * u
        v = (1 - lam) * v + lam * y + step / (beta * n) * u
        gamma = new_gamma
        course.append((f(x), x, abs(step) / np.linalg.norm(row)))
    return course


def acdm(f, x, sigma0, normals, m, L, mu=None):
    """Follow Nesterov 2012, the method ACDM, with an exact step or with a difference over mu for T_i.

    The step along coordinate i is -(1/L_i) f'_i(y); a_k and b_k are as printed.
    """
    n = len(x)
    sigma, mean = m / L, sigma0
    v, a, b = x, 1 / n, 2
    course = []
    for (z,) in normals:
        gamma = max(np.roots([1, -1 / n + sigma / n * a**2 / b**2, -(a**2) / b**2]))
        alpha = (n - gamma * sigma) / (gamma * (n**2 - sigma))
        beta = 1 - gamma * sigma / n
        y = alpha * v + (1 - alpha) * x
        e = np.eye(n)[int(n * NormalDist().cdf(z))]
        step = f.exact_step(y, e) if mu is None else -(f(y + mu * e) - f(y - mu * e)) / (2 * mu) / L
        x = y + step * e
        v = beta * v + (1 - beta) * y + gamma * step * e
        b = b / np.sqrt(beta)
        a = gamma * b
        mean += 0.1 * (abs(step) - mean)
        told = x if mu is None else min([y + mu * e, y - mu * e], key=f)
        course.append((f(told), told, mean))
    return course
