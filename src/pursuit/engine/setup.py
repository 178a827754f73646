"""From what people pass in to a run that can begin: one way for `minimize` and for `Optimizer`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pursuit.checks import Vector, checked_number, checked_options, checked_point, shown
from pursuit.compiling.cache import check_compiler, compiled
from pursuit.engine.checkpoint import Setting
from pursuit.engine.iteration import BlackBox
from pursuit.engine.run import Evaluate, Memory, Run, first_memory, here
from pursuit.engine.tally import LIMITS, Limits
from pursuit.methods.catalogue import create_scheme, method_name, method_text
from pursuit.methods.contract import Scheme
from pursuit.problems.bounds import Bounded, Box, checked_box, preimage, reflect
from pursuit.problems.contract import value
from pursuit.problems.objective import checked_objective

# Far enough from the step sizes at which a run stops, so that it can find a better one first.
SMALLEST_SIGMA0, LARGEST_SIGMA0 = 1e-200, 1e100
_BLACK_BOX = BlackBox()


class Setup(NamedTuple):
    """What a run is made of."""

    name: str
    """The method's, for people."""
    scheme: Scheme
    objective: Any
    """A problem where the loop can be compiled whole, else a function of the point; a `BlackBox` if people
    evaluate it themselves."""
    setting: Setting
    limits: Limits

    @property
    def problem(self) -> Any:
        """What compiled code knows of the objective."""
        return self.objective if self.can_be_compiled else BlackBox()

    @property
    def can_be_compiled(self) -> bool:
        """Whether the whole loop can be compiled."""
        return value.handles(type(self.objective))

    def within(self, box: Box | None) -> Setup:
        """Return the same setup with another box: that of a checkpoint may have other margins."""
        objective = self.objective
        if box is not None and isinstance(objective, Bounded):
            objective = objective._replace(box=box)
        return self._replace(objective=objective, setting=self.setting._replace(box=box))

    def within_limits(self, limits: Mapping[str, Any]) -> Setup:
        """Return the same setup with other limits in place of those named."""
        unknown = limits.keys() - set(LIMITS)
        if unknown:
            raise TypeError(
                f"A limit must be one of {', '.join(LIMITS)}, but {shown(min(unknown))} was given."
            )
        setting = self.setting._replace(limits={**self.setting.limits, **limits})
        return self._replace(setting=setting, limits=Limits.of(self.scheme, setting.n, **setting.limits))

    def reflected(self, point: Vector) -> Vector:
        """Return a copy of a point, moved inside the bounds."""
        image = point.copy()
        if self.setting.box is not None:
            compiled(reflect)(image[np.newaxis], self.setting.box)
        return image

    def value_at(self, point: Vector, evaluate: Evaluate | None = None) -> float:
        """Return f at a point as the scheme sees it; `evaluate` evaluates people's function elsewhere."""
        # A bounded problem moves points inside by itself; others get one that is inside.
        own = evaluate is None and isinstance(self.objective, Bounded)
        values: list[Any] = [None]
        (evaluate or here(self.objective))([point.copy() if own else self.reflected(point)], values)
        value: float = values[0]
        return value

    def first_memory(self, start: Vector, fx: float, rng: np.random.Generator) -> Memory:
        """Return the memory of a run that has evaluated its start and nothing else."""
        return first_memory(self.scheme, start, fx, self.setting.sigma0, rng)

    def run(self, memory: Memory, rng: np.random.Generator, *, whole: bool) -> Run:
        """Return a run that begins with a memory."""
        return Run(self.scheme, self.problem, memory, rng, self.limits, whole=whole, box=self.setting.box)


def set_up(
    x0: ArrayLike,
    method: str | type,
    *,
    sigma0: float,
    bounds: Any,
    options: Mapping[str, Any] | None,
    limits: dict[str, Any],
    fun: Any = _BLACK_BOX,
    args: Any = (),
) -> tuple[Setup, Vector]:
    """Check what people passed in; return the setup and the start, as the scheme sees it.

    `limits` are the arguments of `Limits.of`. Without `fun`, people evaluate their function themselves.
    """
    check_compiler()
    start = checked_point("x0", x0)
    n = start.size
    sigma0 = checked_number("sigma0", sigma0, at_least=SMALLEST_SIGMA0, below=LARGEST_SIGMA0)
    box = checked_box(bounds, start, sigma0)
    objective = fun if isinstance(fun, BlackBox) else checked_objective(fun, args, n, box)
    scheme = create_scheme(method, n, options, objective)
    setting = Setting(
        method=method_text(method),
        options=checked_options(options),
        n=n,
        sigma0=sigma0,
        box=box,
        limits=limits,
    )
    setup = Setup(
        name=method_name(method),
        scheme=scheme,
        objective=objective,
        setting=setting,
        limits=Limits.of(scheme, n, **limits),
    )
    return setup, start if box is None else preimage(start, box)


def restored(setting: Setting, method: type | None) -> Setup:
    """Return the setup of a checkpoint, of a run whose function people evaluate themselves.

    A class is never imported because a file names it: whoever loads the file passes it as `method`.
    """
    if method is not None and method_text(method) != setting.method:
        raise ValueError(f"its method is {setting.method}, but {method_text(method)} was passed")
    if method is None and ":" in setting.method:
        raise ValueError(f"its method is a class, {setting.method}: pass that class as method")
    chosen = setting.method if method is None else method
    scheme = create_scheme(chosen, setting.n, setting.options, BlackBox())
    return Setup(
        name=method_name(chosen),
        scheme=scheme,
        objective=BlackBox(),
        setting=setting,
        limits=Limits.of(scheme, setting.n, **setting.limits),
    )
