"""Standard errors beside those of lmfit and iminuit, on fits as people make them."""

import numpy as np
import pytest

import pursuit

RNG = np.random.default_rng(3)
TIMES = np.linspace(0.0, 10.0, 120)


def swinging(x, t=TIMES):
    """A damped oscillation: amplitude, decay, frequency, phase and offset."""
    amplitude, decay, frequency, phase, offset = x
    return offset + amplitude * np.exp(-decay * t) * np.sin(frequency * t + phase)


TRUTH = np.array([5.0, 0.25, 2.0, 0.4, 100.0])
MEASURED = swinging(TRUTH) + 0.3 * RNG.standard_normal(TIMES.size)

EDGES = np.linspace(0.0, 10.0, 61)
CENTRES = (EDGES[1:] + EDGES[:-1]) / 2.0


def spectrum(x):
    """A peak on a falling background, in counts: height, place and width; height and slope."""
    height, place, width, background, slope = x
    return height * np.exp(-0.5 * ((CENTRES - place) / width) ** 2) + background * np.exp(-slope * CENTRES)


PEAK = np.array([80.0, 4.0, 0.5, 60.0, 0.2])
COUNTS = RNG.poisson(spectrum(PEAK))


def squares(x):
    return float(np.sum((swinging(x) - MEASURED) ** 2))


def unlikely(x):
    expected = spectrum(x)
    return float(np.sum(expected - COUNTS * np.log(expected)))


def test_those_of_least_squares_are_those_of_lmfit():
    lmfit = pytest.importorskip("lmfit")
    parameters = lmfit.create_params(**dict(zip("abcde", TRUTH.tolist(), strict=True)))
    fit = lmfit.minimize(lambda p: swinging(list(p.valuesdict().values())) - MEASURED, parameters)
    result = pursuit.minimize(squares, TRUTH, rng=1, sigma0=0.1)
    result.hessian(squares)
    found = [fit.params[name] for name in "abcde"]
    np.testing.assert_allclose(result.x, [one.value for one in found], rtol=1e-4)
    np.testing.assert_allclose(
        result.standard_errors(residuals=TIMES.size), [one.stderr for one in found], rtol=0.02
    )


def test_those_of_a_likelihood_are_those_of_iminuit():
    iminuit = pytest.importorskip("iminuit")
    minuit = iminuit.Minuit(unlikely, PEAK)
    minuit.errordef = iminuit.Minuit.LIKELIHOOD
    minuit.migrad()
    minuit.hesse()
    result = pursuit.minimize(unlikely, PEAK, rng=1, sigma0=[5.0, 0.1, 0.1, 5.0, 0.02])
    result.hessian(unlikely)
    np.testing.assert_allclose(result.x, minuit.values, rtol=1e-3)
    np.testing.assert_allclose(result.standard_errors(), minuit.errors, rtol=0.02)
    scales = np.outer(minuit.errors, minuit.errors)
    np.testing.assert_allclose(result.covariance() / scales, minuit.covariance / scales, atol=0.02)
