"""Whether a checkpoint belongs to the run that is asked for, and the run that it holds."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from pursuit.checks import shown
from pursuit.engine.checkpoint import Checkpoint
from pursuit.engine.driving import Evaluate
from pursuit.engine.memory import Memory, Unstarted
from pursuit.engine.program_run import ProgramMemory
from pursuit.engine.setup import Setup, rounds_of
from pursuit.engine.stages import stage_of
from pursuit.methods.contract import Rounds
from pursuit.problems.boxes import Box

# By how many standard deviations of the noise a value may differ from the stored one, which is noisy too.
_LUCK = 10.0


def check_objective(
    path: str | os.PathLike[str], setup: Setup, memory: Memory | ProgramMemory, evaluate: Evaluate | None
) -> None:
    """Reject an objective that is not that of the checkpoint, judged by its value at the best point."""
    x, stored, noise = memory.best(setup.scheme)
    found = setup.value_at(x, evaluate)
    if found != stored and not abs(found - stored) <= _LUCK * noise:
        raise ValueError(
            f"{os.fspath(path)} holds a run of another function: at its best point the value is {found!r}, "
            f"but {stored!r} was stored. If the function is noisy or was changed on purpose, pass "
            "checkpoint_check=False."
        )


def check_batch(path: str | os.PathLike[str], stored: Rounds | None, batch: int | None) -> None:
    """Reject a batch other than that of the checkpoint; None keeps the rounds that it has."""
    wanted = rounds_of(batch)
    if wanted is not None and wanted != stored:
        raise ValueError(
            f"{os.fspath(path)} holds a run with batch={stored.most if stored else None}, which cannot be "
            f"resumed with batch={batch}."
        )


def check_trace(found: Checkpoint, trace: bool | str) -> None:
    """Reject a trace with x for a run that has begun without it."""
    has_begun = found.past is not None or not found.is_unstarted
    if trace == "x" and has_begun and found.points is None:
        raise ValueError(
            'its trace has no x, so the run cannot be resumed with trace="x", but with trace=True'
        )


def resumed(
    found: Checkpoint, path: str | os.PathLike[str], setup: Setup
) -> tuple[Setup, Memory | ProgramMemory | Unstarted, np.random.Generator]:
    """Return setup, memory and generator of a checkpoint, if it belongs to the same run."""
    for name in ("method", "options", "restarts", "n", "sigma0"):
        stored, given = getattr(found.setting, name), getattr(setup.setting, name)
        if not _same(stored, given):
            raise ValueError(
                f"{os.fspath(path)} holds a run with {name}={shown(stored, 300)}, which cannot be resumed "
                f"with {name}={shown(given, 300)}."
            )
    if not _same_box(found.setting.box, setup.setting.box):
        raise ValueError(
            f"{os.fspath(path)} holds a run with other bounds, which cannot be resumed with these."
        )
    past, stored = found.past, found.setting.rounds
    if found.is_unstarted and past is None:
        raise ValueError(f"{os.fspath(path)} holds an optimizer that has been told nothing yet.")
    if stored != setup.task.rounds:
        # How many workers there are now makes no difference to a run that has begun.
        setup = setup._replace(task=setup.task._replace(rounds=stored))
        setup = found.checked(lambda _: setup.at(setup.stage))
    if past is not None:
        setup = setup._replace(task=setup.task._replace(x0=past.x0))
        known = {setup.setting.method: setup.task.method}
        setup = found.checked(lambda _: setup.at(stage_of(past.stage, known)))
    setup = found.checked(setup.resumed)
    return (setup, *found.memory(setup.scheme))


def _same(one: Any, other: Any) -> bool:
    """Say whether two settings are the same; options may hold arrays."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return np.array_equal(one, other)


def _same_box(one: Box | None, other: Box | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(np.array_equal(*sides) for sides in zip(one[:2], other[:2], strict=True))
