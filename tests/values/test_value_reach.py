"""The runs behind the targets of `differences`, and the verdicts on them."""

import math

import numpy as np
import pytest
from benchmarks.peers.records import Table
from benchmarks.values.reach import Measured, early, judged, report, to_target
from benchmarks.values.reaching import (
    ALONG_AXES,
    DIFFERENCES,
    EARLY,
    NOISE,
    ROTATED,
    SCALED,
    TO_TARGET,
    ReachRow,
    run_missing,
)

import pursuit


def result_of(tmp_path, *rows):
    table = Table(tmp_path / "reach.csv", ReachRow)
    run_missing(list(rows), table, lambda line: None)
    return [table.get(row).result for row in rows]


def test_evaluations_to_the_target_are_those_of_a_run(tmp_path):
    problem = pursuit.problems.exp(10, 1e4)
    expected = pursuit.minimize(lambda x: problem(x), problem.x0, method="differences", rng=3, ftarget=1e-9)
    row = ReachRow(TO_TARGET, DIFFERENCES, "exp", 1e4, ALONG_AXES, 10, 3, 1000.0)
    assert result_of(tmp_path, row) == [expected.nfev]
    (given_up,) = result_of(tmp_path, row._replace(budget=2.0))
    assert given_up == math.inf


def test_badly_scaled_problems_are_those_along_the_axes_in_other_units(tmp_path):
    row = ReachRow(TO_TARGET, DIFFERENCES, "lin", 1e4, SCALED, 10, 1, 1000.0)
    (found,) = result_of(tmp_path, row)
    assert 20 < found < 500


def test_the_first_evaluations_are_those_of_a_run_with_a_small_budget(tmp_path):
    row = ReachRow(EARLY, DIFFERENCES, "two", 1e4, ROTATED, 20, 1, 0.5)
    few, more = result_of(tmp_path, row, row._replace(budget=5.0))
    assert more < few <= 1.0


def test_under_noise_the_true_value_counts(tmp_path):
    row = ReachRow(NOISE, DIFFERENCES, "exp", 1e2, ROTATED, 20, 1, 200.0)
    (found,) = result_of(tmp_path, row)
    # Of the noise alone, the smallest of 4000 values would be negative.
    assert 0.0 <= found < 1e-3


def test_what_is_stored_is_not_run_again(tmp_path):
    row = ReachRow(TO_TARGET, DIFFERENCES, "two", 1e4, ALONG_AXES, 10, 1, 1000.0)
    table = Table(tmp_path / "reach.csv", ReachRow)
    said = []
    for _ in range(2):
        run_missing([row], table, said.append)
    assert len(said) == 1


def test_verdicts_follow_from_medians_and_from_all_seeds():
    row = ReachRow(TO_TARGET, DIFFERENCES, "exp", 1e4, ROTATED, 100, 0, 1500.0, "code")
    rows = [row._replace(seed=seed, result=result) for seed, result in enumerate((11e3, 10e3, 14e3), 1)]
    text = to_target(Measured(rows))
    assert "11 (reaches 11)" in text
    assert "1.4 (reaches 1.5)" in text
    lost = rows[0]._replace(result=np.inf)
    text = to_target(Measured([*rows, lost, lost, lost, lost]))
    assert "not reached (MISSES 11)" in text
    assert "not reached (MISSES 1.5)" in text
    first = ReachRow(EARLY, DIFFERENCES, "exp", 1e4, ROTATED, 1000, 0, 1.0, "code", 0.3)
    assert "0.3 (MISSES 0.13)" in early(Measured([first]))


@pytest.mark.parametrize(
    ("measured", "bound", "shown"),
    [(None, 1.0, "—"), (0.5, None, "0.5"), (2.0, 1.0, "2 (MISSES 1)"), (3e-5, 3e-5, "3e-05 (reaches 3e-05)")],
)
def test_a_number_is_shown_with_its_verdict(measured, bound, shown):
    assert judged(measured, bound) == shown


def test_a_report_without_runs_has_no_verdicts(tmp_path):
    text = report(tmp_path)
    assert "MISSES" not in text
    assert "reaches " not in text.replace("What `differences` reaches", "")
