"""Many runs of one setup on a GPU.

Between legs a batch lives in one matrix of this process, a row for each run, with all that the run needs to
continue: a study that is killed loses what was computed since the last leg, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pursuit.checks import shown
from pursuit.engine.counters import Counting, Limits
from pursuit.engine.outcome import BestPoint, Outcome, outcome_of
from pursuit.engine.setup import Setup
from pursuit.engine.stopping import Reason
from pursuit.gpu.device import Words
from pursuit.gpu.errors import GpuError
from pursuit.gpu.kernels import Blueprint, blueprint_of
from pursuit.gpu.philox import GENERATOR, Key
from pursuit.gpu.plan import Fixed, Own, Plan, default_lanes, first_own, plan_for
from pursuit.gpu.team import checked_lanes
from pursuit.gpu.threads import GRID
from pursuit.methods.contract import State
from pursuit.methods.programs import is_program


def check_gpu(setup: Setup) -> None:
    """Reject what cannot run on a GPU, as far as that is known before it is compiled."""
    if is_program(setup.scheme):
        raise GpuError(
            f"A GPU runs step methods, which can be compiled, but {type(setup.scheme).__name__} is a program "
            "in Python: choose another method, or the CPU."
        )
    if not setup.can_be_compiled:
        raise GpuError(
            "A GPU evaluates problems of pursuit.problems, problems of your own, and functions jitted by "
            f"Numba, but {shown(setup.objective)} is none of these."
        )


class Batch:
    """Many runs of one setup, a team of threads for each.

    A run is a pure function of setup, limits, start, seed and the width of its team: not of the other runs,
    of how it is divided into legs, or of the time.

    Parameters
    ----------
    setup : Setup
        What all runs have in common: scheme, problem, first step size, bounds.
    limits : Limits
        When to stop.
    starts : ndarray
        The start of every run, as the scheme sees it, one per row.
    values : sequence of float
        f at the starts.
    seeds : sequence of numpy.random.SeedSequence
        The seed of every run.
    lanes : int or None
        The threads of a team, a power of two; by default what `default_lanes` says.
    """

    def __init__(
        self,
        setup: Setup,
        limits: Limits,
        starts: Any,
        values: Sequence[float],
        seeds: Sequence[np.random.SeedSequence],
        *,
        lanes: int | None = None,
    ) -> None:
        self._prepare(setup, limits, lanes)
        starts = np.atleast_2d(np.asarray(starts, dtype=np.float64))
        if not len(starts) == len(values) == len(seeds) > 0:
            raise ValueError(
                "There must be as many starts as values and seeds, and at least one, but there are "
                f"{len(starts)}, {len(values)} and {len(seeds)}."
            )
        if not all(map(math.isfinite, values)):
            raise ValueError("The objective must be finite at every start.")
        if self.lanes == GRID and len(seeds) > 1:
            raise ValueError(
                f"A run of n={setup.n} variables takes all threads of the GPU: one run at a time, "
                f"but {len(seeds)} were asked for."
            )
        self.words: Words = np.zeros((len(seeds), self.plan.own.words), dtype=np.int64)
        begun: dict[tuple[bytes, float], Own] = {}
        for row, start, value, seed in zip(self.words, starts, map(float, values), seeds, strict=True):
            key = Key.of(seed)
            own = begun.get((start.tobytes(), value)) or first_own(setup, start, value, key, self.lanes)
            begun = {(start.tobytes(), value): own}
            self.plan.own.write(own._replace(key=key), row)

    def _prepare(self, setup: Setup, limits: Limits, lanes: int | None) -> None:
        """Set all that does not depend on where the runs are."""
        check_gpu(setup)
        n = setup.n
        self.setup: Setup = setup
        self.limits: Limits = limits
        self.lanes: int = (
            default_lanes(setup.scheme, setup.problem, n) if lanes is None else checked_lanes(lanes)
        )
        fixed = Fixed(setup.scheme, setup.problem, limits)
        self.plan: Plan = plan_for(
            fixed, first_own(setup, np.zeros(n), 1.0, Key(0, 0), self.lanes), self.lanes
        )
        self.fixed_words: Words = np.zeros(self.plan.fixed.words, dtype=np.int64)
        self.plan.fixed.write(fixed, self.fixed_words)
        self.expected: float = math.inf
        """How many iterations the longest of its runs is expected to take."""
        self.microseconds: float = math.nan
        """How long an iteration takes all runs together, once that is known."""

    @classmethod
    def resumed(
        cls, setup: Setup, limits: Limits, memory: Mapping[str, Any], *, lanes: int | None = None
    ) -> Batch:
        """Return the batch that a memory holds, made by the same code with the same setup."""
        batch = cls.__new__(cls)
        batch._prepare(setup, limits, lanes)
        words = np.array(memory["words"])
        if words.ndim != 2 or words.shape[1] != batch.plan.own.words or words.dtype != np.int64:
            raise ValueError("The memory is that of other runs: its shape is not theirs.")
        if int(memory["lanes"]) != batch.lanes:
            raise ValueError(
                f"The memory is that of teams of {int(memory['lanes'])} threads, not {batch.lanes}."
            )
        batch.words = words
        return batch

    def memory(self) -> dict[str, Any]:
        """Return all that `resumed` needs: arrays, the batch's own, to be written to disk at once."""
        return {"words": self.words, "lanes": np.int64(self.lanes)}

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.words)

    @property
    def nbytes(self) -> int:
        """How much memory it needs on the GPU."""
        return int(self.words.nbytes + self.fixed_words.nbytes)

    @property
    def identity(self) -> dict[str, Any]:
        """What determines a run besides its problem, its method and its seed."""
        return {"device": "gpu", "generator": GENERATOR, "lanes": self.lanes}

    @property
    def running(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The numbers of the runs that have not stopped."""
        return np.flatnonzero(self._column("course", "reason") == int(Reason.RUNNING))

    @property
    def nit(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The iterations of every run so far."""
        return self._column("course", "counters", "nit").copy()

    def _column(self, *path: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return an integer of all runs."""
        part: Any = self.plan.own.root
        for name in path:
            part = part.parts[part.cls._fields.index(name)]
        column: np.ndarray[Any, np.dtype[np.int64]] = self.words[:, part.offset]
        return column

    def blueprint(self, capability: tuple[int, int]) -> Blueprint:
        """Return what its kernel is made for."""
        return blueprint_of(self.plan, self.setup.scheme, self.setup.problem, capability)

    def outcome(self, run: int) -> Outcome:
        """Return the outcome of a run."""
        own: Own = self.plan.own.read(self.words[run])
        numbers, counters, reason, unfinished = own.course
        state = State(own.arrays, numbers)
        z, fun, transform = state.arrays.x, state.numbers.fx, self.setup.transform
        if unfinished.value < fun:
            z, fun = own.best, unfinished.value
        counting = Counting(counters, own.trace, self.limits)
        return outcome_of(
            BestPoint(transform.moved(z), z, fun),
            state,
            counting,
            unfinished=unfinished,
            reason=Reason(reason),
            transform=transform,
        )
