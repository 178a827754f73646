"""The methods of others, from their published pseudo-code. Every function returns a list of rounds.

A round is (the value of the iterate, or the lowest one; the best point; sigma after it). `normals` has one
row per round. Formulas are written as they are printed, with matrices in full where the source has them.
"""

import numpy as np


def sep_cma(f, m, sigma, normals, lam):
    """Follow Ros and Hansen 2008, with the diagonal of C as a matrix."""
    n = len(m)
    mu = lam // 2
    w = np.log(mu + 1) - np.log(np.arange(1, mu + 1))
    w = w / w.sum()
    mu_eff = 1 / (w**2).sum()
    c_sigma = (mu_eff + 2) / (n + mu_eff + 3)
    d_sigma = 1 + 2 * max(0, np.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma
    c_c = 4 / (n + 4)
    c_cov = 1 / mu_eff * 2 / (n + np.sqrt(2)) ** 2
    c_cov += (1 - 1 / mu_eff) * min(1, (2 * mu_eff - 1) / ((n + 2) ** 2 + mu_eff))
    c_cov *= (n + 2) / 3
    chi = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))
    p_sigma, p_c, C = np.zeros(n), np.zeros(n), np.eye(n)
    course = []
    for g, row in enumerate(normals):
        D = np.sqrt(C)
        z = row.reshape(lam, n)
        x = m + sigma * z @ D
        values = np.array([f(point) for point in x])
        best = np.argsort(values, kind="stable")[:mu]
        z_w = w @ z[best]
        m = w @ x[best]
        p_sigma = (1 - c_sigma) * p_sigma + np.sqrt(c_sigma * (2 - c_sigma) * mu_eff) * z_w
        norm = np.linalg.norm(p_sigma)
        h = norm / np.sqrt(1 - (1 - c_sigma) ** (2 * (g + 1))) < (1.4 + 2 / (n + 1)) * chi
        p_c = (1 - c_c) * p_c + h * np.sqrt(c_c * (2 - c_c) * mu_eff) * D @ z_w
        rank_mu = sum(w[i] * np.outer(D @ z[best[i]], D @ z[best[i]]) for i in range(mu))
        C = (1 - c_cov) * C + c_cov / mu_eff * np.outer(p_c, p_c) + c_cov * (1 - 1 / mu_eff) * rank_mu
        C = np.diag(np.diag(C))
        sigma = sigma * np.exp(c_sigma / d_sigma * (norm / chi - 1))
        course.append((values.min(), x[values.argmin()], sigma))
    return course


def cr_fm_nes(f, m, sigma, normals, lam):
    """Follow Nomura and Ono 2022, Algorithm 1, point by point; c_1 is not negative."""
    d = len(m)
    ranks = np.arange(1, lam + 1)
    w_hat = np.maximum(0, np.log(lam / 2 + 1) - np.log(ranks))
    w_rank = w_hat / w_hat.sum() - 1 / lam
    mu_w = 1 / ((w_rank + 1 / lam) ** 2).sum()
    c_sigma = (mu_w + 2) / (d + mu_w + 5)
    c_c = (4 + mu_w / d) / (d + 4 + 2 * mu_w / d)
    chi = np.sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d**2))
    low, high = 0.0, 10.0
    for _ in range(200):
        h_inv = (low + high) / 2
        too_high = (1 + h_inv**2) * np.exp(h_inv**2 / 2) / 0.24 - 10 - d > 0
        low, high = (low, h_inv) if too_high else (h_inv, high)
    D, v = np.ones(d), normals[0, :d] / np.sqrt(d)
    p_sigma, p_c = np.zeros(d), np.zeros(d)
    course = []
    for row in normals:
        half = row[d:].reshape(lam // 2, d)
        z = np.array([sign * direction for direction in half for sign in (1, -1)])
        norm_v = np.linalg.norm(v)
        v_bar = v / norm_v
        y = z + (np.sqrt(1 + norm_v**2) - 1) * np.outer(z @ v_bar, v_bar)
        x = m + sigma * D * y
        values = np.array([f(point) for point in x])
        best = x[values.argmin()]
        lam_f = np.isfinite(values).sum()
        order = np.lexsort((np.linalg.norm(z, axis=1), values))
        order[:lam_f] = np.argsort(values, kind="stable")[:lam_f]
        x, y, z = x[order], y[order], z[order]
        p_sigma = (1 - c_sigma) * p_sigma + np.sqrt(c_sigma * (2 - c_sigma) * mu_w) * w_rank @ z
        norm_p = np.linalg.norm(p_sigma)
        alpha = h_inv * min(1, np.sqrt(lam / d)) * np.sqrt(lam_f / lam)
        w_dist = w_hat * np.exp(alpha * np.linalg.norm(z, axis=1))
        w_dist = w_dist / w_dist.sum() - 1 / lam
        w = w_dist if norm_p >= chi else w_rank
        if norm_p >= chi:
            eta_sigma = 1
        elif norm_p >= 0.1 * chi:
            eta_sigma = np.tanh((0.024 * lam_f + 0.7 * d + 20) / (d + 12))
        else:
            eta_sigma = 2 * np.tanh((0.025 * lam_f + 0.75 * d + 10) / (d + 4))
        eta_B = np.tanh((min(0.02 * lam_f, 3 * np.log(d)) + 5) / (0.23 * d + 25))
        l_c = 1 if norm_p >= chi else 0
        c_1 = max(0, (d - 5) / 6) * 2 / ((d + 1.3) ** 2 + mu_w) * lam_f / lam
        step = w @ (x - m)
        p_c = (1 - c_c) * p_c + np.sqrt(c_c * (2 - c_c) * mu_w) * step / sigma
        m = m + step
        gradients = [vd_gradient(point, v) for point in [*y, p_c / D]]
        rates = [*(eta_B * w), l_c * c_1]
        old_root = root_of_determinant(D, v)
        v = v + sum(rate * t for rate, (_, t) in zip(rates, gradients, strict=True)) / norm_v
        D = D + sum(rate * s for rate, (s, _) in zip(rates, gradients, strict=True)) * D
        G = (w @ (z**2 - 1)).sum() / d
        l_s = 1 if norm_p >= chi and G < 0 else 0
        sigma = sigma * np.exp((1 - l_s) * eta_sigma / 2 * G) * old_root
        D = D / root_of_determinant(D, v)
        course.append((values.min(), best, sigma))
    return course


def vd_gradient(y, v):
    """Return s and t of Akimoto, Auger and Hansen 2014 for one point."""
    square = v @ v
    v_bar = v / np.sqrt(square)
    g = 1 + square
    vv = v_bar**2
    alpha = min(1, np.sqrt(square**2 + (2 * g - np.sqrt(g)) / vv.max()) / (2 + square))
    b = -(1 - alpha**2) * square**2 / g + 2 * alpha**2
    H = np.diag(2 - (b + 2 * alpha**2) * vv)
    product = y @ v_bar
    t = y * product - v_bar * (product**2 + g) / 2
    s = y**2 - square / g * (y * v_bar * product) - 1
    s = s - alpha / g * ((2 + square) * v_bar * t - square * (v_bar @ t) * vv)
    s = np.linalg.solve(H + b * np.outer(vv, vv), s)
    t = t - alpha * ((2 + square) * v_bar * s - (s @ vv) * v_bar)
    return s, t


def root_of_determinant(D, v):
    """Return the n-th root of the determinant of D sqrt(I + v v^T)."""
    return np.linalg.det(np.diag(D) @ (np.eye(len(v)) + np.outer(v, v)) @ np.diag(D)) ** (0.5 / len(v))


def r1_nes(f, mu, sigma, normals, p, eta=0.1):
    """Follow Sun et al. 2013, Algorithm 1, with their equations (5) to (8) for one point at a time."""
    d = len(mu)
    lam = np.log(sigma)
    u = normals[0, :d] / np.linalg.norm(normals[0, :d])
    utilities = np.maximum(0, np.log(p / 2 + 1) - np.log(np.arange(1, p + 1)))
    utilities /= utilities.sum()
    course = []
    for row in normals:
        b, z = row[d : d + p], row[d + p :].reshape(p, d)
        w = z + np.outer(b, u)
        x = mu + np.exp(lam) * w
        values = np.array([f(point) for point in x])
        best = x[values.argmin()]
        w = w[np.argsort(values, kind="stable")]
        r = np.linalg.norm(u)
        v, c = u / r, np.log(r)
        grad_lam, grad_u = 0.0, np.zeros(d)
        for q, one in zip(utilities, w, strict=True):
            grad_lam += q * ((one @ one - d) - ((one @ v) ** 2 - 1)) / (2 * (d - 1))
            bracket = (r**2 - d + 2) * (one @ v) ** 2 - (r**2 + 1) * (one @ one)
            grad_u += q * (bracket / (2 * r * (d - 1)) * v + (one @ v) / r * one)
        grad_c = grad_u @ v / r
        grad_v = grad_u / r - grad_c * v
        mu = mu + np.exp(lam) * utilities @ w
        epsilon = min(eta, 2 * np.sqrt(r**2 / (grad_u @ grad_u)))
        if grad_c > 0:
            u = u + epsilon * grad_u
        else:
            c = c + epsilon * grad_c
            v = v + epsilon * grad_v
            u = np.exp(c) * v / np.linalg.norm(v)
        lam = lam + eta * grad_lam
        course.append((values.min(), best, np.exp(lam)))
    return course


def spsa(f, x, sigma, normals, c, L=None, A=100, alpha=0.602, gamma=0.101, measured=10):
    """Follow Spall 1998, with his guideline for a and no step longer than sigma.

    Without L, the first rows of normals only measure slopes at the start.
    """
    n, mean = len(x), sigma
    course, slopes = [], []
    measured = measured if L is None else 0
    for row in normals[:measured]:
        delta = np.where(row >= 0, 1.0, -1.0)
        pair = [x + c * delta, x - c * delta]
        course.append((*lower(f, pair), mean))
        slopes.append(np.abs((f(pair[0]) - f(pair[1])) / (2 * c * delta)).mean())
    a = (A + 1) ** alpha * (1 / (n * L) if L else sigma / n / np.mean(slopes))
    for k, row in enumerate(normals[measured:]):
        a_k, c_k = a / (k + 1 + A) ** alpha, c / (k + 1) ** gamma
        delta = np.where(row >= 0, 1.0, -1.0)
        pair = [x + c_k * delta, x - c_k * delta]
        g = (f(pair[0]) - f(pair[1])) / (2 * c_k * delta)
        step = np.clip(a_k * g, -sigma, sigma)
        mean += 0.1 * (abs(step[0]) - mean)
        course.append((*lower(f, pair), mean))
        x = x - step
    return course


def rg(f, x, sigma, normals, L, mu):
    """Follow Nesterov and Spokoiny 2017, section 5: the method RG_mu."""
    h = 1 / (4 * (len(x) + 4) * L)
    course = []
    for u in normals:
        slope = (f(x + mu * u) - f(x)) / mu
        sigma += 0.1 * (h * abs(slope) - sigma)
        course.append((f(x), lower(f, [x, x + mu * u])[1], sigma))
        x = x - h * slope * u
    return course


def ars(f, x, sigma, normals, L, tau, mu):
    """Follow Nesterov and Spokoiny 2017, section 6: the method FG_mu, from gamma = tau, or L for tau = 0."""
    n = len(x)
    theta, h = 1 / (16 * (n + 1) ** 2 * L), 1 / (4 * (n + 4) * L)
    v, gamma = x, tau or L
    course = []
    for u in normals:
        alpha = max(np.roots([1 / theta, gamma - tau, -gamma]))
        new_gamma = (1 - alpha) * gamma + alpha * tau
        lam = alpha / new_gamma * tau
        beta = alpha * gamma / (gamma + alpha * tau)
        y = (1 - beta) * x + beta * v
        slope = (f(y + mu * u) - f(y)) / mu
        sigma += 0.1 * (theta / alpha * abs(slope) - sigma)
        course.append((f(y), lower(f, [y, y + mu * u])[1], sigma))
        x = y - h * slope * u
        v = (1 - lam) * v + lam * y - theta / alpha * slope * u
        gamma = new_gamma
    return course


def lower(f, points):
    """Return the lowest value, and its point."""
    best = min(points, key=f)
    return f(best), best
