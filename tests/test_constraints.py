"""Constraints in SciPy's forms: what holds at the result, what is counted, and what is refused."""

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import LinearConstraint, NonlinearConstraint

import pursuit

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
@pytest.mark.parametrize("method", ["auto", "momentum"])
def test_every_form_leads_to_the_minimum_in_closed_form(form, method):
    if method == "momentum" and form != "nonlinear":
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
    ],
)
def test_wrong_constraints_are_refused_by_a_sentence(constraints, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        pursuit.minimize(bowl, START, constraints=constraints)


def test_what_has_no_meaning_beside_constraints_is_refused():
    for name, value in {"workers": 2, "restarts": 1, "checkpoint": "run.npz", "trace": True}.items():
        with pytest.raises(ValueError, match=f"constraints cannot be combined with {name}"):
            pursuit.minimize(bowl, START, constraints=TOTAL["linear"], **{name: value})
