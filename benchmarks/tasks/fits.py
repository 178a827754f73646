"""Models fitted to data: a drug in two compartments, and an epidemic. Their parameters differ in size."""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy.optimize import least_squares

from benchmarks.tasks.task import Case, case
from pursuit.checks import Vector

# Absorption, exchange to and fro (1/h), volume (l), the most elimination (mg/h) and its half-point (mg/l).
DRUG = np.array([1.2, 0.3, 0.05, 30.0, 400.0, 8.0])
_DOSE, _DRUG_STEP, _DRUG_STEPS = 2000.0, 0.1, 200
# Infections a day, the ends of latency and of illness (1/d), those infected first, and the share reported.
EPIDEMIC = np.array([0.6, 0.25, 0.15, 40.0, 0.3])
_PEOPLE, _DAYS = 1e5, 120


def concentrations(parameters: Vector) -> Vector:
    """Return the concentration of a swallowed drug at each half hour, by Heun's method.

    It is absorbed, exchanged with tissue, and eliminated at a rate that saturates.
    """
    absorbed, out, back, volume, most, half = parameters.tolist()

    def rates(gut: float, blood: float, tissue: float) -> tuple[float, float, float]:
        level = blood / volume
        inflow, exchange = absorbed * gut, out * blood - back * tissue
        return -inflow, inflow - exchange - most * level / (half + level), exchange

    state, seen = (_DOSE, 0.0, 0.0), []
    for k in range(_DRUG_STEPS):
        first = rates(*state)
        there = [amount + _DRUG_STEP * rate for amount, rate in zip(state, first, strict=True)]
        second = rates(*there)
        gut, blood, tissue = (
            amount + 0.5 * _DRUG_STEP * (one + two)
            for amount, one, two in zip(state, first, second, strict=True)
        )
        state = (gut, blood, tissue)
        if k % 5 == 4:
            seen.append(blood / volume)
    return np.array(seen)


@functools.cache
def _drug_data() -> Vector:
    return concentrations(DRUG)


def drug_misfit(x: Vector) -> float:
    """Return the mean squared error relative to the largest concentration; it can be zero."""
    data = _drug_data()
    return float(np.mean(((concentrations(x) - data) / data.max()) ** 2))


def drug(seed: int) -> Case:
    """Return the fit of six parameters, which begin within a factor of about two of the truth."""
    x0 = DRUG * np.exp(np.random.default_rng([seed, 5]).uniform(-0.7, 0.7, DRUG.size))
    return case(lambda x, rng: drug_misfit(x), drug_misfit, x0, 0.2 * x0, (0.02 * DRUG, 5.0 * DRUG))


def log_cases(parameters: Vector) -> Vector:
    """Return the logarithms of the cases reported each day: susceptible, exposed, infectious, removed."""
    infecting, onset, healing, first, reported = parameters.tolist()
    susceptible, exposed, infectious = _PEOPLE - first, 0.0, first
    seen = []
    for _ in range(_DAYS):
        onsets = 0.0
        for _ in range(2):
            infected = 0.5 * infecting * susceptible * infectious / _PEOPLE
            ill = 0.5 * onset * exposed
            susceptible -= infected
            exposed += infected - ill
            infectious += ill - 0.5 * healing * infectious
            onsets += ill
        seen.append(math.log1p(reported * onsets))
    return np.array(seen)


@functools.cache
def _outbreak(seed: int) -> tuple[Vector, float]:
    """Return observed cases, and the smallest misfit, from a fit that knows the truth."""
    rng = np.random.default_rng([seed, 6])
    data = log_cases(EPIDEMIC) + 0.2 * rng.standard_normal(_DAYS)
    found = least_squares(
        lambda z: log_cases(EPIDEMIC * np.exp(z)) - data, np.zeros(EPIDEMIC.size), xtol=1e-14, ftol=1e-14
    )
    return data, float(np.mean(found.fun**2))


def epidemic(seed: int) -> Case:
    """Return the fit of five parameters; each value compares a random quarter of the days."""
    data, lowest = _outbreak(seed)
    x0 = EPIDEMIC * np.exp(np.random.default_rng([seed, 7]).uniform(-0.5, 0.5, EPIDEMIC.size))

    def sampled(x: Vector, rng: np.random.Generator) -> float:
        days = rng.choice(_DAYS, _DAYS // 4, replace=False)
        return float(np.mean((log_cases(x) - data)[days] ** 2))

    def gap(x: Vector) -> float:
        return float(np.mean((log_cases(x) - data) ** 2)) - lowest

    return case(sampled, gap, x0, 0.2 * x0, (0.1 * EPIDEMIC, np.array([3.0, 2.0, 2.0, 400.0, 1.0])))
