"""What a study measures of the paper's schemes, and the verdict on a claim that follows from measurements."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pursuit import problems
from pursuit.experiments.common.formatting import power
from pursuit.experiments.study import stats
from pursuit.experiments.study.results import CellResults, Results

EP_CMA = ("ep-cma-1", "ep-cma-2", "ep-cma-4", "ep-cma-sqrt", "ep-cma-n")
PAPER_SCHEMES = ("rp", "rp-exact", "sarp", "sarp-exact", "cma", *EP_CMA)
LM_CMA = {scheme: [scheme.replace("ep", "lm", 1) + year for year in ("", "-2017")] for scheme in EP_CMA}
"""The labels of the schemes with the same m that the paper names but does not run: of 2014 and of 2017."""
RATED = ("rp", "sarp", "ep-cma-1")
"""The schemes whose rates of convergence the paper speaks of."""
DIMENSIONS = (20, 40, 60, 80, 100)
"""The paper's."""


_FINAL = ("holds", "holds in part", "does not hold", "not decided")
VERDICTS_SO_FAR = ("consistent so far", "consistent in part so far", "contradicted so far", "not measured")
VERDICTS = (*_FINAL, *VERDICTS_SO_FAR)


def ep_cma_at(n: int) -> tuple[str, ...]:
    """Return the EP-CMA-m that differ in n dimensions: for n = 20 the root of n is rounded to 4."""
    return tuple(scheme for scheme in EP_CMA if scheme != "ep-cma-sqrt" or round(math.sqrt(n)) != 4)


class PaperProblem(NamedTuple):
    """A problem with its L."""

    name: str
    L: float | None

    def __str__(self) -> str:
        return self.name if self.L is None else f"{self.name} L={power(self.L)}"

    def at(self, n: int) -> PaperSetting:
        """Return the problem in n dimensions."""
        return PaperSetting(self, n)


class PaperSetting(NamedTuple):
    """A problem with its L, in a dimension."""

    problem: PaperProblem
    n: int

    def __str__(self) -> str:
        return f"{self.problem} n={self.n}"

    def has(self, scheme: str) -> bool:
        """Return whether the paper runs a scheme there, which it does with one exception."""
        return (*self.problem, self.n, scheme) != ("two", 1e6, 100, "ep-cma-n")

    def objective(self) -> Any:
        """Return the problem itself."""
        name, condition = self.problem
        make = getattr(problems, name)
        return make(self.n) if condition is None else make(self.n, condition)


class Measurement(NamedTuple):
    """A number of the paper compared with ours."""

    text: str
    paper: str
    ours: stats.Estimate | None
    """None where the study lacks the runs."""
    holds: bool | None
    """None where that is not decided."""
    complete: bool = True
    """Whether all runs that it needs are there."""
    diverges: bool = False
    """Whether there is no such number because a scheme diverges: then it neither agrees nor disagrees."""

    @property
    def outcome(self) -> str:
        """Say whether our number agrees: "agrees", "disagrees", "diverges", "undecided" or "missing"."""
        if self.diverges:
            return "diverges"
        if self.holds is None:
            return "undecided" if self.complete else "missing"
        return "agrees" if self.holds else "disagrees"


class Judgement(NamedTuple):
    """A claim with its measurements under one reading."""

    number: int
    claim: str
    reading: str
    measurements: tuple[Measurement, ...]
    verdict: str
    """One of `VERDICTS`."""

    @property
    def counts(self) -> Counter[str]:
        """How many measurements have each outcome."""
        return Counter(found.outcome for found in self.measurements)

    @property
    def agreement(self) -> str:
        """How many measurements agree with the claim; "" if none is decided.

        All have to be made; where they are not, it begins with how many are.
        """
        counts = self.counts
        agree, diverge, undecided = (counts[name] for name in ("agrees", "diverges", "undecided"))
        decided = agree + diverge + counts["disagrees"]
        if not decided:
            return ""
        parts = [f"{agree} of {decided} agree"]
        parts += [f"{diverge} diverge"] if diverge else []
        if self.verdict in _FINAL:
            return ", ".join(parts + ([f"{undecided} undecided"] if undecided else []))
        made = [found for found in self.measurements if found.complete or found.ours]
        partial = sum(not found.complete for found in made)
        measured = f"{len(made)} of {len(self.measurements)} measured"
        measured += f", {partial} of them in part" if partial else ""
        return measured if agree == decided or not agree + diverge else f"{measured}; {', '.join(parts)}"


def verdict_of(measurements: Sequence[Measurement]) -> str:
    """Return the verdict of measurements, final if all are made; what they do not decide does not count.

    Examples
    --------
    >>> from pursuit.experiments.study.evidence import Measurement, verdict_of
    >>> agrees, disagrees = (Measurement("rp / sarp", "about 5", None, holds) for holds in (True, False))
    >>> missing = Measurement("rp / sarp", "about 5", None, None, complete=False)
    >>> verdict_of([agrees, disagrees]), verdict_of([agrees, missing])
    ('holds in part', 'consistent so far')
    >>> verdict_of([agrees, Measurement("rp / sarp", "about 5", None, None, diverges=True)])
    'holds in part'
    """
    decided = [bool(found.holds) for found in measurements if found.holds is not None or found.diverges]
    in_full, in_part, not_at_all, nothing = (
        _FINAL if all(found.complete for found in measurements) else VERDICTS_SO_FAR
    )
    if not decided:
        return nothing
    if all(decided):
        return in_full
    return in_part if any(decided) else not_at_all


class Rule(NamedTuple):
    """What the paper says about a number, and the range in which that is true."""

    paper: str
    low: float
    high: float
    by_median: bool = False
    """Whether the median must lie in the range; otherwise the interval must overlap it."""

    def holds(self, ours: stats.Estimate) -> bool | None:
        """Return whether our number agrees, or None if that is not decided."""
        apart = ours.high < self.low or self.high < ours.low
        if ours.value in (-math.inf, 0.0, math.inf):
            inside = self.low <= ours.low and ours.high <= self.high
            return inside if inside or apart else None
        return self.low < ours.value < self.high if self.by_median else not apart


class Quantity(NamedTuple):
    """A number, and the runs that it follows from."""

    bounds: stats.BootstrapBounds
    places: tuple[tuple[str, PaperSetting], ...] = ()
    """The schemes that were run, and where."""
    complete: bool = True
    """Whether all of these runs are there, and their traces if it needs them."""

    def __truediv__(self, other: Quantity) -> Quantity:
        complete = self.complete and other.complete
        return Quantity(self.bounds / other.bounds, self.places + other.places, complete)


def known(number: float) -> Quantity:
    """Return a number that needs no runs."""
    return Quantity(stats.exactly(number))


class Evidence:
    """What a study measures under one reading, scheme by scheme."""

    def __init__(self, results: Results, reading: str) -> None:
        self.results = results
        self.reading = reading
        schemes = {*PAPER_SCHEMES, *itertools.chain(*LM_CMA.values())}
        self._entries = {
            (entry.cell.scheme, PaperProblem(entry.cell.problem, entry.cell.L).at(entry.cell.n)): entry
            for entry in results.select(reading=reading, scheme=schemes)
            if entry.cell.n <= DIMENSIONS[-1]
        }
        self._bounds_of = functools.cache(self._bounds)

    def has(self, scheme: str) -> bool:
        """Return whether there are runs of a scheme anywhere."""
        return any(scheme == other for other, _ in self._entries)

    def entry(self, scheme: str, setting: PaperSetting) -> CellResults | None:
        """Return the runs of a scheme in a setting, if there are any."""
        return self._entries.get((scheme, setting))

    def median(self, scheme: str, setting: PaperSetting, measure: str = "iterations") -> Quantity:
        """Return the median of a scheme's counts."""
        return self.of(self._bounds_of(scheme, setting, measure), (scheme, setting))

    def rate(self, scheme: str, setting: PaperSetting) -> Quantity:
        """Return the rate at which log f falls in the end."""
        bounds = self._bounds_of(scheme, setting, "rate")
        found = self.of(bounds, (scheme, setting))
        return found._replace(complete=found.complete and bounds is not stats.UNKNOWN)

    def growth(self, scheme: str, problem: PaperProblem, rule: Rule) -> Measurement:
        """Measure with which power of n a scheme's iterations grow."""
        places = [place for place in self._entries if (place[0], place[1].problem) == (scheme, problem)]
        dimensions = sorted(there.n for _, there in places)
        medians = [self._bounds_of(scheme, problem.at(n), "iterations") for n in dimensions]
        bounds = stats.slope(dimensions, medians) if len(dimensions) > 1 else stats.UNKNOWN
        among = ", ".join(map(str, dimensions)) or "none"
        text = f"{problem}: exponent of n in the iterations of {scheme}, n = {among}"
        return self.measured(text, self.of(bounds, *((scheme, problem.at(n)) for n in DIMENSIONS)), rule)

    def quotient(self, slower: str, faster: str, setting: PaperSetting) -> Quantity:
        """Return how many times as many iterations the slower scheme needs."""
        return self.median(slower, setting) / self.median(faster, setting)

    def ratio(self, slower: str, faster: str, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure how many times as many iterations the slower scheme needs."""
        return self.measured(f"{setting}: {slower} / {faster}", self.quotient(slower, faster, setting), rule)

    def ratio_to_best_other(self, scheme: str, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure how many times as many iterations as `scheme` the best of the paper's others needs."""
        others = {
            other: self._bounds_of(other, there, "iterations").value
            for other, there in self._entries
            if there == setting and other in PAPER_SCHEMES and other != scheme
        }
        best = min(others, key=others.__getitem__, default="none")
        text = f"{setting}: best of {len(others)} others ({best}) / {scheme}"
        complete = self._has_all((name, setting) for name in PAPER_SCHEMES if setting.has(name))
        return self.measured(text, self.quotient(best, scheme, setting)._replace(complete=complete), rule)

    def of(self, bounds: stats.BootstrapBounds, *places: tuple[str, PaperSetting]) -> Quantity:
        """Return a number that follows from the runs in these places."""
        return Quantity(bounds, places, self._has_all(places))

    def measured(self, text: str, ours: Quantity, rule: Rule) -> Measurement:
        """Return what a rule says of a number."""
        found = None if math.isnan(ours.bounds.value) else ours.bounds.estimate()
        present = [place for place in ours.places if place in self._entries]
        # Where a scheme was not run at all, there is nothing to compare.
        diverges = any(self._entries[place].diverges for place in present) and (
            {scheme for scheme, _ in present} == {scheme for scheme, _ in ours.places}
        )
        holds = None if found is None or diverges else rule.holds(found)
        return Measurement(text, rule.paper, found, holds, ours.complete, diverges)

    def _bounds(self, scheme: str, setting: PaperSetting, what: str) -> stats.BootstrapBounds:
        entry = self.entry(scheme, setting)
        if entry is None:
            return stats.UNKNOWN
        return stats.convergence_rate(self.results, entry) if what == "rate" else stats.median_of(entry, what)

    def _has_all(self, places: Iterable[tuple[str, PaperSetting]]) -> bool:
        """Return whether all runs in these places are there."""
        found = [self._entries.get(place) for place in places]
        return all(entry is not None and len(entry.runs) >= entry.wanted for entry in found)
