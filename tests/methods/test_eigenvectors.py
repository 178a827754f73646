"""Eigenvectors of small symmetric matrices, beside those of LAPACK."""

import numpy as np
import pytest

from pursuit.methods.rivals.eigenvectors import diagonalise


def symmetric(rng, eigenvalues):
    Q = np.linalg.qr(rng.standard_normal((len(eigenvalues),) * 2))[0]
    A = Q @ np.diag(eigenvalues) @ Q.T
    return 0.5 * (A + A.T)


RNG = np.random.default_rng(5)
MATRICES = {
    "one number": np.array([[-3.0]]),
    "two by two": np.array([[1.0, 2.0], [2.0, 1.0]]),
    "zero": np.zeros((4, 4)),
    "diagonal": np.diag([3.0, 1.0, 2.0]),
    "all eigenvalues equal": 7.0 * np.eye(5),
    "tridiagonal": np.diag(np.full(5, 2.0)) - np.diag(np.ones(4), 1) - np.diag(np.ones(4), -1),
    "two blocks": np.kron(np.eye(2), symmetric(RNG, np.array([1.0, 2.0, 5.0]))),
    "of rank 1": np.outer(np.arange(1.0, 7.0), np.arange(1.0, 7.0)),
    "random": symmetric(RNG, RNG.standard_normal(26)),
    "of many scales": symmetric(RNG, 10.0 ** np.linspace(-12, 6, 30)),
    "tiny": 1e-250 * symmetric(RNG, RNG.uniform(1.0, 2.0, 8)),
    "huge": 1e250 * symmetric(RNG, RNG.uniform(1.0, 2.0, 8)),
}


@pytest.mark.parametrize("name", MATRICES)
def test_eigenvalues_and_eigenvectors_are_those_of_the_matrix(name):
    matrix = MATRICES[name]
    size = np.abs(matrix).max() or 1.0
    work = matrix.copy()
    vectors = diagonalise(work)
    found = np.diag(work)
    np.testing.assert_allclose(np.sort(found), np.linalg.eigvalsh(matrix), atol=1e-14 * size * len(matrix))
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(len(matrix)), atol=1e-13)
    np.testing.assert_allclose(vectors.T @ np.diag(found) @ vectors, matrix, atol=1e-13 * size)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_a_number_comes_to_an_end(bad):
    matrix = np.eye(4)
    matrix[1, 2] = matrix[2, 1] = bad
    with np.errstate(invalid="ignore"):
        assert not np.isfinite(diagonalise(matrix)).all()
