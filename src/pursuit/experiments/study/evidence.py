"""Measurements of a study, as the paper's claims need them: ratios, growth with n, best values, and rates."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pursuit import problems
from pursuit.experiments.common.formatting import power
from pursuit.experiments.study.results import Results
from pursuit.experiments.study.stats import (
    UNKNOWN,
    BootstrapBounds,
    Estimate,
    convergence_rate,
    exactly,
    median_of,
    overall_rate,
    slope,
    value_after,
)
from pursuit.methods.paper.sarp import Sarp

EP_CMA = ("ep-cma-1", "ep-cma-2", "ep-cma-4", "ep-cma-sqrt", "ep-cma-n")
PAPER_SCHEMES = ("rp", "rp-exact", "sarp", "sarp-exact", "cma", *EP_CMA)
LM_CMA = {scheme: [scheme.replace("ep", "lm", 1) + year for year in ("", "-2017")] for scheme in EP_CMA}
"""The labels of the schemes with the same m that the paper names but does not run: of 2014 and of 2017."""
RATED = ("rp", "sarp", "ep-cma-1")
"""The schemes whose rates of convergence the paper speaks of."""
DIMENSIONS = (20, 40, 60, 80, 100)
"""The paper's."""


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
    ours: Estimate | None
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


class Rule(NamedTuple):
    """What the paper says about a number, and the range in which that is true."""

    paper: str
    low: float
    high: float
    by_median: bool = False
    """Whether the median must lie in the range; otherwise the interval must overlap it."""

    def holds(self, ours: Estimate) -> bool | None:
        """Return whether our number agrees, or None if that is not decided."""
        apart = ours.high < self.low or self.high < ours.low
        if ours.value in (-math.inf, 0.0, math.inf):
            inside = self.low <= ours.low and ours.high <= self.high
            return inside if inside or apart else None
        return self.low < ours.value < self.high if self.by_median else not apart


class Evidence:
    """What a study measures under one reading, scheme by scheme."""

    def __init__(self, results: Results, reading: str) -> None:
        self._results = results
        self._reading = reading
        schemes = {*PAPER_SCHEMES, *itertools.chain(*LM_CMA.values())}
        self._entries = {
            (entry.cell.scheme, PaperProblem(entry.cell.problem, entry.cell.L).at(entry.cell.n)): entry
            for entry in results.select(reading=reading, scheme=schemes)
            if entry.cell.n <= DIMENSIONS[-1]
        }
        self._medians = {
            place: median_of(entry) for place, entry in self._entries.items() if place[0] in PAPER_SCHEMES
        }
        self._rate = functools.cache(self._rate_of)

    def ratio(self, slower: str, faster: str, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure how many times as many iterations the slower scheme needs."""
        ours = self._ratio(slower, faster, setting)
        return self._measured(f"{setting}: {slower} / {faster}", rule, ours, (slower, faster), [setting])

    def ratio_to_best_other(self, scheme: str, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure how many times as many iterations as `scheme` the best of the others needs."""
        others = {
            other: median.value
            for (other, there), median in self._medians.items()
            if there == setting and other != scheme
        }
        best = min(others, key=others.__getitem__, default="none")
        found = self.ratio(best, scheme, setting, rule)
        needed = [name for name in PAPER_SCHEMES if setting.has(name)]
        text = f"{setting}: best of {len(others)} others ({best}) / {scheme}"
        return found._replace(text=text, complete=self._has_all(needed, [setting]))

    def contrast(
        self, slower: str, faster: str, settings: tuple[PaperSetting, PaperSetting], rule: Rule
    ) -> Measurement:
        """Measure how many times as large the ratio of two schemes is in one setting as in another."""
        here, there = settings
        ours = self._ratio(slower, faster, here) / self._ratio(slower, faster, there)
        text = f"{slower} / {faster}, on {here} divided by that on {there}"
        return self._measured(text, rule, ours, (slower, faster), settings)

    def contrast_of_contrasts(
        self, slower: str, faster: str, pairs: Sequence[tuple[PaperSetting, PaperSetting]], rule: Rule
    ) -> Measurement:
        """Measure how many times as large a contrast is between two settings as between two others."""
        one, other = (
            self._ratio(slower, faster, here) / self._ratio(slower, faster, there) for here, there in pairs
        )
        first, second = (f"(on {here} by that on {there})" for here, there in pairs)
        text = f"{slower} / {faster}, {first} divided by {second}"
        return self._measured(text, rule, one / other, (slower, faster), [*itertools.chain(*pairs)])

    def growth(self, scheme: str, problem: PaperProblem, rule: Rule) -> Measurement:
        """Measure with which power of n a scheme's iterations grow."""
        medians = {
            setting.n: median
            for (other, setting), median in self._medians.items()
            if other == scheme and setting.problem == problem
        }
        dimensions = sorted(medians)
        ours = slope(dimensions, [medians[n] for n in dimensions]) if len(dimensions) > 1 else None
        among = ", ".join(map(str, dimensions)) or "none"
        text = f"{problem}: exponent of n in the iterations of {scheme}, n = {among}"
        return self._measured(text, rule, ours, [scheme], [problem.at(n) for n in DIMENSIONS])

    def value_after(self, scheme: str, setting: PaperSetting, per_n: float, rule: Rule) -> Measurement:
        """Measure the best value after `per_n` n iterations, if the runs' cap allows that many."""
        iterations = per_n * setting.n
        text = f"{setting}: best value of {scheme} after 10^{math.log10(per_n):g} n iterations"
        entry = self._entries.get((scheme, setting))
        # Caps may be rounded down.
        long_enough = entry is not None and entry.cap >= 0.99 * iterations
        ours = value_after(self._results, entry, iterations) if entry and long_enough else None
        found = self._measured(text, rule, ours, [scheme], [setting])
        return found._replace(complete=found.complete and long_enough)

    def has(self, scheme: str) -> bool:
        """Return whether there are runs of a scheme anywhere."""
        return any(scheme == other for other, _ in self._entries)

    def ratio_of_evaluations(
        self, slower: str, faster: str, setting: PaperSetting, rule: Rule
    ) -> Measurement:
        """Measure how many times as many evaluations the slower scheme needs."""
        entries = (self._entries.get((scheme, setting)) for scheme in (slower, faster))
        one, other = (UNKNOWN if entry is None else median_of(entry, "evaluations") for entry in entries)
        text = f"{setting}: evaluations of {slower} / {faster}"
        return self._measured(text, rule, one / other, (slower, faster), [setting])

    def rate(self, scheme: str, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure the rate at which log f falls, in units of 1/(n sqrt(kappa))."""
        problem = setting.objective()
        ours = self._rate(scheme, setting) / exactly(1.0 / (setting.n * math.sqrt(problem.L / problem.m)))
        text = f"{setting}: rate of {scheme} times n sqrt(kappa)"
        return self._measured(text, rule, ours, [scheme], [setting], by_rates=True)

    def contrast_of_rates(
        self, scheme: str, here: PaperSetting, there: PaperSetting, rule: Rule
    ) -> Measurement:
        """Measure how many times as fast log f falls in one setting as in another."""
        ours = self._rate(scheme, here) / self._rate(scheme, there)
        text = f"rate of {scheme} on {here} / that on {there}"
        return self._measured(text, rule, ours, [scheme], (here, there), by_rates=True)

    def ratio_of_rates(self, faster: str, slower: str, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure how many times as fast log f falls in the end."""
        ours = self._rate(faster, setting) / self._rate(slower, setting)
        text = f"{setting}: rate of {faster} / that of {slower}"
        return self._measured(text, rule, ours, (faster, slower), [setting], by_rates=True)

    def fading_of_drift(self, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure how fast SARP's drift forgets a step, in units of the rate at which its log f falls.

        Without further steps v - y shrinks by (1 - theta)/(1 + theta) in an iteration.
        """
        theta = Sarp.create(setting.n, kappa=setting.problem.L, reading=self._reading).theta
        ours = exactly(-math.log((1.0 - theta) / (1.0 + theta))) / self._rate("sarp", setting)
        text = f"{setting}: fading of a step in the drift of sarp / rate of sarp"
        return self._measured(text, rule, ours, ["sarp"], [setting], by_rates=True)

    def progress_over_bound(self, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure the rate at which log f falls in whole runs of RP-exact, in units of its equation's bound.

        That E f(x+) <= (1 - b) f(x) in each step, with b = lambda_min / Tr, implies it: the logarithm is
        concave.
        """
        problem = setting.objective()
        bound = exactly(-math.log1p(-problem.m / problem.spectrum.sum()))
        entry = self._entries.get(("rp-exact", setting))
        ours = None if entry is None else overall_rate(entry, problem(problem.x0)) / bound
        text = f"{setting}: fall of log f in an iteration of rp-exact / bound"
        return self._measured(text, rule, ours, ["rp-exact"], [setting])

    def _rate_of(self, scheme: str, setting: PaperSetting) -> BootstrapBounds:
        entry = self._entries.get((scheme, setting))
        return UNKNOWN if entry is None else convergence_rate(self._results, entry)

    def _ratio(self, slower: str, faster: str, setting: PaperSetting) -> BootstrapBounds:
        one, other = (self._medians.get((scheme, setting), UNKNOWN) for scheme in (slower, faster))
        return one / other

    def _has_all(self, schemes: Iterable[str], settings: Iterable[PaperSetting]) -> bool:
        """Return whether all runs of these cells are there."""
        found = [self._entries.get(place) for place in itertools.product(schemes, settings)]
        return all(entry is not None and len(entry.runs) >= entry.wanted for entry in found)

    def _measured(
        self,
        text: str,
        rule: Rule,
        ours: BootstrapBounds | Estimate | None,
        schemes: Sequence[str],
        settings: Sequence[PaperSetting],
        *,
        by_rates: bool = False,
    ) -> Measurement:
        """Return the measurement of a number that needs the runs of these schemes in these settings."""
        found = ours.estimate() if isinstance(ours, BootstrapBounds) else ours
        if found is not None and math.isnan(found.value):
            found = None
        places = list(itertools.product(schemes, settings))
        complete = self._has_all(schemes, settings)
        if by_rates and complete:
            complete = all(self._rate(*place) is not UNKNOWN for place in places)
        present = [place for place in places if place in self._entries]
        # Where a scheme was not run at all, there is nothing to compare.
        diverges = any(self._entries[place].diverges for place in present) and (
            {scheme for scheme, _ in present} == set(schemes)
        )
        return Measurement(
            text=text,
            paper=rule.paper,
            ours=found,
            holds=None if found is None or diverges else rule.holds(found),
            complete=complete,
            diverges=diverges,
        )
