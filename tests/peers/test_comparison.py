"""The page follows from the stored measurements, and every feature of ours is proven by a test."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks.measure import overhead_of
from benchmarks.pages import comparison, front, peers_report
from benchmarks.pages.peers import Measurements, absent, comparisons, load, losses, summaries_of, summarize
from benchmarks.processes import Job, run_job
from benchmarks.recording import QUIT, REACHED, TIME
from benchmarks.runs import MEASURED, Wanted
from benchmarks.suites.coco import Extent, SuiteShares
from benchmarks.suites.peers import (
    FOLDER,
    LINEAR_PEERS,
    OURS,
    SOLVERS,
    MemoryRow,
    OverheadRow,
    RunRow,
    measure_memory,
    named,
    smooth_tasks,
)

from pursuit.engine.counting import CAP

ROOT = Path(__file__).parents[2]


def test_the_figure_of_the_readme_shows_evaluations(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert front.figure_of(load(FOLDER)).axes[0].get_xlabel() == "evaluations to 1e-9"


def test_every_feature_of_ours_names_a_test_that_exists():
    peers, found = comparison.features()
    for feature in found:
        assert feature.keys() >= {"name", "ours", *peers}
        if feature["ours"] == "no":
            continue
        file, _, name = feature["test"].partition("::")
        tree = ast.parse((ROOT / file).read_text())
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in names, f"{feature['name']}: {feature['test']} does not exist."


def run_row(**fields):
    """Return a row of which some fields matter."""
    row = RunRow(
        solver="auto",
        package="pursuit",
        version="1",
        problem="exp",
        L=1e4,
        rotated=True,
        n=100,
        seed=1,
        status=REACHED,
        detail="",
        evaluations=1,
        seconds=1.0,
        best=1e-9,
        maxfev=2_000_000,
        maxtime=60.0,
    )
    return row._replace(**fields)


def synthetic_runs(spent):
    """Return a run of each solver on each smooth problem of 100 variables; `spent` decides how it ended."""
    rows = []
    for task in [task for task in smooth_tasks(Wanted()) if task.n == 100]:
        for solver in SOLVERS:
            status, evaluations = spent(solver, task)
            rows.append(
                run_row(
                    solver=solver.name,
                    package=solver.package,
                    status=status,
                    evaluations=evaluations,
                    **task._asdict(),
                )
            )
    return rows


def measured(runs, overhead=(), memory=(), shares=None):
    suite = None if shares is None else SuiteShares(Extent(), {}, shares)
    return Measurements(evaluations=runs, hard=[], overhead=list(overhead), memory=list(memory), suite=suite)


def test_our_versions_of_methods_of_others_count_neither_as_ours_nor_as_peers():
    def spent(solver, task):
        return REACHED, (10 if task.rotated else 1000) if solver.of_others else 100 if solver.ours else 200

    found = measured(synthetic_runs(spent))
    assert losses(found) == "- Nowhere."
    names = [solver.name for solver in SOLVERS if solver.of_others]
    assert set(names) == {"sep-cma", "lm-cma", "cr-fm-nes"}
    for one in comparisons(summaries_of(found.evaluations), LINEAR_PEERS):
        assert (one.ours, one.theirs, one.ratio) == ("auto 100", "pycma diagonal 200", 0.5)
    assert f"neither as ours nor as peers: {', '.join(names)}." in absent(found)


def test_ours_ahead_everywhere_loses_nowhere():
    found = measured(synthetic_runs(lambda solver, task: (REACHED, 100 if solver.ours else 200)))
    assert losses(found) == "- Nowhere."


def test_a_loss_is_listed_with_its_factor():
    def spent(solver, task):
        return REACHED, 100 if solver.ours or task.problem != "lin" else 50

    found = measured(synthetic_runs(spent))
    assert "- Evaluations, lin, L = 1e4, rotated, n = 100: " in losses(found)
    assert "2 times as much" in losses(found)


def test_a_peer_that_a_cap_stopped_earlier_leaves_it_open():
    def spent(solver, task):
        return (REACHED, 1000) if solver.ours else (TIME, 10)

    found = measured(synthetic_runs(spent))
    assert "open: time or a cap ended" in peers_report.comparison_table(summaries_of(found.evaluations))


def test_a_target_that_only_others_reach_is_a_loss():
    found = measured(synthetic_runs(lambda solver, task: (QUIT, 10) if solver.ours else (REACHED, 1000)))
    assert ", ours not reached." in losses(found)


def test_who_is_ahead_is_said_of_the_default_alone():
    def spent(solver, task):
        return REACHED, {"auto": 200, "rp": 50}.get(solver.name, 300 if task.rotated else 100)

    shares = {"all": {"auto": 0.4, "rp": 0.9, "pycma": 0.5}}
    rows = comparison.leaders_table(measured(synthetic_runs(spent), shares=shares)).splitlines()
    place = "| evaluations to 1e-9, n = 100, {}, all methods | {} times as many |"
    assert place.format("rotated", "**pursuit** | fewest on 7 of 7 | 1.5 to 1.5") in rows
    assert place.format("along the axes", "others | fewest on 0 of 7 | 0.5 to 0.5") in rows
    assert "| targets reached, COCO's bbob-largescale, all | pycma | 40.0 % | pycma 50.0 % |" in rows


@pytest.mark.parametrize(
    ("statuses", "median", "why"),
    [
        ([REACHED] * 3, 2.0, ""),
        ([REACHED, REACHED, QUIT], 2.0, "1 of 3 fail: quits at 1e-3"),
        ([REACHED, CAP, CAP], math.inf, "2 of 3 fail: cap at 1e-3"),
        ([TIME, "skipped", "skipped"], math.inf, "time at 1e-3"),
    ],
)
def test_a_median_counts_failures_as_infinite_and_says_why(statuses, median, why):
    rows = [
        run_row(seed=seed, status=status, evaluations=seed, best=1e-3)
        for seed, status in enumerate(statuses, 1)
    ]
    found = summarize(rows)
    assert (found.evaluations, found.why) == (median, why)


def test_losses_on_the_suite_are_listed():
    shares = {"all": {"auto": 0.3, "rp": 0.2, "pycma": 0.4}, "separable": {"auto": 0.3, "pycma": 0.2}}
    assert losses(measured([], shares=shares)) == (
        "- Targets of COCO's suite, all functions: pycma 40.0 %, ours auto 30.0 %."
    )


def test_a_report_shows_everything_and_its_figures(tmp_path):
    overhead = [
        OverheadRow(
            solver=solver.name,
            package=solver.package,
            version="1",
            n=n,
            status=MEASURED,
            evaluations=100,
            microseconds=1.0 * n,
            normals=2.0 * n,
            own=0.1,
        )
        for solver in SOLVERS
        for n in (100, 1000)
    ]
    memory = [
        MemoryRow(
            solver=solver.name,
            package=solver.package,
            version="1",
            n=10**6,
            status=MEASURED,
            bytes=10**7,
        )
        for solver in SOLVERS
    ]
    shares = {"all": {"auto": 0.5, "pypop7 LMCMA": 0.25}}
    found = measured(synthetic_runs(lambda solver, task: (REACHED, 100)), overhead, memory, shares)
    front.draw(found, tmp_path)
    assert (tmp_path / "front.png").stat().st_size > 10_000
    text = peers_report.text(tmp_path, found)
    for solver in (*OURS, *LINEAR_PEERS):
        assert f"| {solver.name} |" in text or f"| **{solver.name}** |" in text
    for heading in ("## Overhead", "## Evaluations and time", "## Memory"):
        assert heading in text
    for line in ("| auto | **50.0 %** |", "| pypop7 LMCMA | 25.0 % |", "| pycma | not run |"):
        assert line in text


def test_overhead_is_measured_as_expected():
    # The times depend on the machine.
    found = overhead_of(named("rp"), 1000, 1, 0.01)
    assert found.evaluations >= 150
    assert np.isfinite(found).all()


# The vectors of n numbers that a run around a Python function takes, which gets new arrays in each call.
@pytest.mark.long
@pytest.mark.parametrize(("solver", "vectors"), [("rp", 4), ("ep-cma-4", 8), ("adaptive-sarp", 11)])
def test_our_memory_grows_like_n(solver, vectors):
    row = MemoryRow(solver, "pursuit", "", 1_000_000)
    taken = run_job(Job(measure_memory, (row,), 300.0, fresh=True)).bytes
    assert vectors - 0.1 <= taken / 8e6 < vectors + 0.5
