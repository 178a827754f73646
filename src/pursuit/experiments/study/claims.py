"""The claims of the paper, judged by the measurements of a study.

A claim has several measurements. Each compares a number of the paper with ours, and a rule decides whether
they agree; the verdict on the claim follows from these decisions alone (`verdict_of`). It needs all of them:
where runs are missing, the claim is consistent, consistent in part or contradicted *so far*.

There is one tolerance: whatever the paper says "roughly", "about" or "approximately", or calls "as good",
"the same" or "insignificant", may be off by a factor of `TOLERANCE`, 1.5. So

- *about r* holds if our interval overlaps [r/1.5, 1.5 r], and *about r to s* if it overlaps [r/1.5, 1.5 s];
- a rate of convergence is *as described* if it is about that of the equation, and *slower* if it is less than
  1/1.5 of it;
- #ITS *grows like n squared* if the interval of the exponent overlaps 2 +- 0.25: the same factor, from n = 20
  to n = 100.

Three rules allow less or more, for these reasons:

- *more than r* and *less than r* hold if our median does, and *at least r* if our interval overlaps
  [r, infinity): the paper says "exceeds", "over" or "better", which leaves nothing open;
- #ITS is *proportional to n*, or #ITS/n constant, if the interval of its exponent overlaps 1 +- 0.1: the
  paper says "constant", and 0.25 would let n^1.25 pass for n;
- *one order of magnitude* is the range of the numbers that are closer to 10 than to 1 or 100, on a
  logarithmic scale: it names a power of ten, and not a number.

Where a median is infinite, the whole interval decides: it lies inside the range (agrees), outside (disagrees)
or partly in it (undecided). If both medians of a ratio are infinite, nothing is measured. A scheme *diverges*
where most of its runs do: then there is no number to compare, which is an outcome of its own. A claim whose
measurements diverge does not hold, or only in part.

All numbers are of iterations, as in the paper; only LM-CMA, whose iterations have many points, is compared by
evaluations. A rate is that at which the logarithm of the best value falls per iteration, from f = 0.1 on. All
are measured in the dimension that a claim names, or else in those of the figure that the paper cites (Fig. 3:
n = 100; Fig. 5: n = 20 and 80, and L = 1e4), or else in every dimension of the paper: n = 20, 40, 60, 80 and
100. In 20 dimensions EP-CMA-sqrt is EP-CMA-4, and counts once. Claims 1 to 12 are about the paper's data, 13
to 16 about its discussion, and 17 about its equation (1).

That a step fades from the evolution path by 1 - 2/n from step to step, as the discussion says, follows from
the definition of the path and from c_p. No run bears on it, so it is no measurement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pursuit.experiments.study.evidence import (
    DIMENSIONS,
    EP_CMA,
    LM_CMA,
    Evidence,
    Judgement,
    Measurement,
    PaperProblem,
    PaperSetting,
    Rule,
    ep_cma_at,
    known,
    verdict_of,
)
from pursuit.experiments.study.results import Results
from pursuit.experiments.study.stats import UNKNOWN, overall_rate, value_after
from pursuit.methods.paper.sarp import Sarp

TOLERANCE = 1.5
"""What "roughly", "about" and the like allow: this factor up and down."""
RULES = (
    'Whatever the paper says "roughly" or "about", or calls "as good" or "insignificant", may be off by a '
    f"factor of {TOLERANCE:g}: our interval has to overlap that range. "
    '"More than" and "less than" are judged by our median. '
    "To grow like n squared is an exponent of 2 ± 0.25, which is that factor from n = 20 to 100; "
    "proportional to n is 1 ± 0.1, since the paper says constant, and 0.25 would let n^1.25 pass. "
    "One order of magnitude is closer to 10 than to 1 or 100."
)
"""The rules, for readers."""


_EXP_4, _LIN_4, _TWO_4 = (PaperProblem(name, 1e4) for name in ("exp", "lin", "two"))
_EXP_6, _LIN_6, _TWO_6 = (PaperProblem(name, 1e6) for name in ("exp", "lin", "two"))
_ROSENBROCK = PaperProblem("rosenbrock", None)
_QUADRATICS = (_EXP_4, _EXP_6, _LIN_4, _LIN_6, _TWO_4, _TWO_6)
_PROBLEMS = (*_QUADRATICS, _ROSENBROCK)
_TWO_IN_FIGURE_5 = (_TWO_4.at(20), _TWO_4.at(80))
_ROSENBROCK_IN_FIGURE_5 = (_ROSENBROCK.at(20), _ROSENBROCK.at(80))


def _about(number: float) -> Rule:
    return Rule(f"about {number:g}", number / TOLERANCE, number * TOLERANCE)


def _more_than(number: float) -> Rule:
    return Rule(f"more than {number:g}", number, math.inf, by_median=True)


_TWO_TO_THREE = Rule("about 2 to 3", 2.0 / TOLERANCE, 3.0 * TOLERANCE)
_ONE_ORDER = Rule("one order of magnitude", 10**0.5, 10**1.5)
_AT_LEAST_AS_GOOD = Rule("at least 1", 1.0, math.inf)
_BELOW_A_HUNDREDTH = Rule("less than 0.01", -math.inf, 1e-2, by_median=True)
_SLOWER = Rule("less than 0.67: slower", 0.0, 1.0 / TOLERANCE, by_median=True)
_LINEAR = Rule("1", 0.9, 1.1)
_QUADRATIC = Rule("2", 1.75, 2.25)


Measure = Callable[[Evidence], Iterator[Measurement]]


class Claim(NamedTuple):
    """A claim of the paper."""

    number: int
    sentence: str
    measure: Measure
    """Yields the measurements that it is judged by."""


CLAIMS: list[Claim] = []


def _claim(number: int, sentence: str) -> Callable[[Measure], Measure]:
    def register(measure: Measure) -> Measure:
        CLAIMS.append(Claim(number, sentence, measure))
        return measure

    return register


def judge(results: Results, claims: Sequence[Claim] = CLAIMS) -> list[Judgement]:
    """Judge claims, by default all, by the measurements of a study, under each of its readings.

    Examples
    --------
    >>> from pursuit.experiments.study.claims import judge
    >>> from pursuit.experiments.study.results import Cell, CellResults, Results, RunRecord
    >>> def entry(scheme, nit):
    ...     cell = Cell(problem="lin", L=1e4, n=100, scheme=scheme, reading="fitted")
    ...     run = RunRecord(number=0, nit=nit, nfev=nit, fun=9e-10, reason="target", seconds=0.1)
    ...     return CellResults(cell=cell, target=1e-9, cap=10**6, wanted=1, code="", runs=(run,))
    >>> cells = (entry("ep-cma-4", 1200), entry("cma", 1000))
    >>> results = Results(title="", cells=cells, figures=(), trace=lambda cell, number: None, made={})
    >>> sixth = judge(results)[5]
    >>> sixth.verdict, sixth.measurements[0].paper, sixth.measurements[0].ours.value
    ('consistent so far', 'about 1', 1.2)
    >>> sixth.agreement
    '1 of 2 measured'
    """
    readings = dict.fromkeys(entry.cell.reading for entry in results.cells)
    evidence = {reading: Evidence(results, reading) for reading in readings}
    judgements = []
    for claim in claims:
        for reading in readings:
            found = tuple(claim.measure(evidence[reading]))
            judgements.append(Judgement(claim.number, claim.sentence, reading, found, verdict_of(found)))
    return judgements


def _everywhere(*problems: PaperProblem) -> list[PaperSetting]:
    """Return problems in every dimension of the paper."""
    return [problem.at(n) for problem in problems for n in DIMENSIONS]


def _largest(problem: PaperProblem) -> PaperSetting:
    """Return a problem in the largest dimension in which the paper runs every EP-CMA-m."""
    return next(
        setting for setting in reversed(_everywhere(problem)) if all(setting.has(scheme) for scheme in EP_CMA)
    )


def _contrast(
    study: Evidence, slower: str, faster: str, *pairs: tuple[PaperSetting, PaperSetting]
) -> Measurement:
    """Measure that the ratio of two schemes is larger in one setting than in another.

    For two pairs of settings, measure that it is by more so in the first than in the second.
    """
    ours = [
        study.quotient(slower, faster, here) / study.quotient(slower, faster, there) for here, there in pairs
    ]
    if len(pairs) == 1:
        text = "on {} divided by that on {}".format(*pairs[0])
        return study.measured(f"{slower} / {faster}, {text}", ours[0], _more_than(1))
    first, second = (f"(on {here} by that on {there})" for here, there in pairs)
    text = f"{slower} / {faster}, {first} divided by {second}"
    return study.measured(text, ours[0] / ours[1], _more_than(1))


@_claim(1, "Exact line search saves Random Pursuit and SARP a factor of about 2 to 3 in every dimension.")
def _exact_line_search(study: Evidence) -> Iterator[Measurement]:
    for scheme in ("rp", "sarp"):
        for setting in _everywhere(*_PROBLEMS):
            yield study.ratio(scheme, f"{scheme}-exact", setting, _TWO_TO_THREE)


@_claim(
    2,
    "On lin with n = 100, EP-CMA-1 is about 5 (L = 1e4) and 24 (L = 1e6) times as fast as SARP; the factor "
    "falls with the dimension.",
)
def _path_beats_drift_on_lin(study: Evidence) -> Iterator[Measurement]:
    for problem, factor in ((_LIN_4, 5), (_LIN_6, 24)):
        yield study.ratio("sarp", "ep-cma-1", problem.at(100), _about(factor))
        smallest, *_, largest = _everywhere(problem)
        yield _contrast(study, "sarp", "ep-cma-1", (smallest, largest))


@_claim(
    3,
    "On exp with n = 100, SARP is about 3 (L = 1e4) and 14 (L = 1e6) times as fast as EP-CMA-1, and more "
    "than 10 times on two and rosenbrock.",
)
def _drift_beats_path_elsewhere(study: Evidence) -> Iterator[Measurement]:
    for problem, factor in ((_EXP_4, 3), (_EXP_6, 14)):
        yield study.ratio("ep-cma-1", "sarp", problem.at(100), _about(factor))
    for setting in (*_TWO_IN_FIGURE_5, *_ROSENBROCK_IN_FIGURE_5):
        yield study.ratio("ep-cma-1", "sarp", setting, _more_than(10))


@_claim(4, "The iterations of SARP and of Random Pursuit are proportional to n on all four problems.")
def _linear_in_n(study: Evidence) -> Iterator[Measurement]:
    for scheme in ("sarp", "rp"):
        for problem in _PROBLEMS:
            yield study.growth(scheme, problem, _LINEAR)


@_claim(
    5,
    "EP-CMA-m is everywhere the better the larger m is: from m = 1 to m = n about 10 (L = 1e4) and 20 times "
    "(L = 1e6) on exp, less on lin and two, and still less there for L = 1e6, insignificantly on rosenbrock.",
)
def _memory_helps(study: Evidence) -> Iterator[Measurement]:
    for setting in _everywhere(*_PROBLEMS):
        for less, more in pairwise(scheme for scheme in ep_cma_at(setting.n) if setting.has(scheme)):
            yield study.ratio(less, more, setting, _AT_LEAST_AS_GOOD)
    for problem, factor in ((_EXP_4, 10), (_EXP_6, 20)):
        yield study.ratio("ep-cma-1", "ep-cma-n", problem.at(100), _about(factor))
    for others in ((_LIN_4, _LIN_6), (_TWO_4, _TWO_6)):
        there = [_largest(other) for other in others]
        pairs = [(exp.at(other.n), other) for exp, other in zip((_EXP_4, _EXP_6), there, strict=True)]
        for pair in pairs:
            yield _contrast(study, "ep-cma-1", "ep-cma-n", pair)
        yield _contrast(study, "ep-cma-1", "ep-cma-n", *pairs[::-1])
    for setting in _ROSENBROCK_IN_FIGURE_5:
        yield study.ratio("ep-cma-1", "ep-cma-n", setting, _about(1))


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
    for setting in (*_TWO_IN_FIGURE_5, *_ROSENBROCK_IN_FIGURE_5):
        for scheme in ep_cma_at(setting.n):
            yield study.ratio(scheme, "sarp", setting, _more_than(1))
    for setting in _ROSENBROCK_IN_FIGURE_5:
        for scheme in ep_cma_at(setting.n):
            yield study.ratio(scheme, "cma", setting, _about(1))


@_claim(
    9,
    "The iterations of CMA grow like n squared; up to n = 100 it is the best scheme on exp and two; on lin, "
    "EP-CMA-m is about as good from m = 4 on.",
)
def _cma_is_best_but_quadratic(study: Evidence) -> Iterator[Measurement]:
    for problem in _PROBLEMS:
        yield study.growth("cma", problem, _QUADRATIC)
    for setting in _everywhere(_EXP_4, _EXP_6, _TWO_4, _TWO_6):
        yield study.ratio_to_best_other("cma", setting, _more_than(1))
    for problem in (_LIN_4, _LIN_6):
        for scheme in ("ep-cma-4", "ep-cma-sqrt", "ep-cma-n"):
            yield study.ratio(scheme, "cma", problem.at(100), _about(1))


@_claim(10, "On rosenbrock every scheme but SARP, CMA too, needs more than 10 times the iterations of SARP.")
def _only_drift_helps_on_rosenbrock(study: Evidence) -> Iterator[Measurement]:
    for setting in _ROSENBROCK_IN_FIGURE_5:
        for scheme in ("rp", "cma", *ep_cma_at(setting.n)):
            yield study.ratio(scheme, "sarp", setting, _more_than(10))


@_claim(11, "On lin, SARP is only one order of magnitude faster than Random Pursuit.")
def _drift_helps_less_on_lin(study: Evidence) -> Iterator[Measurement]:
    for setting in _everywhere(_LIN_4, _LIN_6):
        yield study.ratio("rp", "sarp", setting, _ONE_ORDER)


@_claim(12, "On lin with L = 1e6 and n = 100, Random Pursuit is below 0.01 after 10^6.5 n iterations.")
def _slow_pursuit_on_lin(study: Evidence) -> Iterator[Measurement]:
    setting, iterations = _LIN_6.at(100), 10**6.5 * 100
    entry = study.entry("rp", setting)
    # Caps may be rounded down.
    long_enough = entry is not None and entry.cap >= 0.99 * iterations
    ours = value_after(study.results, entry, iterations) if entry and long_enough else UNKNOWN
    text = f"{setting}: best value of rp after 10^6.5 n iterations"
    found = study.measured(text, study.of(ours, ("rp", setting)), _BELOW_A_HUNDREDTH)
    yield found._replace(complete=found.complete and long_enough)


@_claim(
    13,
    "On exp, two and rosenbrock, SARP converges at the rate of its equation, 1/(n sqrt(kappa)); on lin it "
    "does not, and is slower.",
)
def _drift_follows_its_rate(study: Evidence) -> Iterator[Measurement]:
    for setting in _everywhere(_EXP_4, _EXP_6, _TWO_4, _TWO_6, _ROSENBROCK):
        problem = setting.objective()
        described = known(1.0 / (setting.n * math.sqrt(problem.L / problem.m)))
        text = f"{setting}: rate of sarp times n sqrt(kappa)"
        yield study.measured(text, study.rate("sarp", setting) / described, _about(1))
    # How close to its equation the rate is depends on the reading. So lin is compared with two.
    for lin, two in zip(_everywhere(_LIN_4, _LIN_6), _everywhere(_TWO_4, _TWO_6), strict=True):
        text = f"rate of sarp on {lin} / that on {two}"
        yield study.measured(text, study.rate("sarp", lin) / study.rate("sarp", two), _SLOWER)


@_claim(
    14,
    "On lin, EP-CMA-1 accelerates Random Pursuit as much as the condition number falls without the flattest "
    "direction.",
)
def _path_learns_the_flattest_direction(study: Evidence) -> Iterator[Measurement]:
    for setting in _everywhere(_LIN_4, _LIN_6):
        # The second smallest curvature over the smallest one, 1: by that much a rate of m/trace(A) grows.
        gap = 1.0 + ((setting.problem.L or math.nan) - 1.0) / (setting.n - 1.0)
        ours = study.rate("ep-cma-1", setting) / study.rate("rp", setting)
        text = f"{setting}: rate of ep-cma-1 / that of rp"
        yield study.measured(text, ours, _about(float(f"{gap:.3g}")))


@_claim(15, "EP-CMA-m does not reach the performance of LM-CMA with the same m, of 2014 or of 2017.")
def _paths_do_not_reach_lm_cma(study: Evidence) -> Iterator[Measurement]:
    # The paper has no such runs, so a study need not have all of them.
    pairs = [(own, other) for own, others in LM_CMA.items() for other in others if study.has(other)]
    for own, other in pairs or [("ep-cma-4", other) for other in LM_CMA["ep-cma-4"]]:
        for setting in _everywhere(*_PROBLEMS):
            if setting.has(own):
                one, two = (study.median(scheme, setting, "evaluations") for scheme in (own, other))
                yield study.measured(f"{setting}: evaluations of {own} / {other}", one / two, _more_than(1))


@_claim(16, "The influence of a step on SARP's y fades at the rate of convergence, on exp and two.")
def _memory_of_steps(study: Evidence) -> Iterator[Measurement]:
    for setting in _everywhere(_EXP_4, _EXP_6, _TWO_4, _TWO_6):
        # Without further steps v - y shrinks by (1 - theta)/(1 + theta) in an iteration.
        theta = Sarp.create(setting.n, kappa=setting.problem.L, reading=study.reading).theta
        ours = known(-math.log((1.0 - theta) / (1.0 + theta))) / study.rate("sarp", setting)
        text = f"{setting}: fading of a step in the drift of sarp / rate of sarp"
        yield study.measured(text, ours, _about(1))


@_claim(
    17,
    "An iteration of RP-exact lowers f in expectation by the factor 1 - lambda_min/Tr(A) or more, on every "
    "quadratic: equation (1).",
)
def _exact_steps_make_progress(study: Evidence) -> Iterator[Measurement]:
    for setting in _everywhere(*_QUADRATICS):
        # That E f(x+) <= (1 - b) f(x) in each step, with b = lambda_min / Tr, implies that log f falls by
        # -log(1 - b) in the mean over a run, as the logarithm is concave.
        problem, entry = setting.objective(), study.entry("rp-exact", setting)
        fall = UNKNOWN if entry is None else overall_rate(entry, problem(problem.x0))
        ours = study.of(fall, ("rp-exact", setting)) / known(-math.log1p(-problem.m / problem.spectrum.sum()))
        text = f"{setting}: fall of log f in an iteration of rp-exact / bound"
        yield study.measured(text, ours, _AT_LEAST_AS_GOOD)
