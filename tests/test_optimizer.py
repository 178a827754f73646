"""Ask and tell: the same trajectory as minimize, and errors that change nothing."""

import copy

import numpy as np
import pytest

import pursuit
from conformance.own import Narrowing
from pursuit.engine.stopping import Reason

START = np.linspace(0.5, 2.0, 6)
METHODS = {
    "adaptive-sarp": {},
    "rp": {},
    "sarp": {"kappa": 100.0},
    "cma": {},
    "ep-cma-4": {},
    "rp-exact": {},
    "sarp-exact": {"kappa": 9.0},
}
every_method = pytest.mark.parametrize("method", METHODS)


def ellipsoid(x):
    return float(np.sum(np.linspace(1.0, 50.0, x.size) * x * x))


def make(method, **arguments):
    return pursuit.Optimizer(START, method, rng=3, options=METHODS.get(method), trace=True, **arguments)


def advance(optimizer, rounds):
    for _ in range(rounds):
        X = optimizer.ask()
        optimizer.tell(X, [ellipsoid(x) for x in X])


@every_method
@pytest.mark.parametrize("bounds", [None, [(0.25, 3.0)] * 6])
def test_gives_the_trajectory_of_minimize(method, bounds):
    optimizer = make(method, bounds=bounds)
    advance(optimizer, 300)
    ours = optimizer.result
    calls = []

    def limited(x):
        """End the run after as many evaluations, in the middle of an iteration or not."""
        calls.append(1)
        if len(calls) > ours.nfev:
            raise OSError
        return ellipsoid(x)

    with pytest.raises(OSError) as caught:  # noqa: PT011 (it has no message)
        pursuit.minimize(limited, START, method=method, rng=3, bounds=bounds, options=METHODS[method])
    theirs = caught.value.pursuit_result
    np.testing.assert_array_equal(ours.x, theirs.x)
    assert (ours.fun, ours.nit, ours.sigma) == (theirs.fun, theirs.nit, theirs.sigma)
    np.testing.assert_array_equal(ours.trace.fun, theirs.trace.fun)


def test_a_result_names_its_method_as_that_of_minimize_does():
    for method, name in (("rp", "rp"), (Narrowing, "Narrowing")):
        optimizer = pursuit.Optimizer(START, method, rng=3)
        assert optimizer.result.method == name
        advance(optimizer, 2)
        theirs = pursuit.minimize(ellipsoid, START, method=method, rng=3, maxiter=1)
        assert optimizer.result.method == theirs.method == name


def test_a_result_has_a_trace_where_it_is_wanted(tmp_path):
    path = tmp_path / "run.npz"
    for trace in (False, True):
        optimizer = pursuit.Optimizer(START, "rp", rng=3, trace=trace)
        advance(optimizer, 2)
        assert ("trace" in optimizer.result) == trace
        optimizer.save(path)
        assert ("trace" in pursuit.Optimizer.load(path, trace=trace).result) == trace


def test_a_trace_is_wanted_or_not(tmp_path):
    pursuit.Optimizer([1.0]).save(tmp_path / "run.npz")
    for call in (lambda trace: pursuit.Optimizer([1.0], trace=trace),
                 lambda trace: pursuit.Optimizer.load(tmp_path / "run.npz", trace=trace)):  # fmt: skip
        with pytest.raises(ValueError, match="trace must be True, False or \"x\", but 'yes' was given"):
            call("yes")


def test_a_user_s_scheme_is_asked_and_told_as_well():
    optimizer = pursuit.Optimizer(START, Narrowing, rng=3, options={"offspring": 5})
    advance(optimizer, 1)
    assert optimizer.ask().shape == (5, 6)
    advance(optimizer, 600)
    assert optimizer.result.fun < 1e-3


def test_the_first_point_is_the_start_and_sarp_asks_for_two_at_a_time():
    optimizer = make("sarp")
    np.testing.assert_array_equal(optimizer.ask(), START[np.newaxis])
    advance(optimizer, 1)
    assert optimizer.ask().shape == (2, 6)


def test_asking_again_gives_the_same_points_and_copies():
    optimizer = make("sarp")
    advance(optimizer, 5)
    first = optimizer.ask()
    first[:] = 0.0
    second = optimizer.ask()
    assert second.any()
    np.testing.assert_array_equal(second, optimizer.ask())


@pytest.mark.parametrize("rounds", [0, 1, 7])
@pytest.mark.parametrize(
    ("tell", "error", "words"),
    [
        (lambda o, X, F: o.tell(X[:, :3], F), ValueError, "X must have a point of 6 variables in each row"),
        (lambda o, X, F: o.tell(X[0], F), ValueError, "X must have a point of 6 variables in each row"),
        (lambda o, X, F: o.tell(X + 1e-9, F), ValueError, "X must hold points that were asked for"),
        (lambda o, X, F: o.tell([*X, X[0]], [*F, 1.0]), ValueError, "but its row [12] is not one of them"),
        (lambda o, X, F: o.tell(X, [*F, 1.0]), ValueError, "F must hold one value for each of [12] points"),
        (lambda o, X, F: o.tell(X, []), ValueError, "F must hold one value for each of [12] points"),
        (lambda o, X, F: o.tell(X, ["a"] * len(F)), TypeError, "F must hold real numbers"),
        (lambda o, X, F: o.tell(X, [1j] * len(F)), TypeError, "F must hold real numbers"),
        (lambda o, X, F: o.tell("X", F), TypeError, "X must be a sequence of real numbers"),
    ],
)
def test_wrong_input_is_refused_and_changes_nothing(rounds, tell, error, words):
    optimizer, twin = make("sarp"), make("sarp")
    advance(optimizer, rounds)
    advance(twin, rounds)
    X = optimizer.ask()
    with pytest.raises(error, match=words):
        tell(optimizer, X, [ellipsoid(x) for x in X])
    advance(optimizer, 20)
    advance(twin, 20)
    np.testing.assert_array_equal(optimizer.result.x, twin.result.x)
    assert optimizer.result.nfev == twin.result.nfev


def test_telling_without_asking_is_refused():
    optimizer = make("rp")
    with pytest.raises(RuntimeError, match="tell must follow ask"):
        optimizer.tell(START[np.newaxis], [1.0])
    advance(optimizer, 1)
    with pytest.raises(RuntimeError, match="tell must follow ask"):
        optimizer.tell(START[np.newaxis], [1.0])


@pytest.mark.parametrize("method", ["auto", "evolution", "sarp"])
def test_values_come_in_any_order_and_in_any_parts(method, tmp_path):
    """It is saved and loaded in the middle of rounds, too."""
    rng = np.random.default_rng(1)
    whole, parts = make(method, maxfev=500), make(method, maxfev=500)
    while not whole.stop():
        advance(whole, 1)
        missing = len(parts.ask())
        while missing:
            X = parts.ask()
            assert len(X) == parts.missing == missing
            some = X[rng.permutation(len(X))[: rng.integers(1, len(X) + 1)]]
            parts.tell(some, [ellipsoid(x) for x in some])
            missing -= len(some)
            if missing and rng.random() < 0.1:
                parts.save(tmp_path / "run.npz")
                parts = pursuit.Optimizer.load(tmp_path / "run.npz", trace=True)
        np.testing.assert_array_equal(whole.result.x, parts.result.x)
    assert parts.stop() == whole.stop()


def test_a_value_that_never_comes_is_told_as_nan():
    optimizer = make("sarp")
    advance(optimizer, 3)
    X = optimizer.ask()
    optimizer.tell(X[1:], [ellipsoid(X[1])])
    assert optimizer.missing == 1
    with pytest.raises(ValueError, match="whose values are missing"):
        optimizer.tell(X[1:], [ellipsoid(X[1])])
    optimizer.tell(X[:1], [np.nan])
    assert optimizer.missing == 0
    assert optimizer.result.nfaulty == 1


def test_a_start_without_a_value_is_refused_and_can_be_told_again():
    optimizer = make("rp")
    X = optimizer.ask()
    with pytest.raises(ValueError, match="must be finite at x0"):
        optimizer.tell(X, [np.nan])
    optimizer.tell(X, [ellipsoid(X[0])])
    assert optimizer.result.fun == ellipsoid(START)


def test_values_that_are_not_numbers_are_rejected_and_counted():
    optimizer = make("rp")
    advance(optimizer, 1)
    for _ in range(10):
        optimizer.tell(optimizer.ask(), [np.nan])
    assert optimizer.result.nfaulty == 10
    assert optimizer.result.fun == ellipsoid(START)


def test_tells_why_it_stopped_and_then_asks_for_nothing():
    optimizer = make("rp")
    assert optimizer.stop() == {}
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [1.0])
    ((name, sentence),) = optimizer.stop().items()
    assert name in ("stalled", "diverged")
    assert sentence == Reason[name.upper()].sentence(optimizer.result.nfev - 1)
    with pytest.raises(RuntimeError, match="There is nothing to ask for"):
        optimizer.ask()


def test_before_the_first_value_the_result_says_so():
    result = make("rp").result
    assert (result.fun, result.nfev, result.success) == (np.inf, 0, False)
    np.testing.assert_array_equal(result.x, START)


def test_two_interleaved_equal_two_run_apart():
    one, two = make("ep-cma-4"), make("sarp")
    for _ in range(50):
        advance(one, 1)
        advance(two, 2)
    alone, other = make("ep-cma-4"), make("sarp")
    advance(alone, 50)
    advance(other, 100)
    np.testing.assert_array_equal(one.result.x, alone.result.x)
    np.testing.assert_array_equal(two.result.x, other.result.x)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"maxfev": 20}, "maxfev"), ({"maxiter": 7}, "maxiter"), ({"ftarget": 1.0}, "target")],
)
def test_limits_stop_it_where_they_stop_minimize(limits, reason):
    result = pursuit.minimize(ellipsoid, START, method="rp", rng=1, **limits)
    optimizer = pursuit.Optimizer(START, method="rp", rng=1, **limits)
    while not optimizer.stop():
        advance(optimizer, 1)
    assert optimizer.stop() == {reason: result.message}
    assert (optimizer.result.nfev, optimizer.result.fun) == (result.nfev, result.fun)


def test_limits_are_saved_and_may_be_changed(tmp_path):
    path = tmp_path / "run.npz"
    optimizer = pursuit.Optimizer(START, method="rp", rng=1, maxfev=20)
    advance(optimizer, 20)
    assert optimizer.stop()
    optimizer.save(path)
    assert pursuit.Optimizer.load(path).stop() == copy.copy(optimizer).stop() == optimizer.stop()
    longer = pursuit.Optimizer.load(path, maxfev=30)
    advance(longer, 10)
    assert longer.result.fun == pursuit.minimize(ellipsoid, START, method="rp", rng=1, maxfev=30).fun
    with pytest.raises(TypeError, match="A limit must be one of ftarget, xtol"):
        pursuit.Optimizer.load(path, maxtime=3.0)
    with pytest.raises(ValueError, match="xtol must be finite and at least 0"):
        pursuit.Optimizer.load(path, xtol=-1.0)


def test_shows_how_it_stands():
    optimizer = pursuit.Optimizer(START, method="rp", rng=1, maxfev=5)
    assert repr(optimizer) == (
        f"<Optimizer: rp, {len(START)} variables, 0 evaluations, best value inf. The run has not stopped.>"
    )
    advance(optimizer, 5)
    assert "5 evaluations" in repr(optimizer)
    assert "maxfev was reached.>" in repr(optimizer)
