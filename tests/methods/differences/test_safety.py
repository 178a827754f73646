"""What happens where f is not what the method is made for: it survives, and says what it can."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    return pursuit.minimize(watched, x0, method="differences", rng=seed, **arguments)


def test_a_plateau_is_left():
    result = minimized(lambda x: max(1.0, bowl(x - 3.0)), np.zeros(N))
    assert result.fun == 1.0


@pytest.mark.parametrize("f", [lambda x: -float(x @ x), lambda x: float(x[0] ** 3), lambda x: -bowl(x) - 1e6])
def test_a_function_without_a_minimum_is_followed_until_that_is_said(f):
    """It needs no more than a few dozen sweeps to be sure, and says so."""
    result = minimized(f)
    assert result.status == Reason.UNBOUNDED
    assert result.fun < -1e12
    assert result.nfev < 100 * N


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
    """How far down depends on where it meets kinks first, and so on chance."""
    f, share = KINKED[name]
    results = [minimized(f, seed=seed) for seed in range(10)]
    lowest = -math.inf if name == "jumps on a bowl" else 0.0
    assert lowest <= min(result.fun for result in results) < share * f(START)
    for result in results:
        assert result.fun < f(START)
        assert not result.success or f(result.x) < 1e-6


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


def test_one_variable_is_enough():
    for f, lowest in ((lambda x: (x[0] - 3.0) ** 2 + 1.0, 1.0), (lambda x: math.cosh(x[0] - 3.0), 1.0)):
        for bounds in (None, [(-1.0, None)], [(None, 5.0)]):
            result = minimized(lambda x, f=f: float(f(x)), [0.0], bounds=bounds)
            assert result.success
            assert result.fun == pytest.approx(lowest, rel=1e-13)


def test_a_start_at_the_minimum_stays_there():
    """The value there cannot be better, and all that is seen is higher."""
    for n in (1, 2, 5, 20):
        result = minimized(lambda x: float(x @ x), np.zeros(n))
        assert result.success
        assert result.fun == 0.0
        np.testing.assert_array_equal(result.x, 0.0)
        assert result.nfev <= 20 * n + 50


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 20),
    kind=st.sampled_from(["hole", "wall", "half", "values", "scattered"]),
    batch=st.sampled_from([1, 8]),
)
@settings(max_examples=50)
def test_no_function_makes_a_run_fail(seed, n, kind, batch):
    """Whatever f returns, points are finite, and the best value seen is that of the point returned."""
    rng, seen = np.random.default_rng(seed), {}
    centre = rng.standard_normal(n)

    def f(x):
        r = float(np.sum((x - centre) ** 2))
        if kind == "hole":
            value = math.nan if 0.1 < r < 0.5 else r
        elif kind == "wall":
            value = math.inf if x[0] > centre[0] + 0.1 else r
        elif kind == "half":
            value = math.nan if rng.random() < 0.5 else r
        elif kind == "values":
            value = float(10.0 ** rng.uniform(-320.0, 308.0)) * float(rng.choice([-1.0, 1.0]))
        else:
            value = float(rng.choice([0.0, math.nan, math.inf, 1.0]))
        value = r if not seen else value
        seen[x.tobytes()] = min(value if value == value else math.inf, seen.get(x.tobytes(), math.inf))
        return value

    result = minimized(f, np.zeros(n), seed, maxfev=300, batch=batch)
    assert math.isfinite(result.fun)
    assert np.isfinite(result.x).all()
    if not result.fun_is_estimate:
        assert result.fun == min(seen.values()) == seen[result.x.tobytes()]
