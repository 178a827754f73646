"""The page on the methods of others follows from what is stored, and its runs are counted rightly."""

from pathlib import Path

import pytest
from benchmarks.peers.records import read_rows
from benchmarks.rivals import __main__ as command
from benchmarks.rivals.pairs import PAIRS, solvers
from benchmarks.rivals.report import text_of
from benchmarks.rivals.runs import RivalRow, run
from benchmarks.rivals.times import TimeRow

import pursuit

FOLDER = Path(__file__).parents[2] / command.FOLDER


def test_the_page_follows_from_the_stored_rows():
    runs, times = read_rows(FOLDER / command.RUNS, RivalRow), read_rows(FOLDER / command.TIMES, TimeRow)
    assert (FOLDER / command.REPORT).read_text() == text_of(runs, times)


def test_a_run_counts_the_evaluations_to_the_target():
    done = run(RivalRow("lm-cma of 2017", "pursuit", "", "exp", 100.0, 20, 3))
    problem = pursuit.problems.exp(20, 100.0)
    direct = pursuit.minimize(
        problem.__call__, problem.x0, method="lm-cma", options={"version": "2017"}, rng=3, ftarget=1e-9
    )
    # A round is told as a whole.
    assert 0 <= direct.nfev - done.evaluations < 12
    assert done.status == "reached"


def rows(solver, evaluations):
    return [
        RivalRow(solver, "package", "1", "exp", 1.0, 20, seed, "reached", evaluations + seed)
        for seed in range(1, 12)
    ]


@pytest.mark.parametrize(
    ("theirs", "agrees"), [(1000, "yes"), (1100, "yes"), (880, "yes"), (1200, "**no**"), (800, "**no**")]
)
def test_agreement_is_a_median_within_15_percent(theirs, agrees):
    text = text_of([*rows(PAIRS[0].ours.name, 1000), *rows(PAIRS[0].theirs.name, theirs)], [])
    line = next(line for line in text.splitlines() if "| sphere |" in line)
    assert line.endswith(f"| {agrees} |")
    assert f"| {1006 / (theirs + 6):.3g} |" in line
    assert "| 11 | 1 006 (1 002 to 1 010) |" in line


def test_targets_of_time_are_judged_by_the_package():
    times = [TimeRow("lm-cma", "pypop7 LMCMAES", "", 100, 10.0, 29.0)]
    times += [TimeRow("cr-fm-nes", "fcmaes CR-FM-NES", "", 100, 10.0, 11.0)]
    text = text_of([], times)
    assert "| 2.9 times | MISSES 3 times |" in text
    assert "| 1.1 times | reaches 1 times |" in text


def test_every_solver_has_a_name_of_its_own():
    assert len(solvers()) == len(PAIRS) + len({pair.ours.name for pair in PAIRS})
