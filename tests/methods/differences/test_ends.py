"""A run ends soon after nothing is left to win, whatever the function is like."""

import math

import numpy as np
import pytest

import pursuit
from pursuit.engine.stopping import Reason

N = 20
START = np.linspace(0.5, 2.0, N)
SPECTRUM = np.geomspace(1.0, 100.0, N)
Q = np.linalg.qr(np.random.default_rng(0).standard_normal((N, N)))[0]


def bowl(x):
    return 0.5 * float(SPECTRUM @ (Q @ x) ** 2)


def valley(x):
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


def minimized(f, seed=1, x0=START, **arguments):
    """Minimise a function; return the result, and the evaluations per variable after it was as good as found.

    That is where the best value so far differs from the best of all by rounding alone.
    """
    seen = []

    def watched(x):
        seen.append(f(x))
        return seen[-1]

    result = pursuit.minimize(watched, x0, method="values", rng=seed, **{"maxfev": 1_000 * N, **arguments})
    lowest = np.minimum.accumulate(seen)
    found = np.argmax(lowest <= lowest[-1] + max(1e-13 * abs(lowest[-1]), 1e-20))
    return result, (len(seen) - found) / N


SMOOTH = {
    "bowl": (bowl, 0.0),
    "bowl above 1": (lambda x: 1.0 + bowl(x), 1.0),
    "bowl below 0": (lambda x: bowl(x) - 3.0, -3.0),
    "bowl far above": (lambda x: 1e6 + bowl(x), 1e6),
    "along the axes": (lambda x: 1.0 + float(SPECTRUM @ (x * x)), 1.0),
    "cosh": (lambda x: float(np.sum(np.cosh(x))), float(N)),
    "in single precision": (lambda x: float(np.float32(1.0 + bowl(x))), 1.0),
    "rounded to 2 decimals": (lambda x: round(bowl(x), 2), 0.0),
    "rounded to 6 decimals": (lambda x: round(bowl(x), 6), 0.0),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_soon_after_all_digits_are_found_a_run_has_ended(name):
    f, lowest = SMOOTH[name]
    for seed in range(4):
        result, after = minimized(f, seed)
        assert result.success
        assert result.fun - lowest <= max(1e-13 * abs(lowest), 1e-20) or "round" in name
        assert result.fun - lowest <= 0.02
        # Where rounding hides all but the first digits, it takes a while to see that nothing more comes.
        assert after <= (35.0 if "rounded" in name else 15.0)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e6])
def test_a_valley_is_followed_to_its_end(offset):
    """It takes hundreds of sweeps, in some of which little is won."""
    for seed in range(3):
        result, after = minimized(lambda x: offset + valley(x), seed, np.zeros(N))
        assert result.fun - offset <= max(1e-13 * offset, 1e-20)
        assert after <= 40.0


STEPPED = {
    "stairs": lambda x: float(np.floor(10.0 * bowl(x))),
    "boxes": lambda x: float(np.ceil(np.abs(x)).sum()),
    "largest stair": lambda x: float(np.floor(4.0 * np.abs(x).max())),
    "constant": lambda x: 3.0,
}


@pytest.mark.parametrize("name", STEPPED)
def test_jumps_and_plateaus_are_given_up_soon(name):
    for seed in range(3):
        result, after = minimized(STEPPED[name], seed)
        assert result.success
        assert after <= 25.0


KINKED = {
    "sum of absolute values": lambda x: float(np.abs(x).sum()),
    "weighted": lambda x: float(np.sqrt(SPECTRUM) @ np.abs(x)),
    "largest absolute value, rotated": lambda x: float(np.abs(Q @ x).max()),
}


@pytest.mark.parametrize("name", KINKED)
def test_kinks_are_noticed_and_named_before_the_budget_is_spent(name):
    f = KINKED[name]
    for seed in range(3):
        result, _ = minimized(f, seed)
        assert result.fun < 0.9 * f(START)
        assert "kinks" in result.message
        assert result.nfev < 500 * N


@pytest.mark.parametrize("n", [10, 30])
def test_pure_noise_is_left_early_and_called_so(n):
    """The point that is returned is near the start: nothing has led away from there.

    A lucky series of values may look like a gain once in a while, after which it is not called pure noise.
    """
    called_so = 0
    for seed in range(5):
        rng = np.random.default_rng([7, seed])
        result = pursuit.minimize(
            lambda x, rng=rng: float(rng.standard_normal()), np.ones(n), method="values", rng=seed
        )
        assert result.nfev < 50 * n
        assert np.sqrt(np.mean((result.x - 1.0) ** 2)) < 3.0
        assert "fun is an estimate" in result.message
        called_so += "nothing was won" in result.message
    assert called_so >= 4


@pytest.mark.parametrize("sigma", [1e-3, 1.0])
def test_a_function_under_noise_is_not_given_up_as_pure_noise(sigma):
    for seed in range(5):
        rng = np.random.default_rng([8, seed])
        result, _ = minimized(lambda x, rng=rng: bowl(x) + sigma * rng.standard_normal(), seed)
        assert bowl(result.x) < 0.3 * sigma
        assert "nothing was won" not in result.message


def test_a_function_that_falls_towards_a_bound_is_not_called_unbounded():
    """Neither far away nor below 0 does it fall steadily."""
    for f in (lambda x: -5.0 + 1.0 / (1.0 + x @ x), lambda x: -float(np.exp(-1.0 / (1.0 + x @ x)))):
        result, _ = minimized(f)
        assert result.status != Reason.UNBOUNDED
        assert math.isfinite(result.sigma)
