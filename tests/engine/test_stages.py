"""Runs of several stages: `auto`, which changes the method, and restarts."""

import copy

import numpy as np
import pytest

import pursuit
from conformance.own import Narrowing
from pursuit.engine.stopping import Reason

START = np.linspace(-2.0, 3.0, 6)


def kinks(x):
    """Rotate by 45 degrees in pairs, so that no kink lies along a coordinate."""
    return float(np.abs(x[::2] + x[1::2]).sum() + 3.0 * np.abs(x[::2] - x[1::2]).sum())


def bowl(x):
    return float(np.sum(np.linspace(1.0, 50.0, x.size) * (x - 0.5) ** 2))


def valleys(x):
    return float(10.0 * x.size + np.sum(x * x - 10.0 * np.cos(2.0 * np.pi * x)))


# Stages of different kinds: a change of method, wide and narrow restarts, within bounds and without.
CASES = {
    "kinks": (kinks, {"ftarget": 1e-3, "batch": 1}),
    "restarts": (valleys, {"restarts": 5, "maxfev": 12_000, "sigma0": 1.5}),
    "bounds": (valleys, {"restarts": 3, "maxfev": 12_000, "bounds": [(-4.0, 4.5)] * 6}),
    "sizes": (kinks, {"sigma0": np.array([1.0, 0.5, 2.0, 1.0, 3.0, 1.0]), "maxfev": 9_000}),
    "own": (bowl, {"method": Narrowing, "restarts": 2, "maxfev": 12_000}),
    "evolution": (valleys, {"method": "evolution", "restarts": 3, "maxfev": 20_000}),
}
every_case = pytest.mark.parametrize("case", CASES)


def run(case, fun=None, **more):
    objective, arguments = CASES[case]
    return pursuit.minimize(fun or objective, START, rng=5, trace="x", **{**arguments, **more})


def assert_same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    for name in ("fun", "nit", "nfev", "nfaulty", "sigma", "method", "message", "stages"):
        assert one[name] == other[name], name
    for column, twin in zip((*one.trace, one.trace.x), (*other.trace, other.trace.x), strict=True):
        np.testing.assert_array_equal(column, twin)


def test_a_smooth_function_without_a_target_needs_differences_alone():
    result = pursuit.minimize(bowl, START, rng=1)
    assert result.method == "auto (differences)"
    assert [stage.method for stage in result.stages] == ["differences"]
    np.testing.assert_allclose(result.x, 0.5, atol=1e-6)


@pytest.mark.parametrize("wish", [{"ftarget": -1.0}, {"restarts": 1}])
def test_who_wants_more_than_a_smooth_minimum_gets_evolution_too(wish):
    result = pursuit.minimize(bowl, START, rng=1, **wish)
    assert [stage.method for stage in result.stages][:2] == ["differences", "evolution"]
    assert result.fun == min(stage.fun for stage in result.stages)


def test_on_kinks_auto_changes_to_evolution_and_says_so():
    result = run("kinks")
    assert result.success
    assert result.method == "auto (differences, evolution)"
    first, second = result.stages
    assert (first.method, second.method, second.start) == ("differences", "evolution", "the best point")
    assert (
        f"`differences` stopped after {first.nfev} evaluations because {second.why}; `evolution` continued"
        in result.message
    )
    at_first = result.trace.nfev <= first.nfev
    assert set(result.trace.method[at_first]) == {"differences"}
    assert set(result.trace.method[~at_first]) == {"evolution"}


def test_where_kinks_keep_evolution_from_a_target_larger_rounds_try_again():
    result = pursuit.minimize(kinks, START, rng=5, ftarget=-1.0)
    assert not result.success
    assert [stage.start for stage in result.stages] == ["the start", "the best point", "the best point"]
    assert result.stages[2].options["popsize"] == 4 * (4 + int(3.0 * np.log(6.0)))
    assert len(pursuit.minimize(kinks, START, rng=5).stages) == 2


@pytest.mark.parametrize("n", [10, 40])
def test_on_a_ridge_auto_changes_to_evolution_too(n):
    """Steps never fail there, but gain next to nothing."""
    result = pursuit.minimize(lambda x: float(np.abs(x).max()), np.ones(n), rng=1, maxfev=6_000)
    assert [stage.method for stage in result.stages] == ["differences", "evolution"]


def test_the_second_stage_is_a_run_of_evolution_from_the_best_point():
    """Its first steps are a part of the way that was come."""
    result = run("kinks")
    generator = np.random.default_rng(5)
    alone = pursuit.minimize(
        kinks, START, method="differences", rng=generator, batch=1, options={"quiet": True}
    )
    assert alone.nfev == result.stages[0].nfev
    step = 0.3 * np.sqrt(np.mean((alone.x - START) ** 2))
    second = pursuit.minimize(
        kinks, alone.x, method="evolution", rng=generator, batch=1, sigma0=step, ftarget=1e-3
    )
    assert (second.fun, second.nfev - 1) == (result.fun, result.stages[1].nfev)
    np.testing.assert_array_equal(second.x, result.x)


@every_case
def test_what_is_counted_is_what_was_called(case):
    calls, points = [], []

    def counted(x):
        calls.append(CASES[case][0](x))
        points.append(x)
        return calls[-1]

    result = run(case, counted)
    assert result.nfev == len(calls) == sum(stage.nfev for stage in result.stages)
    assert result.nit == sum(stage.nit for stage in result.stages)
    assert result.fun == min(calls) == CASES[case][0](result.x)
    assert len(result.stages) >= 2
    trace = result.trace
    assert (trace.nit[0], trace.nfev[0], trace.fun[0]) == (0, 1, CASES[case][0](START))
    assert (trace.nit[-1], trace.nfev[-1]) == (result.nit, result.nfev)
    assert (np.diff(trace.nit) > 0).all()
    assert trace.fun.min() == result.fun
    best = [points[np.argmin(calls[:nfev])] for nfev in trace.nfev]
    np.testing.assert_array_equal(trace.x, best)


@every_case
def test_asked_and_told_or_mapped_it_is_the_same_run(case):
    objective, arguments = CASES[case]
    expected = run(case)
    assert_same(expected, run(case, workers=map))
    optimizer = pursuit.Optimizer(START, rng=5, trace="x", **arguments)
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [objective(x) for x in X])
    assert_same(expected, optimizer.result)


def test_compiled_whole_it_is_the_same_run():
    problem = pursuit.problems.rosenbrock(6)
    arguments = {"rng": 2, "restarts": 2, "xtol": 1e-2, "maxfev": 60_000, "trace": "x"}
    whole = pursuit.minimize(problem, problem.x0, **arguments)
    assert len(whole.stages) >= 4
    assert_same(whole, pursuit.minimize(problem.__call__, problem.x0, **arguments))
    (many,) = pursuit.minimize_many(problem, problem.x0, seeds=[2], **{**arguments, "rng": None})
    assert_same(whole, many)


@pytest.mark.interpreted
@every_case
def test_saved_and_loaded_at_any_moment_it_goes_on_as_if_nothing_had_happened(case, tmp_path):
    """Before the first value of a restart, too, and just after a change of the method."""
    objective, arguments = CASES[case]
    own = arguments.get("method") if case == "own" else None
    optimizer = pursuit.Optimizer(START, rng=5, trace="x", **arguments)
    path, stages, number, changed = tmp_path / "run.npz", 1, 0, 0
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [objective(x) for x in X])
        number += 1
        now = len(optimizer.result.stages)
        if now != stages:
            changed = number
        if number < changed + 4 or number % 97 == 0:
            optimizer.save(path)
            optimizer = pursuit.Optimizer.load(path, method=own, trace="x")
        elif number % 41 == 0:
            optimizer = copy.deepcopy(optimizer)
        stages = now
    assert_same(run(case), optimizer.result)


@pytest.mark.parametrize("kind", ["problem", "function"])
def test_minimize_resumes_in_whichever_stage_its_limits_stopped_it(kind, tmp_path):
    problem = pursuit.problems.rosenbrock(6)
    fun = problem if kind == "problem" else problem.__call__
    arguments = {"rng": 2, "restarts": 2, "xtol": 1e-2, "trace": "x"}
    whole = pursuit.minimize(fun, problem.x0, maxfev=60_000, **arguments)
    assert len(whole.stages) >= 4
    ends = np.cumsum([stage.nfev for stage in whole.stages])
    for maxfev in sorted({*ends, *(ends + 1), 60_000}):
        if maxfev <= 60_000:
            part = pursuit.minimize(
                fun, problem.x0, maxfev=int(maxfev), checkpoint=tmp_path / "run.npz", **arguments
            )
            assert part.nfev <= maxfev
    assert (part.fun, part.nfev, len(part.stages)) == (whole.fun, whole.nfev, len(whole.stages))
    np.testing.assert_array_equal(part.x, whole.x)
    np.testing.assert_array_equal(part.trace.x[-1], part.x)


def test_maxfev_is_never_exceeded():
    ends = np.cumsum([stage.nfev for stage in run("restarts").stages])
    for end in ends[:4]:
        for maxfev in range(int(end) - 2, int(end) + 3):
            calls = []
            result = run("restarts", lambda x: calls.append(1) or valleys(x), maxfev=maxfev)  # noqa: B023
            assert result.nfev == len(calls) <= maxfev
            assert (result.trace.nit[-1], result.trace.nfev[-1]) == (result.nit, result.nfev)


def test_restarts_widen_the_search_and_share_the_budget():
    result = run("evolution", restarts=3, maxfev=None)
    assert [stage.start for stage in result.stages[:2]] == ["the start", "a new point"]
    wide = [stage for stage in result.stages[1:] if stage.most is None]
    usual = 4 + int(3.0 * np.log(6))
    assert [stage.options["popsize"] for stage in wide] == [2 * usual, 4 * usual, 8 * usual]
    for number, stage in enumerate(result.stages):
        if stage.most is not None:
            before = [one for one in result.stages[1:number] if one.most is None]
            assert stage.most == before[-1].nfev // 2
            assert stage.nfev <= stage.most


def test_restarts_begin_between_the_bounds():
    """A new point is anywhere between two bounds, and near the best one where there is only one."""
    lower, upper = np.array([-3.0, -3.0, -np.inf]), np.array([5.0, np.inf, np.inf])
    starts = []

    def slope(x):
        starts.append(x.copy())
        return float(np.abs(x - 1.0).sum())

    optimizer = pursuit.Optimizer(
        np.ones(3), "rp", rng=1, restarts=20, bounds=list(zip(lower, upper, strict=True)), xtol=1e-2
    )
    count, firsts = 1, []
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [slope(x) for x in X])
        assert ((lower <= X) & (upper >= X)).all()
        if len(optimizer.result.stages) > count:
            count = len(optimizer.result.stages)
            firsts.append(starts[-1])
    firsts = np.array(firsts)
    assert len(firsts) == 20
    # 20 numbers between -3 and 5, all on one side of 1, have probability 2^-19; of 20 normals none is at 10.
    assert firsts[:, 0].min() < 1.0 < firsts[:, 0].max()
    assert np.abs(firsts[:, 1:] - 1.0).max() < 10.0


def test_a_restart_where_f_has_no_value_begins_at_the_start_of_the_run():
    def inside(x):
        return bowl(x) if np.abs(x - START).max() <= 6.0 else np.nan

    result = pursuit.minimize(inside, START, method="rp", rng=1, restarts=3, sigma0=100.0, xtol=1e-4)
    assert len(result.stages) == 4
    assert result.fun == inside(result.x)


@pytest.mark.interpreted
def test_a_run_ends_as_the_stage_did_that_found_its_best_point():
    """Restarts in the plain around the bowl, where all values are the same, say nothing of the minimum."""

    def plain(x):
        return bowl(x) if np.abs(x - START).max() <= 6.0 else 1e4

    result = pursuit.minimize(plain, START, method="rp", rng=1, restarts=2, sigma0=100.0, xtol=1e-4)
    first, *others = result.stages
    assert [stage.start for stage in others] == ["a new point"] * 2
    assert first.fun < 1e-3 < min(stage.fun for stage in others) == 1e4
    assert result.status == Reason.XTOL
    assert result.message.startswith("Converged: the steps have become so short")


def test_an_unbounded_function_is_not_tried_twice():
    result = pursuit.minimize(lambda x: float(x.sum()), START, rng=1, restarts=5)
    assert len(result.stages) <= 2
    assert result.status == Reason.UNBOUNDED


def test_a_callback_may_write_into_the_point_that_it_gets():
    def scribble(intermediate_result):
        intermediate_result.x[:] = np.nan

    # The first stage finds the best point.
    plain, scribbled = (
        pursuit.minimize(bowl, START, rng=1, restarts=1, maxfev=2_000, callback=callback)
        for callback in (None, scribble)
    )
    assert plain.fun == plain.stages[0].fun < plain.stages[1].fun
    np.testing.assert_array_equal(plain.x, scribbled.x)


@pytest.mark.parametrize("restarts", [-1, 1.5, "many", True])
def test_wrong_restarts_are_refused(restarts):
    with pytest.raises((TypeError, ValueError), match="restarts must be"):
        pursuit.minimize(bowl, START, restarts=restarts)


def test_options_of_a_later_stage_are_checked_at_once():
    with pytest.raises(ValueError, match="popsize must be at least 4"):
        pursuit.minimize(bowl, START, options={"popsize": 0})
    with pytest.raises(ValueError, match="is not an option of the method auto: its options are popsize"):
        pursuit.minimize(bowl, START, options={"kappa": 3.0})
    wide = pursuit.minimize(kinks, START, rng=1, maxfev=3_000, options={"popsize": 19})
    assert wide.stages[-1].options == {"popsize": 19}


def test_a_run_with_other_restarts_is_not_resumed(tmp_path):
    pursuit.minimize(bowl, START, rng=1, maxfev=50, restarts=1, checkpoint=tmp_path / "run.npz")
    with pytest.raises(
        ValueError, match="holds a run with restarts=1, which cannot be resumed with restarts=0"
    ):
        pursuit.minimize(bowl, START, rng=1, maxfev=90, checkpoint=tmp_path / "run.npz")


def spent_on_restarts(fun, bounds):
    """Return the evaluations of wide restarts, and of narrow ones."""
    found = pursuit.minimize(fun, START, rng=3, restarts=50, maxfev=40_000, bounds=bounds)
    again = [stage for stage in found.stages[:-1] if stage.start == "a new point"]
    narrow = [stage.nfev for stage in again if stage.most is not None]
    return sum(stage.nfev for stage in again) - sum(narrow), sum(narrow)


def test_narrow_restarts_get_half_as_much_as_wide_ones_until_they_lead():
    wide, narrow = spent_on_restarts(valleys, [(-5.0, 5.0)] * 6)
    assert 0.2 * wide < narrow < 0.6 * wide

    def holes(x):
        """Many deep holes far apart: the first of many narrow searches to end in a deep one leads."""
        return float(np.sum(-x * np.sin(np.sqrt(np.abs(x)))))

    wide, narrow = spent_on_restarts(holes, [(-500.0, 500.0)] * 6)
    assert narrow > 0.7 * wide
