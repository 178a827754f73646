"""The hyper-parameters of a network, and the weights of a network's last layer."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.tasks.task import Case, case
from pursuit.checks import Vector

Array = NDArray[np.float64]
_CLASSES, _INPUTS, _HIDDEN = 10, 12, 32
_SAMPLES, _BATCH, _STEPS, _JUDGING = 600, 64, 80, 48
# What a network is said to lose that has diverged.
_LARGEST = 5.0
# A little less than the mean loss of the best hyper-parameters that long runs of pycma have found, 0.225.
LOWEST_LOSS = 0.22


def _softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    chances: Array = powers / powers.sum(axis=-1, keepdims=True)
    return chances


def _loss(scores: Array, labels: NDArray[np.int64]) -> Array:
    """Return the mean cross-entropy."""
    top = scores.max(axis=-1, keepdims=True)
    logs = np.log(np.exp(scores - top).sum(axis=-1)) + top[..., 0]
    loss: Array = (logs - np.take_along_axis(scores, labels[..., None], axis=-1)[..., 0]).mean(axis=-1)
    return loss


@functools.cache
def _samples() -> tuple[Array, NDArray[np.int64]]:
    """Return points of ten classes, each a cloud in two places."""
    rng = np.random.default_rng(10)
    centres = rng.standard_normal((2, _CLASSES, _INPUTS))
    labels = rng.integers(_CLASSES, size=2 * _SAMPLES)
    clouds = centres[rng.integers(2, size=labels.size), labels]
    return clouds + 0.6 * rng.standard_normal(clouds.shape), labels


def losses(logs: Vector, rng: np.random.Generator, count: int) -> Array:
    """Return what networks lose on points that they were not trained with.

    `logs` are decimal logarithms: of the learning rate, of what momentum lacks to 1, of the size of first
    weights, of the weight decay, and of the noise that is added to the inputs.
    """
    rate, lost, size, decay, jitter = 10.0**logs
    points, labels = _samples()
    shapes = ((_INPUTS + 1, _HIDDEN), (_HIDDEN + 1, _CLASSES))
    weights = [size * rng.standard_normal((count, *shape)) / np.sqrt(shape[0]) for shape in shapes]
    speeds = [np.zeros_like(layer) for layer in weights]
    for _ in range(_STEPS):
        chosen = rng.integers(_SAMPLES, size=(count, _BATCH))
        shown = points[chosen] + jitter * rng.standard_normal((count, _BATCH, _INPUTS))
        inputs, hidden, scores = _forward(weights, shown)
        errors = _softmax(scores)
        np.put_along_axis(
            errors, labels[chosen][..., None],
            np.take_along_axis(errors, labels[chosen][..., None], axis=-1) - 1.0, axis=-1,
        )  # fmt: skip
        back = (errors @ weights[1][:, :-1].mT) * (hidden[..., :-1] > 0.0)
        slopes = inputs.mT @ back / _BATCH, hidden.mT @ errors / _BATCH
        for layer, speed, slope in zip(weights, speeds, slopes, strict=True):
            speed *= 1.0 - lost
            speed -= rate * (slope + decay * layer)
            layer += speed
    scores = _forward(weights, np.broadcast_to(points[_SAMPLES:], (count, _SAMPLES, _INPUTS)))[-1]
    found = _loss(scores, np.broadcast_to(labels[_SAMPLES:], (count, _SAMPLES)))
    return np.minimum(np.nan_to_num(found, nan=_LARGEST), _LARGEST)


def _forward(weights: list[Array], shown: Array) -> tuple[Array, Array, Array]:
    inputs = _with_ones(shown)
    hidden = _with_ones(np.maximum(inputs @ weights[0], 0.0))
    return inputs, hidden, hidden @ weights[1]


def _with_ones(array: Array) -> Array:
    return np.concatenate([array, np.ones((*array.shape[:-1], 1))], axis=-1)


@np.errstate(all="ignore")
def mean_loss(x: Vector) -> float:
    """Return what networks lose on average, with the same chance for every x."""
    return float(losses(x, np.random.default_rng(11), _JUDGING).mean())


@np.errstate(all="ignore")
def trained(x: Vector, rng: np.random.Generator) -> float:
    """Return what one network loses."""
    return float(losses(x, rng, 1)[0])


def hyperparameters(seed: int) -> Case:
    """Return the task for five decimal logarithms."""
    lower, upper = np.array([-4.0, -2.0, -2.0, -6.0, -3.0]), np.array([0.5, 0.0, 1.0, 0.0, 0.5])
    middle = 0.5 * (lower + upper)
    x0 = middle + 0.15 * (upper - lower) * np.random.default_rng([seed, 12]).uniform(-1.0, 1.0, 5)
    return case(trained, lambda x: mean_loss(x) - LOWEST_LOSS, x0, 0.2 * (upper - lower), (lower, upper))


_FEATURES, _DECAY = 30, 1e-3


@functools.cache
def _last_layer(seed: int) -> tuple[Array, NDArray[np.int64], float]:
    """Return the outputs of a fixed layer, labels, and the smallest loss, found with its gradient."""
    points, labels = _samples()
    mixing = np.random.default_rng([seed, 13]).standard_normal((_INPUTS + 1, _FEATURES))
    features = _with_ones(np.maximum(_with_ones(points) @ mixing / np.sqrt(_INPUTS), 0.0))[:_SAMPLES]
    labels = labels[:_SAMPLES]
    wanted = np.eye(_CLASSES)[labels]

    def gradient(x: Vector) -> Vector:
        errors = _softmax(features @ x.reshape(-1, _CLASSES)) - wanted
        return np.asarray((features.T @ errors).ravel() / _SAMPLES + _DECAY * x)

    options: dict[str, Any] = {"ftol": 0.0, "gtol": 1e-10, "maxiter": 20_000, "maxfun": 40_000, "maxcor": 50}
    start = np.zeros((_FEATURES + 1) * _CLASSES)
    found = minimize(
        lambda x: _weights_loss(x, features, labels), start, jac=gradient, method="L-BFGS-B", options=options
    )
    return features, labels, float(found.fun)


def _weights_loss(x: Vector, features: Array, labels: NDArray[np.int64]) -> float:
    return float(_loss(features @ x.reshape(-1, _CLASSES), labels)) + 0.5 * _DECAY * float(x @ x)


def last_layer(seed: int) -> Case:
    """Return the task for the 310 weights of a softmax layer, from all of its data."""
    features, labels, lowest = _last_layer(seed)

    def fun(x: Vector) -> float:
        return _weights_loss(x, features, labels)

    return case(lambda x, rng: fun(x), lambda x: fun(x) - lowest, np.zeros((_FEATURES + 1) * _CLASSES), 0.3)
