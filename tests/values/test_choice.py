"""What choosing costs, from rows whose answer is known."""

import pytest
from benchmarks.pages import choice
from benchmarks.problems.sets import CHOOSING, REPORTING
from benchmarks.suites.values import Row


def row(solver, seed=1, group=REPORTING, noisy=False, **fields):
    return Row(
        group=group, problem="bowl", kind="quadratic", n=10, seed=seed, solver=solver, version="1",
        noisy=noisy, maxtime=60.0, status="spent", evaluations=5000, seconds=1.0, start=1.0, minimum=0.0,
        **fields,
    )  # fmt: skip


def test_the_cost_is_the_ratio_to_the_better_of_the_two():
    rows = [
        row("differences", to_1=100, to_3=400), row("evolution", to_1=300, to_3=200, to_5=1000),
        row("auto", to_1=100, to_3=600, to_5=1400),
    ]  # fmt: skip
    costs = choice.costs_of(rows, REPORTING)
    assert [(cost.precision, cost.better, cost.ratio) for cost in costs] == [
        (1e-1, "differences", 1.0),
        (1e-3, "evolution", 3.0),
        (1e-5, "evolution", pytest.approx(1.4)),
    ]
    assert [cost.evaluations for cost in costs] == [10.0, 20.0, 100.0]


def test_where_auto_does_not_get_there_its_whole_budget_counts():
    rows = [row("differences", to_1=100), row("evolution", to_1=200), row("auto")]
    (cost,) = choice.costs_of(rows, REPORTING)
    assert cost.ratio == 50.0


def test_medians_are_compared_and_neither_noise_nor_other_sets_count():
    rows = [
        row(name, seed=seed, to_1=spent[seed - 1])
        for name, spent in {
            "differences": (100, 100, 9),
            "evolution": (900, 900, 900),
            "auto": (120, 1, 120),
        }.items()
        for seed in (1, 2, 3)
    ]
    rows += [row(name, noisy=True, to_1=5) for name in ("differences", "evolution", "auto")]
    rows += [row(name, group=CHOOSING, to_1=5) for name in ("differences", "evolution", "auto")]
    (cost,) = choice.costs_of(rows, REPORTING)
    assert cost.ratio == pytest.approx(1.2)


def test_the_report_says_where_choosing_is_dear():
    rows = [row("differences", to_1=100), row("evolution", to_1=400), row("auto", to_1=170)]
    rows += [row(name, group=CHOOSING, to_1=50) for name in ("differences", "evolution", "auto")]
    text = choice.text_of(rows)
    assert "| reporting | 1 | 1.70 | 1.70 | 1 of 1 |" in text
    assert "| choosing | 1 | 1.00 | 1.00 | 0 of 1 |" in text
    assert "| reporting | bowl | 10 | 0.1 | differences | 10.0 | 1.70 |" in text
