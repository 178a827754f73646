"""The benchmark of rounds counts what was evaluated, and its page follows from the rows alone."""

import math

import pytest
from benchmarks.pages import parallel as page
from benchmarks.runs import Wanted
from benchmarks.suites.parallel import RoundsRow, TimeRow, busy_share, plan_rounds, run_rounds


@pytest.mark.parametrize("batch", [1, 3, 20])
def test_rounds_and_evaluations_are_those_of_the_run(batch):
    row = run_rounds(RoundsRow("differences", "", "two", 1e4, 20, 1, batch))
    one = run_rounds(RoundsRow("differences", "", "two", 1e4, 20, 1, 1))
    assert row.evaluations <= 1.2 * one.evaluations < math.inf
    assert row.evaluations / batch <= row.rounds <= row.evaluations
    waves = [int(wave) for wave in row.waves.split()]
    # One worker evaluates all points, those after the target included; with many, a round takes one unit.
    assert 0 <= waves[0] - row.evaluations < batch
    assert waves == sorted(waves, reverse=True)
    assert waves[-1] == row.rounds


def test_ratios_follow_from_medians():
    rows = [
        RoundsRow("differences", "", "two", 1e4, 100, seed, batch, evaluations, rounds)
        for seed, (batch, evaluations, rounds) in enumerate([(1, 800, 800), (10, 800, 100), (100, 1200, 50)])
    ] + [RoundsRow("pycma", "", "two", 1e4, 100, 1, 10, 4000, 400)]
    text = page.text_of(rows, [TimeRow("times faster", 100, 11.0)])
    assert "| differences | two, L = 1e4 | 800 | 1.00 | 1.25 | 1.50 |" in text
    assert "| two, L = 1e4 | 100 | 400 | 0.25 |" in text
    assert "| times faster | 100 | 11 |" in text


def test_a_rival_that_does_not_get_there_is_said_to():
    rows = [
        RoundsRow("differences", "", "lin", 1e4, 100, 1, 10, 800, 100),
        RoundsRow("differences", "", "lin", 1e4, 100, 1, 1, 800, 800),
        RoundsRow("pycma", "", "lin", 1e4, 100, 1, 10),
    ]
    assert "| not within 4 times ours |  |" in page.text_of(rows, [])


def test_each_solver_is_given_the_same_batch():
    rows = [row for row in plan_rounds(Wanted(seeds=2)) if row.n == 100]
    assert {row.budget for row in rows if row.solver == "differences"} == {1, 10, 100}
    assert {row.budget for row in rows if row.solver == "pycma"} == {10}
    assert len(rows) == len(set(rows))


def test_threads_are_busy_most_of_the_time_that_they_could_be():
    share = busy_share(20, 100, 20)
    assert 0.0 < share <= 1.0
