"""Ask and tell: the run turned inside out, for people who evaluate their function themselves."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pursuit.checks import Vector, checked_number, checked_point
from pursuit.compiling.cache import compiled
from pursuit.engine import checkpoint
from pursuit.engine.interrupts import Interrupts
from pursuit.engine.iteration import BlackBox
from pursuit.engine.run import Memory, Run, first_memory
from pursuit.engine.stopping import Reason
from pursuit.engine.tally import Limits
from pursuit.methods.catalogue import DEFAULT_METHOD, create_scheme, method_from_text, method_text
from pursuit.problems.bounds import checked_box, preimage, reflect
from pursuit.problems.objective import as_value
from pursuit.result import Result, result_of


class Optimizer:
    """A minimiser that is asked for points and told their values.

    Parameters
    ----------
    x0 : array_like
        The start.
    method : str or type
        A name out of `pursuit.methods()`, any ``ep-cma-<m>``, or a scheme's class.
    rng : int, numpy.random.Generator or None
        What `numpy.random.default_rng` takes.
    sigma0 : float
        The first step size.
    bounds : scipy.optimize.Bounds, sequence of pairs, or None
        Within which all points asked for lie.
    options : mapping
        The method's own, as in `pursuit.minimize`.

    Notes
    -----
    The first point asked for is the start. With the same seed the trajectory is that of `minimize`.

    Examples
    --------
    >>> import pursuit
    >>> optimizer = pursuit.Optimizer([3.0, 4.0], rng=1)
    >>> while optimizer.result.fun > 1e-9:
    ...     X = optimizer.ask()
    ...     optimizer.tell(X, [x @ x for x in X])
    >>> bool(abs(optimizer.result.x).max() < 1e-4)
    True
    """

    def __init__(
        self,
        x0: ArrayLike,
        method: str | type = DEFAULT_METHOD,
        *,
        rng: Any = None,
        sigma0: float = 1.0,
        bounds: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        start = checked_point("x0", x0)
        sigma0 = checked_number("sigma0", sigma0, above=0.0)
        box = checked_box(bounds, start, sigma0)
        self._scheme = create_scheme(method, start.size, options, BlackBox())
        self._setting = checkpoint.Setting(method_text(method), dict(options or {}), start.size, sigma0, box)
        self._rng = np.random.default_rng(rng)
        self._x0 = start if box is None else preimage(start, box)
        self._run: Run | None = None
        self._asked: NDArray[np.float64] | None = None

    def ask(self) -> NDArray[np.float64]:
        """Return the points to evaluate next, one a row; asked again, the same."""
        if self._asked is None:
            if self._run is None:
                self._asked = self._start()[np.newaxis]
            else:
                rows = self._run.rows
                if not rows:
                    raise RuntimeError(f"There is nothing to ask for: {next(iter(self.stop().values()))}")
                self._asked = np.array(rows)
        return self._asked.copy()

    def tell(self, X: ArrayLike, F: ArrayLike) -> None:  # noqa: N803 (the convention's names)
        """Take the values F of the points X that `ask` returned.

        Wrong input raises an error and changes nothing.
        """
        asked = self._asked
        if asked is None:
            raise RuntimeError("tell must follow ask, but nothing was asked for.")
        points = np.asarray(X, dtype=np.float64)
        if points.shape != asked.shape:
            raise ValueError(
                f"X must have shape {asked.shape}, as asked for, but its shape is {points.shape}."
            )
        if not np.array_equal(points, asked):
            raise ValueError(
                "X must hold the points that were asked for, in their order, but it holds others."
            )
        answers = list(np.ravel(np.asarray(F))) if np.ndim(F) else [F]
        if len(answers) != len(asked):
            raise ValueError(
                f"F must hold one value for each of {len(asked)} points, but it holds {len(answers)}."
            )
        values = [as_value(answer) for answer in answers]
        with Interrupts():
            if self._run is None:
                x0 = self._x0.copy()
                self._open(first_memory(self._scheme, x0, values[0], self._setting.sigma0, self._rng))
            else:
                self._run.take(values)
            self._asked = None

    def stop(self) -> dict[str, str]:
        """Return the reasons to stop, each with a sentence; empty while there are none."""
        if self._run is None:
            return {}
        with Interrupts():
            reason = Reason(self._run.look()[2])
        if reason == Reason.RUNNING:
            return {}
        return {reason.name.lower(): reason.sentence}

    @property
    def result(self) -> Result:
        """The best so far; before the first `tell`, the start with an infinite value."""
        if self._run is None:
            empty = Result(x=self._start(), fun=math.inf, nit=0, nfev=0, nfaulty=0, success=False)
            return Result(
                **empty,
                sigma=self._setting.sigma0,
                status=int(Reason.RUNNING),
                message=Reason.RUNNING.sentence,
                method=self._setting.method,
            )
        with Interrupts():
            return result_of(self._run.outcome(), self._setting.method, trace=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that is needed to go on, bit for bit, to a file; atomically, and without pickle."""
        with Interrupts():
            if self._run is None:
                memory: Any = checkpoint.Unstarted(self._x0, self._rng.bit_generator.state)
            else:
                memory = self._run.remember()
            checkpoint.save(path, self._setting, memory)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Optimizer:
        """Return the optimizer that was saved to a file.

        Examples
        --------
        >>> import os, tempfile, pursuit
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.npz")
        ...     pursuit.Optimizer([3.0, 4.0], rng=1).save(path)
        ...     pursuit.Optimizer.load(path).ask()
        array([[3., 4.]])
        """
        setting, memory = checkpoint.load(path)
        self = cls.__new__(cls)
        self._setting = setting
        method = method_from_text(setting.method)
        self._scheme = create_scheme(method, setting.n, setting.options, BlackBox())
        self._run = self._asked = None
        if isinstance(memory, checkpoint.Unstarted):
            self._x0 = memory.x0
            self._rng = checkpoint.generator_in_state(memory.generator)
        else:
            recalled = memory(self._scheme)
            self._x0 = recalled.state.x
            self._rng = checkpoint.generator_in_state(recalled.generator)
            self._open(recalled)
        return self

    def _start(self) -> Vector:
        """Return a new copy of the start."""
        point = self._x0.copy()
        if self._setting.box is not None:
            compiled(reflect)(point[np.newaxis], self._setting.box)
        return point

    def _open(self, memory: Memory) -> None:
        n = self._setting.n
        limits = Limits.of(self._scheme, n)
        self._run = Run(
            self._scheme, BlackBox(), memory, self._rng, limits, whole=False, box=self._setting.box
        )
