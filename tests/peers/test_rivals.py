"""The page on the methods of others follows from what is stored, and its runs are counted rightly."""

import pytest
from benchmarks.pages.rivals import text_of
from benchmarks.suites.peers import RunRow
from benchmarks.suites.rivals import PAIRS, TimeRow, solvers, work

import pursuit

ROW = RunRow(
    "lm-cma of 2017", "pursuit", "", "exp", 100.0, False, 20, 3, "", "", None, None, None, 100_000, 60.0
)


def test_a_run_counts_the_evaluations_to_the_target():
    done = work(ROW)
    problem = pursuit.problems.exp(20, 100.0)
    direct = pursuit.minimize(
        problem.__call__, problem.x0, method="lm-cma", options={"version": "2017"}, rng=3, ftarget=1e-9
    )
    # A round is told as a whole.
    assert 0 <= direct.nfev - done.evaluations < 12
    assert done.status == "reached"


def rows(solver, evaluations):
    return [
        ROW._replace(solver=solver, L=1.0, seed=seed, status="reached", evaluations=evaluations + seed)
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


def test_times_are_shown_with_their_ratio():
    text = text_of([], [TimeRow("lm-cma", "pypop7 LMCMAES", "", 100, 10.0, 29.0)])
    assert "| lm-cma | pypop7 LMCMAES | 100 | 10 | 29 | 2.9 times |" in text


def test_every_solver_has_a_name_of_its_own():
    assert len(solvers()) == len(PAIRS) + len({pair.ours.name for pair in PAIRS})
