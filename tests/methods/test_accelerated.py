"""`arp` and `acdm` against literal transcriptions of their pseudo-code, and what they are good for."""

import math

import numpy as np
import pytest

import pursuit
from helpers import make_problem, options_for
from pursuit.methods import create_scheme
from reference import accelerated as reference
from reference import problems as reference_problems

ITERATIONS = 300
SIGMA, TARGET = 0.1, 1e-6
# A difference over less would show how a function rounds its values, more than anything else.
MU = 1e-2
# Here the drift throws the iterates about: the reference itself, started 1e-16 beside, is 7e-8 off after 150
# iterations and 4e-13 after 50.
CHAOTIC = {("arp", "rosenbrock", 2): 50}
BY_DIFFERENCE = {"line_search": "difference", "mu": MU}


def draws(columns):
    """Return the normals, drawn by NumPy; ours are drawn by compiled code."""
    return np.random.default_rng(3).standard_normal((ITERATIONS, columns))


SCHEMES = {
    "arp": ("arp", {}, lambda f, x, m, L: reference.arp(f, x, draws(len(x)), m, L)),
    "arp, only convex": ("arp", {"m": 0.0}, lambda f, x, m, L: reference.arp(f, x, draws(len(x)), 0.0, 1.0)),
    "acdm": ("acdm", {}, lambda f, x, m, L: reference.acdm(f, x, SIGMA, draws(1), m, L)),
    "acdm, only convex": (
        "acdm",
        {"m": 0.0},
        lambda f, x, m, L: reference.acdm(f, x, SIGMA, draws(1), 0.0, 1.0),
    ),
    "acdm by difference": (
        "acdm",
        BY_DIFFERENCE,
        lambda f, x, m, L: reference.acdm(f, x, SIGMA, draws(1), m, L, MU),
    ),
}


@pytest.mark.parametrize("n", [2, 7, 20])
@pytest.mark.parametrize("problem_name", ["exp", "rosenbrock"])
@pytest.mark.parametrize("name", SCHEMES)
def test_follows_the_pseudo_code(name, problem_name, n):
    """Up to a target: below it, f is made of rounding errors of the iterates."""
    method, options, transcription = SCHEMES[name]
    f, x0 = reference_problems.make(problem_name, n, 1e2)
    problem = make_problem(problem_name, n, 1e2)
    iterations = CHAOTIC.get((name, problem_name, n), ITERATIONS)
    course = transcription(f, x0, problem.m, problem.L)[:iterations]
    result = pursuit.minimize(
        problem,
        x0,
        method=method,
        options=options,
        rng=3,
        sigma0=SIGMA,
        maxiter=iterations,
        xtol=0.0,
        ftol=0.0,
        ftarget=TARGET,
        trace=True,
    )
    values = np.array([value for value, _, _ in course])
    reached = np.flatnonzero(values <= TARGET)
    assert result.nit == (reached[0] + 1 if reached.size else iterations)
    np.testing.assert_allclose(result.trace.fun[1:], values[result.trace.nit[1:] - 1], rtol=1e-8)
    np.testing.assert_allclose(result.sigma, course[result.nit - 1][2], rtol=1e-8)
    best = int(np.argmin(values[: result.nit]))
    if values[best] < f(x0):
        np.testing.assert_allclose(result.fun, values[best], rtol=1e-8)
        scale = np.abs(course[best][1]).max()
        np.testing.assert_allclose(result.x, course[best][1], rtol=1e-8, atol=1e-8 * scale)


def test_differences_give_the_same_bits_in_both_loops():
    problem = pursuit.problems.exp(7, 1e2)
    options = {"line_search": "difference", "m": 1.0, "L": 1e2}
    runs = [
        pursuit.minimize(f, problem.x0, method="acdm", options=options, rng=1, maxiter=300)
        for f in (problem, problem.__call__)
    ]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)
    assert runs[0].nfev == runs[1].nfev == 601


def test_sarp_is_arp_with_its_damping():
    """With gamma_0 = m and c = 1 in SARP's theta the two differ by theta^2 only: 1e-4 of a step at most."""
    problem = pursuit.problems.two(20, 1e4)
    limits = {"rng": 1, "maxiter": 2_000}
    arp = pursuit.minimize(problem, problem.x0, method="arp", **limits)
    options = {"kappa": 1e4, "damping": 1.0}
    sarp = pursuit.minimize(problem, problem.x0, method="sarp-exact", options=options, **limits)
    assert arp.fun == pytest.approx(sarp.fun, rel=1e-2)


def test_coordinates_are_drawn_uniformly():
    """Of 16 000 steps each of 4 coordinates has a quarter, within five standard deviations."""
    seen = []
    options = {"line_search": "difference", "L": 1.0}
    pursuit.minimize(
        lambda x: seen.append(x.copy()) or 0.0,
        np.zeros(4),
        method="acdm",
        options=options,
        rng=1,
        maxiter=16_000,
    )
    counts = np.count_nonzero(np.array(seen), axis=0) / 2
    assert counts.sum() == pytest.approx((len(seen) - 1) / 2)
    share = 0.25 * counts.sum()
    assert np.abs(counts - share).max() < 5 * math.sqrt(0.75 * share)


def parabola(x):
    return 0.5 * float(np.square(x - 1.0).sum())


ON_A_SPHERE = {
    "arp": ("arp", options_for("arp", 1.0)),
    "arp, only convex": ("arp", {}),
    "acdm": ("acdm", options_for("acdm", 1.0)),
    "acdm, only convex": ("acdm", {}),
    "acdm by difference": ("acdm", {"line_search": "difference", "L": 1.0, "m": 1.0}),
}


@pytest.mark.parametrize("name", ON_A_SPHERE)
def test_lives_with_points_that_have_no_value(name):
    """About half of the space has none, among it the minimum; the rest of the line has."""

    def half(x):
        return math.nan if x[0] > 0.9 else parabola(x)

    method, options = ON_A_SPHERE[name]
    result = pursuit.minimize(half, np.zeros(10), method=method, options=options, rng=1, ftarget=1e-2)
    assert result.success
    assert result.nfaulty > 0


def test_differences_are_small_without_options():
    scheme = create_scheme("acdm", 20, {"L": 50.0, "line_search": "difference"}, None)
    assert 0.5 * 50.0 * scheme.line_search.mu**2 == pytest.approx(1e-10)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("arp", {"m": 1.0}, "arp needs the largest curvature of the problem as the option L"),
        ("arp", {"m": 2.0, "L": 1.0}, "m must be at most L, but m=2 and L=1 were given"),
        ("arp", {"line_search": "adaptive"}, "line_search must be one of"),
        ("acdm", {"line_search": "difference"}, "acdm needs the largest curvature"),
        ("acdm", {"line_search": "difference", "L": 1.0, "mu": 0.0}, "mu must be finite and above 0"),
    ],
)
def test_wrong_options_are_refused(method, options, message):
    with pytest.raises(ValueError, match=message):
        pursuit.minimize(parabola, np.zeros(3), method=method, options=options)


def test_acdm_needs_two_variables():
    with pytest.raises(ValueError, match="acdm needs at least 2 variables, but n=1"):
        pursuit.minimize(parabola, np.zeros(1), method="acdm")
