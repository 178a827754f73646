"""Statistics of a study, compared with closed forms and SciPy's bootstrap."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from pursuit.experiments.study.results import Cell, CellResults, Results, RunRecord, Trace
from pursuit.experiments.study.stats import (
    TARGETS,
    counts,
    ecdf,
    exponent,
    median_of,
    median_run,
    ratio,
    summarize,
    value_after,
)


def entry_of(*outcomes, n=20, scheme="rp"):
    """Return a cell whose runs took these numbers of iterations and twice as many evaluations.

    A number is a run that reached the target, a word a run that stopped for that reason at 1000.
    """
    runs = tuple(
        RunRecord(number=number, nit=1000, nfev=2000, fun=1.0, reason=outcome, seconds=0.0)
        if isinstance(outcome, str)
        else RunRecord(
            number=number,
            nit=int(outcome),
            nfev=2 * int(outcome),
            fun=9e-10,
            reason="target",
            seconds=0.0,
        )
        for number, outcome in enumerate(outcomes)
    )
    return finished(cell_of(n, scheme), runs)


def cell_of(n, scheme="rp"):
    return Cell(problem="exp", L=1e4, n=n, scheme=scheme, reading="fitted")


def finished(cell, runs):
    return CellResults(cell=cell, target=1e-9, cap=1000, wanted=len(runs), code="", runs=runs)


def log_normal(rng, middle, size=51):
    return entry_of(*np.round(middle * np.exp(0.3 * rng.standard_normal(size))))


@pytest.mark.parametrize(("measure", "factor"), [("iterations", 1), ("evaluations", 2)])
def test_summary_by_hand(measure, factor):
    summary = summarize(entry_of(50, "maxiter", 10, 30, "diverged"), measure)
    assert summary.runs == 5
    assert summary.successes == 3
    assert summary.median.value == 50 * factor
    assert summary.median.high == math.inf
    assert summary.mean == 30 * factor
    assert summary.deviation == 20 * factor


def test_runs_that_failed_count_as_infinite():
    np.testing.assert_array_equal(counts(entry_of(7, "stalled"), "evaluations"), [14, math.inf])


def test_median_of_an_even_number_is_the_lower_of_the_middle_ones():
    assert summarize(entry_of(40, 10, 20, 30), "iterations").median.value == 20
    assert summarize(entry_of(40, 10, "diverged", "diverged"), "iterations").median.value == 40


def test_mean_and_deviation_are_undefined_without_enough_successes():
    alone, none = (
        summarize(entry_of(5, "stalled"), "iterations"),
        summarize(entry_of("stalled"), "iterations"),
    )
    assert alone.mean == 5
    assert math.isnan(alone.deviation)
    assert math.isnan(none.mean)
    assert none.median == (math.inf, math.inf, math.inf)


def test_interval_of_a_median_begins_where_runs_were_cut_off():
    assert summarize(entry_of("maxiter", "maxiter", "maxiter"), "iterations").median == (
        math.inf,
        1000,
        math.inf,
    )


def test_intervals_agree_with_scipy():
    """Both bootstraps are random; their ends lie within a tenth of the interval's length of each other."""
    rng = np.random.default_rng(1)
    slow, fast = log_normal(rng, 5000), log_normal(rng, 1000)
    for ours, samples, statistic in [
        (median_of(slow).estimate(), (slow,), lambda x, axis: np.median(x, axis=axis)),
        (
            ratio(slow, fast),
            (slow, fast),
            lambda x, y, axis: np.median(x, axis=axis) / np.median(y, axis=axis),
        ),
    ]:
        theirs = scipy_stats.bootstrap(
            [counts(sample, "iterations") for sample in samples], statistic, method="percentile", rng=2
        ).confidence_interval
        length = theirs.high - theirs.low
        assert ours.low == pytest.approx(theirs.low, abs=0.1 * length)
        assert ours.high == pytest.approx(theirs.high, abs=0.1 * length)


def test_intervals_hold_the_truth_nineteen_times_in_twenty():
    """Of 200 intervals at 95 %, as many hold it as a binomial number does in all but 1 of 10 000 cases."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        found = ratio(log_normal(rng, 5e6), log_normal(rng, 1e6))
        held += found.low <= 5 <= found.high
    low, high = scipy_stats.binom.interval(0.9999, 200, 0.95)
    assert low <= held <= high


def test_intervals_depend_on_the_runs_alone():
    rng = np.random.default_rng(4)
    one, other = log_normal(rng, 3000), log_normal(rng, 1000)
    first = ratio(one, other)
    summarize(other, "evaluations")
    assert ratio(one, other) == first


def test_ratio_of_the_same_runs_is_one():
    entry = log_normal(np.random.default_rng(5), 1000)
    assert ratio(entry, entry._replace(cell=entry.cell._replace(scheme="ep-cma-sqrt"))) == (1, 1, 1)


def test_ratio_counts_what_is_asked_for():
    one, other = entry_of(60), entry_of(20)
    other = other._replace(runs=(other.runs[0]._replace(nfev=20),))
    assert ratio(one, other) == (3, 3, 3)
    assert ratio(one, other, "evaluations") == (6, 6, 6)


def test_ratio_with_failures_is_infinite_zero_or_undefined():
    good, bad, cut = entry_of(100, 100), entry_of("diverged", "diverged"), entry_of("maxiter", "maxiter")
    assert ratio(bad, good) == (math.inf, math.inf, math.inf)
    assert ratio(good, bad) == (0, 0, 0)
    assert ratio(cut, good) == (math.inf, 10, math.inf)
    assert ratio(good, cut) == (0, 0, 0.1)
    undefined = ratio(bad, bad)
    assert math.isnan(undefined.value)
    assert undefined[1:] == (0, math.inf)


def test_ratio_with_some_failures_has_an_interval_that_says_so():
    shaky = entry_of(*[100] * 26, *["diverged"] * 25)
    found = ratio(shaky, entry_of(50, 50))
    assert found == (2, 2, math.inf)


@pytest.mark.parametrize("power", [1, 2, 1.5])
def test_exponent_of_a_power_law(power):
    found = exponent([entry_of(round(1e6 * n**power), n=n) for n in (20, 40, 60, 80, 100)])
    assert found == pytest.approx((power, power, power), abs=1e-6)


def test_exponent_is_the_least_squares_slope():
    rng = np.random.default_rng(6)
    entries = [log_normal(rng, 1000 * n)._replace(cell=cell_of(n)) for n in (20, 50, 100)]
    medians = [np.median(counts(entry, "iterations")) for entry in entries]
    found = exponent(entries)
    assert found.value == pytest.approx(scipy_stats.linregress(np.log([20, 50, 100]), np.log(medians)).slope)
    assert 0.8 < found.low < found.value < found.high < 1.2


def test_exponent_follows_failures_to_infinity():
    assert exponent([entry_of(9), entry_of("diverged", n=40)]) == (math.inf, math.inf, math.inf)
    assert exponent([entry_of("diverged"), entry_of(9, n=40)]) == (-math.inf, -math.inf, -math.inf)
    assert exponent([entry_of(10), entry_of("maxiter", n=200)]) == (math.inf, pytest.approx(2), math.inf)
    assert exponent([entry_of("maxiter"), entry_of(10, n=200)]) == (-math.inf, -math.inf, pytest.approx(-2))
    assert math.isnan(exponent([entry_of("diverged"), entry_of("diverged", n=40)]).value)


def test_median_run_is_in_the_middle_of_the_order():
    assert median_run(entry_of(50, 10, 30)).number == 2
    assert median_run(entry_of(50, 10, 30, 40)).number == 2
    assert median_run(entry_of("maxiter", "diverged", 30)).number == 0
    assert median_run(entry_of(30, 20, 20, 20)).number == 2


def results_of(*traces, reason="target"):
    """Return results of one cell with n = 10 whose runs have these traces, each of (nit, fun) pairs."""
    columns = [[np.array(column) for column in zip(*trace, strict=True)] for trace in traces]
    runs = tuple(
        RunRecord(number=i, nit=int(nit[-1]), nfev=0, fun=fun.min(), reason=reason, seconds=0.0)
        for i, (nit, fun) in enumerate(columns)
    )
    return Results(
        title="",
        cells=(finished(cell_of(10), runs),),
        figures=(),
        trace=lambda cell, number: Trace(columns[number][0], 2 * columns[number][0], columns[number][1]),
        made={},
    )


def test_ecdf_by_hand():
    """The second run climbs in between, which does not count, and never reaches 0.01."""
    results = results_of([(0, 5.0), (10, 1.0), (40, 0.001)], [(0, 5.0), (20, 0.5), (30, 7.0), (60, 0.1)])
    budgets, fractions = ecdf(results, results.cells, [10.0, 1.0, 0.1, 0.01], "iterations")
    np.testing.assert_array_equal(budgets, [0, 0, 1, 2, 4, 4, 6])
    np.testing.assert_allclose(fractions, np.arange(1, 8) / 8)
    np.testing.assert_array_equal(ecdf(results, results.cells, [1.0], "evaluations")[0], [2, 4])


def test_every_cell_counts_the_same_in_an_ecdf_however_many_runs_it_has():
    """Random Pursuit has 11 runs on one problem of the paper and 51 on the others."""
    quick, slow = (
        Trace(*np.array([[0, 10]] * 2), np.array([5.0, 0.1])),
        Trace(*np.array([[0, 90]] * 2), np.array([5.0, 5.0])),
    )
    cells = [cell_of(10, scheme=scheme) for scheme in ("rp", "sarp")]
    entries = [
        finished(cell, tuple(RunRecord(i, 10, 10, 0.1, "target", 0.0) for i in range(runs)))
        for cell, runs in zip(cells, (50, 2), strict=True)
    ]
    results = Results("", tuple(entries), (), lambda cell, _: quick if cell.scheme == "rp" else slow, {})
    budgets, fractions = ecdf(results, entries, [1.0], "iterations")
    assert budgets.size == 50
    assert fractions[-1] == pytest.approx(1 / 2)


def test_ecdf_of_nothing_is_empty():
    budgets, fractions = ecdf(results_of([(0, 5.0)]), [], TARGETS, "iterations")
    assert budgets.size == fractions.size == 0


def test_targets_are_five_a_decade_from_a_hundred_to_the_papers_target():
    assert TARGETS[[0, 5, -1]] == pytest.approx([100, 10, 1e-9])


def test_value_after_some_iterations_is_the_best_until_then():
    results = results_of([(0, 5.0), (10, 1.0), (20, 2.0), (40, 0.001)], reason="maxiter")
    assert value_after(results, results.cells[0], 20).estimate() == (1, 1, 1)
    assert value_after(results, results.cells[0], 40).estimate() == (0.001, 0.001, 0.001)


def test_errors_say_what_is_expected():
    with pytest.raises(
        ValueError, match=r"measure must be one of iterations, evaluations, but 'time' was given"
    ):
        summarize(entry_of(5), "time")
    with pytest.raises(ValueError, match=r"at least two different dimensions, but \[20, 20\] were given"):
        exponent([entry_of(5), entry_of(6)])
    for function in (median_of, median_run):
        with pytest.raises(
            ValueError, match=r"needs at least one run, but exp L=1e4 n=20 rp fitted has none"
        ):
            function(entry_of())
