"""Every vector operation of a team of GPU threads does what one thread of a CPU does."""

from typing import NamedTuple

import numba
import numpy as np
import pytest

from devices import needs_gpu, run_kernel

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed: pip install 'pursuit[gpu]'")

from numba import cuda

from pursuit.compiling import rows as rows_of
from pursuit.compiling import vectors
from pursuit.compiling.vectors import SERIAL, repeated, summed
from pursuit.gpu.access import Memory, doubles_at, piece, reading
from pursuit.gpu.layout import Where, image_of
from pursuit.gpu.philox import Key
from pursuit.gpu.team import ahead_type, draw, put, rows_ahead, team_class, wait
from pursuit.gpu.threads import Shape

N = 37
KEY = Key(12345, 678)


@summed
def squares(i, x):
    return x[i] * x[i]


@summed
def neighbours(i, x):
    return x[i] * x[i + 1]


@repeated
def halve(i, x):
    x[i] *= 0.5


def elementwise(team, x, y, z, matrix):
    vectors.walk(team, x, y, 0.5, z)
    vectors.add(team, y, -2.0, z)
    vectors.blend(team, z, 0.25, 3.0, x)
    vectors.scale(team, x, 1.5)
    vectors.multiply(team, x, y)
    vectors.drift(team, y, z, 0.1, (0.0, 0.0), x)
    vectors.drift(team, y, z, 0.1, (0.5, 0.25), x)
    vectors.copy(team, matrix[1], y)
    vectors.fill(team, matrix[0], 7.0)
    halve(team, x.shape[0], x)


def short(team, x, y, z, matrix):
    vectors.scale(team, x[:5], 3.0)
    vectors.multiply(team, y[3:9], z[:6])
    x[0] = vectors.exchange(team, z, 11, 5.0)


def sums(team, x, y, z, matrix):
    a = squares(team, x.shape[0], x)
    b = neighbours(team, x.shape[0] - 1, y)
    c = vectors.dot(team, 5, x, z)
    vectors.fill(team, z, a + b + c)


def rows(team, x, y, z, matrix):
    rows_of.mix_rows(team, x, 0.5, y[:8], matrix[:8])
    rows_of.push(team, matrix[:4])


def matrices(team, x, y, z, matrix):
    rows_of.apply_matrix(team, x, matrix, y)
    rows_of.apply_factor(team, z, matrix, y)


def factor(team, x, y, z, matrix):
    rows_of.update_factor(team, matrix, 0.9, 0.3, x, y)


class Arrays(NamedTuple):
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    matrix: np.ndarray


def arrays():
    rng = np.random.default_rng(3)
    matrix = np.triu(rng.standard_normal((N, N))) + 3.0 * np.eye(N)
    return Arrays(*rng.standard_normal((3, N)), matrix)


def on_gpu(operation, lanes):
    """Return the arrays after an operation of a team of so many threads."""
    compiled = numba.njit(operation)
    team_of = team_class(Shape(lanes, N, N, 2))
    image = image_of(arrays(), lambda owner, name, array: (Where.IMAGE, 0))
    read = reading(image.root)

    def kernel(address, ignored):
        shared = cuda.shared.array(0, numba.float64)
        if cuda.threadIdx.x < lanes:
            team = team_of(numba.int64(cuda.threadIdx.x), piece(shared, 0, 16))
            given = read(Memory(address, shared, shared))
            compiled(team, given.x, given.y, given.z, given.matrix)

    row = np.zeros(image.words, dtype=np.int64)
    image.write(arrays(), row)
    run_kernel(kernel, row, max(32, lanes))
    return image.read(row)


@needs_gpu
@pytest.mark.parametrize("lanes", [1, 4, 32, 128])
@pytest.mark.parametrize("operation", [elementwise, short, sums, rows, matrices, factor])
def test_a_team_computes_what_one_thread_does(operation, lanes):
    expected = arrays()
    operation(SERIAL, *expected)
    for found, wanted in zip(on_gpu(operation, lanes), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@needs_gpu
@pytest.mark.parametrize("lanes", [1, 8, 32, 64])
def test_normals_are_standard_and_differ_between_iterations(lanes):
    count = 1000
    shape = Shape(lanes, N, N, 1)
    team_of, rows_of, kind = team_class(shape), rows_ahead(shape), ahead_type(shape)

    def kernel(address, ignored):
        shared = cuda.shared.array(0, numba.float64)
        if cuda.threadIdx.x < lanes:
            team = team_of(numba.int64(cuda.threadIdx.x), piece(shared, 0, 16))
            ahead = cuda.local.array(rows_of, kind)
            for k in range(count):
                draw(team, KEY, k, ahead)
                put(team, KEY, k, ahead, doubles_at(address + 8 * N * k, N))
            wait(team)

    given = np.zeros(count * N)
    run_kernel(kernel, given, max(32, lanes))
    assert len(np.unique(given)) > 0.99 * given.size
    # Five standard errors of mean, variance and fourth moment.
    for power, moment, variance in ((1, 0.0, 1.0), (2, 1.0, 2.0), (4, 3.0, 96.0)):
        assert abs(np.mean(given**power) - moment) < 5.0 * np.sqrt(variance / given.size)
    table = given.reshape(count, N)
    assert np.max(np.abs(np.corrcoef(table.T) - np.eye(N))) < 5.5 / np.sqrt(count)
