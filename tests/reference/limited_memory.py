"""Limited memory CMA-ES of others, from published pseudo-code, as in `rivals.py`; L-CMA from its abstract.

Every function returns a list of rounds: the lowest value, the best point, and sigma after it.
"""

import numpy as np


def weights_of(mu):
    """Return w and mu_eff."""
    w = np.log(mu + 1) - np.log(np.arange(1, mu + 1))
    w = w / w.sum()
    return w, 1 / (w**2).sum()


def signs_of(normal, n):
    """Return n signs: the bits of the numbers of SplitMix64, whose start is a hash of a normal."""

    def hashed(word):
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
        return word ^ (word >> 31)

    start = hashed(int(abs(normal) * 2**50))
    words = [hashed((start + i // 64 * 0x9E3779B97F4A7C15) % 2**64) for i in range(n)]
    return np.array([-1.0 if word >> i % 64 & 1 else 1.0 for i, word in enumerate(words)])


def lm_cma(f, mean, sigma, normals, lam, *, m=None, later=False):
    """Follow Loshchilov 2014, Algorithms 3 to 6, or 2017, Algorithms 3 to 7 with their defaults."""
    n = len(mean)
    pairs = (lam + 1) // 2
    m = m or 4 + int(3 * np.log(n))
    w, mu_w = weights_of(lam // 2)
    n_steps = n if later else m
    T = max(1, int(np.log(n))) if later else 1
    c_c = 0.5 / np.sqrt(n) if later else 1 / m
    z_star = 0.3 if later else 0.25
    c_1, c_sigma, d_sigma = 1 / (10 * np.log(n + 1)), 0.3, 1.0
    a = np.sqrt(1 - c_1)
    p_c, s, stored, before = np.zeros(n), 0.0, [], None
    course = []
    for t, row in enumerate(normals):
        x = []
        for k in range(pairs):
            if later:
                z = signs_of(row[2 * k + 1], n)
                m_star = int(np.ceil((40 if k == 0 else 4) * abs(row[2 * k])))
                used = stored[max(0, len(stored) - m_star) :]
            else:
                z, used = row.reshape(pairs, n)[k], stored
            step = Az(z, used, a)
            x += [mean + sigma * step, mean - sigma * step]
        x = np.array(x[:lam])
        values = np.array([f(point) for point in x])
        order = np.argsort(values, kind="stable")
        new_mean = w @ x[order[: lam // 2]]
        p_c = (1 - c_c) * p_c + np.sqrt(c_c * (2 - c_c) * mu_w) * (new_mean - mean) / sigma
        mean = new_mean
        if t % T == 0:
            if len(stored) == m:
                distances = np.diff([path["t"] for path in stored])
                i_min = 1 + int(np.argmin(distances)) if m > 1 else 0
                if m == 1 or distances[i_min - 1] >= n_steps:
                    i_min = 0
                del stored[i_min]
            stored.append({"p": p_c, "t": t})
            for i in range(len(stored)):
                v = Ainvz(stored[i]["p"], stored[:i], a)
                square = v @ v
                root = np.sqrt(1 + c_1 / (1 - c_1) * square)
                stored[i] |= {"v": v, "b": a / square * (root - 1), "d": (1 - 1 / root) / (a * square)}
        if before is not None:
            ranks = np.argsort(np.argsort(np.concatenate([values, before]), kind="stable"))
            z_psr = (ranks[lam:].sum() - ranks[:lam].sum()) / lam**2 - z_star
            s = (1 - c_sigma) * s + c_sigma * z_psr
            sigma = sigma * np.exp(s / d_sigma)
        before = values
        course.append((values.min(), x[values.argmin()], sigma))
    return course


def Az(z, paths, a):
    """Return A z."""
    x = z
    for path in paths:
        x = a * x + path["b"] * (path["v"] @ z) * path["p"]
    return x


def Ainvz(p, paths, a):
    """Return the inverse of A times p."""
    x = p
    for path in paths:
        x = x / a - path["d"] * (path["v"] @ x) * path["v"]
    return x


def l_cma(f, mean, sigma, normals, lam, *, m=None):
    """Follow the CMA-ES of Hansen 2006 with C in full, of which m eigenvectors are kept after each round."""
    n = len(mean)
    m = min(n, m or 4 + int(3 * np.log(n)))
    mu = lam // 2
    w, mu_eff = weights_of(mu)
    c_sigma = (mu_eff + 2) / (n + mu_eff + 3)
    d_sigma = 1 + 2 * max(0, np.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma
    c_c = 4 / (n + 4)
    c_cov = 1 / mu_eff * 2 / (n + np.sqrt(2)) ** 2
    c_cov += (1 - 1 / mu_eff) * min(1, (2 * mu_eff - 1) / ((n + 2) ** 2 + mu_eff))
    chi = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))
    p_sigma, p_c, C = np.zeros(n), np.zeros(n), np.eye(n)
    course = []
    for g, row in enumerate(normals):
        eigenvalues, B = np.linalg.eigh(C)
        if m < n:
            eigenvalues[: n - m] = eigenvalues[: n - m].mean()
        C = B @ np.diag(eigenvalues) @ B.T
        y = row.reshape(lam, n) @ (B @ np.diag(eigenvalues**0.5) @ B.T)
        x = mean + sigma * y
        values = np.array([f(point) for point in x])
        y = y[np.argsort(values, kind="stable")[:mu]]
        mean = mean + sigma * w @ y
        z_w = B @ np.diag(eigenvalues**-0.5) @ B.T @ (w @ y)
        p_sigma = (1 - c_sigma) * p_sigma + np.sqrt(c_sigma * (2 - c_sigma) * mu_eff) * z_w
        norm = np.linalg.norm(p_sigma)
        h = norm / np.sqrt(1 - (1 - c_sigma) ** (2 * (g + 1))) < (1.4 + 2 / (n + 1)) * chi
        p_c = (1 - c_c) * p_c + h * np.sqrt(c_c * (2 - c_c) * mu_eff) * (w @ y)
        rank_mu = sum(w[i] * np.outer(y[i], y[i]) for i in range(mu))
        C = (1 - c_cov) * C + c_cov / mu_eff * np.outer(p_c, p_c) + c_cov * (1 - 1 / mu_eff) * rank_mu
        sigma = sigma * np.exp(c_sigma / d_sigma * (norm / chi - 1))
        course.append((values.min(), x[values.argmin()], sigma))
    return course
