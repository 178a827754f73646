"""The statistics of a study: medians, ratios and growth with their intervals, and runtime distributions.

A run that missed the target counts as infinitely long, so that there is always a median. A median is the
count of one of the runs: of an even number of runs, that of the lower middle one.

Intervals contain 95 % of `RESAMPLES` bootstrap samples, whose random numbers are seeded by the data: the same
runs have the same interval wherever it is computed. A run that was cut off might have needed any count above
what it had spent. So it counts as that for the lower end of an interval, and as infinite for the upper end. A
quotient of two infinities may be anything from 0 to infinity, and its value is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pursuit.checks import Vector, checked_choice
from pursuit.experiments.study.results import CellResults, Distribution, Results, RunRecord, Trace

MEASURES = ("iterations", "evaluations")
TARGETS: Vector = 10.0 ** np.linspace(2.0, -9.0, 56)
"""The targets of runtime distributions: five a decade, from 100 down to the paper's target."""
RESAMPLES = 2000
_TAIL = 0.025
# A run that ended so would never have reached the target; with any other reason it was cut off.
_HOPELESS = ("diverged", "stalled", "unbounded")
# From here on only the flattest directions are left: at the paper's start, one of them alone has f = 1/2.
_LAST_STRETCH = 0.1
_DRAWN = 1e-30, 1e30
# Of a runtime distribution: steps that are closer cannot be seen.
_STEPS_PER_DECADE = 40


class Estimate(NamedTuple):
    """A number and its interval."""

    value: float
    low: float
    high: float


class Summary(NamedTuple):
    """Summary statistics of a cell's runs."""

    runs: int
    successes: int
    median: Estimate
    """Of all runs."""
    mean: float
    """Of the runs that reached the target."""
    deviation: float
    """Their standard deviation."""
    diverged: int = 0
    """How many runs diverged."""

    @property
    def shown_mean(self) -> float:
        """The mean if at least half of the runs reached the target; that of a few says nothing."""
        return self.mean if 2 * self.successes >= self.runs else math.nan


class BootstrapBounds(NamedTuple):
    """A statistic, with its least and largest possible value in each bootstrap sample."""

    value: float
    lows: Vector
    highs: Vector

    def __truediv__(self, other: BootstrapBounds) -> BootstrapBounds:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.float64(self.value) / np.float64(other.value)
            lows, highs = self.lows / other.highs, self.highs / other.lows
        return BootstrapBounds(
            float(value), np.where(np.isnan(lows), 0.0, lows), np.where(np.isnan(highs), np.inf, highs)
        )

    def estimate(self) -> Estimate:
        """Return the number with its interval."""
        return Estimate(self.value, _quantile(self.lows, _TAIL), _quantile(self.highs, 1.0 - _TAIL))


def exactly(value: float) -> BootstrapBounds:
    """Return a number that is known without runs."""
    return BootstrapBounds(value, np.full(RESAMPLES, value), np.full(RESAMPLES, value))


UNKNOWN = exactly(math.nan)
"""A number of which nothing is known, as there are no runs or no traces."""


def counts(entry: CellResults, measure: str) -> Vector:
    """Return the iterations or evaluations of each run, infinite for a run that missed the target.

    Examples
    --------
    >>> from pursuit.experiments.study.results import Cell, CellResults, RunRecord
    >>> from pursuit.experiments.study.stats import counts
    >>> cell = Cell(problem="exp", L=1e4, n=20, scheme="rp", reading="fitted")
    >>> runs = (
    ...     RunRecord(number=0, nit=70, nfev=71, fun=9e-10, reason="target", seconds=0.1),
    ...     RunRecord(number=1, nit=99, nfev=100, fun=0.3, reason="maxiter", seconds=0.1),
    ... )
    >>> entry = CellResults(cell=cell, target=1e-9, cap=99, wanted=2, code="", runs=runs)
    >>> counts(entry, "iterations")
    array([70., inf])
    """
    return np.array([_spent(run, measure) if run.success else math.inf for run in entry.runs])


def median_of(entry: CellResults, measure: str = "iterations") -> BootstrapBounds:
    """Return the median count of a cell's runs, for further calculation."""
    _check_runs(entry)
    least = [math.inf if run.reason in _HOPELESS else _spent(run, measure) for run in entry.runs]
    return _median(np.array(least), counts(entry, measure))


def summarize(entry: CellResults, measure: str) -> Summary:
    """Return the summary statistics of a cell's runs.

    Examples
    --------
    >>> from pursuit.experiments.study.results import Cell, CellResults, RunRecord
    >>> from pursuit.experiments.study.stats import summarize
    >>> cell = Cell(problem="exp", L=1e4, n=20, scheme="rp", reading="fitted")
    >>> runs = tuple(
    ...     RunRecord(number=i, nit=nit, nfev=nit + 1, fun=9e-10, reason="target", seconds=0.1)
    ...     for i, nit in enumerate((70, 90, 80))
    ... )
    >>> entry = CellResults(cell=cell, target=1e-9, cap=99, wanted=3, code="", runs=runs)
    >>> summary = summarize(entry, "iterations")
    >>> summary.median
    Estimate(value=80.0, low=70.0, high=90.0)
    >>> summary.successes, summary.mean, summary.deviation
    (3, 80.0, 10.0)
    """
    median = median_of(entry, measure).estimate()
    reached = np.array([_spent(run, measure) for run in entry.runs if run.success])
    return Summary(
        runs=len(entry.runs),
        successes=reached.size,
        median=median,
        mean=float(reached.mean()) if reached.size else math.nan,
        deviation=float(reached.std(ddof=1)) if reached.size > 1 else math.nan,
        diverged=sum(run.reason == "diverged" for run in entry.runs),
    )


def median_run(entry: CellResults) -> RunRecord:
    """Return the run with the median number of iterations; of equal ones, the order of numbers decides."""
    _check_runs(entry)
    ordered = sorted(entry.runs, key=lambda run: (run.nit if run.success else math.inf, run.number))
    return ordered[_middle(len(ordered))]


def trace_of_median(results: Results, entry: CellResults) -> Trace:
    """Return the trace of the median run, or of the run whose trace is kept; it is empty if there is none."""
    if results.kept is None:
        return results.trace(entry.cell, median_run(entry).number)
    nothing = np.empty(0, dtype=np.int64)
    return results.kept.curves.get(entry.cell, Trace(nothing, nothing, np.empty(0)))


def thinned(trace: Trace, most: int) -> Trace:
    """Return at most `most` points of a trace, at about equal distances on logarithmic axes."""
    if trace.nit.size <= most:
        return trace
    across = np.diff(np.log10(np.maximum(trace.nit, 1)))
    down = np.diff(np.log10(np.clip(np.abs(trace.fun), *_DRAWN)))
    # A picture has about twice as many decades of values as of iterations.
    lengths = np.append(0.0, np.cumsum(np.hypot(2.0 * across, np.nan_to_num(down))))
    between = np.searchsorted(lengths, np.linspace(0.0, lengths[-1], most)[:-1])
    chosen = np.append(np.unique(between), trace.nit.size - 1)
    return Trace(trace.nit[chosen], trace.nfev[chosen], trace.fun[chosen])


def ratio(one: CellResults, other: CellResults, measure: str = "iterations") -> Estimate:
    """Return the quotient of the medians of two cells.

    Examples
    --------
    >>> from pursuit.experiments.study.results import Cell, CellResults, RunRecord
    >>> from pursuit.experiments.study.stats import ratio
    >>> def runs(scheme, *nits):
    ...     cell = Cell(problem="exp", L=1e4, n=20, scheme=scheme, reading="fitted")
    ...     done = tuple(
    ...         RunRecord(number=i, nit=nit, nfev=nit, fun=9e-10, reason="target", seconds=0.1)
    ...         for i, nit in enumerate(nits)
    ...     )
    ...     return CellResults(cell=cell, target=1e-9, cap=99, wanted=len(nits), code="", runs=done)
    >>> ratio(runs("rp", 60, 60), runs("sarp", 20, 20, 20))
    Estimate(value=3.0, low=3.0, high=3.0)
    """
    return (median_of(one, measure) / median_of(other, measure)).estimate()


def exponent(entries: Sequence[CellResults], measure: str = "iterations") -> Estimate:
    """Return the power of n with which the median count grows over cells of several dimensions."""
    dimensions = [entry.cell.n for entry in entries]
    return slope(dimensions, [median_of(entry, measure) for entry in entries]).estimate()


def slope(dimensions: Sequence[int], numbers: Sequence[BootstrapBounds]) -> BootstrapBounds:
    """Return the slope of the logarithms of numbers against those of their dimensions, by least squares.

    Infinite numbers are taken as a limit: the slope is infinite if they occur at large n only.
    """
    if len(set(dimensions)) < 2:
        raise ValueError(
            f"Growth needs at least two different dimensions, but {list(dimensions)} were given."
        )
    offsets = np.log(dimensions) - np.mean(np.log(dimensions))
    weights = offsets / np.sum(offsets**2)
    values = np.array([number.value for number in numbers])
    lows = np.array([n.lows if w > 0.0 else n.highs for n, w in zip(numbers, weights, strict=True)])
    highs = np.array([n.highs if w > 0.0 else n.lows for n, w in zip(numbers, weights, strict=True)])
    with np.errstate(divide="ignore", invalid="ignore"):
        value, low, high = (np.sum(weights * np.log(m).T, axis=-1) for m in (values, lows, highs))
    return BootstrapBounds(
        float(value), np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    )


def value_after(results: Results, entry: CellResults, iterations: float) -> BootstrapBounds:
    """Return the median of the best values of a cell's runs after a number of iterations."""

    def value(run: RunRecord) -> float:
        if run.nit <= iterations:
            return run.fun
        trace = results.trace(entry.cell, run.number)
        return float(trace.fun[trace.nit <= iterations].min())

    if results.kept and any(run.nit > iterations for run in entry.runs):
        return UNKNOWN
    values = np.array([value(run) for run in entry.runs])
    return _median(values, values)


def convergence_rate(results: Results, entry: CellResults) -> BootstrapBounds:
    """Return the median of the rates at which the logarithm of the best value falls per iteration.

    The rate of a run is that from f = 0.1 to its end; 0 for a run that would never have reached the target,
    and unknown for one that was cut off before it came there. `UNKNOWN` if no traces are left.
    """
    rates = np.array(rates_of(results, entry))
    if not rates.size:
        return UNKNOWN
    unknown = np.isnan(rates)
    return _median(np.where(unknown, 0.0, rates), np.where(unknown, np.inf, rates))


def overall_rate(entry: CellResults, start: float) -> BootstrapBounds:
    """Return the median of the rates at which the logarithm of f falls from `start` to the best value."""
    _check_runs(entry)
    with np.errstate(divide="ignore"):
        rates = np.array([np.log(start / np.float64(run.fun)) / np.float64(run.nit) for run in entry.runs])
    return _median(rates, rates)


def rates_of(results: Results, entry: CellResults) -> tuple[float, ...]:
    """Return the rates of a cell's runs, NaN where a rate is unknown."""
    if results.kept:
        return results.kept.rates.get(entry.cell, ())
    return tuple(_rate(results.trace(entry.cell, run.number), run) for run in entry.runs)


def _rate(trace: Trace, run: RunRecord) -> float:
    if run.reason in _HOPELESS:
        return 0.0
    best = np.minimum.accumulate(trace.fun)
    (before,) = np.nonzero(best >= _LAST_STRETCH)
    first = int(before[-1]) if before.size else 0
    if first == best.size - 1 or not best[-1] > 0.0:
        return math.nan
    return float(np.log(best[first] / best[-1]) / (trace.nit[-1] - trace.nit[first]))


def targets_of(results: Results, reading: str) -> Vector:
    """Return the targets of runtime distributions: `TARGETS`, or those of the study without traces."""
    if results.kept is None or any(place[0] == reading for place in results.distributions or ()):
        return TARGETS
    return np.unique([entry.target for entry in results.select(reading=reading)])


def with_distributions(results: Results) -> Results:
    """Return a study that knows its runtime distributions, so that its traces are read once."""
    if results.distributions or results.kept:
        return results
    places = dict.fromkeys((entry.cell.reading, entry.cell.n) for entry in results.select())
    return results._replace(
        distributions={
            (reading, n, measure): distributions_of(results, reading, n, measure)
            for reading, n in places
            for measure in MEASURES
        }
    )


def distributions_of(results: Results, reading: str, n: int, measure: str) -> Sequence[Distribution]:
    """Return the runtime distributions in n dimensions, without steps too small to see."""
    if (known := (results.distributions or {}).get((reading, n, measure))) is not None:
        return known
    found = []
    entries = results.select(reading=reading, n=n)
    for scheme in dict.fromkeys(entry.cell.scheme for entry in entries):
        own = [entry for entry in entries if entry.cell.scheme == scheme]
        budgets, shares = ecdf(results, own, targets_of(results, reading), measure)
        with np.errstate(divide="ignore"):
            steps = np.floor(_STEPS_PER_DECADE * np.log10(budgets))
        last = np.append(steps[1:] != steps[:-1], True)[: budgets.size]
        found.append(Distribution(scheme, budgets[last], shares[last]))
    return found


def ecdf(
    results: Results, entries: Sequence[CellResults], targets: ArrayLike, measure: str
) -> tuple[Vector, Vector]:
    """Return the runtime distribution of cells over pairs of a run and a target.

    A target counts as reached at the first point of the trace whose value is not above it; a trace has about
    50 points per decade of iterations. Every cell counts the same, however many runs it has.

    Parameters
    ----------
    results : Results
        The study, which has the traces.
    entries : sequence of CellResults
        The cells; their dimensions may differ.
    targets : array_like
        Values to reach, such as those of `targets_of`.
    measure : str
        One of `MEASURES`.

    Returns
    -------
    budgets : ndarray
        The iterations or evaluations divided by n at which pairs were reached, sorted.
    fractions : ndarray
        The mean over cells of the fraction of pairs that were reached by then; the last is below 1 if some
        never were.
    """
    checked_choice("measure", measure, MEASURES)
    wanted = np.asarray(targets, dtype=np.float64)
    budgets, weights = [np.empty(0)], [np.empty(0)]
    for entry in entries:
        for run in entry.runs:
            spent = _first_reached(results, entry, run, wanted, measure)
            budgets.append(spent / entry.cell.n)
            weights.append(np.full(spent.size, 1.0 / (wanted.size * len(entry.runs) * len(entries))))
    found, shares = np.concatenate(budgets), np.concatenate(weights)
    order = np.argsort(found, kind="stable")
    return found[order], np.minimum(np.cumsum(shares[order]), 1.0)


def _first_reached(
    results: Results, entry: CellResults, run: RunRecord, targets: Vector, measure: str
) -> Vector:
    """Return what was spent when each target was first reached, leaving out those that were not."""
    if results.kept:
        return np.array([_spent(run, measure)] if run.success else [])
    trace = results.trace(entry.cell, run.number)
    spent = trace.nit if measure == "iterations" else trace.nfev
    rows = np.searchsorted(-np.minimum.accumulate(trace.fun), -targets)
    return spent[rows[rows < spent.size]].astype(float)


def _spent(run: RunRecord, measure: str) -> float:
    checked_choice("measure", measure, MEASURES)
    return float(run.nit if measure == "iterations" else run.nfev)


def _check_runs(entry: CellResults) -> None:
    if not entry.runs:
        raise ValueError(f"A median needs at least one run, but {entry.cell} has none.")


def _median(least: Vector, most: Vector) -> BootstrapBounds:
    """Return the median of a sample whose values are known by a lower and an upper bound each."""
    size = most.size
    # Resampling ranks instead of values serves both bounds at once, and small integers sort faster.
    ranks = np.random.default_rng(int.from_bytes(most.tobytes())).integers(size, size=(RESAMPLES, size))
    middle = _middle(size)
    middles = np.partition(ranks, middle, axis=1)[:, middle]
    least, most = np.sort(least), np.sort(most)
    return BootstrapBounds(float(most[middle]), least[middles], most[middles])


def _middle(size: int) -> int:
    return (size - 1) // 2


def _quantile(values: Vector, level: float) -> float:
    # This kind never interpolates between values, which may be infinite.
    return float(np.quantile(values, level, method="inverted_cdf"))
