"""The minimum of a quadratic model that need not be convex."""

import numpy as np
import pytest

from methods.values.calling import from_python
from pursuit.methods.values import model

model_minimizer = from_python(model.model_minimizer)
diagonalised = from_python(model.diagonalised)


def symmetric(rng, eigenvalues):
    """Return a random symmetric matrix that has these eigenvalues."""
    Q = np.linalg.qr(rng.standard_normal((len(eigenvalues),) * 2))[0]
    H = Q @ np.diag(eigenvalues) @ Q.T
    return 0.5 * (H + H.T)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_a_convex_model_has_its_minimum_where_numpy_finds_it(k):
    rng = np.random.default_rng(k)
    for _ in range(200):
        H = symmetric(rng, rng.uniform(1.0, 100.0, k))
        g = rng.standard_normal(k)
        np.testing.assert_allclose(
            model_minimizer(g, H, 1e-10), np.linalg.solve(H, -g), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_negative_curvature_counts_by_its_size(k):
    """With variables scaled so that the diagonal is 1 or -1, |H| is the matrix of absolute eigenvalues."""
    rng = np.random.default_rng(k)
    for _ in range(200):
        H = symmetric(rng, rng.uniform(-10.0, 10.0, k))
        g = rng.standard_normal(k)
        scales = np.sqrt(np.abs(np.diag(H)))
        eigenvalues, V = np.linalg.eigh(H / np.outer(scales, scales))
        least = 1e-3
        sizes = np.maximum(np.abs(eigenvalues), least)
        expected = -(V @ ((V.T @ (g / scales)) / sizes)) / scales
        found = model_minimizer(g, H, least)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10 * np.abs(expected).max())
        # It leads downhill.
        assert found @ g < 0.0


@pytest.mark.parametrize("scale", [1e-140, 1e-8, 1.0, 1e8, 1e140])
def test_variables_of_any_scale_make_no_difference(scale):
    """Powers of two would make none at all; here the last digits may differ."""
    rng = np.random.default_rng(3)
    H, g = symmetric(rng, np.array([1.0, 2.0, 30.0])), rng.standard_normal(3)
    factors = np.array([1.0, scale, 1.0])
    found = model_minimizer(g / factors, H / np.outer(factors, factors), 1e-10)
    np.testing.assert_allclose(found / factors, np.linalg.solve(H, -g), rtol=1e-9)


def test_the_eigenvalues_are_those_of_numpy():
    rng = np.random.default_rng(7)
    for k in range(1, 7):
        H = symmetric(rng, rng.standard_normal(k))
        A = H.copy()
        V = diagonalised(A)
        np.testing.assert_allclose(np.sort(np.diag(A)), np.linalg.eigvalsh(H), atol=1e-13)
        np.testing.assert_allclose(V @ np.diag(np.diag(A)) @ V.T, H, atol=1e-13)
        np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_model_that_is_no_number_has_no_minimum(bad):
    H = np.array([[1.0, bad], [bad, 1.0]])
    assert np.isnan(model_minimizer(np.ones(2), H, 1e-10)).all()


def test_a_diagonal_without_curvature_gives_a_step_that_is_finite_or_says_so():
    found = model_minimizer(np.ones(2), np.zeros((2, 2)), 1e-10)
    assert (found < 0.0).all()
