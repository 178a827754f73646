"""What is known before a run, or learnt beside it: points with values, and the result of an earlier run."""

import copy
import math
import pickle

import numpy as np
import pytest

import pursuit

pytestmark = pytest.mark.interpreted
START = np.full(6, 3.0)


def bowl(x):
    return float(np.sum(np.arange(1, 7) * (x - 1.0) ** 2) + (x[0] - x[1]) ** 2)


def bent(x):
    return bowl(x) + float(np.sum((x - 1.0) ** 4))


def around(center, size, count, seed=1):
    return center + size * np.random.default_rng(seed).standard_normal((count, 6))


def values_of(f, X):
    return [f(x) for x in X]


def alone(**settings):
    return pursuit.minimize(bent, START, **{"rng": 1, "ftarget": 1e-9, **settings})


def same(one, other):
    return (one.fun, one.nfev, one.message, one.x.tolist()) == (
        other.fun,
        other.nfev,
        other.message,
        other.x.tolist(),
    )


@pytest.mark.parametrize("method", ["auto", "differences", "evolution", "rp"])
def test_a_run_begins_at_the_best_known_point(method):
    X = around(np.ones(6), 0.01, 3)
    result = alone(method=method, known=(X, values_of(bent, X)), trace="x", maxfev=3000)
    assert result.trace.fun[0] == min(values_of(bent, X))
    assert result.trace.x[0].tolist() == min(X, key=bent).tolist()
    assert result.trace.nfev[0] == 2
    assert result.nfev <= alone(method=method, maxfev=3000).nfev


def test_points_that_are_worse_than_the_start_change_nothing():
    X = around(START, 5.0, 8)
    assert min(values_of(bent, X)) > bent(START)
    for method in ("auto", "rp"):
        assert same(alone(method=method, known=(X, values_of(bent, X))), alone(method=method))
    for nothing in ([], np.empty((0, 6))):
        with pytest.raises(ValueError, match="must have a point of 6 variables in each row"):
            alone(known=([], []))
        assert same(alone(known=(np.empty((0, 6)), nothing if len(nothing) else [])), alone())


@pytest.mark.parametrize("lie", [lambda x: -1.0, lambda x: 0.0 * x[0], lambda x: -bent(x)])
def test_false_values_cost_an_evaluation_or_two(lie):
    X = around(START, 5.0, 100)
    result, other = alone(known=(X, values_of(lie, X))), alone()
    assert result.success
    assert other.nfev < result.nfev <= other.nfev + 2
    assert result.fun == other.fun


def test_points_around_a_minimum_tell_where_it_is():
    X = around(np.ones(6), 0.2, 80)
    result = pursuit.minimize(bowl, START, known=(X, values_of(bowl, X)), maxfev=3)
    assert result.fun < 1e-20
    assert result.nfev == 3


def test_bounds_are_kept():
    X = np.vstack([around(np.ones(6), 0.2, 80), np.ones(6)])
    seen = []

    def watched(x):
        seen.append(x.copy())
        return bowl(x)

    bounds = [(1.1, 4.0)] * 6
    result = pursuit.minimize(watched, START, known=(X, values_of(bowl, X)), bounds=bounds, rng=1, maxfev=200)
    assert np.min(seen) >= 1.1
    assert result.fun == pytest.approx(bowl(np.full(6, 1.1)), rel=1e-9)


def test_values_that_are_not_finite_are_left_out():
    X = [*around(np.ones(6), 0.01, 2), np.full(6, np.nan)]
    known = (X, [math.nan, bent(X[1]), -5.0])
    assert alone(known=known, trace=True).trace.fun[0] == bent(X[1])


def test_known_points_may_have_the_structure_of_x0():
    def f(p):
        return (p["a"] - 1.0) ** 2 + float(np.sum(p["b"] ** 2))

    best = {"b": np.array([0.1, 0.0]), "a": 1}
    result = pursuit.minimize(f, {"a": 5.0, "b": np.ones(2)}, known=([best], [f(best)]), maxfev=2)
    assert result.x["b"].tolist() == [0.1, 0.0]


def test_a_run_from_known_points_is_resumed(tmp_path):
    X = around(np.ones(6), 0.3, 5)
    known, path = (X, values_of(bent, X)), tmp_path / "run.npz"
    for maxfev in (20, 47, 3000):
        result = alone(known=known, checkpoint=path, maxfev=maxfev)
    assert same(result, alone(known=known))


@pytest.mark.parametrize(
    ("known", "error", "sentence"),
    [
        (7, TypeError, r"known must be a pair \(X, F\) of points and their values, but 7 was given"),
        ((START, [1.0]), ValueError, r"known\[0\] must have a point of 6 variables in each row"),
        (([START], [1.0, 2.0]), ValueError, r"known\[1\] must hold one value for each of 1 points"),
        (([START], ["a"]), TypeError, r"known\[1\] must hold real numbers"),
    ],
)
def test_wrong_points_are_refused_before_anything_is_evaluated(known, error, sentence):
    with pytest.raises(error, match=sentence):
        pursuit.minimize(lambda x: 1 / 0, START, known=known)
    with pytest.raises(ValueError, match="constraints cannot be combined with known"):
        alone(known=([START], [1.0]), constraints={"type": "ineq", "fun": bowl})


def advanced(optimizer, rounds):
    for _ in range(rounds):
        if optimizer.stop():
            break
        X = optimizer.ask()
        optimizer.tell(X, values_of(bent, X))
    return optimizer


def make(method="auto"):
    return pursuit.Optimizer(START, method, rng=1, ftarget=1e-9, trace="x")


@pytest.mark.parametrize("method", ["auto", "evolution", "rp", "cma"])
@pytest.mark.parametrize("rounds", [0, 1, 12])
def test_an_optimizer_goes_on_from_a_better_point(method, rounds, tmp_path):
    optimizer, path = advanced(make(method), rounds), tmp_path / "optimizer.npz"
    better = np.ones(6) + 1e-3
    optimizer.tell([better + 1.0, better, better], [99.0, bent(better), math.nan])
    optimizer.save(path)
    twin = pursuit.Optimizer.load(path, trace="x")
    for one in (optimizer, twin, copy.copy(optimizer)):
        advanced(one, 1)
        assert one.result.fun <= bent(better)
        advanced(one, 2000)
        assert one.stop().keys() == {"target"}
        assert one.result.fun == bent(one.result.x)
        assert one.result.trace.nfev[-1] == one.result.nfev
    assert same(optimizer.result, twin.result)


@pytest.mark.parametrize("rounds", [0, 1, 12])
def test_points_that_are_no_better_change_nothing(rounds):
    optimizer, twin = advanced(make(), rounds), advanced(make(), rounds)
    X = around(START, 5.0, 4)
    asked = optimizer.ask().tolist()
    optimizer.tell(X, values_of(bent, X))
    optimizer.tell(X, [math.nan, math.inf, math.nan, math.inf])
    assert optimizer.ask().tolist() == asked
    assert same(advanced(optimizer, 2000).result, advanced(twin, 2000).result)


def test_values_of_points_asked_for_before_still_count():
    optimizer = advanced(make("cma"), 3)
    asked = optimizer.ask()
    better = np.ones(6) + 1e-2
    optimizer.tell([better], [bent(better)])
    best = np.ones(6) + 1e-3
    optimizer.tell(np.vstack([asked, best]), [*values_of(bent, asked), bent(best)])
    assert optimizer.result.x.tolist() == best.tolist()


def test_a_part_of_a_round_and_other_points():
    optimizer = advanced(pursuit.Optimizer(START, "cr-fm-nes", rng=1), 3)
    X = optimizer.ask()
    worse = around(START, 9.0, 1)
    optimizer.tell([X[1], worse[0]], [bent(X[1]), bent(worse[0])])
    assert optimizer.missing == len(X) - 1


def test_what_was_asked_for_is_not_taken_for_another_point():
    optimizer = advanced(make(), 3)
    X = optimizer.ask()
    assert (X.astype(np.float32) != X).any(axis=1).all()
    with pytest.raises(
        ValueError, match="its row 0 is not one of them: it is one that was asked for, rounded"
    ):
        optimizer.tell(X.astype(np.float32), values_of(bent, X))
    bounded = pursuit.Optimizer(START, bounds=[(0.0, 5.0)] * 6)
    for bad in (np.full(6, 6.0), np.full(6, np.nan)):
        with pytest.raises(ValueError, match="X must hold finite points within the bounds, but its row 0"):
            bounded.tell([bad], [1.0])


@pytest.mark.parametrize("method", ["auto", "evolution", "rp", "cma"])
def test_a_run_goes_on_from_its_result(method):
    first = alone(method=method, maxfev=60, ftarget=None)
    going = pursuit.minimize(bent, first, method=method, rng=7, maxfev=150)
    assert same(going, alone(method=method, maxfev=150, ftarget=None))
    # What callers do with the point does not matter.
    first.x[:] = 9.0
    assert same(pursuit.minimize(bent, first, method=method, maxfev=150), going)


def test_a_run_that_has_ended_or_was_copied_begins_at_its_point():
    ended = pursuit.minimize(bent, START, rng=1)
    assert ended.success
    calls = []

    def watched(x):
        calls.append(x.copy())
        return bent(x)

    for earlier in (ended, pickle.loads(pickle.dumps(alone(maxfev=60))), copy.copy(alone(maxfev=60))):
        calls.clear()
        pursuit.minimize(watched, earlier, rng=1, maxfev=30)
        assert calls[0].tolist() == earlier.x.tolist()


def test_the_result_of_another_run_is_refused():
    first = alone(maxfev=60)
    with pytest.raises(ValueError, match=r"x0 holds a run with sigma0=1\.0, which cannot be resumed with"):
        pursuit.minimize(bent, first, sigma0=0.5)
    with pytest.raises(ValueError, match="x0 holds a run of another function"):
        pursuit.minimize(bowl, first)
