"""Runs are recorded as they went, resumed, and made into shares of problems solved."""

import math

import numpy as np
import pytest
from benchmarks.pages import values as page
from benchmarks.pages.profiles import share
from benchmarks.pages.values import BEST_SPSA, below_minimum, cases_of, methods_of
from benchmarks.problems.problem import in_single_precision
from benchmarks.problems.sets import CHOOSING, problem_named, problems_of
from benchmarks.problems.valleys import spread_quadratic
from benchmarks.published import using_spsa
from benchmarks.recording import REACHED, TIME
from benchmarks.runs import MISSING, SKIPPED, Table, Wanted, read_rows, run_missing
from benchmarks.solvers import Answer
from benchmarks.suites import values
from benchmarks.suites.values import (
    AT,
    BUDGETS,
    NOISY_BUDGETS,
    PARTS,
    PEERS,
    PRECISIONS,
    SPSAS,
    TO,
    Row,
    named,
    plan,
    work,
)

from pursuit.engine.counting import CAP

TINY = problem_named(CHOOSING, "trigonometric", 5)
SMOOTH = Row(
    group=CHOOSING, problem="trigonometric", kind="nonconvex", n=5, seed=1, solver="L-BFGS-B", version="1",
    noisy=False, maxtime=60.0, start=TINY.f0, minimum=0.0,
)  # fmt: skip
NOISY = SMOOTH._replace(
    problem="chained Rosenbrock, additive", kind="noisy: additive", n=20, noisy=True, start=19.0
)


def test_a_row_keeps_values_at_budgets_and_the_evaluations_to_precisions(monkeypatch):
    problem = spread_quadratic(10, 1.0)

    def solve(fun, x0, **asked):
        for count in range(1, 36):
            # Worse every other time, which must not matter.
            fun(problem.x0 * (0.5**count if count % 2 else 10.0))

    monkeypatch.setattr(values, "problem_named", lambda *key: problem)
    monkeypatch.setattr(values, "named", lambda name: named("L-BFGS-B")._replace(solve=solve))
    row = work(SMOOTH._replace(start=problem.f0, n=10))
    # The run ends at the last precision.
    assert [row.value_at(budget) for budget in BUDGETS[:4]] == [
        5 * 0.25**3,
        5 * 0.25**9,
        5 * 0.25**13,
        5 * 0.25**13,
    ]
    assert row.error_at(1) == pytest.approx(0.25**9)
    assert [row.evaluations_to(precision) for precision in PRECISIONS] == [3, 5, 9, 13]


def test_what_was_not_reached_is_infinite():
    row = SMOOTH._replace(**dict.fromkeys(AT.values(), TINY.f0))
    assert [row.evaluations_to(precision) for precision in PRECISIONS] == [math.inf] * 4
    assert row.error_at(500) == 1.0
    assert SMOOTH.value_at(10) == math.inf


def test_a_run_without_noise_ends_at_the_last_precision():
    row = work(SMOOTH)
    assert row.status == REACHED
    assert row.evaluations == row.to_7
    assert 0 < row.to_1 <= row.to_3 <= row.to_5 <= row.to_7 < 500 * 5
    assert row.error_at(500) <= 1e-7


def test_a_run_with_noise_is_judged_by_the_true_value_at_the_point_returned(monkeypatch):
    calls = []

    def solve(fun, x0, *, sigma0, maxfev, seed):
        seen = [fun(np.full(x0.size, 1.0)) for _ in range(3)]
        calls.append((maxfev, seen))
        return Answer(np.full(x0.size, 0.5))

    odd = named("L-BFGS-B")._replace(solve=solve)
    monkeypatch.setattr(values, "named", lambda name: odd)
    row = work(NOISY)
    problem = problem_named(CHOOSING, NOISY.problem, 20)
    # The first is the warm-up, which sees no noise.
    assert [maxfev for maxfev, _ in calls[1:]] == [budget * 20 for budget in NOISY_BUDGETS]
    assert all(len(set(values)) == 3 for _, values in calls[1:])
    assert [row.value_at(budget) for budget in NOISY_BUDGETS] == [problem.true_value(np.full(20, 0.5))] * 4
    assert row.to_1 is None


def test_a_method_that_does_not_stop_in_time_counts_by_the_lowest_point_it_saw(monkeypatch):
    def solve(fun, x0, *, sigma0, maxfev, seed):
        while True:
            fun(x0)

    odd = named("L-BFGS-B")._replace(solve=solve)
    monkeypatch.setattr(values, "named", lambda name: odd)
    row = work(NOISY)
    assert row.status == CAP
    assert row.value_at(500) == row.start
    assert work(NOISY._replace(maxtime=-1.0)).status == TIME


@pytest.mark.parametrize("name", [*PEERS, SPSAS[-1]])
def test_every_method_improves_a_sphere_and_returns_a_point(name):
    solver = named(name)
    if not solver.installed:
        pytest.skip(f"{solver.package} is not installed.")
    problem = spread_quadratic(4, 2.0)
    found = solver.solve(problem.true_value, problem.x0.copy(), sigma0=1.0, maxfev=400, seed=1)
    assert problem.true_value(found.x) < 0.1 * problem.f0


def test_our_methods_are_known_and_others_are_refused():
    assert named("differences").ours
    with pytest.raises(ValueError, match=r"There is no solver 'none'; there are L-BFGS-B, .*, auto, "):
        named("none")


def test_spsa_stays_within_its_budget_and_does_not_diverge():
    count = 0

    def steep(x):
        nonlocal count
        count += 1
        return float(1e8 * np.sum(x**4))

    found = using_spsa(0.1)(steep, np.ones(3), sigma0=1.0, maxfev=500, seed=1)
    assert count <= 500
    assert np.abs(found.x).max() < 2.0


def planned(monkeypatch, solvers, problems=(TINY,), seeds=2):
    monkeypatch.setattr(values, "SETS", [CHOOSING])
    monkeypatch.setattr(values, "problems_of", lambda group: problems)
    return list(plan(Wanted(solvers, seeds, 60.0)))


def test_a_plan_runs_what_has_no_random_numbers_once_and_spsa_only_with_noise(monkeypatch):
    noisy = in_single_precision(TINY)
    rows = planned(monkeypatch, ["L-BFGS-B", "auto", SPSAS[0]], (TINY, noisy))
    assert [(row.solver, row.noisy, row.seed) for row in rows] == [
        ("L-BFGS-B", False, 1), ("auto", False, 1), ("auto", False, 2),
        ("L-BFGS-B", True, 1), ("L-BFGS-B", True, 2), ("auto", True, 1), ("auto", True, 2),
        (SPSAS[0], True, 1), (SPSAS[0], True, 2),
    ]  # fmt: skip


def test_runs_are_made_once_and_again_when_the_version_changes(tmp_path, monkeypatch):
    path = tmp_path / "runs.csv"
    rows = planned(monkeypatch, ["L-BFGS-B"])

    def run(keep=False):
        said = []
        run_missing(PARTS["runs"], rows, Table(path, Row), keep=keep, say=said.append)
        return read_rows(path, Row), len(said)

    found, made = run()
    # A line before the runs, and one on the run.
    assert (found[0].status, made) == (REACHED, 2)
    assert run() == (found, 0)
    Table(path, Row).add(found[0]._replace(version="0"))
    assert run(keep=True)[1] == 0
    again, made = run()
    assert (again[0].version, again[0].to_7, made) == (found[0].version, found[0].to_7, 2)


def test_what_cannot_be_run_is_stored_with_the_reason(tmp_path, monkeypatch):
    table = Table(tmp_path / "runs.csv", Row)
    large = problem_named(CHOOSING, "soft absolutes", 1000)
    monkeypatch.setattr("benchmarks.solvers.Solver.installed", True)
    monkeypatch.setattr("benchmarks.solvers.Solver.version", "1")
    run_missing(PARTS["runs"], planned(monkeypatch, ["NEWUOA"], (large,)), table)
    monkeypatch.setattr("benchmarks.solvers.Solver.installed", False)
    run_missing(PARTS["runs"], planned(monkeypatch, ["pycma"], seeds=1), table)
    found = read_rows(tmp_path / "runs.csv", Row)
    assert [(row.status, row.detail) for row in found] == [
        (SKIPPED, "It is not run with more than 200 variables."), (MISSING, "cma is not installed."),
    ]  # fmt: skip
    assert cases_of(found, "NEWUOA")["soft absolutes", 1000][0].error_at(500) == math.inf
    assert not cases_of(found, "pycma")


def made_up(solver, errors, *, problem="a", seed=1, noisy=False, reached=(None,) * 4):
    fields = dict(zip(AT.values(), errors, strict=True)) | dict(zip(TO.values(), reached, strict=True))
    return SMOOTH._replace(
        solver=solver, problem=problem, seed=seed, noisy=noisy, start=1.0, minimum=0.0, evaluations=1,
        status=CAP, **fields,
    )  # fmt: skip


def test_shares_are_means_over_problems_of_means_over_seeds():
    good, bad = (1.0, 1.0, 1.0, 0.01, 1e-3, 1e-5, 1e-8), (1.0,) * 7
    rows = [
        made_up("m", good, noisy=True),
        made_up("m", bad, seed=2, noisy=True),
        made_up("m", good, problem="b", noisy=True),
    ]
    (cases,) = methods_of(rows).values()
    assert len(cases) == 2
    assert share(cases, 1e-1, 10) == 0.75
    assert share(cases, 1e-3, 10) == 0.0
    assert share(cases, 1e-7, 500) == 0.75


def test_without_noise_the_evaluations_to_a_precision_count():
    nothing = (1.0,) * 7
    rows = [
        made_up("m", nothing, reached=(40, 150, 500, 2000)),
        made_up("m", nothing, seed=2),
        made_up("m", nothing, problem="b"),
    ]
    (cases,) = methods_of(rows).values()
    assert share(cases, 1e-1, 8.0) == 0.25
    assert share(cases, 1e-1, 7.9) == 0.0


def test_spsa_counts_by_its_best_gain_for_each_problem():
    good, bad = (0.01,) * 7, (1.0,) * 7
    rows = [
        made_up(SPSAS[0], good, noisy=True), made_up(SPSAS[1], bad, noisy=True),
        made_up(SPSAS[0], bad, problem="b", noisy=True), made_up(SPSAS[1], good, problem="b", noisy=True),
    ]  # fmt: skip
    ((method, cases),) = methods_of(rows).items()
    assert (method, share(cases, 1e-1, 10), share(cases, 1e-3, 10)) == (BEST_SPSA, 1.0, 0.0)


def test_a_value_below_the_minimum_is_reported():
    lower = made_up("m", (-0.1,) * 7)
    assert below_minimum([lower, made_up("m", (0.0,) * 7)]) == [lower]
    assert "L-BFGS-B found -0.1 on a, n = 5, below the smallest value known, 0." in page.text_of(
        [lower._replace(solver="L-BFGS-B")], CHOOSING
    )


def test_problems_are_built_once():
    assert problems_of(CHOOSING) is problems_of(CHOOSING)
