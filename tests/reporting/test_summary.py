"""What `print(result)` shows."""

import re

import numpy as np
import pytest

import pursuit


def sphere(x):
    return float(x @ x)


def kinks(x):
    """Rotate by 45 degrees in pairs, so that no kink lies along a coordinate."""
    return float(np.abs(x[::2] + x[1::2]).sum() + 3.0 * np.abs(x[::2] - x[1::2]).sum())


def fields_of(text):
    """Return the fields that a summary shows, each with its text on one line."""
    joined = re.sub(r"\n {9}", " ", text)
    return dict(line.split(maxsplit=1) for line in joined.splitlines())


def test_a_result_shows_what_matters():
    result = pursuit.minimize(sphere, np.ones(3), method="rp", rng=1, ftarget=1e-3)
    shown = fields_of(str(result))
    assert list(shown) == ["fun", "success", "message", "nfev", "time", "sigma", "method", "x"]
    assert float(shown["fun"]) == float(f"{result.fun:.10g}")
    assert shown["success"] == "True"
    assert shown["message"] == "The target value ftarget was reached."
    assert shown["nfev"] == f"{result.nfev} evaluations, in {result.nit} iterations"
    assert shown["time"].endswith(" s")
    assert shown["sigma"] == f"{result.sigma:.3g}, the step size"
    assert shown["method"] == "rp"
    assert len(shown["x"].split()) >= 3
    assert repr(result) == str(result)


def test_the_stages_of_auto_are_told_and_no_line_is_long():
    result = pursuit.minimize(kinks, np.linspace(-2.0, 3.0, 40), rng=1, maxfev=6000)
    shown = fields_of(str(result))
    assert shown["method"] == "auto (differences, evolution)"
    assert re.search(r"`differences` stopped after \d+ evaluations because", shown["message"])
    assert re.fullmatch(r"\[( *\S+){3} +\.\.\.( +\S+){3}\], 40 variables", shown["x"])
    assert max(map(len, str(result).splitlines())) <= 79


def test_what_a_run_has_found_out_is_shown_where_there_is_something():
    def holed(x):
        return sphere(x) if x[0] > -0.5 else np.nan

    result = pursuit.minimize(holed, np.ones(3), method="rp", rng=1, maxfev=300, trace=True)
    shown = fields_of(str(result))
    assert shown["nfaulty"] == f"{result.nfaulty} of the values were NaN"
    columns = "nit, nfev, fun, method, sigma, at_bound"
    assert shown["trace"] == f"{columns}: {len(result.trace.nit)} entries each"
    noisy = pursuit.minimize(sphere, np.ones(3), method="differences", rng=1)
    assert fields_of(str(noisy))["noise"].endswith(", the standard deviation of the noise of a value")


def test_an_estimate_is_shown_with_its_error():
    noise = np.random.default_rng(1)
    result = pursuit.minimize(
        lambda x: 5.0 + sphere(x) + noise.normal(scale=0.1), np.ones(3), rng=1, maxfev=900
    )
    assert result.fun_is_estimate
    assert 0.0 < result.fun_error < 0.1
    assert abs(result.fun - 5.0 - sphere(result.x)) < 5.0 * result.fun_error
    fun, sign, error, *rest = fields_of(str(result))["fun"].split()
    assert (sign, rest) == ("±", ["an", "estimate"])
    assert float(error.rstrip(",")) == float(f"{result.fun_error:.2g}")
    assert abs(float(fun) - result.fun) < 0.1 * result.fun_error
    exact = pursuit.minimize(sphere, np.ones(3), rng=1, ftarget=1e-3)
    assert exact.fun_error is None
    assert "±" not in str(exact)


@pytest.mark.parametrize(
    ("fun", "error", "text"),
    [
        (1.23456, 0.0234, "1.235 ± 0.023, an estimate"),
        (0.0, 0.02, "0 ± 0.02, an estimate"),
        (-1234567.0, 2e4, "-1.235e+06 ± 2e+04, an estimate"),
        (1e-3, 10.0, "0.001 ± 10, an estimate"),
        (1.25, None, "1.25, an estimate"),
        (1.25, np.inf, "1.25, an estimate"),
        (np.inf, 1.0, "inf, an estimate"),
    ],
)
def test_an_estimate_has_the_digits_that_its_error_leaves(fun, error, text):
    result = pursuit.Result(fun=fun, fun_is_estimate=True, fun_error=error)
    assert fields_of(str(result))["fun"] == text


def test_the_violation_of_constraints_is_shown():
    result = pursuit.minimize(
        sphere, np.ones(3), rng=1, constraints={"type": "eq", "fun": lambda x: x[0] - 0.5}
    )
    expected = f"{result.maxcv:.2g}, by how much constraints are violated at most"
    assert fields_of(str(result))["maxcv"] == expected


def test_results_without_all_fields_can_be_shown():
    begun = pursuit.Optimizer([1.0, 2.0], rng=1).result
    assert fields_of(str(begun))["nfev"] == "0 evaluations, in 0 iterations"
    (one,) = pursuit.minimize_many(pursuit.problems.exp(3, 10.0), np.ones(3), seeds=1, rng=1, method="rp")
    assert fields_of(str(one))["seed"] == "SeedSequence( entropy=1, spawn_key=(0,), )"
    assert str(pursuit.Result()) == "Result()"
    assert str(pursuit.Result(nfev=1, nit=1)) == "nfev     1 evaluation, in 1 iteration"
