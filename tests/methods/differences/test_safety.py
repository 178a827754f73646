"""What happens where f is not what the method is made for: it survives, and says what it can."""

import math

import numpy as np
import pytest

import pursuit
from pursuit.engine.stopping import Reason

N = 10
START = np.linspace(0.5, 2.0, N)
SPECTRUM = np.geomspace(1.0, 100.0, N)


def bowl(x):
    return 0.5 * float(SPECTRUM @ (x * x))


def minimized(f, x0=START, seed=1, **arguments):
    """Minimise a function whose points must all be finite."""

    def watched(x):
        assert np.isfinite(x).all()
        return f(x)

    arguments.setdefault("maxfev", 5_000)
    return pursuit.minimize(watched, x0, method="values", rng=seed, **arguments)


def test_a_constant_is_given_up_and_called_flat():
    result = minimized(lambda x: 3.0)
    assert result.fun == 3.0
    assert result.nfev < 5_000
    assert "flat" in result.message
    np.testing.assert_array_equal(result.x, START)


def test_a_plateau_is_left():
    result = minimized(lambda x: max(1.0, bowl(x - 3.0)), np.zeros(N))
    assert result.fun == 1.0


@pytest.mark.parametrize("f", [lambda x: float(x.sum()), lambda x: -float(x @ x)])
def test_a_function_without_a_minimum_is_followed_until_that_is_said(f):
    """It needs no more than a few dozen sweeps to be sure, and says so."""
    result = minimized(f)
    assert result.status == Reason.UNBOUNDED
    assert result.fun < -1e12
    assert result.nfev < 100 * N


def test_a_saddle_is_left():
    """From a point where a slope vanishes, negative curvature leads down; f is bounded from below."""

    def f(x):
        return float(np.sum(x[1:] ** 2) + (x[0] ** 2 - 1.0) ** 2)

    for seed in range(5):
        assert minimized(f, np.zeros(N) + 1e-3, seed).fun < 1e-20


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_regions_without_values_are_survived(value):
    """The minimum is inside of a ball, close to its surface."""

    def f(x):
        return bowl(x - 1.0) if x @ x < 1.05**2 * N else value

    for seed in range(3):
        result = minimized(f, np.zeros(N), seed)
        assert result.fun < 1e-12


def test_a_wall_in_front_of_the_minimum_is_reached_and_never_passed():
    """No point beyond the wall is returned."""
    result = minimized(lambda x: bowl(x - 1.0) if x[0] < 0.5 else math.inf, np.zeros(N))
    assert result.x[0] < 0.5
    assert result.fun < 0.5 * bowl(np.ones(N))


def test_a_barrier_is_approached_from_inside():
    def f(x):
        return float(np.sum(x) - 1e-2 * np.sum(np.log(x))) if (x > 0.0).all() else math.inf

    result = minimized(f)
    np.testing.assert_allclose(result.x, 1e-2, rtol=1e-3)


KINKED = {
    "sum of absolute values": (lambda x: float(np.abs(x).sum()), 0.5),
    "largest absolute value": (lambda x: float(np.abs(x).max()), 0.1),
    "ridge": (lambda x: bowl(x) + 10.0 * abs(x[0] - x[1]), 1e-1),
    "jumps": (lambda x: float(np.floor(10.0 * bowl(x))), 1e-1),
    "jumps on a bowl": (lambda x: bowl(x) + float(np.floor(10.0 * x[0])), 1.0),
}


@pytest.mark.parametrize("name", KINKED)
def test_where_values_cannot_be_trusted_it_goes_down_and_says_so(name):
    f, share = KINKED[name]
    result = minimized(f)
    lowest = -math.inf if name == "jumps on a bowl" else 0.0
    assert lowest <= result.fun < share * f(START)
    assert "kinks" in result.message or result.fun < 1e-6
    assert "momentum" in result.message or result.fun < 1e-6


def test_many_local_minima_do_not_lead_away():
    def f(x):
        return float(np.sum(x * x + 10.0 - 10.0 * np.cos(2.0 * np.pi * x)))

    result = minimized(f)
    assert result.fun < f(START)
    assert np.abs(result.x).max() < 5.0


@pytest.mark.parametrize("size", [0.0, 1e-320, 1e-200, 1e-3, 1e300])
def test_values_of_any_size_are_survived(size):
    rng = np.random.default_rng(1)
    with np.errstate(over="ignore", invalid="ignore"):
        result = minimized(lambda x: size * (float(x @ x) + rng.standard_normal()), maxfev=2_000)
    assert np.isfinite(result.x).all()
    assert math.isfinite(result.fun)


@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1e12, 1e100])
def test_functions_and_variables_of_any_scale_are_minimised(scale):
    assert minimized(lambda x: scale * bowl(x)).fun < 1e-12 * scale * bowl(START)
    # The square of the smallest variables is still a number.
    root = math.sqrt(scale)
    result = minimized(lambda x: bowl(x / root), root * START, sigma0=root)
    assert result.fun < 1e-12 * bowl(START)


@pytest.mark.parametrize("sigma0", [1e-8, 1e-3, 1e3, 1e8])
def test_a_first_step_size_that_is_far_off_costs_little(sigma0):
    result = minimized(bowl, sigma0=sigma0, ftarget=1e-12)
    assert result.fun <= 1e-12
    assert result.nfev < 1_000


def test_one_variable_is_enough():
    result = minimized(lambda x: float((x[0] - 3.0) ** 2 + 1.0), [0.0])
    assert result.fun == 1.0


def test_it_ends_at_as_many_kinks_as_wanted():
    """A kink at the minimum alone is not the second; kinks all over are met early, and end it then."""
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((30, 30)))[0]
    start = np.ones(30)
    for seed in range(5):
        bent, round_ = (
            pursuit.minimize(f, start, method="values", rng=seed, options={"kinks": 2})
            for f in (lambda x: np.sum(np.abs(turn @ x)), lambda x: float(np.linalg.norm(turn @ x)))
        )
        assert bent.nfev < 60 * start.size
        assert "kinks" in bent.message
        assert round_.fun < 1e-6
    with pytest.raises(ValueError, match="kinks must be at least 0"):
        pursuit.minimize(np.sum, start, method="values", options={"kinks": -1})
