"""Few variables and much noise: the simulator of the gallery, and a valley behind a plateau."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tasks.task import Case, case
from pursuit.checks import Vector

_SCRIPT = Path(__file__).parents[2] / "examples" / "noisy_simulator.py"


@functools.cache
def _gallery() -> Any:
    found = importlib.util.spec_from_file_location("noisy_simulator", _SCRIPT)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def tills(seed: int) -> Case:
    """Return how fast five tills are to serve, from simulated days; starts differ a little."""
    simulator = _gallery()
    arrivals, prices = simulator.ARRIVALS, simulator.PRICES
    lowest = simulator.true_cost(arrivals + np.sqrt(arrivals / prices))
    lower, upper = np.array(simulator.BOUNDS).T
    x0 = 2.5 + 0.2 * np.random.default_rng([seed, 14]).uniform(-1.0, 1.0, arrivals.size)

    def day(x: Vector, rng: np.random.Generator) -> float:
        simulator.DAYS = rng
        return float(simulator.cost_of_a_day(x))

    return case(day, lambda x: float(simulator.true_cost(x) - lowest), x0, 0.3, (lower, upper))


def valley(seed: int) -> Case:
    """Return a valley that is three times as wide in one direction as in another."""
    rng = np.random.default_rng([seed, 15])
    widths, centre = rng.permutation(np.geomspace(0.5, 1.5, 5)), rng.uniform(-4.0, -1.0, 5)

    def depth(x: Vector) -> float:
        return 2.3 * float(np.tanh(0.5 * np.linalg.norm((x - centre) / widths)))

    def fun(x: Vector, rng: np.random.Generator) -> float:
        return depth(x) + 0.02 * float(rng.standard_normal())

    return case(fun, depth, np.full(5, -2.5), 1.0, (-5.0, 0.0))
