"""The outcome of a run, and of the stages that it may have had."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, shown
from pursuit.engine.archive import check_shape, require
from pursuit.engine.counters import UNLIMITED, Counting, Row, Trace, Unfinished, empty_trace, finished_trace
from pursuit.engine.stopping import Reason
from pursuit.methods.catalogue import list_methods
from pursuit.methods.contract import State
from pursuit.methods.stages import AT_BEST, AT_NEW_POINT, AT_START, Stage

if TYPE_CHECKING:
    # Numba compiles it, and is imported only for step methods.
    from pursuit.problems.transform import Transform

# By how many standard deviations of the noise a single value must be below an estimate to be better.
LUCK = 3.0
# How many standard errors are added to estimates when they are compared.
_CLEAR = 2.0
# A stage that has gained less than this part of |f| at its start has gained nothing but rounding.
_GAIN = 1e-12
# How many stages a sentence names one by one.
_NAMED = 3


class Outcome(NamedTuple):
    """The outcome of a run."""

    x: Vector
    sigma: float
    reason: Reason
    message: str
    """The reason as a sentence."""
    fun: float = math.inf
    nit: int = 0
    nfev: int = 0
    best_nfev: int = 0
    """The evaluations when the best point was found."""
    faulty: int = 0
    trace: Callable[[], Trace] = partial(empty_trace, 0)
    """Puts the trace together, which takes a while."""
    noise: float | None = None
    """The standard deviation of the noise of a value; None if it was not measured."""
    is_estimate: bool = False
    """Whether `fun` is an estimate of the value at `x`, and not a value seen."""
    error: float | None = None
    """The standard error of an estimate."""
    stages: tuple[Stage, ...] = ()
    """The outcome of each stage, if there may be several."""
    points: Callable[[], NDArray[np.float64]] | None = None
    """Returns the best point so far at each row of the trace; None if they were not kept."""
    extra: tuple[Any, ...] = ()
    """What the function returned beside the value at `x`, or None; empty if it returns values alone."""
    missed: bool = False
    """Whether the run has ended without reaching a target that it was given."""

    @property
    def is_success(self) -> bool:
        """Whether the run has reached its target; without one, whether a look around found nothing better."""
        return self.reason.is_success and not self.missed

    def judged(self, target: float) -> Outcome:
        """Return the outcome of a run with a target, which is -inf if there was none."""
        if target == -math.inf or self.reason == Reason.TARGET or not self.reason.is_success:
            return self
        return self._replace(missed=True, message=f"{self.message} The target value ftarget was not reached.")


class BestPoint(NamedTuple):
    """The best point of a run."""

    x: Vector
    z: Vector
    """The point as the scheme sees it."""
    fun: float


def outcome_of(
    best: BestPoint,
    state: State,
    counting: Counting,
    *,
    unfinished: Unfinished,
    reason: Reason,
    transform: Transform,
) -> Outcome:
    """Return the outcome of a run; `transform` is what moves the points of its scheme."""
    counters, trace, limits = counting
    arrays, numbers = state
    if reason != Reason.RUNNING and best.fun <= limits.target:
        # It may have been reached in an iteration that did not end.
        reason = Reason.at_target(limits.target)
    nfev = counters.nfev + unfinished.nfev

    def whole_trace() -> Trace:
        last = Row(counters.nfev, numbers.f, numbers.sigma, transform.at_bound(arrays.x))
        end = Row(nfev, unfinished.value, numbers.sigma, transform.at_bound(best.z))
        return finished_trace(counters, trace, last, end if unfinished.nfev else None)

    return Outcome(
        x=best.x, fun=best.fun, nit=counters.nit, nfev=nfev, best_nfev=counters.best.nfev,
        faulty=counters.faulty + unfinished.faulty, sigma=numbers.sigma, reason=reason,
        message=reason.sentence(idle=nfev - counters.best.nfev), trace=whole_trace,
    )  # fmt: skip


def points_at(trace: Callable[[], Trace], kept: Mapping[int, Vector], best: Vector) -> NDArray[np.float64]:
    """Return the best point so far at each row of a trace; `best` is that of the run.

    Points are kept when their row is written. A trace also has rows for when the best point was found and for
    the end: there the best point was that of the run.
    """
    points = [kept.get(nit, best) for nit in trace().nit.tolist()]
    points[-1] = best
    return np.array(points)


def points_by_iteration(outcome: Outcome) -> dict[int, Vector]:
    """Return the points of an outcome by the iterations of its trace."""
    assert outcome.points is not None
    return dict(zip(outcome.trace().nit.tolist(), outcome.points(), strict=True))


class Known(NamedTuple):
    """A point and its value, from elsewhere."""

    x: Vector
    value: float


class Past(NamedTuple):
    """What a run remembers besides its present stage, if there may be several."""

    x0: Vector
    """The start of the run, in the caller's variables."""
    f0: float
    stage: Stage
    """The present one."""
    ended: tuple[Stage, ...]
    champion: int
    """Which of the ended stages found the best point; -1 if none has ended."""
    best: Vector
    """That point, in the caller's variables; empty if none has ended."""
    trace: Trace
    """The trace of the ended stages, with the counts of the whole run."""

    @classmethod
    def first(cls, x0: Vector, f0: float, stage: Stage) -> Past:
        """Return the past of a run that has evaluated its start and nothing else."""
        return cls(x0=x0, f0=f0, stage=stage, ended=(), champion=-1, best=np.empty(0), trace=empty_trace(0))

    @property
    def nit(self) -> int:
        """The iterations before the present stage."""
        return sum(record.nit for record in self.ended)

    @property
    def nfev(self) -> int:
        """The evaluations before the present stage, less the one of its start if that was known."""
        return sum(record.nfev for record in self.ended) - self.is_start_known

    @property
    def lowest(self) -> float:
        """The value at the best point of the ended stages."""
        return self.ended[self.champion].fun

    @property
    def is_start_known(self) -> bool:
        """Whether the value at the start of the present stage was known before."""
        return bool(self.ended) and self.stage.start != AT_NEW_POINT

    def with_present(self, now: Outcome) -> tuple[tuple[Stage, ...], int]:
        """Return all stages, the present one as the last, and which of them has found the best point."""
        champion = len(self.ended) if self.is_beaten_by(now) else self.champion
        return (*self.ended, self.record(now)), champion

    def after(self, now: Outcome, following: Stage) -> Past:
        """Return the past once the present stage has ended and another follows."""
        ended, champion = self.with_present(now)
        best = now.x.copy() if champion == len(self.ended) else self.best
        return self._replace(
            stage=following, ended=ended, champion=champion, best=best, trace=self.joined(now)
        )

    def left_for(self, known: Known, now: Outcome) -> Past:
        """Return the past once the present stage was left for a better point, which counts as its own."""
        following = self.stage._replace(start=AT_BEST, most=None, why="a better point was told")
        past = self.after(now, following)
        last = past.ended[-1]._replace(fun=known.value, is_estimate=False, error=None)
        return past._replace(ended=(*past.ended[:-1], last), champion=len(past.ended) - 1, best=known.x)

    def record(self, now: Outcome) -> Stage:
        """Return the present stage with what has come of it."""
        return self.stage._replace(
            nit=now.nit, nfev=now.nfev - self.is_start_known, best_nfev=self.nfev + now.best_nfev,
            fun=now.fun, has_gained=bool(now.fun < self.f0 - _GAIN * abs(self.f0)), faulty=now.faulty,
            reason=now.reason, sentence=now.message, noise=now.noise, is_estimate=now.is_estimate,
            error=None if now.error is None else float(now.error),
        )  # fmt: skip

    def is_beaten_by(self, now: Outcome) -> bool:
        """Say whether the present stage has the best point, and not by luck if the other is an estimate."""
        if not self.ended:
            return True
        best = self.ended[self.champion]
        if best.reason == Reason.LOUD:
            # It has evaluated a few points, and its best value is only the luckiest.
            return True
        margin = 0.0
        if best.is_estimate and now.is_estimate:
            # Of two estimates the better known one is preferred.
            margin = _CLEAR * ((now.error or 0.0) - (best.error or 0.0))
        elif best.is_estimate and now.noise:
            margin = LUCK * (best.noise or 0.0)
        elif now.is_estimate and not best.has_gained:
            # Noise has only now been noticed. The value of the start is not a lucky one: it was seen again.
            margin = _CLEAR * (now.error or 0.0)
        elif now.is_estimate:
            # The best value may have been a lucky one.
            margin = -math.inf if self.stage.start == AT_BEST else -LUCK * (now.noise or 0.0)
        return now.fun < best.fun - margin

    def joined(self, now: Outcome) -> Trace:
        """Return the trace of the whole run."""
        trace = now.trace()
        trace = trace._replace(nit=self.nit + trace.nit, nfev=self.nfev + trace.nfev)
        # No iteration occurs twice; evaluations of one that did not end belong to the one before.
        new, before = slice(1 if self.ended else 0, None), self.trace
        if self.ended and len(trace.nit) == 1:
            before = before._replace(nfev=np.append(before.nfev[:-1], trace.nfev))
        columns = zip(before, trace, strict=True)
        return Trace(*(np.concatenate([first, second[new]]) for first, second in columns))


def merged(past: Past, now: Outcome, *, is_begun: bool) -> Outcome:
    """Return the outcome of a whole run, given that of its present stage, which may not have begun."""
    records, champion = past.with_present(now) if is_begun else (past.ended, past.champion)
    best = records[champion]
    reason, sentence = now.reason, now.message
    nfev = past.nfev + now.nfev
    # A stage that has gone on from the best point says how the run ended, even if it found nothing better.
    if reason.is_own and best.reason.is_own and past.stage.start != AT_BEST:
        reason, sentence = best.reason, best.sentence
    if reason == Reason.STALLED:
        sentence = reason.sentence(idle=nfev - best.best_nfev)
    return now._replace(
        # Callers may write into what they get.
        x=now.x if champion == len(past.ended) else past.best.copy(),
        fun=best.fun, nit=past.nit + now.nit, nfev=nfev, best_nfev=best.best_nfev,
        faulty=sum(record.faulty for record in records), reason=reason,
        message=f"{sentence} {_story(records, champion)}".rstrip(), noise=best.noise,
        is_estimate=best.is_estimate, error=best.error, trace=lambda: past.joined(now), stages=records,
    )  # fmt: skip


def _story(records: tuple[Stage, ...], champion: int) -> str:
    """Return a sentence on which method was at work when, and why; empty if there was only one."""
    if len(records) == 1:
        return ""
    winner = records[champion].method
    if len(records) > _NAMED:
        methods = " and ".join(dict.fromkeys(f"`{record.method}`" for record in records))
        return f"{methods} took turns in {len(records)} stages; `{winner}` found x in stage {champion + 1}."
    until, parts = records[0].nfev, [f"`{records[0].method}` stopped after {records[0].nfev} evaluations"]
    for record in records[1:]:
        until += record.nfev
        parts[-1] += f" because {record.why}"
        parts.append(f"`{record.method}` continued up to evaluation {until}")
    return f"{'; '.join(parts)}. `{winner}` found x."


def check_past(past: Past, n: int, method: str) -> None:
    """Reject a past, which comes from a file, that no run of this method for n variables has."""
    ended, stage = past.ended, past.stage
    check_shape("past.x0", past.x0, (n,))
    check_shape("past.best", past.best, (n if ended else 0,))
    is_finite = np.isfinite(past.x0).all() and np.isfinite(past.best).all()
    require(is_finite, "its start and its best point must be finite")
    rows = past.trace.nit.shape
    is_table = len(rows) == 1 and all(column.shape == rows for column in past.trace)
    require(is_table, "the columns of its trace must have the same length")
    is_stage = 0 <= past.champion < len(ended) if ended else past.champion == -1
    require(is_stage, f"champion must be the number of a stage, but is {past.champion}")
    f0, begins, most = past.f0, shown(stage.start), stage.most
    require(math.isfinite(f0), f"the value at its start must be a finite number, but is {f0}")
    for record in ended:
        counts = (record.nit, record.nfev, record.best_nfev, record.faulty, record.most or 0)
        has_counts = all(0 <= count <= UNLIMITED for count in counts)
        require(has_counts, "the outcome of a stage must have counts")
    is_method = stage.method in (method, *list_methods())
    require(is_method, f"a stage must have the name of a method, but has {shown(stage.method)}")
    is_start = stage.start in (AT_START, AT_BEST, AT_NEW_POINT)
    require(is_start, f"a stage must begin at the start or at a new point, but begins at {begins}")
    is_count = most is None or most > 0
    require(is_count, f"the most evaluations of a stage must be a count, but are {most}")
