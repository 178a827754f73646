"""Under which changes of the function a run of `values` stays the same.

It is the same, bit for bit, if f is multiplied by a power of four, or all variables together by a power of
two: square roots of curvatures are exact multiples then. It is not if a
number is added to f or to x, which rounds differently, and not under rotations and permutations of the
variables: it probes along the axes, and the sides of the probes belong to their numbers.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pursuit
from helpers import make_problem

few = settings(max_examples=15)
names = st.sampled_from(["exp", "lin", "two", "rosenbrock"])
dimensions = st.integers(2, 12)
seeds = st.integers(0, 2**32 - 1)
powers = st.integers(-20, 20)


def minimized(f, x0, seed, **arguments):
    return pursuit.minimize(f, x0, method="values", rng=seed, maxfev=800, **arguments)


@given(names, dimensions, seeds, powers)
@few
def test_a_multiple_of_f_gives_the_same_run(name, n, seed, power):
    factor = 4.0**power
    problem = make_problem(name, n, 1e3)
    plain = minimized(lambda x: problem(x), problem.x0, seed, ftarget=1e-9)
    multiplied = minimized(lambda x: factor * problem(x), problem.x0, seed, ftarget=factor * 1e-9)
    np.testing.assert_array_equal(plain.x, multiplied.x)
    assert factor * plain.fun == multiplied.fun
    assert factor * plain.noise == multiplied.noise
    assert (plain.nit, plain.nfev) == (multiplied.nit, multiplied.nfev)


@given(names, dimensions, seeds, powers)
@few
def test_a_multiple_of_all_variables_gives_the_same_run(name, n, seed, power):
    factor = 2.0**power
    problem = make_problem(name, n, 1e3)
    plain = minimized(lambda x: problem(x), problem.x0, seed, ftarget=1e-9)
    multiplied = minimized(
        lambda x: problem(x / factor), factor * problem.x0, seed, sigma0=factor, ftarget=1e-9
    )
    np.testing.assert_array_equal(factor * plain.x, multiplied.x)
    assert (plain.fun, plain.noise, plain.nit, plain.nfev) == (
        multiplied.fun, multiplied.noise, multiplied.nit, multiplied.nfev,
    )  # fmt: skip
    assert factor * plain.sigma == multiplied.sigma


@pytest.mark.parametrize("name", ["exp", "rosenbrock"])
@pytest.mark.parametrize("told", [True, False])
def test_variables_of_different_scales_are_learnt_or_told(name, told):
    """With x_i multiplied by 10^(6i/n), it takes a few times as long, or a few sweeps of probes a decade."""
    n = 12
    problem = make_problem(name, n, 1e3)
    sizes = 10.0 ** (6.0 * np.arange(n) / n)
    plain = [
        pursuit.minimize(lambda x: problem(x), problem.x0, method="values", rng=seed, ftarget=1e-9).nfev
        for seed in range(5)
    ]
    scaled = [
        pursuit.minimize(
            lambda x: problem(x / sizes), sizes * problem.x0, method="values", rng=seed, ftarget=1e-9,
            sigma0=sizes if told else 1.0, maxfev=max(5 * max(plain), 30 * n),
        )
        for seed in range(5)
    ]  # fmt: skip
    assert all(result.success for result in scaled)


def test_a_problem_along_the_axes_is_solved_in_a_few_n_evaluations():
    """What a method without axes takes hundreds of thousands for."""
    problem = pursuit.problems.exp(100, 1e6)
    for seed in range(5):
        result = pursuit.minimize(lambda x: problem(x), problem.x0, method="values", rng=seed, ftarget=1e-9)
        assert result.nfev <= 500
