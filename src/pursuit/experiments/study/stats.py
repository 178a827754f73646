"""The statistics of a study: medians, ratios and growth with their intervals, and runtime distributions.

A run that missed the target counts as infinitely long, so that a median exists whatever happened. A median
is always the count of one of the runs: of an even number, that of the lower middle one.

Intervals hold 95 % of what `RESAMPLES` bootstrap samples give, in a random order that follows from the data
alone: the same runs have the same interval wherever it is computed. A run that was cut off may have needed
anything above what it had spent. Hence it counts as that for the lower end of an interval, and as infinite
for the upper end. A quotient of two infinities may be anything from 0 to infinity, and is NaN as a value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pursuit.checks import Vector, checked_choice
from pursuit.experiments.study.results import CellResults, Results, Run

MEASURES = ("iterations", "evaluations")
TARGETS: Vector = 10.0 ** np.linspace(2.0, -9.0, 56)
"""The values that `ecdf` asks for: five a decade, from 100 down to the paper's target."""
RESAMPLES = 2000
_TAIL = 0.025
# For these reasons a run would never have reached the target; for any other it was cut off.
_HOPELESS = ("diverged", "stalled")


class Estimate(NamedTuple):
    """A number and its interval."""

    value: float
    low: float
    high: float


class Summary(NamedTuple):
    """The runs of a cell in a few numbers."""

    runs: int
    successes: int
    rate: float
    median: Estimate
    """Of all runs."""
    mean: float
    """Of the runs that reached the target."""
    deviation: float
    """Their standard deviation."""


class Uncertain(NamedTuple):
    """A positive number that depends on samples, with what it is at least and at most in each resample."""

    value: float
    lows: Vector
    highs: Vector

    def __truediv__(self, other: Uncertain) -> Uncertain:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.float64(self.value) / np.float64(other.value)
            lows, highs = self.lows / other.highs, self.highs / other.lows
        return Uncertain(
            float(value), np.where(np.isnan(lows), 0.0, lows), np.where(np.isnan(highs), np.inf, highs)
        )

    def estimate(self) -> Estimate:
        """Return the number with its interval."""
        return Estimate(self.value, _quantile(self.lows, _TAIL), _quantile(self.highs, 1.0 - _TAIL))


def counts(entry: CellResults, measure: str) -> Vector:
    """Return the iterations or evaluations of each run, infinite for a run that missed the target.

    Examples
    --------
    >>> from pursuit.experiments.study.results import Cell, CellResults, Run
    >>> from pursuit.experiments.study.stats import counts
    >>> runs = (Run(0, 70, 71, 9e-10, "target", 0.1), Run(1, 99, 100, 0.3, "maxiter", 0.1))
    >>> counts(CellResults(Cell("exp", 1e4, 20, "rp", "fitted"), 1e-9, 99, 2, "", runs), "iterations")
    array([70., inf])
    """
    return np.array([_spent(run, measure) if run.success else math.inf for run in entry.runs])


def median_of(entry: CellResults, measure: str = "iterations") -> Uncertain:
    """Return the median count of a cell's runs, to calculate with."""
    least = [math.inf if run.reason in _HOPELESS else _spent(run, measure) for run in entry.runs]
    return _median(entry, np.array(least), counts(entry, measure))


def summarize(entry: CellResults, measure: str) -> Summary:
    """Return a cell's runs in a few numbers.

    Examples
    --------
    >>> from pursuit.experiments.study.results import Cell, CellResults, Run
    >>> from pursuit.experiments.study.stats import summarize
    >>> runs = tuple(Run(i, nit, nit + 1, 9e-10, "target", 0.1) for i, nit in enumerate((70, 90, 80)))
    >>> entry = CellResults(Cell("exp", 1e4, 20, "rp", "fitted"), 1e-9, 99, 3, "", runs)
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
        rate=reached.size / len(entry.runs),
        median=median,
        mean=float(reached.mean()) if reached.size else math.nan,
        deviation=float(reached.std(ddof=1)) if reached.size > 1 else math.nan,
    )


def median_run(entry: CellResults) -> Run:
    """Return the run in the middle when they are ordered by iterations, and equal ones by number."""
    _check_runs(entry)
    ordered = sorted(entry.runs, key=lambda run: (run.nit if run.success else math.inf, run.number))
    return ordered[_middle(len(ordered))]


def ratio(one: CellResults, other: CellResults, measure: str = "iterations") -> Estimate:
    """Return how many times as much the one takes as the other: the quotient of their medians.

    Examples
    --------
    >>> from pursuit.experiments.study.results import Cell, CellResults, Run
    >>> from pursuit.experiments.study.stats import ratio
    >>> def runs(scheme, *nits):
    ...     cell = Cell("exp", 1e4, 20, scheme, "fitted")
    ...     done = tuple(Run(i, nit, nit, 9e-10, "target", 0.1) for i, nit in enumerate(nits))
    ...     return CellResults(cell, 1e-9, 99, len(done), "", done)
    >>> ratio(runs("rp", 60, 60), runs("sarp", 20, 20, 20))
    Estimate(value=3.0, low=3.0, high=3.0)
    """
    return (median_of(one, measure) / median_of(other, measure)).estimate()


def exponent(entries: Sequence[CellResults], measure: str = "iterations") -> Estimate:
    """Return the power of n with which the median count grows over cells of several dimensions."""
    return slope([entry.cell.n for entry in entries], [median_of(entry, measure) for entry in entries])


def slope(dimensions: Sequence[int], numbers: Sequence[Uncertain]) -> Estimate:
    """Return the slope of the logarithms of numbers against those of their dimensions, by least squares.

    Infinities pull as they would in the limit: the slope is infinite where only numbers of large n are.
    """
    if len(set(dimensions)) < 2:
        raise ValueError(
            f"Growth needs two different dimensions at least, but {list(dimensions)} were given."
        )
    offsets = np.log(dimensions) - np.mean(np.log(dimensions))
    weights = offsets / np.sum(offsets**2)
    values = np.array([number.value for number in numbers])
    lows = np.array([n.lows if w > 0.0 else n.highs for n, w in zip(numbers, weights, strict=True)])
    highs = np.array([n.highs if w > 0.0 else n.lows for n, w in zip(numbers, weights, strict=True)])
    with np.errstate(divide="ignore", invalid="ignore"):
        value, low, high = (np.sum(weights * np.log(m).T, axis=-1) for m in (values, lows, highs))
    return Uncertain(
        float(value), np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    ).estimate()


def value_after(results: Results, entry: CellResults, iterations: float) -> Estimate:
    """Return the median of the best values that the runs of a cell had seen after so many iterations."""
    traces = (results.trace(entry.cell, run.number) for run in entry.runs)
    values = np.array([trace.fun[trace.nit <= iterations].min() for trace in traces])
    return _median(entry, values, values).estimate()


def ecdf(
    results: Results, entries: Sequence[CellResults], targets: ArrayLike, measure: str
) -> tuple[Vector, Vector]:
    """Return the runtime distribution of cells over pairs of a run and a target.

    A target counts as reached at the first point of the trace that has a value as good; the trace has
    about 50 points per decade of iterations.

    Parameters
    ----------
    results : Results
        Where the traces are.
    entries : sequence of CellResults
        The cells; their dimensions may differ.
    targets : array_like
        Values to reach, such as `TARGETS`.
    measure : str
        One of `MEASURES`.

    Returns
    -------
    budgets : ndarray
        The iterations or evaluations divided by n at which pairs were reached, in order.
    fractions : ndarray
        The fraction of all pairs that were reached by then. Its end is below 1 where some never were.
    """
    checked_choice("measure", measure, MEASURES)
    wanted = np.asarray(targets, dtype=np.float64)
    hits = [np.empty(0)]
    for entry in entries:
        for run in entry.runs:
            trace = results.trace(entry.cell, run.number)
            spent = trace.nit if measure == "iterations" else trace.nfev
            hits.append(_first_reached(trace.fun, spent, wanted) / entry.cell.n)
    budgets = np.sort(np.concatenate(hits))
    pairs = wanted.size * sum(len(entry.runs) for entry in entries)
    return budgets, np.arange(1, budgets.size + 1) / max(pairs, 1)


def _first_reached(values: Vector, spent: NDArray[np.int64], targets: Vector) -> NDArray[np.int64]:
    """Return what was spent when targets were first reached, of those that were."""
    best = np.minimum.accumulate(values)
    rows = np.searchsorted(-best, -targets)
    return spent[rows[rows < spent.size]]


def _spent(run: Run, measure: str) -> float:
    checked_choice("measure", measure, MEASURES)
    return float(run.nit if measure == "iterations" else run.nfev)


def _check_runs(entry: CellResults) -> None:
    if not entry.runs:
        raise ValueError(f"A median needs a run at least, but {entry.cell} has none.")


def _median(entry: CellResults, least: Vector, most: Vector) -> Uncertain:
    """Return the median of a sample of which we know what each value is at least and at most."""
    _check_runs(entry)
    size = most.size
    # Resampling ranks instead of values serves both samples at once, and sorts small integers.
    ranks = np.random.default_rng(int.from_bytes(most.tobytes())).integers(size, size=(RESAMPLES, size))
    middle = _middle(size)
    middles = np.partition(ranks, middle, axis=1)[:, middle]
    least, most = np.sort(least), np.sort(most)
    return Uncertain(float(most[middle]), least[middles], most[middles])


def _middle(size: int) -> int:
    return (size - 1) // 2


def _quantile(values: Vector, level: float) -> float:
    # The only kind that never computes with two values, which may be infinite.
    return float(np.quantile(values, level, method="inverted_cdf"))
