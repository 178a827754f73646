"""Distributions: the shares of runs and targets that are reached within a budget."""

import numpy as np
import pytest

from experiments.study.drawn import cell_of, curve_of, panels_of, study
from pursuit.experiments.study.figures import build_distributions
from pursuit.experiments.study.results import Trace
from pursuit.experiments.study.stats import TARGETS


def share_within(curve, budget):
    """Return the height of a step curve."""
    return curve.get_ydata()[np.searchsorted(curve.get_xdata(), budget, side="right") - 1]


@pytest.mark.parametrize(("measure", "factor"), [("iterations", 1), ("evaluations", 3)])
def test_distributions_are_shares_of_runs_and_targets(measure, factor):
    nits = np.array([0, 10, 100, 1000])
    # Five targets a decade: 100 to 1 are 11 of them, down to 1e-5 another 25, the other 20 down to 1e-9.
    trace = Trace(nits, 3 * nits, np.array([1e3, 0.999, 0.999e-5, 0.999e-9]))
    stuck = Trace(nits, 3 * nits, np.array([1e3, 1e3, 1e3, 1e3]))
    assert TARGETS.size == 56
    traces = {
        cell_of("rp", problem="exp", n=10): [trace],
        cell_of("rp", problem="lin", n=10): [stuck],
        cell_of("sarp", problem="exp", n=10): [trace],
        cell_of("cma", problem="exp", n=10): [stuck],
        cell_of("rp", problem="exp", n=20): [trace],
    }
    figure = build_distributions(study(traces), "fitted", measure)
    small, large = panels_of(figure)
    assert (small.get_title(), large.get_title()) == ("n = 10", "n = 20")
    assert small.get_xscale() == "log"
    for budget, reached in [(1.01, 11), (9.99, 11), (10.01, 36), (99.9, 36), (100.1, 56), (110.0, 56)]:
        assert share_within(curve_of(small, "sarp"), factor * budget) == pytest.approx(reached / 56)
        assert share_within(curve_of(small, "rp"), factor * budget) == pytest.approx(reached / 112)
        assert share_within(curve_of(small, "cma"), factor * budget) == 0.0
    assert share_within(curve_of(large, "rp"), factor * 50.1) == 1.0
    assert {line.get_drawstyle() for line in small.lines} == {"steps-post"}


def test_targets_that_the_start_has_reached_count_from_the_first_budget_on():
    nits = np.array([0, 1000])
    figure = build_distributions(
        study({cell_of("rp", n=10): [Trace(nits, nits, np.array([0.999, 1e-9]))]}), "fitted"
    )
    curve = curve_of(figure.axes[0], "rp")
    assert share_within(curve, curve.get_xdata()[0]) == pytest.approx(11 / 56)
