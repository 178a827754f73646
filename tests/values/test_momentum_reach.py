"""The targets of `momentum`, and the verdicts on them."""

from benchmarks.momentum import PATIENCE, SETS, report, rows_of, to_target, under_noise, within_budgets
from benchmarks.peers.records import Table
from benchmarks.values.reach import Measured
from benchmarks.values.reaching import (
    ALONG_AXES,
    EARLY,
    NOISE,
    ROTATED,
    SCALED,
    TO_TARGET,
    ReachRow,
    run_missing,
)

CHOOSING, REPORTING = SETS["choosing"], SETS["reporting"]


def test_the_two_sets_have_no_run_in_common():
    one, other = (set(rows_of(problems)) for problems in (CHOOSING, REPORTING))
    assert not one & other
    assert {row.seed for row in one}.isdisjoint(row.seed for row in other)


def test_medians_stand_beside_their_targets():
    sphere = ReachRow(TO_TARGET, "momentum", "exp", 1.0, ALONG_AXES, 100, 1, PATIENCE, "", 6e3)
    scaled = sphere._replace(axes=SCALED, result=19e3)
    text = to_target(Measured([sphere, scaled]), CHOOSING)
    assert "| sphere | 6 (reaches 7) |  | 19 (MISSES 18) |" in text


def test_short_budgets_stand_beside_those_of_random_pursuit():
    ours = ReachRow(EARLY, "momentum", "exp", 1.0, ALONG_AXES, 60, 101, 30.0, "", 0.25)
    plain = ours._replace(solver="rp", result=0.5)
    assert "| 0.25 (reaches 0.5) |" in within_budgets(Measured([ours, plain]), REPORTING)
    assert "| 0.25 (MISSES 0.125) |" in within_budgets(
        Measured([ours, plain._replace(result=0.125)]), REPORTING
    )


def test_noise_is_judged_by_the_best_of_the_others_and_by_the_target():
    ours = ReachRow(NOISE, "momentum", "exp", 1e2, ROTATED, 100, 1, 100.0, "", 2e-3)
    theirs = [ours._replace(solver="pycma", result=5e-3), ours._replace(solver="CR-FM-NES", result=3e-3)]
    assert "0.002 (MISSES 0.001)" in under_noise(Measured([ours, *theirs]), CHOOSING)
    late = [row._replace(budget=300.0) for row in (ours, *theirs)]
    assert "0.002 (reaches 0.003)" in under_noise(Measured(late), CHOOSING)


def test_runs_that_are_stored_are_reported(tmp_path):
    rows = [row for row in rows_of(REPORTING) if row.part == EARLY and row.problem == "Poisson regression"]
    few = [row for row in rows if row.seed == REPORTING.first_seed]
    run_missing(few, Table(tmp_path / "momentum.csv", ReachRow), lambda line: None)
    text = report(tmp_path)
    (line,) = (line for line in text.splitlines() if line.startswith("| Poisson regression"))
    assert line.count("reaches") + line.count("MISSES") == 3
