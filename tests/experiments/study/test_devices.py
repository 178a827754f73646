"""The comparison of devices, with made-up runs whose distributions are known."""

import sys

import numpy as np
import pytest
from benchmarks import devices

from experiments.study.made_up import made_up_results
from experiments.study.pretended_gpu import Engine
from experiments.study.small import declared
from pursuit.experiments.study import reproduce
from pursuit.experiments.study.grid import identify
from pursuit.experiments.study.report import analyse
from pursuit.experiments.study.report.tables import write_tables
from pursuit.experiments.study.results import Cell, CellResults, Results, RunRecord

CAP = 100_000


def results(seed, factor=1.0, spread=0.1, cells=40, runs=51, readings=("fitted",), cap=CAP):
    """Return cells of made-up runs: log-normal lengths, those of the second cell all at the cap."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(cells):
        lengths = factor * 10_000 * rng.lognormal(0.0, spread, runs) * (100 if i == 1 else 1)
        done = tuple(
            RunRecord(
                number=number,
                nit=min(cap, round(length)),
                nfev=0,
                fun=0.0,
                reason="target" if length < cap else "maxiter",
                seconds=0.0,
            )
            for number, length in enumerate(lengths)
        )
        for reading in readings:
            cell = Cell(problem="exp", L=1e4, n=20 + i, scheme="rp", reading=reading)
            found.append(CellResults(cell=cell, target=1e-9, cap=cap, wanted=runs, code="", runs=done))
    return Results(title="", cells=tuple(found), figures=(), trace=lambda *_: None, made={})


def said(*arguments):
    return devices.report(devices.compared(*arguments))


def test_equal_distributions_agree():
    text = said(results(1), results(2))
    assert text.startswith("**The devices agree**, at an error probability of 0.01.\n")
    assert "- 40 cells with 2 040 runs of the CPU and 2 040 of the GPU.\n" in text
    assert "- Single cells: 0 differ, with p <= 0.005 after Holm's correction for 80 tests; " in text
    assert "The 20 cells that differ most:" in text
    assert text.count("\n| exp") == 20
    few = said(results(1, cells=5), results(2, cells=5))
    assert few.endswith("| exp L=1e4 n=21 rp fitted | ∞ (0 of 51) | ∞ (0 of 51) |  | 1 | 1 | 1 |\n")


def test_the_error_probability_is_kept():
    pairs = ((results(2 * i, cells=8), results(2 * i + 1, cells=8)) for i in range(40))
    # Of 40 with a probability of 0.01 each, more than 3 have one of 0.0007.
    assert sum("DIFFER" in said(*pair) for pair in pairs) <= 3


@pytest.mark.parametrize(("factor", "spread"), [(1.2, 0.1), (1.0, 0.4)])
def test_a_large_difference_is_found_in_single_cells(factor, spread):
    text = said(results(1), results(2, factor, spread))
    assert text.startswith("**The devices DIFFER**")
    assert "- Single cells: 0 differ" not in text
    assert "**differs**" in text


def test_a_small_difference_everywhere_is_found_in_all_together():
    comparisons = devices.compared(results(1), results(2, 1.03))
    assert devices.together(comparisons) < devices.ERROR / 2
    assert "DIFFER" in devices.report(comparisons)


def test_cells_that_share_runs_count_once_and_other_caps_do_not_count():
    both = ("printed", "fitted")
    assert len(devices.compared(results(1, readings=both), results(2, readings=both))) == 40
    assert said(results(1), results(2, cap=CAP + 1)) == "There is no cell that both studies have.\n"


def test_holm_by_hand():
    assert devices.corrected([0.01, 0.5, 0.02, 0.4]) == pytest.approx([0.04, 0.8, 0.06, 0.8])


def test_the_command_reads_both_devices_of_a_folder(tmp_path, monkeypatch, capsys):
    for name, module in Engine().modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    identify.cache_clear()
    for device in ("cpu", "gpu"):
        reproduce(declared(tmp_path), tmp_path / "out", only="scheme=rp n=4 L=10", jobs=1, device=device)
    identify.cache_clear()
    monkeypatch.setattr(sys, "argv", ["devices", *[str(tmp_path / "out")] * 2])
    devices.main()
    text = capsys.readouterr().out
    assert text.startswith("# CPU against GPU\n")
    assert "(gpu, Pretended 9000)" in text
    assert "| exp L=10 n=4 rp frozen |" in text


def test_the_tables_of_a_report_have_all_that_is_compared(tmp_path):
    stored = made_up_results()
    (tmp_path / "tables").mkdir()
    write_tables(analyse(stored), tmp_path / "tables")

    def without_seconds(results):
        return {
            (entry.cell, entry.target, entry.cap, tuple(run[:-1] for run in entry.runs))
            for entry in results.select()
        }

    assert without_seconds(devices.results_in(tmp_path, "gpu")) == without_seconds(stored)
