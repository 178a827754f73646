"""Policies for a cart with a pole and for a pendulum: small networks whose weights are sought.

The cart is that of Barto, Sutton and Anderson (IEEE Transactions on Systems, Man, and Cybernetics 13, 1983),
with the equations and limits of Gymnasium's CartPole-v1, the pendulum that of its Pendulum-v1. A value is
what one episode from a random state returns, with the sign changed; it is judged by the mean of many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.tasks.task import Case, case
from pursuit.checks import Vector

Array = NDArray[np.float64]
Policy = Callable[[Array], Vector]
Episodes = Callable[[Policy, Array], Vector]
Draw = Callable[[np.random.Generator, int], Array]
CART_STEPS, _PENDULUM_STEPS, _JUDGING = 500, 200, 200


def network(weights: Vector, shapes: Sequence[tuple[int, int]], last_bias: bool) -> Policy:
    """Return a network with tanh between its layers, from states in columns to one number for each."""
    layers, place = [], 0
    for depth, (outer, inner) in enumerate(shapes, 1):
        matrix = weights[place : place + outer * inner].reshape(outer, inner)
        place += outer * inner
        offsets = weights[place : place + outer] if last_bias or depth < len(shapes) else np.zeros(outer)
        place += outer
        layers.append((matrix, offsets[:, None]))
    *hidden, (last, offset) = layers

    def act(states: Array) -> Vector:
        for matrix, offsets in hidden:
            states = np.tanh(matrix @ states + offsets)
        return np.asarray((last @ states + offset)[0])

    return act


def balanced(policy: Policy, states: Array) -> Vector:
    """Return for how many steps of 0.02 s a cart balances its pole, pushed with 10 N to either side."""
    x, speed, angle, turning = states
    alive, steps = np.ones(x.size, bool), np.zeros(x.size)
    for _ in range(CART_STEPS):
        force = np.where(policy(np.array([x, speed, angle, turning])) > 0.0, 10.0, -10.0)
        cosine, sine = np.cos(angle), np.sin(angle)
        pushed = (force + 0.05 * turning * turning * sine) / 1.1
        turned = (9.8 * sine - cosine * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * cosine * cosine / 1.1))
        moved = pushed - 0.05 * turned * cosine / 1.1
        x, angle = x + 0.02 * speed, angle + 0.02 * turning
        speed, turning = speed + 0.02 * moved, turning + 0.02 * turned
        steps += alive
        alive &= (np.abs(x) <= 2.4) & (np.abs(angle) <= np.pi / 15.0)
        if not alive.any():
            break
    return steps


def swung(policy: Policy, states: Array) -> Vector:
    """Return what a pendulum of 1 m and 1 kg returns in 200 steps of 0.05 s: minus its costs."""
    angle, speed = states
    costs = np.zeros(angle.size)
    for _ in range(_PENDULUM_STEPS):
        cosine, sine = np.cos(angle), np.sin(angle)
        torque = np.minimum(np.maximum(2.0 * policy(np.array([cosine, sine, speed])), -2.0), 2.0)
        costs += np.arctan2(sine, cosine) ** 2 + 0.1 * speed**2 + 0.001 * torque**2
        speed = np.minimum(np.maximum(speed + 0.05 * (15.0 * sine + 3.0 * torque), -8.0), 8.0)
        angle = angle + 0.05 * speed
    return -costs


def _case(seed: int, hidden: int, inputs: int, draw: Draw, episodes: Episodes, best: float) -> Case:
    """Return the task to find weights, which begin as those of networks usually do."""
    rng, judging = np.random.default_rng([seed, 2]), draw(np.random.default_rng(2), _JUDGING)
    shapes = ((hidden, inputs), (hidden, hidden), (1, hidden))
    last_bias = episodes is swung
    parts = [
        part
        for outer, inner in shapes
        for part in (rng.standard_normal(outer * inner) / np.sqrt(inner), np.zeros(outer))
    ]

    def fun(x: Vector, rng: np.random.Generator) -> float:
        return -float(episodes(network(x, shapes, last_bias), draw(rng, 1))[0])

    def gap(x: Vector) -> float:
        return best - float(episodes(network(x, shapes, last_bias), judging).mean())

    return case(fun, gap, np.concatenate(parts if last_bias else parts[:-1]), 0.1)


def cartpole(seed: int) -> Case:
    """Return the cart with a pole: 450 weights, and 500 steps at best."""

    def draw(rng: np.random.Generator, count: int) -> Array:
        return rng.uniform(-0.05, 0.05, (4, count))

    return _case(seed, 18, 4, draw, balanced, CART_STEPS)


def pendulum(seed: int) -> Case:
    """Return the pendulum: 353 weights; no costs at all would be best, but nobody can have that."""

    def draw(rng: np.random.Generator, count: int) -> Array:
        return np.array([rng.uniform(-np.pi, np.pi, count), rng.uniform(-1.0, 1.0, count)])

    return _case(seed, 16, 3, draw, swung, 0.0)
