"""The memory of steps, beside the matrix that the formula of BFGS makes of the same pairs."""

import numpy as np
import pytest

from methods.values.calling import from_python
from pursuit.compiling.vectors import SERIAL
from pursuit.methods.values import quasi_newton
from pursuit.methods.values.quasi_newton import Pairs

add_pair = from_python(quasi_newton.add_pair)
apply_inverse = from_python(quasi_newton.apply_inverse)
chain_of = from_python(quasi_newton.chain_of)
break_chain = from_python(quasi_newton.break_chain)


def remember(pairs, step, change):
    """Add a pair whose slopes before are 0."""
    add_pair(SERIAL, pairs, step, change, np.zeros(step.size), 0.0)


def inverse_of(pairs, scales):
    """Return the inverse by the recursion of BFGS, a full matrix, from the oldest pair to the newest.

    It begins with a multiple of 1/scales, that for which the newest pair fits along its change.
    """
    s, c = pairs[-1]
    H = np.diag(1.0 / scales) * (s @ c) / (c @ (c / scales))
    n = s.size
    for s, c in pairs:
        rho = 1.0 / (s @ c)
        V = np.eye(n) - rho * np.outer(c, s)
        H = V.T @ H @ V + rho * np.outer(s, s)
    return H


def random_pairs(rng, n, count):
    """Return pairs of a convex quadratic function."""
    A = rng.standard_normal((n, n))
    A = A @ A.T + np.eye(n)
    return [(s, A @ s) for s in rng.standard_normal((count, n))]


@pytest.mark.parametrize(("most", "count"), [(1, 1), (3, 2), (3, 3), (3, 7), (10, 10)])
def test_the_inverse_is_that_of_the_latest_pairs(most, count):
    n, rng = 6, np.random.default_rng(count)
    scales = rng.uniform(0.1, 10.0, n)
    pairs, memory = random_pairs(rng, n, count), Pairs.create(n, most)
    for pair in pairs:
        remember(memory, *pair)
    expected = inverse_of(pairs[-most:], scales)
    for q in rng.standard_normal((5, n)):
        found = q.copy()
        assert apply_inverse(SERIAL, memory, scales, found)
        np.testing.assert_allclose(found, expected @ q, rtol=1e-9, atol=1e-9 * np.abs(expected @ q).max())


def test_pairs_without_positive_curvature_are_not_used():
    n, rng = 5, np.random.default_rng(1)
    scales = np.ones(n)
    good, memory = random_pairs(rng, n, 2), Pairs.create(n, 4)
    step = rng.standard_normal(n)
    orthogonal = rng.standard_normal(n)
    orthogonal -= (orthogonal @ step) / (step @ step) * step
    for s, c in (good[0], (step, -step), (step, orthogonal), (step, np.zeros(n)), good[1]):
        remember(memory, s, c)
    # The first has left the ring of four, and three of the others say nothing.
    q = rng.standard_normal(n)
    expected = inverse_of(good[1:], scales) @ q
    assert apply_inverse(SERIAL, memory, scales, q)
    np.testing.assert_allclose(q, expected, rtol=1e-10)


def test_without_a_useful_pair_a_vector_is_left_alone():
    q = np.array([1.0, 2.0, 3.0])
    memory = Pairs.create(3, 2)
    assert not apply_inverse(SERIAL, memory, np.ones(3), q)
    remember(memory, np.ones(3), -np.ones(3))
    assert not apply_inverse(SERIAL, memory, np.ones(3), q)
    np.testing.assert_array_equal(q, [1.0, 2.0, 3.0])


def test_a_chain_of_steps_is_as_long_as_the_memory_at_most_and_can_break():
    memory, rng = Pairs.create(4, 3), np.random.default_rng(2)
    lengths = []
    for s, c in random_pairs(rng, 4, 5):
        remember(memory, s, c)
        lengths.append(chain_of(memory))
    break_chain(memory)
    lengths.append(chain_of(memory))
    remember(memory, np.ones(4), np.ones(4))
    lengths.append(chain_of(memory))
    assert lengths == [1, 2, 3, 3, 3, 0, 1]


def test_a_change_that_errors_of_the_slopes_explain_is_not_used():
    q, memory = np.array([1.0, 2.0, 3.0]), Pairs.create(3, 2)
    step = np.ones(3)
    add_pair(SERIAL, memory, step, 1e-3 * step, np.zeros(3), 1.0)
    assert not apply_inverse(SERIAL, memory, np.ones(3), q)
    add_pair(SERIAL, memory, step, 1e3 * step, np.zeros(3), 1.0)
    assert apply_inverse(SERIAL, memory, np.ones(3), q)
