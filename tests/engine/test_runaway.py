"""Functions without a minimum, flat or rough: every method ends, says why, and returns its best point."""

import numpy as np
import pytest

import pursuit
from helpers import options_for
from pursuit.engine.stopping import RUNAWAY, Reason

N = 20
# They say in their own words why they end.
PROGRAMS = ("auto", "differences", "evolution")
METHODS = ["auto", "differences", "evolution", "adaptive-sarp", "rp", "sarp", "cma", "ep-cma-2"]
FALLING = {
    "linear": lambda x: float(x.sum()),
    "parabola": lambda x: -float(np.square(x).sum()),
    "quartic": lambda x: -float(np.power(x, 4).sum()),
    "logarithm": lambda x: -float(np.log1p(np.square(x).sum())),
    "saddle": lambda x: float(np.square(x[1:]).sum() - x[0] ** 2),
    "cliff": lambda x: -np.inf if x[0] < 0.5 else float(x[0]),
}


def run(fun, method, seed=1, **limits):
    seen = []

    def recording(x):
        with np.errstate(over="ignore"):
            seen.append(fun(x))
        return seen[-1]

    result = pursuit.minimize(
        recording,
        np.ones(N),
        method=method,
        rng=seed,
        options=options_for(method, kappa=100.0),
        **{"maxfev": 100_000, **limits},
    )
    assert result.fun == min(seen)
    assert np.isfinite(result.x).all()
    return result


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fun", FALLING.values(), ids=FALLING)
def test_unbounded_below_is_a_reason_to_stop(fun, method):
    result = run(fun, method)
    assert result.status == Reason.UNBOUNDED
    assert not result.success
    assert "unbounded below" in result.message


@pytest.mark.parametrize("method", METHODS)
def test_a_target_on_the_way_down_is_reached(method):
    result = run(FALLING["cliff"], method, ftarget=0.0)
    assert result.status == Reason.TARGET
    assert result.success


@pytest.mark.parametrize("method", METHODS)
def test_a_flat_function_says_nothing_better_was_found(method):
    result = run(lambda x: 1.0, method)
    if method in PROGRAMS:
        assert result.status == Reason.FLAT
        assert not result.success
    else:
        assert result.status in (Reason.DIVERGED, Reason.STALLED)
        assert "nothing better" in result.message or "no improvement" in result.message
    assert np.abs(result.x).max() <= 100.0 * RUNAWAY


@pytest.mark.parametrize("method", METHODS)
def test_a_function_that_falls_for_ever_but_not_below_zero_is_not_called_unbounded(method):
    result = run(lambda x: float(np.exp(np.clip(x.sum(), -100.0, 100.0))), method)
    if method in PROGRAMS:
        assert result.status in {Reason.CONVERGED, Reason.FLAT, Reason.KINKS, Reason.STUCK}
        # What is left is nothing beside what f has fallen by: whether it is gained too depends on the seed.
        assert result.fun < 1e-30 * np.exp(N)
    else:
        assert result.status in {Reason.DIVERGED, Reason.STALLED}
        assert result.fun == np.exp(-100.0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", METHODS)
def test_no_run_escapes_over_a_rough_landscape(method, seed):
    """No point that a run returns is farther than it could go before it was caught."""
    result = run(lambda x: float(np.cos(x[:-1] ** 2 - x[1:] / 2.0).sum()), method, seed, maxfev=20_000)
    assert np.abs(result.x).max() <= 1e15
    assert result.fun < -0.4 * (N - 1)


@pytest.mark.parametrize("method", METHODS)
def test_steps_are_climbed_down(method):
    """On plateaus all neighbours are equal; where no method can see an edge, it ends without being lost."""

    def steps(x):
        return float(np.floor(4.0 * np.sqrt(np.square(x).sum())))

    result = run(steps, method)
    own = {Reason.FLAT, Reason.KINKS, Reason.STUCK} if method in PROGRAMS else set()
    if result.fun == 0.0 and method in PROGRAMS:
        # The lowest step: nothing is left to gain.
        own.add(Reason.CONVERGED)
    assert result.status in {Reason.STALLED, Reason.XTOL, Reason.MAXFEV, Reason.DIVERGED} | own
    assert result.fun <= 0.6 * steps(np.ones(N))
