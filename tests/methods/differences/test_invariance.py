"""Under which changes of the function a run of `differences` stays the same.

It is the same, bit for bit, if f is multiplied by a power of four, or all variables together by a power of
two: square roots of curvatures are exact multiples then. It is not if a number is added to f or to x, which
rounds differently, and not under rotations and permutations of the variables: it probes along the axes, and
the sides of the probes belong to their numbers. But it gets to the same place.
"""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

import pursuit
from helpers import make_problem

few = settings(max_examples=15)
names = st.sampled_from(["exp", "lin", "two", "rosenbrock"])
dimensions = st.integers(2, 25)
seeds = st.integers(0, 2**32 - 1)
powers = st.integers(-20, 20)
bounded = st.booleans()


def minimized(f, x0, seed, **arguments):
    return pursuit.minimize(f, x0, method="differences", rng=seed, maxfev=600, **arguments)


def around(x0, factor=1.0):
    """Return bounds that cut off a part of the space."""
    return [(factor * (start - 0.5), factor * (start + 1.0)) for start in x0]


@pytest.mark.parametrize("name", ["exp", "rosenbrock"])
@pytest.mark.parametrize("n", [4, 12, 40])
def test_translations_permutations_and_reflections_take_about_as_long(name, n):
    """What differs is rounding, and on which side of a point a probe is: no more than by chance."""
    problem = pursuit.problems.rotated(make_problem(name, n, 1e3), 1)
    order, signs = np.random.default_rng(n).permutation(n), np.where(np.arange(n) % 2, 1.0, -1.0)
    changed = {
        "plain": (lambda x: x, problem.x0),
        "translated": (lambda x: x - 5.0, problem.x0 + 5.0),
        "permuted": (lambda x: x[np.argsort(order)], problem.x0[order]),
        "reflected": (lambda x: signs * x, signs * problem.x0),
    }
    medians = {}
    for change, (back, x0) in changed.items():
        runs = [
            pursuit.minimize(
                lambda x, back=back: problem(back(x)), x0, method="differences", rng=seed, ftarget=1e-9
            )
            for seed in range(3)
        ]
        assert all(run.success for run in runs)
        medians[change] = np.median([run.nfev for run in runs])
    assert max(medians.values()) <= 1.5 * min(medians.values())


@pytest.mark.parametrize("name", ["exp", "rosenbrock"])
@pytest.mark.parametrize("told", [True, False])
def test_variables_of_different_scales_are_learnt_or_told(name, told):
    """With x_i multiplied by 10^(6i/n), it takes a few times as long, or a few sweeps of probes a decade."""
    n = 12
    problem = make_problem(name, n, 1e3)
    sizes = 10.0 ** (6.0 * np.arange(n) / n)
    plain = [
        pursuit.minimize(lambda x: problem(x), problem.x0, method="differences", rng=seed, ftarget=1e-9).nfev
        for seed in range(5)
    ]
    scaled = [
        pursuit.minimize(
            lambda x: problem(x / sizes), sizes * problem.x0, method="differences", rng=seed, ftarget=1e-9,
            sigma0=sizes if told else 1.0, maxfev=max(5 * max(plain), 30 * n),
        )
        for seed in range(5)
    ]  # fmt: skip
    assert all(result.success for result in scaled)
