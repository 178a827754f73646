"""A run ends soon after nothing is left to gain, whatever the function is like, and says why."""

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

    arguments = {"maxfev": 1_000 * len(x0), **arguments}
    result = pursuit.minimize(watched, x0, method="differences", rng=seed, **arguments)
    lowest = np.minimum.accumulate(seen)
    found = np.argmax(lowest <= lowest[-1] + max(1e-13 * abs(lowest[-1]), 1e-20))
    return result, (len(seen) - found) / len(x0)


SMOOTH = {
    "bowl": (bowl, 0.0),
    "bowl above 1": (lambda x: 1.0 + bowl(x), 1.0),
    "bowl below 0": (lambda x: bowl(x) - 3.0, -3.0),
    "bowl far above": (lambda x: 1e6 + bowl(x), 1e6),
    "along the axes": (lambda x: 1.0 + float(SPECTRUM @ (x * x)), 1.0),
    "cosh": (lambda x: float(np.sum(np.cosh(x))), float(N)),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_soon_after_all_digits_are_found_a_run_has_ended(name):
    f, lowest = SMOOTH[name]
    for seed in range(4):
        result, after = minimized(f, seed)
        assert result.success
        assert result.status == Reason.CONVERGED
        assert result.fun - lowest <= max(1e-13 * abs(lowest), 1e-20)
        assert after <= 15.0


ROUNDED = {
    "in single precision": (lambda x: float(np.float32(1.0 + bowl(x))), 1.0, 1e-6),
    "rounded to 2 decimals": (lambda x: round(bowl(x), 2), 0.0, 0.02),
    "rounded to 6 decimals": (lambda x: round(bowl(x), 6), 0.0, 2e-6),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_values_are_followed_to_their_last_digits(name):
    """Where rounding hides all but the first digits, it takes a while to see that nothing more comes."""
    f, lowest, error = ROUNDED[name]
    for seed in range(4):
        result, after = minimized(f, seed)
        assert result.status in (Reason.CONVERGED, Reason.NOISE, Reason.FLAT)
        assert result.fun - lowest <= error
        # A last look around x takes 4 n of them.
        assert after <= 253.0


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e6])
def test_a_valley_is_followed_to_its_end(offset):
    """It takes dozens of sweeps, in some of which little is gained."""
    for seed in range(3):
        result, after = minimized(lambda x: offset + valley(x), seed, np.zeros(N))
        # With rounding errors of f = 1e-20 the last steps are guesses.
        assert result.fun - offset <= max(1e-13 * offset, 1e-18)
        assert after <= 40.0


NOTHING_TO_GAIN = {"constant": lambda x: 3.0, "zero": lambda x: 0.0, "small": lambda x: -1e-300}


@pytest.mark.parametrize("n", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("name", NOTHING_TO_GAIN)
def test_a_function_that_is_the_same_everywhere_is_called_flat_soon(name, n):
    for bounds in (None, [(0.0, 1.0)] * n):
        result, _ = minimized(NOTHING_TO_GAIN[name], 1, np.full(n, 0.5), bounds=bounds)
        assert result.status == Reason.FLAT
        assert not result.success
        # A few more where there are so few variables that n evaluations are not a sweep.
        assert result.nfev <= 20 * n + 20
        np.testing.assert_array_equal(result.x, 0.5)


@pytest.mark.parametrize("n", [2, 5, 10, 30, 100])
def test_pure_noise_is_left_early_and_called_noise(n):
    """The point that is returned is no farther away than steps may lead by chance.

    A lucky series of values looks like a gain once in a while, and the run goes on for a few sweeps.
    """
    evaluations = []
    for seed in range(9):
        rng = np.random.default_rng([7, seed])
        result = pursuit.minimize(
            lambda x, rng=rng: float(rng.standard_normal()),
            np.ones(n),
            method="differences",
            rng=seed,
            maxfev=1_000 * n,
        )
        assert result.status == Reason.NOISE
        assert result.fun_is_estimate
        assert np.sqrt(np.mean((result.x - 1.0) ** 2)) < 1e3
        evaluations.append(result.nfev)
    # Few variables: each step takes ten evaluations, whatever n is.
    assert np.median(evaluations) <= 15 * n + 70
    assert max(evaluations) <= 30 * n + 200


@pytest.mark.parametrize("sigma", [1e-3, 1.0])
def test_a_function_under_noise_is_not_given_up_as_pure_noise(sigma):
    """It ends by itself, where the true value is below the noise of a single one."""
    for seed in range(4):
        rng = np.random.default_rng([8, seed])
        result, _ = minimized(lambda x, rng=rng: bowl(x) + sigma * rng.standard_normal(), seed)
        assert bowl(result.x) < 0.3 * sigma
        assert result.status == Reason.NOISE


STEPPED = {
    "stairs": lambda x: float(np.floor(10.0 * bowl(x))),
    "boxes": lambda x: float(np.ceil(np.abs(x)).sum()),
    "largest stair": lambda x: float(np.floor(4.0 * np.abs(x).max())),
}


@pytest.mark.parametrize("name", STEPPED)
def test_jumps_and_plateaus_are_given_up_soon(name):
    for seed in range(3):
        result, after = minimized(STEPPED[name], seed)
        assert result.status != Reason.MAXFEV
        assert after <= 250.0


KINKED = {
    "sum of absolute values": lambda x: float(np.abs(x).sum()),
    "weighted": lambda x: float(np.sqrt(SPECTRUM) @ np.abs(x)),
    "largest absolute value, rotated": lambda x: float(np.abs(Q @ x).max()),
}


@pytest.mark.parametrize("name", KINKED)
def test_kinks_are_noticed_and_named_before_the_budget_is_spent(name):
    """Or the minimum is found all the same."""
    f = KINKED[name]
    for seed in range(3):
        result, _ = minimized(f, seed)
        assert result.fun < 0.9 * f(START)
        assert result.status == Reason.KINKS or result.fun < 1e-6
        assert result.nfev < 500 * N


W8 = np.geomspace(1.0, 100.0, 8)
Q8 = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]


def test_a_kink_that_is_met_exactly_ends_the_run():
    """A value of 0 looks rounded, but says nothing about the values around it."""
    exact = 0
    for kink in np.linspace(0.1, 3.0, 30):
        result = pursuit.minimize(
            lambda x, kink=kink: abs(x[0] - kink), [0.0], method="differences", rng=1, maxfev=10_000
        )
        assert result.status == Reason.KINKS
        assert result.fun < 1e-5
        exact += result.fun == 0.0
    assert exact >= 10


RIDGES = {
    "total variation": (lambda x: abs(x - 1.0).sum() + 10.0 * abs(np.diff(x)).sum(), np.zeros(10)),
    "weighted and rotated": (lambda x: float((W8 * abs(Q8 @ (x - 1.0))).sum()), np.zeros(8)),
    "penalty": (lambda x: x @ x + 1e3 * abs(x.sum() - 5.0), np.zeros(5)),
    "larger of two bowls": (lambda x: max(x @ x, (x - 1.0) @ (x - 1.0)), np.full(6, 2.0)),
}


@pytest.mark.parametrize("name", RIDGES)
def test_the_ridge_of_a_kink_is_no_success(name):
    """No coordinate step leaves it, although it is far from the minimum."""
    f, x0 = RIDGES[name]
    for seed in range(20):
        assert minimized(f, seed, x0)[0].status == Reason.KINKS


SADDLES = {
    "along the axes": (lambda x: float(np.sum(x**4 - x**2)), 4, -1.0),
    "between the axes": (lambda x: x[0] * x[1] + 0.1 * float(np.sum(x**4)), 4, -1.25),
}


@pytest.mark.parametrize("name", SADDLES)
def test_a_saddle_is_left_although_all_slopes_are_zero(name):
    f, n, lowest = SADDLES[name]
    for seed in range(20):
        result, _ = minimized(f, seed, np.zeros(n))
        assert result.fun == pytest.approx(lowest)


def test_a_function_that_falls_towards_a_bound_is_not_called_unbounded():
    """Neither far away nor below 0 does it fall steadily."""
    for f in (lambda x: -5.0 + 1.0 / (1.0 + x @ x), lambda x: -float(np.exp(-1.0 / (1.0 + x @ x)))):
        result, _ = minimized(f)
        assert result.status != Reason.UNBOUNDED
        assert math.isfinite(result.sigma)


ENDS = {
    Reason.CONVERGED: bowl,
    Reason.FLAT: lambda x: 3.0,
    Reason.UNBOUNDED: lambda x: float(x.sum()),
    Reason.KINKS: lambda x: float(np.abs(Q @ x).max()),
}


@pytest.mark.parametrize("reason", ENDS)
def test_the_message_is_a_sentence_and_success_agrees_with_it(reason):
    result, _ = minimized(ENDS[reason])
    assert result.status == reason
    assert result.success == (reason == Reason.CONVERGED)
    assert result.message[0].isalpha()
    assert result.message.endswith(".")


def test_tolerances_end_a_run_earlier():
    tight, loose, short = (
        minimized(lambda x: 1.0 + valley(x), 1, np.zeros(N), **tolerance)[0].nfev
        for tolerance in ({}, {"ftol": 1e-3}, {"xtol": 1e-2})
    )
    assert loose < tight
    assert short < tight
