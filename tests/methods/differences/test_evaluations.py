"""The first evaluations of `values` pay, along the axes as in any other direction."""

import numpy as np
import pytest
import scipy.fft
import scipy.stats

import pursuit
from methods.values.calling import from_python
from pursuit.methods.values.mixtures import add_mixture, draw_signs
from pursuit.methods.values.order import shuffled
from pursuit.methods.values.scheme import Values

N = 400
SPECTRA = {
    "exp": np.geomspace(1.0, 1e4, N),
    "lin": np.linspace(1.0, 1e4, N),
    "two": np.repeat([1.0, 1e6], N // 2),
}
ROTATION = np.linalg.qr(np.random.default_rng(0).standard_normal((N, N)))[0]


def smallest_after(evaluations, f, seed):
    result = pursuit.minimize(f, np.ones(N), method="values", rng=seed, maxfev=evaluations)
    return result.fun / f(np.ones(N))


@pytest.mark.parametrize("name", SPECTRA)
def test_the_first_n_evaluations_win_much_whatever_the_axes_are(name):
    """Coordinate by coordinate, they would solve half of the problem along the axes: 0.5 would be left."""
    spectrum = SPECTRA[name]
    left = [smallest_after(N, lambda x: float(spectrum @ (x * x)), seed) for seed in range(5)]
    turned = [smallest_after(N, lambda x: float(spectrum @ (ROTATION @ x) ** 2), seed) for seed in range(5)]
    assert np.median(left) < 0.35
    assert np.median(turned) < 0.35


@pytest.mark.parametrize("name", SPECTRA)
def test_after_three_n_evaluations_a_separable_quadratic_is_all_but_solved(name):
    spectrum = SPECTRA[name]
    left = [smallest_after(3 * N, lambda x: float(spectrum @ (x * x)), seed) for seed in range(5)]
    assert np.median(left) < 0.01


def test_mixtures_are_the_rows_of_a_cosine_transform_with_signs():
    """SciPy's, that is; the signs are those of the constant one."""
    n = 50
    state = Values.create(n).init(np.zeros(n), 1.0, 1.0)
    from_python(draw_signs)(state, np.uint64(7))
    rows = np.zeros((n, n))
    add = from_python(add_mixture)
    for k in range(n):
        add(state, k, 1.0, rows[k])
    signs = np.sign(rows[0])
    assert 10 < np.sum(signs > 0) < 40
    assert np.allclose(rows * signs, scipy.fft.dct(np.eye(n), norm="ortho", axis=0), rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 100, 1025])
def test_an_order_has_everything_once(n):
    at = from_python(shuffled)
    orders = [[at(place, n, np.uint64(key)) for place in range(n)] for key in range(20)]
    assert all(sorted(order) == list(range(n)) for order in orders)


def test_orders_are_as_good_as_random():
    """Each coordinate is the first about as often: chi-squared, which fails by chance once in 10 000."""
    at, n, draws = from_python(shuffled), 20, 4000
    counts = np.bincount([at(0, n, np.uint64(key * 7919)) for key in range(draws)], minlength=n)
    statistic = float(np.sum((counts - draws / n) ** 2) / (draws / n))
    assert statistic < scipy.stats.chi2.ppf(0.9999, n - 1)
