"""evosax on the same GPU: how many points its strategies evaluate per second, many runs at once.

Needs evosax, and JAX for a GPU; they are no dependencies of this project, so the benchmark goes without them
where they are missing.
"""

from __future__ import annotations

import math
import time
from importlib.util import find_spec
from typing import Any

# Two with linear memory, and CMA-ES.
STRATEGIES = ("LM_MA_ES", "CR_FM_NES", "CMA_ES")
# The memory of these grows like n², and an iteration decomposes a matrix.
_DENSE, _DENSE_LIMIT = ("CMA_ES",), 100
RUNS = 4096
"""How many runs go on at once."""
_GENERATIONS = 200
_TIMINGS = 3


def is_installed() -> bool:
    """Say whether evosax can be measured here."""
    return find_spec("evosax") is not None


def points_per_second(strategy: str, n: int) -> float | None:
    """Return how many points the runs of a strategy evaluate per second; None where it is not measured.

    They are runs on `exp`, L = 1e6, with pycma's population, or one more if that is odd.
    """
    if strategy in _DENSE and n > _DENSE_LIMIT:
        return None
    import jax
    import jax.numpy as jnp
    from evosax import algorithms

    population = 4 + int(3 * math.log(n))
    # Some strategies draw points in pairs.
    population += population % 2
    es = getattr(algorithms, strategy)(population_size=population, solution=jnp.zeros(n))
    params = es.default_params
    scales = 1e6 ** (jnp.arange(n) / (n - 1.0))

    def generation(state: Any, key: Any) -> tuple[Any, None]:
        ask, tell = jax.random.split(key)
        points, state = es.ask(ask, state, params)
        values = 0.5 * jnp.sum(scales * points**2, axis=-1)
        state, _ = es.tell(tell, points, values, state, params)
        return state, None

    def run(key: Any) -> Any:
        start, *keys = jax.random.split(key, 1 + _GENERATIONS)
        state = es.init(start, jnp.ones(n), params)
        return jax.lax.scan(generation, state, jnp.stack(keys))[0]

    runs_at_once = jax.jit(jax.vmap(run))
    keys = jax.random.split(jax.random.key(1), RUNS)
    jax.block_until_ready(runs_at_once(keys))
    times = []
    for _ in range(_TIMINGS):
        begin = time.perf_counter()
        jax.block_until_ready(runs_at_once(keys))
        times.append(time.perf_counter() - begin)
    return population * _GENERATIONS * RUNS / min(times)
