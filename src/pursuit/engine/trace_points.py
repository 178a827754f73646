"""The best points so far at the entries of a trace, if they are kept, and as entries of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.engine.counters import Trace
from pursuit.engine.memory import Memory
from pursuit.engine.outcome import Outcome
from pursuit.engine.program_run import ProgramMemory


def with_points(memory: Memory | ProgramMemory, trace: bool | str) -> Memory | ProgramMemory:
    """Return the memory of a run that is about to begin, which keeps points if its trace is to have x."""
    return memory._replace(points={} if trace == "x" else None)


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


def point_arrays(kept: Mapping[int, Vector] | None) -> dict[str, Any]:
    """Return the arrays of a checkpoint that hold points, if they are kept, by their names."""
    if kept is None:
        return {}
    return {"points.nit": np.array(list(kept), dtype=np.int64), "points.x": np.array(list(kept.values()))}


def point_shapes(arrays: Mapping[str, Any], n: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes that these arrays must have, of which a file may hold any number of rows."""
    if "points.nit" not in arrays:
        return {}
    return {"points.nit": (arrays["points.nit"].size,), "points.x": (arrays["points.nit"].size, n)}


def points_of(nit: NDArray[np.int64], x: NDArray[np.float64]) -> dict[int, Vector]:
    """Return the points that these arrays hold, by iteration. Nothing in them is trusted."""
    if nit.size == 0 or nit[0] != 0 or (np.diff(nit) <= 0).any():
        raise ValueError("the iterations of its points must rise from 0")
    if not np.isfinite(x).all():
        raise ValueError("the points of its trace must be finite")
    return dict(zip(nit.tolist(), x, strict=True))
