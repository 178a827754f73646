"""An optimiser with PennyLane's `step` and `step_and_cost`, without gains or shifts to tune."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pursuit.checks import shown
from pursuit.optimizer import Optimizer
from pursuit.optional import optional_module
from pursuit.result import Result


class PursuitOptimizer:
    """An optimiser of the trainable arguments of a cost function, one iteration at a time.

    Parameters
    ----------
    **settings
        What `pursuit.Optimizer` takes besides the start. It begins with the arguments of the first step, and
        begins anew where they are not those that the step before has returned.
    """

    def __init__(self, **settings: Any) -> None:
        self._settings = settings
        self._optimizer: Optimizer | None = None
        self._latest: list[Any] = []

    @property
    def result(self) -> Result:
        """What has been found so far, with the noise of the cost and the reason to stop."""
        if self._optimizer is None:
            raise RuntimeError("There is no result before the first step.")
        return self._optimizer.result

    def step(self, objective_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return the arguments after one more iteration; they stay what they are once there is none."""
        return self.step_and_cost(objective_fn, *args, **kwargs)[0]

    def step_and_cost(self, objective_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, float]:
        """Return the arguments after one more iteration, and the cost before it."""
        places = [j for j, arg in enumerate(args) if getattr(arg, "requires_grad", False)]
        if not places:
            raise ValueError(f"Some argument must have requires_grad=True, but {shown(args)} were given.")
        array = optional_module("pennylane", "PursuitOptimizer").numpy.array

        def with_point(point: Any) -> list[Any]:
            parts = dict(zip(places, point, strict=True))
            return [array(parts[j], requires_grad=True) if j in parts else arg for j, arg in enumerate(args)]

        def advance(optimizer: Optimizer) -> None:
            points = optimizer.ask()
            optimizer.tell(points, [float(objective_fn(*with_point(point), **kwargs)) for point in points])

        trained, optimizer = [np.array(args[j], dtype=np.float64) for j in places], self._optimizer
        if optimizer is None or not all(map(np.array_equal, trained, self._latest)):
            self._optimizer = optimizer = Optimizer(tuple(trained), **self._settings)
            advance(optimizer)
        before = optimizer.result
        while not optimizer.stop() and optimizer.result.nit == before.nit:
            advance(optimizer)
        found = with_point(optimizer.result.x)
        self._latest = [np.array(found[j]) for j in places]
        return (found[0] if len(found) == 1 else found), before.fun
