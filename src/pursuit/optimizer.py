"""Ask and tell, for callers who evaluate their function themselves: `Optimizer`."""

from __future__ import annotations

import contextlib
import io
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pursuit.checks import Vector, checked_generator, checked_trace, with_known_arguments
from pursuit.engine import checkpoint
from pursuit.engine.driving import Interrupts
from pursuit.engine.outcome import Known
from pursuit.engine.running import checked_points
from pursuit.engine.setup import Setup, rounds_of, set_up
from pursuit.engine.snapshot import Snapshot
from pursuit.engine.staged import StagedRun
from pursuit.engine.stopping import FTOL, XTOL, Reason
from pursuit.methods.catalogue import DEFAULT_METHOD
from pursuit.methods.stages import Task
from pursuit.problems.objective import checked_values
from pursuit.problems.structure import Structure, structure_of
from pursuit.reporting.progress import showing_compilation
from pursuit.result import Result, result_of

# A point that is so near to one that was asked for, in parts of itself and of sigma0, is meant to be that.
_ROUNDED = 2e-7


class Optimizer:
    """A minimiser that is asked for points and told their values.

    Parameters
    ----------
    x0 : array_like, or parameters of another structure as in `pursuit.minimize`
        The start.
    method : str or type
        A name from `pursuit.list_methods()`, any ``ep-cma-<m>``, or a scheme's class.
    rng : int, numpy.random.Generator or None
        What `numpy.random.default_rng` takes.
    sigma0 : float or array_like
        The first step size, or one for each variable.
    bounds : scipy.optimize.Bounds, sequence of pairs, or None
        Bounds within which all points asked for lie.
    ftarget, xtol, ftol, maxiter, maxfev : float or int
        When to stop, as in `pursuit.minimize`: then `stop` returns the reason, and `ask` raises an error.
    options : mapping
        Options of the method, as in `pursuit.minimize`.
    restarts : int
        How many times to start again after a run has stalled, as in `pursuit.minimize`.
    batch : int
        The maximum number of points in a round, as in `pursuit.minimize`; by default the method's choice.
    trace : bool or "x"
        Whether `result` has the history of the run; "x" for one with points, as in `pursuit.minimize`.

    Notes
    -----
    The first point asked for is the start. With the same seed the trajectory is that of `minimize`, in
    whatever order the values of a round arrive.

    Examples
    --------
    >>> import pursuit
    >>> optimizer = pursuit.Optimizer([3.0, 4.0], rng=1, ftarget=1e-9)
    >>> while not optimizer.stop():
    ...     X = optimizer.ask()
    ...     optimizer.tell(X, [x @ x for x in X])
    >>> optimizer.stop()
    {'target': 'The target value ftarget was reached.'}
    >>> bool(abs(optimizer.result.x).max() < 1e-4)
    True
    """

    @with_known_arguments
    def __init__(
        self,
        x0: Any,
        method: str | type = DEFAULT_METHOD,
        *,
        rng: Any = None,
        sigma0: float | ArrayLike = 1.0,
        bounds: Any = None,
        ftarget: float | None = None,
        xtol: float = XTOL,
        ftol: float = FTOL,
        maxiter: int | None = None,
        maxfev: int | None = None,
        options: Mapping[str, Any] | None = None,
        restarts: int = 0,
        batch: int | None = None,
        trace: bool | str = False,
    ) -> None:
        limits = {"ftarget": ftarget, "xtol": xtol, "ftol": ftol, "maxiter": maxiter, "maxfev": maxfev}
        task = Task(
            x0, method, limits,
            sigma0=sigma0, bounds=bounds, options=options, restarts=restarts, rounds=rounds_of(batch),
        ).flattened()  # fmt: skip
        setup, start = set_up(task)
        generator = checked_generator(rng)
        self._open(setup, Snapshot(start, generator.bit_generator.state), generator, checked_trace(trace))

    def _open(self, setup: Setup, snapshot: Snapshot, rng: np.random.Generator, trace: bool | str) -> None:
        """Begin with a snapshot."""
        if trace == "x" and snapshot.points is None:
            snapshot = snapshot._replace(points={})
        self._run, self._trace = StagedRun(setup, snapshot, rng, here=False), trace
        self._asked: NDArray[np.float64] | None = None
        self._told: list[float | None] = []
        """The values of the current round, None where they are missing."""

    def ask(self) -> Any:
        """Return the points of the current round whose values are missing, one per row.

        They are an array, or a list if x0 is a dictionary or the like.

        Asking again before any value is told returns the same points. When all are told, the next round
        begins.
        """
        points, structure = self._round()[self._missing()], self._structure
        return points if structure.tree is None else [structure.shaped(point) for point in points]

    def tell(self, X: Any, F: ArrayLike) -> None:  # noqa: N803 (the convention's names)
        """Take the values F of points X that `ask` returned: all of them or some, in any order.

        If the value of a point will never come, tell NaN. Other points may be among them, whose values are
        known from elsewhere: if one is better than all so far, the run goes on from there, asks for other
        points, and takes the values of those it had asked for like these. Wrong input raises an error and
        changes nothing.
        """
        setup = self._run.setup
        points = checked_points(X, setup.task.structure, setup.n)
        values = checked_values(F, len(points))
        asked = np.empty((0, setup.n)) if self._asked is None else self._asked
        places = _places(points, asked, self._missing())
        others = [row for row, place in enumerate(places) if place is None]
        self._check_others(points[others], others)
        told = list(self._told)
        for place, value in zip(places, values, strict=True):
            if place is not None:
                told[place] = value
        if told and None not in told:
            self._receive([value for value in told if value is not None])
        else:
            self._told = told
        if others:
            best = min(others, key=lambda row: values[row] if math.isfinite(values[row]) else math.inf)
            self._learn(Known(points[best], values[best]))

    def _check_others(self, points: NDArray[np.float64], rows: list[int]) -> None:
        """Reject points that were not asked for if they cannot be, or if they were meant to be those."""
        setup, x = self._run.setup, self._run.outcome().x
        for point, row in zip(points, rows, strict=True):
            if self._asked is None and np.array_equal(point, x):
                raise RuntimeError("tell must follow ask, but nothing was asked for.")
            box = setup.box
            is_inside = box is None or bool(((box.lower <= point) & (point <= box.upper)).all())
            if not (is_inside and np.isfinite(point).all()):
                raise ValueError(f"X must hold finite points within the bounds, but its row {row} is none.")
            sizes = np.abs(point) + setup.task.sigma0
            if (
                self._asked is not None
                and (np.abs(self._asked - point) <= _ROUNDED * sizes).all(axis=1).any()
            ):
                raise ValueError(
                    "X must hold points that were asked for and whose values are missing, or others, but its "
                    f"row {row} is not one of them: it is one that was asked for, rounded or told before."
                )

    def _learn(self, known: Known) -> None:
        """Go on from a point if its value is the lowest."""
        with Interrupts():
            if math.isfinite(known.value) and self._run.learn(known, self._told):
                self._asked, self._told = None, []

    @property
    def _structure(self) -> Structure:
        return self._run.setup.task.structure

    @property
    def missing(self) -> int:
        """How many values of the current round are missing."""
        return len(self._missing())

    def _missing(self) -> list[int]:
        return [place for place, value in enumerate(self._told) if value is None]

    def _round(self) -> NDArray[np.float64]:
        """Return the points of the current round, or of the next."""
        if self._asked is None:
            rows = self._run.rows
            if not rows:
                raise RuntimeError(f"There is nothing to ask for: {next(iter(self.stop().values()))}")
            self._asked = np.array(rows)
            self._told = [None] * len(self._asked)
        return self._asked

    def _receive(self, values: list[float]) -> None:
        # What the method needs is compiled when it begins.
        announced = showing_compilation(False) if self._run.nit == 0 else contextlib.nullcontext()
        with Interrupts(), announced:
            self._run.receive(values)
            if not self._run.rows:
                self._run.settle()
            self._asked, self._told = None, []

    def stop(self) -> dict[str, str]:
        """Return the reasons to stop, each with a sentence; empty while there are none."""
        with Interrupts():
            outcome = self._run.outcome()
        if outcome.reason == Reason.RUNNING:
            return {}
        return {outcome.reason.name.lower(): outcome.message}

    @property
    def result(self) -> Result:
        """The best result of all rounds told; before the first, the start with an infinite value."""
        setup = self._run.setup
        with Interrupts():
            outcome = self._run.outcome()
            trace = outcome.nfev > 0 and self._trace
            return result_of(outcome, setup, trace=trace)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that is needed to resume, bit for bit, to a file: atomically and without pickle."""
        with Interrupts():
            checkpoint.save(path, self._run.setup, self._run.snapshot(), self._told)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        method: type | None = None,
        x0: Any = None,
        trace: bool | str = False,
        **limits: Any,
    ) -> Optimizer:
        """Return the optimizer that was saved to a file.

        Parameters
        ----------
        path : path
            The file, which may come from anywhere: nothing in it is executed or imported.
        method : type
            The scheme's class, if the method was given as a class and not by name.
        x0 : object
            A point with the structure of the start, if that was a dictionary or the like: files do not
            hold it, and without it points are arrays.
        trace : bool or "x"
            Whether `result` has the history of the run; "x" only if the run was begun with it.
        **limits
            `ftarget`, `xtol`, `ftol`, `maxiter` or `maxfev`, in place of those that were saved.

        Examples
        --------
        >>> import os, tempfile, pursuit
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.npz")
        ...     pursuit.Optimizer([3.0, 4.0], rng=1).save(path)
        ...     pursuit.Optimizer.load(path).ask()
        array([[3., 4.]])
        """
        structure, _ = structure_of(x0)
        return cls._loaded(checkpoint.Checkpoint(path), method, structure, checked_trace(trace), limits)

    def __repr__(self) -> str:
        result = self.result
        return (
            f"<Optimizer: {self._run.setup.name}, {self._run.setup.n} variables, {result.nfev} evaluations, "
            f"best value {result.fun:.6g}. {result.message}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by a checkpoint."""
        own = self._run.setup.task.method
        method = None if isinstance(own, str) else own
        with Interrupts():
            content = checkpoint.to_bytes(self._run.setup, self._run.snapshot(), self._told)
        return _from_bytes, (content, method, self._structure, self._trace)

    @classmethod
    def _loaded(
        cls,
        found: checkpoint.Checkpoint,
        method: type | None,
        structure: Structure,
        trace: bool | str,
        limits: Mapping[str, Any],
    ) -> Optimizer:
        found.check_trace(trace)
        setup, snapshot, generator = found.continued(method)
        setup = setup.within_limits(limits)
        if structure.size not in (None, setup.n):
            raise ValueError(f"x0 must have the {setup.n} numbers of the start, but it has {structure.size}.")
        task = setup.task._replace(structure=structure)
        if not found.is_begun and found.past is None:
            # A later stage may begin at the start.
            task = task._replace(x0=setup.transform.moved(snapshot.x))
        setup = setup._replace(task=task)
        self = cls.__new__(cls)
        found.checked(lambda: self._open(setup, snapshot, generator, trace))
        if told := found.stored.told:
            found.checked(lambda: self._recall(told))
        return self

    def _recall(self, told: list[float | None]) -> None:
        """Take the values of the current round that were told before it was saved."""
        if len(self._round()) != len(told) or None not in told:
            raise ValueError("the values told must be those of some points of its round")
        self._told = told


def _places(points: Vector, asked: Vector, missing: list[int]) -> list[int | None]:
    """Return which of the points that were asked for, and whose values are missing, these are, if any."""
    if np.array_equal(points, asked[missing]):
        return list(missing)
    # Zeros of either sign are the same number.
    waiting: dict[bytes, list[int]] = {}
    for place in reversed(missing):
        waiting.setdefault((asked[place] + 0.0).tobytes(), []).append(place)
    return [found.pop() if (found := waiting.get((point + 0.0).tobytes())) else None for point in points]


def _from_bytes(content: bytes, method: type | None, structure: Structure, trace: bool | str) -> Optimizer:
    return Optimizer._loaded(checkpoint.Checkpoint(io.BytesIO(content)), method, structure, trace, {})
