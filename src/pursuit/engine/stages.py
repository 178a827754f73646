"""The outcomes of the stages of a run, and the outcome of the run as a whole."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pursuit.checks import Vector, shown
from pursuit.engine.archive import check_shape
from pursuit.engine.counters import UNLIMITED, Trace, empty_trace
from pursuit.engine.known import Known
from pursuit.engine.outcome import Outcome
from pursuit.engine.stopping import Reason
from pursuit.methods.catalogue import list_methods
from pursuit.methods.stages import AT_BEST, AT_NEW_POINT, AT_START, Stage

# By how many standard deviations of the noise a single value must be below an estimate to be better.
LUCK = 3.0
# How many standard errors are added to estimates when they are compared.
_CLEAR = 2.0
# A stage that has gained less than this part of |f| at its start has gained nothing but rounding.
_GAIN = 1e-12
# How many stages a sentence names one by one.
_NAMED = 3


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

    def after(self, now: Outcome, following: Stage) -> Past:
        """Return the past once the present stage has ended and another follows."""
        ended = (*self.ended, self.record(now))
        is_better = self.is_beaten_by(now)
        return self._replace(
            stage=following,
            ended=ended,
            champion=len(ended) - 1 if is_better else self.champion,
            best=now.x.copy() if is_better else self.best,
            trace=self.joined(now),
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
            nit=now.nit,
            nfev=now.nfev - self.is_start_known,
            best_nfev=self.nfev + now.best_nfev,
            fun=now.fun,
            has_gained=bool(now.fun < self.f0 - _GAIN * abs(self.f0)),
            faulty=now.faulty,
            reason=now.reason,
            sentence=now.message,
            noise=now.noise,
            is_estimate=now.is_estimate,
            error=None if now.error is None else float(now.error),
        )

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
    records = (*past.ended, past.record(now)) if is_begun else past.ended
    is_better = is_begun and past.is_beaten_by(now)
    champion = len(records) - 1 if is_better else past.champion
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
        x=now.x if is_better else past.best.copy(),
        fun=best.fun,
        nit=past.nit + now.nit,
        nfev=nfev,
        best_nfev=best.best_nfev,
        faulty=sum(record.faulty for record in records),
        reason=reason,
        message=f"{sentence} {_story(records, champion)}".rstrip(),
        noise=best.noise,
        is_estimate=best.is_estimate,
        error=best.error,
        trace=lambda: past.joined(now),
        stages=records,
    )


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
    if not (np.isfinite(past.x0).all() and np.isfinite(past.best).all()):
        raise ValueError("its start and its best point must be finite")
    if past.trace.nit.ndim != 1 or any(column.shape != past.trace.nit.shape for column in past.trace):
        raise ValueError("the columns of its trace must have the same length")
    if not (0 <= past.champion < len(ended) if ended else past.champion == -1):
        raise ValueError(f"champion must be the number of a stage, but is {past.champion}")
    if not math.isfinite(past.f0):
        raise ValueError(f"the value at its start must be a finite number, but is {past.f0}")
    for record in ended:
        counts = (record.nit, record.nfev, record.best_nfev, record.faulty, record.most or 0)
        if not all(0 <= count <= UNLIMITED for count in counts):
            raise ValueError("the outcome of a stage must have counts")
    if stage.method not in (method, *list_methods()):
        raise ValueError(f"a stage must have the name of a method, but has {shown(stage.method)}")
    if stage.start not in (AT_START, AT_BEST, AT_NEW_POINT):
        raise ValueError(
            f"a stage must begin at the start or at a new point, but begins at {shown(stage.start)}"
        )
    if stage.most is not None and stage.most < 1:
        raise ValueError(f"the most evaluations of a stage must be a count, but are {stage.most}")
