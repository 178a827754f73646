"""Minimise a function of JAX that takes many points at once.

A pendulum hangs down, and a weak motor is to swing it up: the variables are its forces in fifty time
steps. JAX simulates all points of a round in one call. (JAX also has gradients. Where f is smooth and they
are available, a method that uses them needs fewer evaluations; this one needs none, and so also works with
a simulator that has none.)
"""

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np

import pursuit

jax.config.update("jax_enable_x64", True)  # otherwise the last digits are lost
STEPS, SECONDS, STRONGEST = 50, 5.0, 3.0
ROUND = 50  # points at once


def swing(forces):
    """Return the angles of the pendulum, and its last speed."""

    def step(state, force):
        angle, speed = state
        for _ in range(4):
            speed = speed + SECONDS / STEPS / 4 * (STRONGEST * jnp.tanh(force) - 5.0 * jnp.sin(angle))
            angle = angle + SECONDS / STEPS / 4 * speed
        return (angle, speed), angle

    (_, speed), angles = jax.lax.scan(step, (0.0, 0.0), forces)
    return angles, speed


def cost(forces):
    """Return how far from standing still on top the pendulum ends, and a little for the forces."""
    angles, speed = swing(forces)
    return (angles[-1] - jnp.pi) ** 2 + 0.1 * speed**2 + 1e-4 * jnp.sum(forces**2)


compiled = jax.jit(jax.vmap(cost))


def costs(points):
    """Return the costs of a round, filled up so that JAX compiles for one size only."""
    return compiled(np.resize(points, (ROUND, STEPS)))[: len(points)]


def main():
    """Minimise, and draw the swing."""
    start = np.full(STEPS, 0.1)
    result = pursuit.minimize(costs, start, vectorized=True, batch=ROUND, rng=1, sigma0=0.5, maxfev=5_000)
    angles, _ = swing(result.x)
    print(f"cost: {cost(start):.4f} -> {result.fun:.4f} in {result.nfev} evaluations, {result.nit} calls")
    print(f"angle at the end: {angles[-1] / np.pi:.3f} pi")

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    from matplotlib import pyplot as plt

    times = np.linspace(0.0, SECONDS, STEPS)
    figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    axes.plot(times, angles / np.pi, label="angle / π")
    axes.plot(times, STRONGEST * np.tanh(result.x), label="force")
    axes.axhline(1.0, color="black", linestyle=":", label="upright")
    axes.set(xlabel="seconds")
    axes.legend()
    figure.savefig("jax_function.png", dpi=100)


if __name__ == "__main__":
    main()
