"""Models fitted to data: regressions, sums of curves, small networks, factorisations.

The data are random numbers with a fixed seed, so that a problem is the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.problems.problem import Problem
from pursuit.checks import Vector

FITTING, NONCONVEX = "fitting", "nonconvex"
# Regressions have so many observations for each coefficient.
_OBSERVATIONS = 4
_PENALTY = 1e-3
_NOISE = 0.1
Matrix = np.ndarray[Any, np.dtype[np.float64]]


# --- regressions -----------------------------------------------------------------------------------


def _design(rng: np.random.Generator, n: int, rows: int) -> Matrix:
    """Return features of which neighbours are correlated, with deviations from 1 to 0.1."""
    features = rng.standard_normal((rows, n))
    for j in range(1, n):
        features[:, j] = 0.7 * features[:, j - 1] + 0.7 * features[:, j]
    return features * np.linspace(1.0, 0.1, n)


def _regression(
    name: str, kind: str, n: int, loss: Callable[[Any, Vector], Any], respond: Callable[..., Vector]
) -> Problem:
    """Return the mean loss over the data plus a small multiple of |x|^2, from 0."""
    rng = np.random.default_rng([n, len(name)])
    features = _design(rng, n, _OBSERVATIONS * n)
    response = respond(rng, features @ rng.standard_normal(n))

    def formula(x: Any) -> Any:
        return np.mean(loss(features @ x, response)) + 0.5 * _PENALTY * np.sum(x**2)

    return Problem(name, kind, formula, np.zeros(n))


def softplus(z: Any) -> Any:
    """Return log(1 + exp(z)) without overflow, also where z is complex."""
    positive = np.where(z.real > 0.0, 1.0, 0.0)
    return positive * z + np.log1p(np.exp((1.0 - 2.0 * positive) * z))


def logistic_regression(n: int) -> Problem:
    """Logistic regression: the loss of an outcome y in {-1, 1} is log(1 + exp(-y z))."""

    def respond(rng: np.random.Generator, z: Vector) -> Vector:
        return np.where(rng.random(z.size) < 1.0 / (1.0 + np.exp(-z)), 1.0, -1.0)

    return _regression("logistic regression", FITTING, n, lambda z, y: softplus(-y * z), respond)


def huber_regression(n: int) -> Problem:
    """Robust regression: the loss of a residual r is sqrt(1 + r^2) - 1; a tenth of the data are outliers."""
    return _regression(
        "robust regression", FITTING, n, lambda z, y: np.sqrt(1.0 + (z - y) ** 2) - 1.0, _with_outliers
    )


def student_regression(n: int) -> Problem:
    """Regression by Student's distribution, whose loss log(1 + r^2) is not convex."""
    problem = _regression(
        "Student regression", NONCONVEX, n, lambda z, y: np.log1p((z - y) ** 2), _with_outliers
    )
    return problem._replace(starts=8)


def poisson_regression(n: int) -> Problem:
    """Regression of counts: the loss of a count y is exp(z) - y z."""

    def respond(rng: np.random.Generator, z: Vector) -> Vector:
        return rng.poisson(np.exp(np.clip(z, -3.0, 3.0))).astype(np.float64)

    return _regression("Poisson regression", FITTING, n, lambda z, y: np.exp(z) - y * z, respond)


def least_squares(n: int) -> Problem:
    """Linear least squares."""
    return _regression("least squares", FITTING, n, lambda z, y: (z - y) ** 2, _with_outliers)


def _with_outliers(rng: np.random.Generator, z: Vector) -> Vector:
    errors = _NOISE * rng.standard_normal(z.size)
    return np.asarray(z + np.where(rng.random(z.size) < 0.1, 50.0, 1.0) * errors)


def softmax_regression(classes: int, features: int) -> Problem:
    """Logistic regression with several classes, n = classes times features, from 0."""
    n = classes * features
    rng = np.random.default_rng([n, 7])
    data = _design(rng, features, _OBSERVATIONS * n)
    scores = data @ rng.standard_normal((features, classes)) + rng.gumbel(size=(data.shape[0], classes))
    rows, chosen = np.arange(data.shape[0]), np.argmax(scores, axis=1)

    def formula(x: Any) -> Any:
        z = data @ x.reshape(features, classes)
        z = z - z.real.max(axis=1)[:, None]
        losses = np.log(np.sum(np.exp(z), axis=1)) - z[rows, chosen]
        return np.mean(losses) + 0.5 * _PENALTY * np.sum(x**2)

    return Problem("softmax regression", FITTING, formula, np.zeros(n))


# --- curves ----------------------------------------------------------------------------------------


def decaying_exponentials(terms: int) -> Problem:
    """Sum a_k exp(-b_k t) fitted to 40 values of such a sum; n is twice the number of terms."""
    t = np.linspace(0.0, 4.0, 40)[:, None]
    true = np.concatenate([np.linspace(1.0, 2.0, terms), 0.3 * 3.0 ** np.arange(terms)])
    curve = np.exp(-t * true[terms:]) @ true[:terms]

    def formula(x: Any) -> Any:
        return np.sum((np.exp(-t * x[terms:]) @ x[:terms] - curve) ** 2)

    x0 = np.concatenate([np.ones(terms), 0.5 + np.arange(terms)])
    return Problem("decaying exponentials", FITTING, formula, x0, 0.0)


def peaks(count: int) -> Problem:
    """Peaks a_k exp(-((t - c_k)/w_k)^2) fitted to 20 values for each, with noise; n = 3 count."""
    t = np.linspace(0.0, count, 20 * count)[:, None]
    centres = np.arange(count) + 0.5
    rng = np.random.default_rng([count, 8])
    curve = np.exp(-(((t - centres) / 0.35) ** 2)) @ rng.uniform(1.0, 3.0, count)
    curve += 0.05 * rng.standard_normal(t.size)

    def formula(x: Any) -> Any:
        heights, places, widths = x.reshape(3, count)
        return np.sum((np.exp(-(((t - places) / widths) ** 2)) @ heights - curve) ** 2)

    x0 = np.concatenate([np.ones(count), centres + 0.1, np.full(count, 0.5)])
    return Problem("peaks", FITTING, formula, x0)


def smoothing(n: int) -> Problem:
    """Smooth a curve: sum (sqrt(1 + r_i^2) - 1) + 10 (x_{i+1} - x_i)^2, r_i = x_i - y_i, from 0."""
    rng = np.random.default_rng([n, 9])
    y = 3.0 * np.sin(np.linspace(0.0, 12.0, n)) + 0.5 * rng.standard_normal(n)

    def formula(x: Any) -> Any:
        return np.sum(np.sqrt(1.0 + (x - y) ** 2) - 1.0) + 10.0 * np.sum((x[1:] - x[:-1]) ** 2)

    def gradient(x: Vector) -> Vector:
        slopes = (x - y) / np.sqrt(1.0 + (x - y) ** 2)
        differences = 20.0 * np.diff(x)
        slopes[1:] += differences
        slopes[:-1] -= differences
        return np.asarray(slopes)

    return Problem("smoothing", FITTING, formula, np.zeros(n), gradient=gradient)


def reaction(n: int) -> Problem:
    """Return the energy of u'' = u^3 - 5 sin(3 pi t) with u = 0 at both ends, on n inner points, from 0."""
    h = 1.0 / (n + 1.0)
    force = 5.0 * np.sin(3.0 * np.pi * h * np.arange(1.0, n + 1.0))

    def formula(x: Any) -> Any:
        bent = np.sum((x[1:] - x[:-1]) ** 2) + x[0] ** 2 + x[-1] ** 2
        return 0.5 * bent / h + h * np.sum(0.25 * x**4 - force * x)

    def gradient(x: Vector) -> Vector:
        slopes = 2.0 * x / h + h * (x**3 - force)
        slopes[1:] -= x[:-1] / h
        slopes[:-1] -= x[1:] / h
        return np.asarray(slopes)

    return Problem("reaction", FITTING, formula, np.zeros(n), gradient=gradient)


# --- networks and factorisations -------------------------------------------------------------------


def network(inputs: int, hidden: int) -> Problem:
    """Fit a network with one hidden layer of tanh to 60 values of a smooth function.

    n = hidden (inputs + 2) + 1: weights and offsets of the hidden layer, weights and an offset of the sum.
    """
    n = hidden * (inputs + 2) + 1
    rng = np.random.default_rng([n, 10])
    points = rng.uniform(-1.0, 1.0, (60, inputs))
    wanted = np.sin(2.0 * points.sum(axis=1)) + 0.5 * points[:, 0] ** 2

    def formula(x: Any) -> Any:
        weights = x[: hidden * inputs].reshape(inputs, hidden)
        offsets, sums = x[hidden * inputs : -1 - hidden], x[-1 - hidden : -1]
        found = np.tanh(points @ weights + offsets) @ sums + x[-1]
        return np.mean((found - wanted) ** 2) + _PENALTY * np.mean(x**2)

    return Problem("network", NONCONVEX, formula, 0.7 * rng.standard_normal(n), starts=6)


def classifying_network(hidden: int) -> Problem:
    """Tell a disc from what is around it, by a network with two inputs and one hidden layer of sigmoids.

    n = 4 hidden + 1.
    """
    n = 4 * hidden + 1
    rng = np.random.default_rng([n, 11])
    points = rng.uniform(-1.0, 1.0, (80, 2))
    sides = np.where((points**2).sum(axis=1) < 0.5, 1.0, -1.0)

    def formula(x: Any) -> Any:
        weights, offsets = x[: 2 * hidden].reshape(2, hidden), x[2 * hidden : 3 * hidden]
        layer = 1.0 / (1.0 + np.exp(-4.0 * (points @ weights + offsets)))
        return np.mean(softplus(-sides * (layer @ x[3 * hidden : -1] + x[-1]))) + 1e-2 * np.mean(x**2)

    return Problem("classifying network", NONCONVEX, formula, 0.7 * rng.standard_normal(n), starts=6)


def factorisation(rows: int, rank: int) -> Problem:
    """|X X^T - A|^2/rows for an A of that form, X of rows times rank numbers; n = rows rank."""
    rng = np.random.default_rng([rows, rank])
    true = rng.standard_normal((rows, rank))
    matrix = true @ true.T

    def formula(x: Any) -> Any:
        factor = x.reshape(rows, rank)
        return np.sum((factor @ factor.T - matrix) ** 2) / rows

    return Problem("factorisation", NONCONVEX, formula, 0.5 * rng.standard_normal(rows * rank), 0.0)


def distances(points: int) -> Problem:
    """Places in the plane found from their distances, with 10 % of noise, a little way off; n = 2 points."""
    rng = np.random.default_rng([points, 12])
    places = rng.uniform(-2.0, 2.0, (points, 2))
    first, second = np.triu_indices(points, 1)
    squares = ((places[first] - places[second]) ** 2).sum(axis=1)
    squares *= 1.0 + 0.1 * rng.standard_normal(squares.size)

    def formula(x: Any) -> Any:
        where = x.reshape(points, 2)
        return np.mean((((where[first] - where[second]) ** 2).sum(axis=1) - squares) ** 2)

    return Problem(
        "distances", NONCONVEX, formula, (places + 0.5 * rng.standard_normal(places.shape)).ravel()
    )
