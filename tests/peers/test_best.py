"""The figure of which scheme is best where: what is read of a study, which one is best, and what is drawn."""

import math
import sys

import numpy as np
import pytest
from benchmarks.pages import best
from benchmarks.pages.best import BUDGETS, BestRow, best_of, build, rows_of
from benchmarks.runs import Table, read_rows

from experiments.study.small import declared, run_pursuit
from peers.two_schemes import STUDY
from pursuit.experiments.study.store import read_store


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    run_pursuit("reproduce", declared(folder, STUDY), "--out", folder / "out", "--no-report")
    return folder / "out"


def row(solver, *, value=1.0, evaluations=math.inf, n=20, budget=BUDGETS[0], problem="exp"):
    return BestRow(problem, 1e4, n, solver, "cpu", budget, 3, value, evaluations)


def test_a_study_is_read_budget_by_budget(study):
    rows = list(rows_of([study]))
    assert [(one.solver, one.budget) for one in rows] == [
        (scheme, budget) for scheme in ("rp", "rp-exact") for budget in BUDGETS
    ]
    with read_store(study) as store:
        spent = {
            entry.cell.scheme: np.median([run.nfev for run in entry.runs])
            for entry in store.results().select()
        }
    for one in rows:
        is_there = spent[one.solver] <= one.budget * one.n
        assert one.evaluations == (spent[one.solver] if is_there else math.inf)
        assert (one.value <= 1e-6) == is_there
        assert (one.device, one.runs, one.problem, one.L, one.n) == ("cpu", 3, "exp", 10.0, 4)


def test_a_budget_that_runs_were_not_given_has_no_row(tmp_path):
    """Their value after it is not known, and would be too bad."""
    text = STUDY.replace("target = 1e-6", "target = 1e-90").replace("cap = 20000", "cap = 150")
    run_pursuit("reproduce", declared(tmp_path, text), "--out", tmp_path / "out", "--no-report")
    assert {(one.solver, one.budget) for one in rows_of([tmp_path / "out"])} == {
        (scheme, budget) for scheme in ("rp", "rp-exact") for budget in (10, 100)
    }


def test_fewer_evaluations_to_the_target_are_better_than_a_lower_value():
    rows = [row("low", value=1e-12, evaluations=500.0), row("soon", value=1e-9, evaluations=400.0)]
    rows += [row("late", value=1e-20)]
    (found,) = best_of(rows).values()
    assert found.solver == "soon"


def test_without_the_target_the_lower_value_is_better_in_each_place():
    rows = [
        row("rp", value=2.0),
        row("sarp", value=1.0),
        row("rp", value=1.0, n=40),
        row("sarp", n=40, value=2.0),
    ]
    assert {key[2]: found.solver for key, found in best_of(rows).items()} == {20: "sarp", 40: "rp"}


def test_the_lower_row_leaves_out_schemes_that_are_told_minima_on_lines():
    rows = [
        row(solver, value=value, budget=budget, evaluations=100.0 if solver == "rp" else math.inf)
        for budget in BUDGETS
        for solver, value in (("rp", 2.0), ("evolution", 3.0))
    ]
    rows += [row("arp", evaluations=50.0, budget=budget) for budget in BUDGETS]
    figure = build(rows)
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == ["arp", "rp"]
    upper, lower = figure.axes[: len(BUDGETS)], figure.axes[len(BUDGETS) :]
    assert [axes.images[0].get_array().item() for axes in upper] == [0] * len(BUDGETS)
    assert [axes.images[0].get_array().item() for axes in lower] == [1] * len(BUDGETS)
    # A dot where the target is reached.
    assert all(len(axes.lines) == 1 for axes in figure.axes)


def test_the_command_keeps_what_other_studies_have_left(study, tmp_path, monkeypatch):
    table = Table(tmp_path / best.VALUES, BestRow)
    table.add(row("sarp"))
    monkeypatch.setattr(sys, "argv", ["best", str(study), "--out", str(tmp_path)])
    best.main()
    stored = read_rows(tmp_path / best.VALUES, BestRow)
    assert sorted({one.solver for one in stored}) == ["rp", "rp-exact", "sarp"]
    assert (tmp_path / f"{best.FIGURE}.png").stat().st_size > 10_000
