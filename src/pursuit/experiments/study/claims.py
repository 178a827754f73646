"""The twelve claims of the paper, each beside what a study measured.

A claim is made of measurements. Each sets a number of the paper beside ours, and a rule decides whether they
agree; the verdict on the claim follows from these decisions alone (`verdict_of`). The rules are few:

- *about r* holds if our interval meets [r/1.5, 1.5 r]; a *range* if our interval meets it; *one order of
  magnitude* is the range of the numbers that are nearer to 10 than to 1 or 100, on a logarithmic scale;
- *at least r* holds if our interval meets [r, infinity);
- *more than r* and *less than r* hold if our median does;
- #ITS is *proportional to n*, or #ITS/n constant, if the interval of its exponent meets 1 +- 0.1, and *grows
  like n squared* if it meets 2 +- 0.25;
- where a median is infinite, the whole interval decides: it lies inside the range (holds), outside (does not)
  or on both sides of an end (not decided). If both medians of a ratio are infinite, nothing is measured.

All numbers are of iterations, as in the paper. They are measured in the dimension that a claim names, or else
in those of the figure that the paper cites (Fig. 3: n = 100; Fig. 5: n = 20 and 80, and L = 1e4), or else in
every dimension of the study up to 100, the paper's largest; whether every step of m helps EP-CMA-m, in the
largest of these alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pursuit.experiments.common.formatting import power
from pursuit.experiments.study.results import Results
from pursuit.experiments.study.stats import Estimate, Uncertain, median_of, slope, value_after

VERDICTS = ("holds", "holds in part", "does not hold", "not measured")

_FACTOR = 1.5
_LARGEST_N = 100
_EP_CMA = ("ep-cma-1", "ep-cma-2", "ep-cma-4", "ep-cma-sqrt", "ep-cma-n")
_SCHEMES = ("rp", "rp-exact", "sarp", "sarp-exact", "cma", *_EP_CMA)


class Problem(NamedTuple):
    """A problem with its L."""

    name: str
    L: float | None

    def __str__(self) -> str:
        return self.name if self.L is None else f"{self.name} L={power(self.L)}"

    def at(self, n: int) -> Place:
        """Return the problem in n dimensions."""
        return Place(self, n)


class Place(NamedTuple):
    """A problem with its L and its dimension."""

    problem: Problem
    n: int

    def __str__(self) -> str:
        return f"{self.problem} n={self.n}"


_EXP_4, _LIN_4, _TWO_4 = (Problem(name, 1e4) for name in ("exp", "lin", "two"))
_EXP_6, _LIN_6, _TWO_6 = (Problem(name, 1e6) for name in ("exp", "lin", "two"))
_ROSENBROCK = Problem("rosenbrock", None)
_PROBLEMS = (_EXP_4, _EXP_6, _LIN_4, _LIN_6, _TWO_4, _TWO_6, _ROSENBROCK)
_TWO_IN_FIGURE_5 = (_TWO_4.at(20), _TWO_4.at(80))
_ROSENBROCK_IN_FIGURE_5 = (_ROSENBROCK.at(20), _ROSENBROCK.at(80))


class Measurement(NamedTuple):
    """A number of the paper beside ours."""

    text: str
    paper: str
    ours: Estimate | None
    """None where the study does not tell."""
    holds: bool | None
    """None where that is not decided."""


class Judgement(NamedTuple):
    """A claim beside what was measured under one reading."""

    number: int
    claim: str
    reading: str
    measurements: tuple[Measurement, ...]
    verdict: str
    """One of `VERDICTS`."""


class Rule(NamedTuple):
    """What the paper says of a number, and the range in which this holds."""

    paper: str
    low: float
    high: float
    by_median: bool = False
    """Whether the median must lie inside the range; otherwise the interval must meet it."""

    def holds(self, ours: Estimate) -> bool | None:
        """Return whether it holds of our number, None if that is not decided."""
        apart = ours.high < self.low or self.high < ours.low
        if ours.value in (-math.inf, 0.0, math.inf):
            inside = self.low <= ours.low and ours.high <= self.high
            return inside if inside or apart else None
        return self.low < ours.value < self.high if self.by_median else not apart


def _about(number: float) -> Rule:
    return Rule(f"about {number:g}", number / _FACTOR, number * _FACTOR)


def _more_than(number: float) -> Rule:
    return Rule(f"more than {number:g}", number, math.inf, by_median=True)


_TWO_TO_THREE = Rule("2 to 3", 2.0, 3.0)
_ONE_ORDER = Rule("one order of magnitude", 10**0.5, 10**1.5)
_AT_LEAST_AS_GOOD = Rule("at least 1", 1.0, math.inf)
_BELOW_A_HUNDREDTH = Rule("less than 0.01", -math.inf, 1e-2, by_median=True)
_LINEAR = Rule("1", 0.9, 1.1)
_QUADRATIC = Rule("2", 1.75, 2.25)


class Evidence:
    """What a study says under one reading."""

    def __init__(self, results: Results, reading: str) -> None:
        self._results = results
        self._reading = reading
        self._medians = {
            (entry.cell.scheme, Problem(entry.cell.problem, entry.cell.L).at(entry.cell.n)): median_of(entry)
            for entry in results.select(reading=reading)
            if entry.cell.scheme in _SCHEMES and entry.cell.n <= _LARGEST_N
        }

    def dimensions(self, problem: Problem) -> list[int]:
        """Return the dimensions in which the study has the problem, the paper's largest if it has none."""
        found = {place.n for _, place in self._medians if place.problem == problem}
        return sorted(found) or [_LARGEST_N]

    def places(self, *problems: Problem) -> list[Place]:
        """Return problems in every dimension of the study."""
        return [problem.at(n) for problem in problems for n in self.dimensions(problem)]

    def ratio(self, slower: str, faster: str, place: Place, rule: Rule) -> Measurement:
        """Return how many times as many iterations the slower scheme needs."""
        return _measured(f"{place}: {slower} / {faster}", rule, self._ratio(slower, faster, place))

    def ratio_to_best_other(self, scheme: str, place: Place, rule: Rule) -> Measurement:
        """Return how many times as many iterations as a scheme the best of the others needs."""
        others = {
            other: median.value
            for (other, there), median in self._medians.items()
            if there == place and other != scheme
        }
        best = min(others, key=others.__getitem__, default="none")
        ours = self._ratio(best, scheme, place)
        return _measured(f"{place}: best of {len(others)} others ({best}) / {scheme}", rule, ours)

    def contrast(self, slower: str, faster: str, here: Place, there: Place, rule: Rule) -> Measurement:
        """Return how many times as large a ratio is here as there."""
        one, other = self._ratio(slower, faster, here), self._ratio(slower, faster, there)
        if here == there:
            # A place has no contrast with itself.
            return _measured(f"{slower} / {faster}, on {here.problem} in other dimensions", rule, None)
        ours = None if one is None or other is None else one / other
        return _measured(f"{slower} / {faster}, on {here} divided by that on {there}", rule, ours)

    def growth(self, scheme: str, problem: Problem, rule: Rule) -> Measurement:
        """Return the exponent of a scheme's iterations in n."""
        medians = {
            place.n: median
            for (other, place), median in self._medians.items()
            if other == scheme and place.problem == problem
        }
        dimensions = sorted(medians)
        ours = slope(dimensions, [medians[n] for n in dimensions]) if len(dimensions) > 1 else None
        among = ", ".join(map(str, dimensions)) or "none"
        return _measured(f"{problem}: exponent of n in the iterations of {scheme}, n = {among}", rule, ours)

    def value_after(self, scheme: str, place: Place, per_n: float, rule: Rule) -> Measurement:
        """Return the best value after so many iterations divided by n, if runs were allowed that many."""
        iterations = per_n * place.n
        entries = self._results.select(
            problem=place.problem.name, L=place.problem.L, n=place.n, scheme=scheme, reading=self._reading
        )
        # Caps are rounded in one way or another.
        long_enough = [entry for entry in entries if entry.cap >= 0.99 * iterations]
        ours = value_after(self._results, long_enough[0], iterations) if long_enough else None
        return _measured(
            f"{place}: best value of {scheme} after 10^{math.log10(per_n):g} n iterations", rule, ours
        )

    def _ratio(self, slower: str, faster: str, place: Place) -> Uncertain | None:
        one, other = self._medians.get((slower, place)), self._medians.get((faster, place))
        return None if one is None or other is None else one / other


def _measured(text: str, rule: Rule, ours: Uncertain | Estimate | None) -> Measurement:
    found = ours.estimate() if isinstance(ours, Uncertain) else ours
    if found is None or math.isnan(found.value):
        return Measurement(text, rule.paper, None, None)
    return Measurement(text, rule.paper, found, rule.holds(found))


Claim = Callable[[Evidence], Iterator[Measurement]]
CLAIMS: list[tuple[int, str, Claim]] = []
"""Number, sentence and measurements of every claim."""


def _claim(number: int, sentence: str) -> Callable[[Claim], Claim]:
    def register(measurements: Claim) -> Claim:
        CLAIMS.append((number, sentence, measurements))
        return measurements

    return register


def judge(results: Results) -> list[Judgement]:
    """Return every claim beside what a study measured, claim by claim for each of the study's readings.

    Examples
    --------
    >>> from pursuit.experiments.study.claims import judge
    >>> from pursuit.experiments.study.results import Cell, CellResults, Results, Run
    >>> def entry(scheme, nit):
    ...     cell = Cell("lin", 1e4, 100, scheme, "fitted")
    ...     return CellResults(cell, 1e-9, 10**6, 1, "", (Run(0, nit, nit, 9e-10, "target", 0.1),))
    >>> cells = (entry("sarp", 5000), entry("ep-cma-1", 1000))
    >>> second = judge(Results("", cells, (), lambda cell, number: None, {}))[1]
    >>> second.verdict, second.measurements[0].paper, second.measurements[0].ours.value
    ('holds', 'about 5', 5.0)
    """
    readings = dict.fromkeys(entry.cell.reading for entry in results.cells)
    evidence = {reading: Evidence(results, reading) for reading in readings}
    judgements = []
    for number, sentence, measurements in CLAIMS:
        for reading in readings:
            found = tuple(measurements(evidence[reading]))
            judgements.append(Judgement(number, sentence, reading, found, verdict_of(found)))
    return judgements


def verdict_of(measurements: Sequence[Measurement]) -> str:
    """Return the verdict that measurements give; those that decide nothing do not count."""
    decided = [measurement.holds for measurement in measurements if measurement.holds is not None]
    if not decided:
        return "not measured"
    if all(decided):
        return "holds"
    return "holds in part" if any(decided) else "does not hold"


@_claim(1, "Exact line search saves Random Pursuit and SARP a factor of 2 to 3 in every dimension.")
def _exact_line_search(study: Evidence) -> Iterator[Measurement]:
    for scheme in ("rp", "sarp"):
        for place in study.places(*_PROBLEMS):
            yield study.ratio(scheme, f"{scheme}-exact", place, _TWO_TO_THREE)


@_claim(
    2,
    "On lin with n = 100, EP-CMA-1 is about 5 (L = 1e4) and 24 (L = 1e6) times as fast as SARP; the factor "
    "falls with the dimension.",
)
def _path_beats_drift_on_lin(study: Evidence) -> Iterator[Measurement]:
    for problem, factor in ((_LIN_4, 5), (_LIN_6, 24)):
        yield study.ratio("sarp", "ep-cma-1", problem.at(100), _about(factor))
        places = study.places(problem)
        yield study.contrast("sarp", "ep-cma-1", places[0], places[-1], _more_than(1))


@_claim(
    3,
    "On exp with n = 100, SARP is about 3 (L = 1e4) and 14 (L = 1e6) times as fast as EP-CMA-1, and more "
    "than 10 times on two and rosenbrock.",
)
def _drift_beats_path_elsewhere(study: Evidence) -> Iterator[Measurement]:
    for problem, factor in ((_EXP_4, 3), (_EXP_6, 14)):
        yield study.ratio("ep-cma-1", "sarp", problem.at(100), _about(factor))
    for place in (*_TWO_IN_FIGURE_5, *_ROSENBROCK_IN_FIGURE_5):
        yield study.ratio("ep-cma-1", "sarp", place, _more_than(10))


@_claim(4, "The iterations of SARP and of Random Pursuit are proportional to n on all four problems.")
def _linear_in_n(study: Evidence) -> Iterator[Measurement]:
    for scheme in ("sarp", "rp"):
        for problem in _PROBLEMS:
            yield study.growth(scheme, problem, _LINEAR)


@_claim(
    5,
    "EP-CMA-m is everywhere the better the larger m is: from m = 1 to m = n about 10 (L = 1e4) and 20 times "
    "(L = 1e6) on exp, less on lin and two, insignificantly on rosenbrock.",
)
def _memory_helps(study: Evidence) -> Iterator[Measurement]:
    for problem in _PROBLEMS:
        largest = study.places(problem)[-1]
        for less, more in pairwise(_EP_CMA):
            yield study.ratio(less, more, largest, _AT_LEAST_AS_GOOD)
    for problem, factor in ((_EXP_4, 10), (_EXP_6, 20)):
        yield study.ratio("ep-cma-1", "ep-cma-n", problem.at(100), _about(factor))
    for exp, other in ((_EXP_4, _LIN_4), (_EXP_4, _TWO_4), (_EXP_6, _LIN_6), (_EXP_6, _TWO_6)):
        yield study.contrast("ep-cma-1", "ep-cma-n", exp.at(100), other.at(100), _more_than(1))
    for place in _ROSENBROCK_IN_FIGURE_5:
        yield study.ratio("ep-cma-1", "ep-cma-n", place, _about(1))


@_claim(6, "On lin, EP-CMA-4 is about as good as CMA for both L.")
def _four_paths_suffice_on_lin(study: Evidence) -> Iterator[Measurement]:
    for problem in (_LIN_4, _LIN_6):
        yield study.ratio("ep-cma-4", "cma", problem.at(100), _about(1))


@_claim(
    7, "On exp with n = 100, SARP is about as good as EP-CMA-4 for L = 1e4 and as EP-CMA-sqrt for L = 1e6."
)
def _memory_that_equals_drift(study: Evidence) -> Iterator[Measurement]:
    yield study.ratio("sarp", "ep-cma-4", _EXP_4.at(100), _about(1))
    yield study.ratio("sarp", "ep-cma-sqrt", _EXP_6.at(100), _about(1))


@_claim(
    8,
    "On two and rosenbrock no EP-CMA-m is as good as SARP; on rosenbrock they are all about as good as CMA.",
)
def _paths_do_not_reach_drift(study: Evidence) -> Iterator[Measurement]:
    for place in (*_TWO_IN_FIGURE_5, *_ROSENBROCK_IN_FIGURE_5):
        for scheme in _EP_CMA:
            yield study.ratio(scheme, "sarp", place, _more_than(1))
    for place in _ROSENBROCK_IN_FIGURE_5:
        for scheme in _EP_CMA:
            yield study.ratio(scheme, "cma", place, _about(1))


@_claim(
    9,
    "The iterations of CMA grow like n squared; up to n = 100 it is the best scheme on exp and two; on lin, "
    "EP-CMA-m is about as good from m = 4 on.",
)
def _cma_is_best_but_quadratic(study: Evidence) -> Iterator[Measurement]:
    for problem in _PROBLEMS:
        yield study.growth("cma", problem, _QUADRATIC)
    for place in study.places(_EXP_4, _EXP_6, _TWO_4, _TWO_6):
        yield study.ratio_to_best_other("cma", place, _more_than(1))
    for problem in (_LIN_4, _LIN_6):
        for scheme in ("ep-cma-4", "ep-cma-sqrt", "ep-cma-n"):
            yield study.ratio(scheme, "cma", problem.at(100), _about(1))


@_claim(10, "On rosenbrock every scheme but SARP, CMA too, needs more than 10 times the iterations of SARP.")
def _only_drift_helps_on_rosenbrock(study: Evidence) -> Iterator[Measurement]:
    for place in _ROSENBROCK_IN_FIGURE_5:
        for scheme in ("rp", "cma", *_EP_CMA):
            yield study.ratio(scheme, "sarp", place, _more_than(10))


@_claim(11, "On lin, SARP is only one order of magnitude faster than Random Pursuit.")
def _drift_helps_less_on_lin(study: Evidence) -> Iterator[Measurement]:
    for place in study.places(_LIN_4, _LIN_6):
        yield study.ratio("rp", "sarp", place, _ONE_ORDER)


@_claim(12, "On lin with L = 1e6 and n = 100, Random Pursuit is below 0.01 after 10^6.5 n iterations.")
def _slow_pursuit_on_lin(study: Evidence) -> Iterator[Measurement]:
    yield study.value_after("rp", _LIN_6.at(100), 10**6.5, _BELOW_A_HUNDREDTH)
