"""The numbers of a study, as rows of CSV files; a missing number is NaN or None."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pursuit.experiments.study.claims import Judgement
from pursuit.experiments.study.evidence import RATED
from pursuit.experiments.study.report.analysis import Analysis, Growth
from pursuit.experiments.study.results import Results
from pursuit.experiments.study.stats import Estimate, Summary, rates_of, thinned, trace_of_median

Row = dict[str, Any]
# Of a curve in a table: enough for print.
_MOST_POINTS = 100


def summary_rows(analysis: Analysis) -> list[Row]:
    """Return a row for each cell, with the statistics of its counts, not divided by n."""
    return [
        {
            **entry.cell._asdict(),
            "target": entry.target,
            "cap": entry.cap,
            "wanted": entry.wanted,
            "runs": len(entry.runs),
            "successes": sum(run.success for run in entry.runs),
            "diverged": sum(run.reason == "diverged" for run in entry.runs),
            **{
                f"{measure}_{name}": value
                for measure, found in analysis.summaries.get(entry.cell, {}).items()
                for name, value in _numbers(found).items()
            },
        }
        # The first has runs: its columns are those of all.
        for entry in sorted(analysis.results.cells, key=lambda entry: not entry.runs)
    ]


def claim_rows(judgements: Sequence[Judgement]) -> list[Row]:
    """Return a row for each measurement of each claim under each reading."""
    return [
        {
            "claim": judgement.number,
            "sentence": judgement.claim,
            "reading": judgement.reading,
            "verdict": judgement.verdict,
            "measured": found.text,
            "paper": found.paper,
            **(found.ours or Estimate(math.nan, math.nan, math.nan))._asdict(),
            "outcome": found.outcome,
        }
        for judgement in judgements
        for found in judgement.measurements
    ]


def growth_rows(growths: Sequence[Growth]) -> list[Row]:
    """Return a row for each scheme on each problem, with the power of n by which its counts grow."""
    return [
        {
            "problem": growth.problem,
            "L": growth.L,
            "scheme": growth.scheme,
            "reading": growth.reading,
            "dimensions": " ".join(map(str, growth.dimensions)),
            **{
                f"{measure}_exponent{ending}": getattr(found, name)
                for measure, found in growth.exponents.items()
                for name, ending in (("value", ""), ("low", "_low"), ("high", "_high"))
            },
        }
        for growth in growths
    ]


def run_rows(results: Results) -> list[Row]:
    """Return a row for each run, with its value in four digits."""
    return [
        {
            **entry.cell._asdict(),
            "run": run.number,
            "nit": run.nit,
            "nfev": run.nfev,
            "fun": f"{run.fun:.4g}",
            "reason": run.reason,
        }
        for entry in results.select()
        for run in entry.runs
    ]


def rate_rows(results: Results) -> list[Row]:
    """Return a row for each rate of convergence that the claims need."""
    return [
        {**entry.cell._asdict(), "rate": f"{rate:.6g}"}
        for entry in results.select(scheme=RATED)
        if results.judges_claims
        for rate in rates_of(results, entry)
    ]


def curve_rows(results: Results) -> list[Row]:
    """Return the curves of figures: of each cell the trace of the median run, thinned."""
    return [
        {**entry.cell._asdict(), "nit": nit, "nfev": nfev, "fun": f"{fun:.4g}"}
        for entry in results.select()
        for nit, nfev, fun in zip(*thinned(trace_of_median(results, entry), _MOST_POINTS), strict=True)
    ]


def _numbers(found: Summary) -> dict[str, float]:
    return {
        "median": found.median.value,
        "median_low": found.median.low,
        "median_high": found.median.high,
        "mean": found.mean,
        "deviation": found.deviation,
    }
