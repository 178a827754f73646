"""Measurements of a study, as the paper's claims need them: ratios, growth with n, best values, and rates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pursuit.experiments.common.formatting import power
from pursuit.experiments.study.results import Cell, Results
from pursuit.experiments.study.stats import (
    BootstrapBounds,
    Estimate,
    convergence_rate,
    median_of,
    slope,
    value_after,
)
from pursuit.methods.ep_cma import EpCma
from pursuit.methods.sarp import Sarp

EP_CMA = ("ep-cma-1", "ep-cma-2", "ep-cma-4", "ep-cma-sqrt", "ep-cma-n")
PAPER_SCHEMES = ("rp", "rp-exact", "sarp", "sarp-exact", "cma", *EP_CMA)
LM_CMA = {scheme: [scheme.replace("ep", "lm", 1) + year for year in ("", "-2017")] for scheme in EP_CMA}
"""The labels of the schemes with the same m that the paper names but does not run: of 2014 and of 2017."""
DIMENSIONS = (20, 40, 60, 80, 100)
"""The paper's."""


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
        others = [label for labels in LM_CMA.values() for label in labels]
        entries = {
            (entry.cell.scheme, _setting_of(entry.cell)): entry
            for entry in results.select(reading=reading)
            if entry.cell.scheme in (*PAPER_SCHEMES, *others) and entry.cell.n <= DIMENSIONS[-1]
        }
        self._entries = entries
        self._rates: dict[tuple[str, PaperSetting], BootstrapBounds] = {}
        self._medians = {
            place: median_of(entry) for place, entry in entries.items() if place[0] in PAPER_SCHEMES
        }
        self._complete = {place for place, entry in entries.items() if len(entry.runs) >= entry.wanted}

    def ratio(self, slower: str, faster: str, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure how many times as many iterations the slower scheme needs."""
        complete = self._has_all((slower, faster), [setting])
        return _measured(
            f"{setting}: {slower} / {faster}", rule, self._ratio(slower, faster, setting), complete
        )

    def ratio_to_best_other(self, scheme: str, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure how many times as many iterations as `scheme` the best of the others needs."""
        others = {
            other: median.value
            for (other, there), median in self._medians.items()
            if there == setting and other != scheme
        }
        best = min(others, key=others.__getitem__, default="none")
        text = f"{setting}: best of {len(others)} others ({best}) / {scheme}"
        complete = self._has_all([name for name in PAPER_SCHEMES if setting.has(name)], [setting])
        return _measured(text, rule, self._ratio(best, scheme, setting), complete)

    def contrast(
        self, slower: str, faster: str, here: PaperSetting, there: PaperSetting, rule: Rule
    ) -> Measurement:
        """Measure how many times as large the ratio of two schemes is in one setting as in another."""
        one, other = self._ratio(slower, faster, here), self._ratio(slower, faster, there)
        ours = None if one is None or other is None else one / other
        complete = self._has_all((slower, faster), (here, there))
        return _measured(f"{slower} / {faster}, on {here} divided by that on {there}", rule, ours, complete)

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
        return _measured(text, rule, ours, self._has_all([scheme], map(problem.at, DIMENSIONS)))

    def value_after(self, scheme: str, setting: PaperSetting, per_n: float, rule: Rule) -> Measurement:
        """Measure the best value after `per_n` n iterations, if the runs' cap allows that many."""
        iterations = per_n * setting.n
        entries = self._results.select(
            problem=setting.problem.name,
            L=setting.problem.L,
            n=setting.n,
            scheme=scheme,
            reading=self._reading,
        )
        # Caps may be rounded down.
        long_enough = [entry for entry in entries if entry.cap >= 0.99 * iterations]
        ours = value_after(self._results, long_enough[0], iterations) if long_enough else None
        text = f"{setting}: best value of {scheme} after 10^{math.log10(per_n):g} n iterations"
        return _measured(text, rule, ours, bool(long_enough) and self._has_all([scheme], [setting]))

    def has(self, scheme: str) -> bool:
        """Return whether there are runs of a scheme anywhere."""
        return any(scheme == other for other, _ in self._entries)

    def ratio_of_evaluations(
        self, slower: str, faster: str, setting: PaperSetting, rule: Rule
    ) -> Measurement:
        """Measure how many times as many evaluations the slower scheme needs."""
        found = [self._entries.get((scheme, setting)) for scheme in (slower, faster)]
        one, other = (None if entry is None else median_of(entry, "evaluations") for entry in found)
        ours = None if one is None or other is None else one / other
        text = f"{setting}: evaluations of {slower} / {faster}"
        return _measured(text, rule, ours, self._has_all((slower, faster), [setting]))

    def rate(self, scheme: str, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure the rate at which log f falls, in units of 1/(n sqrt(kappa)), where kappa is L."""
        measured = self._rate(scheme, setting)
        unit = 1.0 / (setting.n * math.sqrt(setting.problem.L or math.nan))
        ours = None if measured is None else measured / BootstrapBounds.exactly(unit)
        text = f"{setting}: rate of {scheme} times n sqrt(kappa)"
        return _measured(text, rule, ours, self._has_all([scheme], [setting]))

    def contrast_of_rates(
        self, scheme: str, here: PaperSetting, there: PaperSetting, rule: Rule
    ) -> Measurement:
        """Measure how many times as fast log f falls in one setting as in another."""
        one, other = self._rate(scheme, here), self._rate(scheme, there)
        ours = None if one is None or other is None else one / other
        text = f"rate of {scheme} on {here} / that on {there}"
        return _measured(text, rule, ours, self._has_all([scheme], (here, there)))

    def ratio_of_rates(self, faster: str, slower: str, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure how many times as fast log f falls in the end."""
        one, other = self._rate(faster, setting), self._rate(slower, setting)
        ours = None if one is None or other is None else one / other
        text = f"{setting}: rate of {faster} / that of {slower}"
        return _measured(text, rule, ours, self._has_all((faster, slower), [setting]))

    def fading_of_drift(self, setting: PaperSetting, rule: Rule) -> Measurement:
        """Measure how fast SARP's drift forgets a step, in units of the rate at which its log f falls.

        Without further steps v - y shrinks by (1 - theta)/(1 + theta) in an iteration.
        """
        measured = self._rate("sarp", setting)
        theta = Sarp.create(setting.n, kappa=setting.problem.L, reading=self._reading).theta
        fading = BootstrapBounds.exactly(-math.log((1.0 - theta) / (1.0 + theta)))
        ours = None if measured is None else fading / measured
        text = f"{setting}: fading of a step in the drift of sarp / rate of sarp"
        return _measured(text, rule, ours, self._has_all(["sarp"], [setting]))

    def fading_of_path(self, n: int, rule: Rule) -> Measurement:
        """Measure how fast the evolution path forgets a step until the next one, in units of 2/n.

        The step size stays in proportion to the distance that is left, so aSS has as many failures per
        success as it takes to balance it.
        """
        scheme = EpCma.create(n, m=1, reading=self._reading)
        failures = -math.log(scheme.line_search.grow) / math.log(scheme.line_search.shrink)
        fading = -math.log(1.0 - scheme.c_c) - failures * math.log(1.0 - scheme.c_p)
        known = any(name == "ep-cma-1" and there.n == n for name, there in self._complete)
        ours = BootstrapBounds.exactly(0.5 * n * fading) if known else None
        return _measured(f"n = {n}: fading of a step in the path of ep-cma-1 / (2/n)", rule, ours, known)

    def _rate(self, scheme: str, setting: PaperSetting) -> BootstrapBounds | None:
        place = scheme, setting
        if place in self._entries and place not in self._rates:
            self._rates[place] = convergence_rate(self._results, self._entries[place])
        return self._rates.get(place)

    def _has_all(self, schemes: Sequence[str], settings: Iterable[PaperSetting]) -> bool:
        """Return whether all runs of these cells are there."""
        return all((scheme, setting) in self._complete for setting in settings for scheme in schemes)

    def _ratio(self, slower: str, faster: str, setting: PaperSetting) -> BootstrapBounds | None:
        one, other = self._medians.get((slower, setting)), self._medians.get((faster, setting))
        return None if one is None or other is None else one / other


def _setting_of(cell: Cell) -> PaperSetting:
    return PaperProblem(cell.problem, cell.L).at(cell.n)


def _measured(text: str, rule: Rule, ours: BootstrapBounds | Estimate | None, complete: bool) -> Measurement:
    found = ours.estimate() if isinstance(ours, BootstrapBounds) else ours
    if found is not None and math.isnan(found.value):
        found = None
    holds = None if found is None else rule.holds(found)
    return Measurement(text=text, paper=rule.paper, ours=found, holds=holds, complete=complete)
