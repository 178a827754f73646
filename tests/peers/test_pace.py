"""The page on the time of the schemes of a study."""

import math
import sys

import pytest
from benchmarks.peers.records import read_rows
from benchmarks.rivals import pace
from benchmarks.rivals.pace import PaceRow, page_of

from experiments.study.small import declared, run_pursuit
from peers.two_schemes import STUDY
from pursuit.experiments.study.store import read_store


def row(solver, *, n=20, problem="exp", condition=1e4, **times):
    return PaceRow(
        problem,
        condition,
        n,
        solver,
        3,
        **{"iteration": 2.0, "evaluation": 1.0, "seconds": 0.5} | times,
    )


def test_the_command_keeps_the_times_of_a_study_and_writes_a_page(tmp_path, monkeypatch):
    study = declared(tmp_path, STUDY.replace("rp-exact", "sarp"))
    run_pursuit("reproduce", study, "--out", tmp_path / "out", "--no-report")
    monkeypatch.setattr(sys, "argv", ["pace", str(tmp_path / "out"), "--out", str(tmp_path)])
    pace.main()
    page = (tmp_path / pace.PAGE).read_text()
    rows = read_rows(tmp_path / pace.TIMES, PaceRow)
    assert [(one.solver, one.n, one.runs) for one in rows] == [
        ("rp", 4, 3),
        ("sarp", 4, 3),
    ]
    with read_store(tmp_path / "out") as store:
        seconds = sorted(run.seconds for run in store.results().select()[0].runs)
    assert rows[0].seconds == pytest.approx(seconds[1])
    assert rows[1].iteration > 1.9 * rows[1].evaluation  # SARP evaluates two points in an iteration
    (tmp_path / pace.PAGE).unlink()
    monkeypatch.setattr(sys, "argv", ["pace", "--write", "--out", str(tmp_path)])
    pace.main()
    assert (tmp_path / pace.PAGE).read_text() == page


def test_what_was_not_run_is_empty_and_what_was_not_reached_infinite():
    page = page_of(
        [
            row("rp", iteration=3.0, evaluation=3.0),
            row("rp", problem="two", iteration=5.0, evaluation=5.0, seconds=math.inf),
            row("sarp", n=40),
        ]
    )
    assert "| rp | 4 (4) |  |" in page
    assert "| sarp |  | 2 (1) |" in page
    assert "| rp | 0.5 | ∞ |" in page
