"""Second derivatives and standard errors, beside closed forms."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pursuit

T = np.linspace(0.0, 1.0, 40)
RNG = np.random.default_rng(5)
NOISE = 0.05 * RNG.standard_normal(T.size)
# Powers of t are strongly correlated.
DESIGN = np.vander(T, 6, increasing=True)
DATA = DESIGN @ np.array([1.0, -2.0, 0.0, 3.0, 1e3, -5e-2]) + NOISE
SAMPLE = RNG.normal(3.0, 0.7, 200)


def squares(x):
    return float(np.sum((DESIGN @ x - DATA) ** 2))


def unlikely(x):
    """Return the negative logarithm of the likelihood of a normal sample."""
    mean, deviation = x
    return SAMPLE.size * np.log(deviation) + np.sum((SAMPLE - mean) ** 2) / (2.0 * deviation**2)


def fitted(fun, x0, **settings):
    result = pursuit.minimize(fun, x0, rng=1, **settings)
    result.hessian(fun, bounds=settings.get("bounds"))
    return result


def test_those_of_a_linear_fit():
    best, rest, _, _ = np.linalg.lstsq(DESIGN, DATA)
    exact = np.linalg.inv(DESIGN.T @ DESIGN)
    result = fitted(squares, best, sigma0=np.abs(best))
    np.testing.assert_allclose(result.hess, 2.0 * DESIGN.T @ DESIGN, rtol=1e-5)
    np.testing.assert_allclose(result.covariance(sigma=0.05), 0.05**2 * exact, rtol=1e-4)
    variance = rest[0] / (T.size - 6)
    np.testing.assert_allclose(
        result.standard_errors(residuals=T.size), np.sqrt(variance * np.diag(exact)), rtol=1e-4
    )


def test_those_of_a_likelihood():
    result = fitted(unlikely, [1.0, 1.0], bounds=[(None, None), (0.1, None)])
    deviation = SAMPLE.std()
    np.testing.assert_allclose(result.x, [SAMPLE.mean(), deviation], rtol=1e-6)
    np.testing.assert_allclose(
        result.standard_errors(), [deviation / np.sqrt(200.0), deviation / np.sqrt(400.0)], rtol=1e-4
    )


def test_those_that_nist_has_certified():
    """Misra1a of the Statistical Reference Datasets, from a start of theirs."""
    y = [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78]
    t = [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0]

    def misra(b):
        return float(np.sum((np.array(y) - b[0] * (1.0 - np.exp(-b[1] * np.array(t)))) ** 2))

    result = fitted(misra, [250.0, 5e-4], sigma0=[10.0, 1e-5])
    np.testing.assert_allclose(result.x, [2.3894212918e2, 5.5015643181e-4], rtol=1e-6)
    # Theirs are those of the linearised model.
    errors = result.standard_errors(residuals=len(y))
    np.testing.assert_allclose(errors, [2.7070075241, 7.2668688436e-6], rtol=0.01)


def test_noise_of_f_is_a_part_of_them():
    noise = np.random.default_rng(2)

    def noisy(x):
        return unlikely(x) + 0.3 * noise.standard_normal()

    exact = SAMPLE.std() / np.sqrt([200.0, 400.0])
    found = []
    for seed in range(80):
        result = pursuit.minimize(noisy, [2.0, 1.0], rng=seed, sigma0=0.2, bounds=[(None, None), (0.1, None)])
        assert result.fun_is_estimate
        result.hessian(noisy, bounds=[(None, None), (0.1, None)])
        off = result.x - [SAMPLE.mean(), SAMPLE.std()]
        found.append([result.standard_errors() ** 2, off**2])
    # They are to account for the sample and for how far the run has ended from the minimum.
    errors, off = np.mean(found, axis=0)
    np.testing.assert_allclose(errors, exact**2 + off, rtol=0.35)


def test_variables_at_a_bound_are_left_out():
    bounds = [(0.0, 4.0), (-1.0, 2.0), (None, None)]
    weights, target = (
        np.array([[3.0, 0.5, 1.0], [0.5, 2.0, 0.2], [1.0, 0.2, 1.0]]),
        np.array([-2.0, 0.5, 1.0]),
    )

    def bowl(x):
        assert 0.0 <= x[0] <= 4.0
        assert -1.0 <= x[1] <= 2.0
        return float((x - target) @ weights @ (x - target)) / 2.0

    result = fitted(bowl, [1.0, 1.0, 1.0], bounds=bounds)
    assert list(result.active_mask) == [-1, 0, 0]
    assert np.isnan(result.hess[0]).all()
    np.testing.assert_allclose(result.hess[1:, 1:], weights[1:, 1:], rtol=1e-6)
    errors = result.standard_errors()
    assert np.isnan(errors[0])
    np.testing.assert_allclose(errors[1:], np.sqrt(np.diag(np.linalg.inv(weights[1:, 1:]))), rtol=1e-5)


def test_they_look_like_the_parameters():
    def of_parts(parts):
        return (parts["a"] - 1.0) ** 2 + 4.0 * np.sum(parts["b"] ** 2)

    result = fitted(of_parts, {"a": 0.0, "b": np.ones(2)})
    errors = result.standard_errors(sigma=1.0)
    assert errors["a"] == pytest.approx(1.0, rel=1e-5)
    assert errors["b"] == pytest.approx([0.5, 0.5], rel=1e-5)


def test_others_may_evaluate():
    result = pursuit.minimize(unlikely, [3.0, 1.0], rng=1, sigma0=0.1)
    alone = result.hessian(unlikely)
    with ThreadPoolExecutor(2) as threads:
        np.testing.assert_array_equal(result.hessian(unlikely, workers=threads), alone)


def test_what_is_no_minimum_is_said():
    result = pursuit.minimize(unlikely, [3.0, 1.0], rng=1, sigma0=0.1)
    with pytest.raises(ValueError, match=r"call result\.hessian\(fun\) before"):
        result.standard_errors()
    result.hessian(lambda x: float(x[0] ** 2))
    with pytest.raises(ValueError, match="must be positive definite, but it is not"):
        result.standard_errors()
    result.hessian(unlikely)
    with pytest.raises(ValueError, match=r"residuals must be .* 3"):
        result.standard_errors(residuals=2)
