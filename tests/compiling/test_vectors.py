"""Every vector operation beside NumPy, called by Python and from compiled code."""

import numba
import numpy as np
import pytest

from pursuit.compiling.rows import (
    add_products,
    apply_factor,
    apply_matrix,
    mix_rows,
    mix_slice,
    push,
    update_factor,
)
from pursuit.compiling.vectors import (
    SERIAL,
    add,
    blend,
    copy,
    dot,
    drift,
    exchange,
    fill,
    multiply,
    repeated,
    scale,
    summed,
    walk,
)

# Below and above the lanes of a sum, and above the slices of a mixture.
DIMENSIONS = [1, 2, 3, 4, 5, 7, 8, 513, 1030]
every_dimension = pytest.mark.parametrize("n", DIMENSIONS)


def drawn(n, *shapes):
    rng = np.random.default_rng(n)
    return [rng.standard_normal(shape) for shape in shapes]


@every_dimension
@pytest.mark.parametrize("a", [0.0, 0.3])
def test_walk(n, a):
    x, u, out = drawn(n, n, n, n)
    u[0] = np.inf if a == 0.0 else u[0]
    expected = x if a == 0.0 else x + a * u
    walk(SERIAL, out, x, a, u)
    np.testing.assert_array_equal(out, expected)


@every_dimension
def test_add(n):
    x, u = drawn(n, n, n)
    expected = x + 0.3 * u
    add(SERIAL, x, 0.3, u)
    np.testing.assert_array_equal(x, expected)


@every_dimension
def test_blend(n):
    x, y = drawn(n, n, n)
    expected = 0.3 * x + 0.7 * y
    blend(SERIAL, x, 0.3, 0.7, y)
    np.testing.assert_array_equal(x, expected)


@every_dimension
def test_scale(n):
    (x,) = drawn(n, n)
    expected = 0.3 * x
    scale(SERIAL, x, 0.3)
    np.testing.assert_array_equal(x, expected)


@every_dimension
def test_copy(n):
    x, out = drawn(n, n, n)
    copy(SERIAL, out, x)
    np.testing.assert_array_equal(out, x)


@every_dimension
def test_fill_and_multiply(n):
    x, y = drawn(n, n, n)
    expected = x * y
    multiply(SERIAL, x, y)
    np.testing.assert_array_equal(x, expected)
    fill(SERIAL, x, 0.3)
    np.testing.assert_array_equal(x, np.full(n, 0.3))


@every_dimension
def test_exchange_returns_what_was_there(n):
    (x,) = drawn(n, n)
    before = x.copy()
    assert exchange(SERIAL, x, n - 1, 0.3) == before[n - 1]
    assert x[n - 1] == 0.3
    np.testing.assert_array_equal(x[: n - 1], before[: n - 1])


@every_dimension
@pytest.mark.parametrize("a", [0.0, 0.3])
def test_drift_does_in_one_pass_what_four_operations_do(n, a):
    y, v, u = drawn(n, n, n, n)
    slow_y, slow_v, theta, b = y.copy(), v.copy(), 0.1, 7.0 * a
    if a != 0.0:
        add(SERIAL, slow_y, a, u)
    blend(SERIAL, slow_y, 1.0 / (1.0 + theta), theta / (1.0 + theta), slow_v)
    blend(SERIAL, slow_v, 1.0 - theta, theta, slow_y)
    if a != 0.0:
        add(SERIAL, slow_v, b, u)
    drift(SERIAL, y, v, theta, (a, b), u)
    np.testing.assert_array_equal(y, slow_y)
    np.testing.assert_array_equal(v, slow_v)


@every_dimension
def test_a_step_is_repeated_for_all_entries(n):
    @repeated
    def negate(i, x, y):
        x[i] = -y[i]

    x, y = drawn(n, n, n)
    negate(SERIAL, n, x, y)
    np.testing.assert_array_equal(x, -y)


@every_dimension
@pytest.mark.parametrize("m", [1, 2, 5, 8])
def test_mix_rows(n, m):
    x, weights, rows = drawn(n, n, m, (m, n))
    expected = 0.3 * x + weights @ rows
    mix_rows(SERIAL, x, 0.3, weights, rows)
    np.testing.assert_allclose(x, expected, rtol=1e-12, atol=1e-12)


@every_dimension
@pytest.mark.parametrize("m", [0, 1, 4, 9])
def test_rows_are_mixed_and_multiplied_within_columns(n, m):
    x, weights, rows, out = drawn(n, n, m, (m, n + 5), m)
    columns = rows[:, 3 : 3 + n]
    expected = out + columns @ x
    add_products(out, rows, x, 3)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    expected = 0.3 * x + weights @ columns
    mix_slice(x, 0.3, weights, rows, 3)
    np.testing.assert_allclose(x, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_push(m):
    (rows,) = drawn(m, (m, 3))
    expected = np.vstack([rows[1:], rows[-1:]])
    push(SERIAL, rows)
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_apply_matrix(n):
    matrix, x, out = drawn(n, (n, n), n, n)
    apply_matrix(SERIAL, out, matrix, x)
    np.testing.assert_allclose(out, matrix @ x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_apply_factor_reads_the_lower_triangle_by_columns(n):
    columns, x, out = drawn(n, (n, n), n, n)
    apply_factor(SERIAL, out, columns, x)
    np.testing.assert_allclose(out, np.tril(columns.T) @ x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_update_factor_is_a_rank_one_update(n):
    columns, p, work = drawn(n, (n, n), n, n)
    columns[np.diag_indices(n)] = 1.0 + np.abs(columns.diagonal())
    factor = np.tril(columns.T)
    expected = 0.9 * factor @ factor.T + 0.1 * np.outer(p, p)
    update_factor(SERIAL, columns, 0.9, 0.1, p, work)
    updated = np.tril(columns.T)
    np.testing.assert_allclose(updated @ updated.T, expected, rtol=1e-12, atol=1e-12)


@every_dimension
def test_dot(n):
    x, y = drawn(n, n, n)
    assert dot(SERIAL, n, x, y) == pytest.approx(np.dot(x, y), rel=1e-12, abs=1e-12)


@every_dimension
def test_a_sum_of_terms_runs_in_four_fixed_lanes(n):
    """The order of additions is part of the contract: it fixes the last bits on every machine."""

    @summed
    def weighted(i, a, x):
        return a[i] * x[i] * x[i]

    a, x = drawn(n, n, n)
    terms = [float(term) for term in a * x * x]
    whole = n - n % 4
    lanes = [0.0] * 4
    for i in range(whole):
        lanes[i % 4] += terms[i]
    for term in terms[whole:]:
        lanes[0] += term
    assert weighted(SERIAL, n, a, x) == (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])


@summed
def of_neighbours(i, x):
    return x[i] * x[i + 1]


@summed
def of_sizes(i, x):
    return abs(x[i])


@repeated
def swap(i, x, y):
    kept = x[i]
    x[i] = y[i]
    y[i] = kept


@repeated
def cut(i, x):
    x[i] = x[i] if x[i] > 0.0 else 0.5


def every_operation(n, x, y, u, v, matrix):
    walk(SERIAL, x, y, 0.3, u)
    add(SERIAL, x, -1.7, v)
    blend(SERIAL, y, 0.3, 1.1, x)
    drift(SERIAL, y, v, 0.1, (0.0, 0.0), u)
    drift(SERIAL, y, v, 0.1, (0.3, 2.1), u)
    multiply(SERIAL, u, y)
    scale(SERIAL, v, 0.7)
    swap(SERIAL, n, x, v)
    cut(SERIAL, n, u)
    mix_rows(SERIAL, x, 0.3, u[:7], matrix[:7])
    add_products(u[:7], matrix[:7], v[: n - 3], 2)
    push(SERIAL, matrix[:3])
    for i in range(min(n, 30)):
        matrix[i, i] = 2.0 + abs(matrix[i, i])
    small = matrix[:30, :30].copy()
    update_factor(SERIAL, small, 0.9, 0.1, v[:30], y[:30].copy())
    apply_factor(SERIAL, x[:30], small, v[:30])
    apply_matrix(SERIAL, u[:9], matrix[:9], v)
    a, b, c = dot(SERIAL, n, x, u), of_neighbours(SERIAL, n - 1, v), of_sizes(SERIAL, n, y)
    copy(SERIAL, y, x)
    fill(SERIAL, v, exchange(SERIAL, u, 3, 0.5))
    return a, b, c


every_operation_compiled = numba.njit(every_operation)


@pytest.mark.parametrize("n", [30, 31, 33, 514, 1030])
def test_compiled_loops_give_the_bits_of_numpy(n):
    arrays = drawn(n, n, n, n, n, (max(n, 30), n))
    others = [array.copy() for array in arrays]
    assert every_operation(n, *arrays) == every_operation_compiled(n, *others)
    for array, other in zip(arrays, others, strict=True):
        np.testing.assert_array_equal(array, other)
