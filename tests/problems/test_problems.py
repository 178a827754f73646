"""The paper's problems: values, starts, minimisers, spectra and exact line minimisers."""

import decimal
import hashlib
import math
import pickle

import numpy as np
import pytest
import scipy.optimize

import pursuit
from conformance.own import Bowl
from helpers import make_problem
from pursuit.compiling.vectors import SERIAL
from pursuit.problems import line_minimizer
from reference import problems as reference

DIMENSIONS = [2, 3, 5, 20, 21]


NAMES = ["exp", "lin", "two", "rosenbrock"]


@pytest.mark.parametrize("n", DIMENSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_value_is_the_paper_s(name, n):
    f, start = reference.make(name, n, 1e4)
    problem = make_problem(name, n)
    np.testing.assert_array_equal(problem.x0, start)
    rng = np.random.default_rng(n)
    for x in [start, *rng.standard_normal((5, n))]:
        assert problem(x) == pytest.approx(f(x), rel=1e-13)


@pytest.mark.parametrize("n", DIMENSIONS)
def test_rosenbrock_is_scipy_s(n):
    x = np.random.default_rng(n).standard_normal(n)
    assert pursuit.problems.rosenbrock(n)(x) == pytest.approx(scipy.optimize.rosen(x), rel=1e-13)


@pytest.mark.parametrize("n", DIMENSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_extremes_of_the_spectrum(name, n):
    problem = make_problem(name, n)
    hessian = scipy.optimize.rosen_hess(np.ones(n)) if name == "rosenbrock" else np.diag(problem.spectrum)
    eigenvalues = np.linalg.eigvalsh(hessian)
    assert problem.m == pytest.approx(eigenvalues[0], rel=1e-9)
    assert pytest.approx(eigenvalues[-1], rel=1e-9) == problem.L
    if name != "rosenbrock":
        assert (problem.m, problem.L) == (1.0, 1e4)


@pytest.mark.parametrize("n", [2, 3, 100, 4097])
@pytest.mark.parametrize("L", [1.0, 1e6, 1e300])
def test_exp_is_spaced_evenly_on_a_log_scale(n, L):
    """To the last digits, whatever precision the caller's decimals have."""
    logarithms = np.arange(n) * math.log(L) / (n - 1)
    with decimal.localcontext(prec=3):
        spectrum = pursuit.problems.exp(n, L).spectrum
    np.testing.assert_allclose(np.log(spectrum), logarithms, rtol=2e-15, atol=1e-15)
    assert (spectrum[0], spectrum[-1]) == (1.0, L)
    assert np.all(np.diff(spectrum) >= 0.0)


def test_digits_of_exp_do_not_depend_on_the_processor():
    """These are the digits wherever floats are those of IEEE 754."""
    spectrum = pursuit.problems.exp(1000, 1e6).spectrum
    assert hashlib.sha256(spectrum.astype("<f8").tobytes()).hexdigest()[:16] == "125240777d0295a3"


@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize("n", DIMENSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_line_minimizer_is_the_global_one(name, n, rotate):
    """Against a scan of the line on all scales, its lowest point refined by SciPy."""
    problem = make_problem(name, n)
    if rotate:
        problem = pursuit.problems.rotated(problem, n)
    rng = np.random.default_rng(n)
    ahead = np.logspace(-5, 4, 2001)
    scan = np.concatenate([-ahead[::-1], [0.0], ahead])
    for _ in range(4):
        x, u = rng.standard_normal((2, n))
        ours = line_minimizer(SERIAL, problem, x, u)
        lowest = int(np.argmin([problem(x + t * u) for t in scan]))
        theirs = scipy.optimize.minimize_scalar(
            lambda t, x=x, u=u: problem(x + t * u),
            bounds=(scan[lowest - 1], scan[lowest + 1]),
            options={"xatol": 1e-12},
        )
        assert ours == pytest.approx(theirs.x, rel=1e-5, abs=1e-6)
        assert problem(x + ours * u) <= theirs.fun * (1 + 1e-12)


def test_rosenbrock_line_minimizer_keeps_its_digits_near_the_optimum():
    """There the step is tiny beside the quartic's coefficients, and a plain closed form would lose it."""
    n = 20
    problem = pursuit.problems.rosenbrock(n)
    rng = np.random.default_rng(3)
    for scale in [1e-3, 1e-6, 1e-9]:
        x = problem.minimizer + scale * rng.standard_normal(n)
        u = rng.standard_normal(n)
        hessian = scipy.optimize.rosen_hess(x)
        newton = -(scipy.optimize.rosen_der(x) @ u) / (u @ hessian @ u)
        assert line_minimizer(SERIAL, problem, x, u) == pytest.approx(newton, rel=100 * scale)


def test_rosenbrock_line_minimizer_of_two_valleys_takes_the_deeper():
    """Along the first axis from (0, 4) the quartic has two minima, near -2 and, lower, near 2."""
    problem = pursuit.problems.rosenbrock(2)
    x, u = np.array([0.0, 4.0]), np.array([1.0, 0.0])
    assert line_minimizer(SERIAL, problem, x, u) == pytest.approx(2.0, abs=0.01)
    assert line_minimizer(SERIAL, problem, x, -u) == pytest.approx(-2.0, abs=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_line_minimizer_of_a_direction_without_curvature_stays(name):
    problem = make_problem(name, 3)
    assert line_minimizer(SERIAL, problem, np.ones(3), np.zeros(3)) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_rotated_problem_is_the_same_in_other_coordinates(name):
    n = 7
    problem = make_problem(name, n)
    turned = pursuit.problems.rotated(problem, rng=4)
    np.testing.assert_allclose(turned.Q @ turned.Q.T, np.eye(n), atol=1e-14)
    x = np.random.default_rng(0).standard_normal(n)
    assert turned(x) == pytest.approx(problem(turned.Q @ x), rel=1e-13)
    assert turned(turned.x0) == pytest.approx(problem(problem.x0), rel=1e-12)
    assert turned(turned.minimizer) == pytest.approx(0.0, abs=1e-20)
    assert (turned.n, turned.m, turned.L) == (n, problem.m, problem.L)


def test_rotations_are_reproducible_and_differ():
    problem = pursuit.problems.exp(5, 10.0)
    one, same, other = (pursuit.problems.rotated(problem, seed).Q for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


def test_rotations_are_uniform():
    """Entries of a Haar matrix have mean 0 and variance 1/n; 5 standard errors: wrong once in 1e6."""
    n, samples = 4, 2000
    problem = pursuit.problems.exp(n, 10.0)
    rng = np.random.default_rng(0)
    entries = np.array([pursuit.problems.rotated(problem, rng).Q for _ in range(samples)])
    assert np.abs(entries.mean(axis=0)).max() < 5 / np.sqrt(n * samples)
    assert np.abs((entries**2).mean(axis=0) - 1 / n).max() < 5 * np.sqrt(2 / n**2 / samples)


@pytest.mark.parametrize("name", NAMES)
def test_properties_hand_out_copies(name):
    problem = make_problem(name, 3)
    problem.x0[:] = 7.0
    problem.minimizer[:] = 7.0
    assert 7.0 not in problem.x0
    assert 7.0 not in problem.minimizer


@pytest.mark.parametrize("name", NAMES)
def test_problems_pickle(name):
    problem = pursuit.problems.rotated(make_problem(name, 3), 1)
    clone = pickle.loads(pickle.dumps(problem))
    assert clone(clone.x0) == problem(problem.x0)


def test_accepts_lists_integers_and_strided_points():
    problem = pursuit.problems.exp(3, 100.0)
    assert problem([1, 1, 1]) == problem(np.ones(6)[::2]) == 55.5


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: pursuit.problems.exp(1, 10.0), ValueError, "n must be at least 2, but 1"),
        (lambda: pursuit.problems.rosenbrock(1), ValueError, "n must be at least 2, but 1"),
        (lambda: pursuit.problems.lin(2.5, 10.0), TypeError, "n must be an integer, but 2.5"),
        (lambda: pursuit.problems.two(4, 0.5), ValueError, "L must be finite and at least 1, but 0.5"),
        (lambda: pursuit.problems.exp(4, float("nan")), ValueError, "L must be finite and at least 1"),
        (lambda: pursuit.problems.exp(4, "big"), TypeError, "L must be a number, but 'big'"),
        (lambda: pursuit.problems.exp(4, 10.0)([1.0, 2.0]), ValueError, r"x must have shape \(4,\)"),
        (lambda: pursuit.problems.rotated(sum), TypeError, "problem must be one of"),
    ],
)
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.interpreted
@pytest.mark.parametrize("method", ["rp-exact", "sarp-exact"])
def test_a_rotated_problem_without_line_minimizer_gets_the_bracketing_search(method):
    """A rotation knows the minimiser on a line only if the problem inside does."""
    problem = pursuit.problems.rotated(Bowl(4), 1)
    result = pursuit.minimize(problem, problem.x0, method=method, rng=1, maxiter=50)
    assert result.nfev > 2 * result.nit
    assert result.fun < problem(problem.x0)


@pytest.mark.interpreted
def test_a_problem_can_be_rotated_twice():
    plain = pursuit.problems.rosenbrock(4)
    once = pursuit.problems.rotated(plain, 1)
    twice = pursuit.problems.rotated(once, 2)
    rotation = pursuit.problems.rotated(plain, 2).Q
    x = np.array([0.3, -1.0, 2.0, 0.5])
    assert twice(x) == pytest.approx(once(rotation @ x), rel=1e-12)
    assert twice(twice.minimizer) == pytest.approx(0.0, abs=1e-20)
    result = pursuit.minimize(twice, twice.x0, method="rp-exact", rng=1, maxiter=20)
    assert result.fun == pytest.approx(twice(result.x))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: pursuit.problems.exp(10**12, 1e4),
            "A quadratic of n=1000000000000 variables would take 1.49e+4 GiB",
        ),
        (
            lambda: pursuit.problems.lin(10**400, 1e4),
            "A quadratic of n=an integer of 1329 bits variables would take",
        ),
        (
            lambda: pursuit.problems.two(2**63, 1e4),
            "A quadratic of n=9223372036854775808 variables would take",
        ),
        (lambda: pursuit.problems.rosenbrock(10**13), "A point of n=10000000000000 variables would take"),
        (
            lambda: pursuit.problems.rotated(pursuit.problems.rosenbrock(10**6)),
            "A rotation of n=1000000 variables would take 2.24e+4 GiB of memory",
        ),
    ],
)
def test_more_memory_than_there_is_is_refused_with_how_much_it_would_take(make, words):
    with pytest.raises(ValueError, match="GiB of memory, but this machine has") as caught:
        make()
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (["1", "2", "3"], "x must be a sequence of real numbers"),
        ([[1.0], [2.0, 3.0]], "x must be a sequence of real numbers"),
        (np.array([1j, 2.0, 3.0]), "x must be a sequence of real numbers"),
        (np.ones(2), r"x must have shape \(3,\), but its shape is \(2,\)"),
    ],
)
def test_a_point_that_is_none_is_refused(x, words):
    with pytest.raises((TypeError, ValueError), match=words):
        pursuit.problems.exp(3, 10.0)(x)


@pytest.mark.parametrize("rng", [-1, "a", ["1"]])
def test_a_rotation_needs_a_seed(rng):
    with pytest.raises(TypeError, match="rng must be None, a non-negative integer"):
        pursuit.problems.rotated(pursuit.problems.exp(3, 10.0), rng)
