"""Constraints in SciPy's forms: what holds at the result, what is counted, and what is refused."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import LinearConstraint, NonlinearConstraint

import pursuit

# A new cache, in which nothing is compiled.
COMPILED_IN_VAIN = """
import numpy as np
import pursuit
from scipy.optimize import rosen

within = {"type": "ineq", "fun": lambda x: 1.5 - x.sum()}
result = pursuit.minimize(rosen, np.zeros(4), method="rp", constraints=within, rng=1, maxtime=0.5)
print(result.nfev)
"""
N = 6
START = np.full(N, 0.3)


def bowl(x):
    return float(np.sum(np.linspace(1.0, 5.0, x.size) * (x - 1.0) ** 2))


# The same constraint, sum x_i <= 2, in every form; at the minimum it is active.
TOTAL = {
    "nonlinear": NonlinearConstraint(lambda x: np.sum(x), -np.inf, 2.0),
    "linear": LinearConstraint(np.ones((1, N)), -np.inf, 2.0),
    "dictionary": {"type": "ineq", "fun": lambda x: 2.0 - np.sum(x)},
    "with arguments": {"type": "ineq", "fun": lambda x, most: most - np.sum(x), "args": (2.0,)},
    "several": [{"type": "ineq", "fun": lambda x: 2.0 - np.sum(x)}, LinearConstraint(np.eye(N), -9.0, 9.0)],
    "equation": {"type": "eq", "fun": lambda x: np.sum(x) - 2.0},
}


def expected():
    """Return the minimum in closed form: x_i = 1 - mu/(2 a_i), with mu from the sum."""
    weights = np.linspace(1.0, 5.0, N)
    mu = 2.0 * (N - 2.0) / np.sum(1.0 / weights)
    return 1.0 - mu / (2.0 * weights)


@pytest.mark.parametrize("form", TOTAL)
@pytest.mark.parametrize("method", ["auto", "evolution"])
def test_every_form_leads_to_the_minimum_in_closed_form(form, method):
    if method == "evolution" and form != "nonlinear":
        pytest.skip("one form is enough for another method")
    result = pursuit.minimize(bowl, START, method=method, constraints=TOTAL[form], rng=1)
    assert result.success, result.message
    assert result.maxcv <= 1e-6
    np.testing.assert_allclose(result.x, expected(), atol=1e-3)
    assert result.fun == bowl(result.x)


def test_scipy_passes_constraints_on_and_agrees():
    theirs = scipy.optimize.minimize(bowl, START, method="COBYLA", constraints=TOTAL["linear"], tol=1e-8)
    ours = scipy.optimize.minimize(
        bowl, START, method=pursuit.scipy_method(), constraints=TOTAL["linear"], options={"rng": 1}
    )
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-3)


def test_a_start_outside_of_the_constraints_and_bounds_beside_them():
    result = pursuit.minimize(
        bowl, np.full(N, 5.0), constraints=TOTAL["nonlinear"], bounds=[(0.2, 6.0)] * N, rng=1
    )
    assert result.success
    assert (result.x >= 0.2).all()
    assert np.sum(result.x) <= 2.0 + 1e-6
    theirs = scipy.optimize.minimize(
        bowl, START, method="SLSQP", constraints=TOTAL["dictionary"], bounds=[(0.2, 6.0)] * N
    )
    assert result.fun == pytest.approx(theirs.fun, abs=1e-4)


def test_the_surface_of_a_ball_is_an_equation():
    ball = NonlinearConstraint(lambda x: x @ x, 1.0, 1.0)
    result = pursuit.minimize(lambda x: float(np.sum(x)), START, constraints=ball, rng=2)
    assert result.success
    assert result.fun == pytest.approx(-np.sqrt(N), abs=1e-4)


def test_f_and_constraints_are_evaluated_once_for_each_point_and_within_the_limit():
    points = {"f": [], "c": []}

    def f(x):
        points["f"].append(x.tobytes())
        return bowl(x)

    def c(x):
        points["c"].append(x.tobytes())
        return np.sum(x)

    result = pursuit.minimize(f, START, constraints=NonlinearConstraint(c, -np.inf, 2.0), rng=1, maxfev=200)
    # The constraint is called once more, to learn how many values it has.
    assert points["c"][1:] == points["f"]
    assert result.nfev == len(points["f"]) <= 200
    assert result.status == pursuit.engine.stopping.Reason.MAXFEV


def test_constraints_that_contradict_each_other_are_no_success():
    never = [{"type": "ineq", "fun": lambda x: x[0] - 1.0}, {"type": "ineq", "fun": lambda x: -1.0 - x[0]}]
    result = pursuit.minimize(bowl, START, constraints=never, rng=1, maxfev=5000)
    assert not result.success
    assert result.maxcv > 0.9
    assert "violated by up to" in result.message


def test_a_callback_stops_it():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.maxcv)
        if len(seen) == 2:
            raise StopIteration

    result = pursuit.minimize(bowl, START, constraints=TOTAL["linear"], rng=1, callback=callback)
    assert len(seen) == 2
    assert "callback" in result.message


def test_the_same_seed_gives_the_same_result():
    one, other = (pursuit.minimize(bowl, START, constraints=TOTAL["linear"], rng=5) for _ in range(2))
    np.testing.assert_array_equal(one.x, other.x)


def test_no_constraints_change_nothing():
    plain = pursuit.minimize(bowl, START, rng=1)
    for none in ((), [], None):
        np.testing.assert_array_equal(pursuit.minimize(bowl, START, rng=1, constraints=none).x, plain.x)


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        ("x > 0", "constraints must be NonlinearConstraint, LinearConstraint or dictionaries"),
        ({"type": "less", "fun": np.sum}, "must have a 'type', 'eq' or 'ineq'"),
        ({"type": "eq"}, "and a function 'fun'"),
        (LinearConstraint(np.ones((1, 3)), 0.0, 1.0), "a column for each of 6 variables"),
        (NonlinearConstraint(np.sum, 2.0, 1.0), "must not be above the upper one"),
        (NonlinearConstraint(lambda x: x[:2], [0.0] * 3, 1.0), "A constraint with 2 values"),
        (
            NonlinearConstraint(lambda x: None, 0.0, 1.0),
            "The value of a constraint must be .* None was given",
        ),
        (NonlinearConstraint(lambda x: "a", 0.0, 1.0), "The value of a constraint must be"),
        (NonlinearConstraint(lambda x: 1j, 0.0, 1.0), "The value of a constraint must be"),
        (NonlinearConstraint(lambda x: np.nan, 0.0, 1.0), "A constraint must be finite at x0"),
    ],
)
def test_wrong_constraints_are_refused_by_a_sentence(constraints, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        pursuit.minimize(bowl, START, constraints=constraints)


@pytest.mark.parametrize(
    "nothing", [LinearConstraint(np.ones((1, 6))), NonlinearConstraint(np.sum, -np.inf, np.inf)]
)
def test_constraints_without_finite_sides_leave_the_minimum_where_it_is(nothing):
    result = pursuit.minimize(
        lambda x: float(np.sum((x - 1.0) ** 2)), np.zeros(6), constraints=nothing, rng=1
    )
    assert result.maxcv == 0.0
    np.testing.assert_allclose(result.x, 1.0, atol=1e-6)


def test_what_has_no_meaning_beside_constraints_is_refused_before_anything_is_evaluated():
    def never(x):
        raise AssertionError("nothing may be evaluated")

    for name, value in {"restarts": 1, "checkpoint": "run.npz"}.items():
        with pytest.raises(ValueError, match=f"constraints cannot be combined with {name}"):
            pursuit.minimize(never, START, constraints=NonlinearConstraint(never, 0.0, 1.0), **{name: value})
    with pytest.raises(TypeError, match="fun must be callable"):
        pursuit.minimize(3.0, START, constraints=NonlinearConstraint(never, 0.0, 1.0))


def total(x):
    return np.sum(x)


def bowls(points):
    assert points.ndim == 2
    return [bowl(point) for point in points]


def pooled(function, points):
    """Evaluate points in another order than they were given, as workers may."""
    points = list(points)
    return reversed([function(point) for point in reversed(points)])


@pytest.mark.parametrize(
    "many", [{"workers": 2}, {"workers": pooled}, {"workers": "threads"}, {"vectorized": True}]
)
def test_whoever_evaluates_the_points_the_run_is_the_same(many):
    forms = [NonlinearConstraint(total, -np.inf, 2.0), LinearConstraint(np.eye(N), -9.0, 9.0)]
    arguments = {"constraints": forms, "rng": 3, "batch": 4, "maxfev": 400, "trace": True}
    alone = pursuit.minimize(bowl, START, **arguments)
    with ThreadPoolExecutor(2) as threads:
        many = {"workers": threads} if many.get("workers") == "threads" else many
        fun = bowls if "vectorized" in many else bowl
        result = pursuit.minimize(fun, START, **arguments, **many)
    np.testing.assert_array_equal(result.x, alone.x)
    assert result.nfev == alone.nfev <= 400
    for one, other in zip(result.trace, alone.trace, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_cannot_be_sent_to_other_processes_is_said():
    with pytest.raises(TypeError, match="must be a function that other processes can import"):
        pursuit.minimize(bowl, START, constraints=TOTAL["nonlinear"], workers=2)


def test_the_trace_shows_the_best_point_so_far():
    seen = []

    def f(x):
        seen.append(bowl(x))
        return seen[-1]

    result = pursuit.minimize(f, START, constraints=TOTAL["linear"], rng=1, trace=True)
    trace = result.trace
    assert (np.diff(trace.nfev) >= 0).all()
    assert (np.diff(trace.nit) >= 0).all()
    assert trace.nfev[0] == 1
    assert (trace.nit[-1], trace.nfev[-1], trace.fun[-1]) == (result.nit, result.nfev, result.fun)
    # All but the last are values of the evaluations that they name.
    assert [seen[nfev - 1] for nfev in trace.nfev[:-1]] == trace.fun[:-1].tolist()


def test_it_stops_at_a_target_within_the_constraints_and_after_so_many_iterations():
    lowest = bowl(expected())
    result = pursuit.minimize(bowl, START, constraints=TOTAL["linear"], rng=1, ftarget=lowest + 0.1)
    assert result.success
    assert result.maxcv <= 1e-6
    assert lowest <= result.fun + 1e-5
    assert result.fun <= lowest + 0.1
    stopped = pursuit.minimize(bowl, START, constraints=TOTAL["linear"], rng=1, maxiter=5)
    assert stopped.nit == 5
    assert "maxiter" in stopped.message


def test_it_keeps_to_a_limit_of_time():
    result = pursuit.minimize(bowl, START, constraints=TOTAL["linear"], rng=1, maxtime=1e-9)
    assert "maxtime" in result.message
    assert result.nfev < 50


def test_an_exception_carries_what_was_found_before():
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        if calls == 60:
            raise OSError("the simulator is gone")
        return bowl(x)

    with pytest.raises(OSError, match="gone") as raised:
        pursuit.minimize(f, START, constraints=TOTAL["linear"], rng=1)
    found = raised.value.pursuit_result
    assert found.nfev == 59
    assert found.fun == bowl(found.x)


def test_compiling_takes_nothing_of_the_time_limit(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", COMPILED_IN_VAIN],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )
    # Compiling takes seconds; a round ends with the first evaluation after the limit.
    assert int(done.stdout) > 100


def kinks(x):
    """Rotate by 45 degrees in pairs, so that no kink lies along a coordinate."""
    return float(np.abs(x[::2] + x[1::2] - 1.0).sum() + 3.0 * np.abs(x[::2] - x[1::2]).sum())


def test_where_f_does_not_suit_the_method_it_says_so():
    result = pursuit.minimize(kinks, START, method="differences", constraints=TOTAL["linear"], rng=1)
    assert not result.success
    assert "The last round said: f has kinks" in result.message
    smooth = pursuit.minimize(bowl, START, method="differences", constraints=TOTAL["linear"], rng=1)
    assert "The last round" not in smooth.message


@pytest.mark.parametrize("maxfev", [3_000, 100_000])
@pytest.mark.parametrize("seed", range(2))
def test_a_constraint_on_the_largest_of_several_values_is_said_to_have_kinks(seed, maxfev):
    moments = np.linspace(5.0, 1.0, 5)
    stress = {"type": "ineq", "fun": lambda x: 1.5 - np.max(moments / x)}
    x0 = np.random.default_rng(seed).uniform(3.5, 4.5, 5)
    settings = {"bounds": [(0.1, 8.0)] * 5, "sigma0": 0.3, "rng": seed, "maxfev": maxfev}
    result = pursuit.minimize(np.sum, x0, constraints=stress, **settings)
    minimum = np.sum(moments) / 1.5
    assert result.maxcv <= 1e-6
    assert result.fun <= 1.001 * minimum
    assert result.success or "one on the largest of several values has kinks" in result.message
    each = {"type": "ineq", "fun": lambda x: 1.5 - moments / x}
    assert "kinks" not in pursuit.minimize(np.sum, x0, constraints=each, **settings).message
