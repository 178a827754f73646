"""MA-ES: Beyer and Sendhoff, Simplify your covariance matrix adaptation evolution strategy (2017)."""

import math

import numpy as np


def ma_es(f, y, sigma, target, most, rng):
    """Return the evaluations until a value at or below the target was found; infinite if it was not."""
    n = y.size
    lam = 4 + math.floor(3 * math.log(n))
    mu = lam // 2
    w = np.log((lam + 1) / 2) - np.log(np.arange(1, mu + 1))
    w = w / w.sum()
    mu_eff = 1 / np.sum(w**2)
    c_s = (mu_eff + 2) / (n + mu_eff + 5)
    c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)
    c_w = min(1 - c_1, 2 * (mu_eff + 1 / mu_eff - 2) / ((n + 2) ** 2 + mu_eff))
    d_s = 1 + c_s + 2 * max(0, math.sqrt((mu_eff - 1) / (n + 1)) - 1)
    chi = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))
    M, s = np.eye(n), np.zeros(n)
    nfev = 0
    while nfev < most:
        offspring = []
        for _ in range(lam):
            z = rng.standard_normal(n)
            d = M @ z
            value = f(y + sigma * d)
            nfev += 1
            if value <= target:
                return nfev
            offspring.append((value, z, d))
        offspring.sort(key=lambda one: one[0])
        best = offspring[:mu]
        mean_z = sum(w[m] * best[m][1] for m in range(mu))
        mean_d = sum(w[m] * best[m][2] for m in range(mu))
        mean_zz = sum(w[m] * np.outer(best[m][1], best[m][1]) for m in range(mu))
        y = y + sigma * mean_d
        s = (1 - c_s) * s + math.sqrt(mu_eff * c_s * (2 - c_s)) * mean_z
        identity = np.eye(n)
        M = M @ (identity + c_1 / 2 * (np.outer(s, s) - identity) + c_w / 2 * (mean_zz - identity))
        sigma = sigma * math.exp(c_s / d_s * (np.linalg.norm(s) / chi - 1))
    return math.inf
