"""From what a caller passes in to a run that can begin: one way for `minimize` and for `Optimizer`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pursuit import checks
from pursuit.checks import Vector, shown
from pursuit.engine.counters import LIMITS, Limits, Row, first_counters, trace_of
from pursuit.engine.evaluation import Evaluate, Here
from pursuit.engine.outcome import Past
from pursuit.engine.snapshot import Counts, Snapshot
from pursuit.methods.catalogue import create_scheme, method_name, method_text, resolved
from pursuit.methods.contract import Rounds
from pursuit.methods.programs import Start, is_program
from pursuit.methods.restarts import first_stage, has_stages
from pursuit.methods.stages import Stage, Task, Unknown
from pursuit.problems.boxes import Box, Clipping, checked_box, preimage, with_margins
from pursuit.problems.contract import value
from pursuit.problems.objective import Extras, checked_objective, function_of_point
from pursuit.problems.transform import Scale, Transform, scale_around

# Far enough from the step sizes at which a run stops that it can find a better one first.
_SMALLEST_SIGMA0, _LARGEST_SIGMA0 = 1e-200, 1e100
# The points of a round per worker, and for a function that takes all at once, if the method has as many.
_POINTS_EACH, _POINTS_OF_A_CALL = 8, 64


class Setup(NamedTuple):
    """What a stage of a run is made of."""

    task: Task
    stage: Stage
    scheme: Any
    """The scheme of a step method, or a program."""
    objective: Any
    """A problem if the whole loop can be compiled, else a function of the point; `Unknown` if the caller
    evaluates it."""
    limits: Limits
    box: Box | None = None
    """The bounds, with the margins of the mirrors at them if the scheme has any."""
    scale: Scale | None = None
    """The variables of the scheme, where `sigma0` is a vector that it does not take itself."""
    x0: Vector | None = None
    """The start of the stage, in the caller's variables, if these margins or these variables depend on it."""

    @property
    def name(self) -> str:
        """The method's name, for users."""
        return method_name(self.task.method)

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.task.n

    @property
    def first_step(self) -> float:
        """The first step size of the scheme."""
        return float(np.min(self.task.sigma0))

    @property
    def problem(self) -> Any:
        """What compiled code knows of the objective."""
        return self.objective if self.can_be_compiled else Transform()

    @property
    def can_be_compiled(self) -> bool:
        """Whether the whole loop can be compiled."""
        return not is_program(self.scheme) and value.handles(type(self.objective))

    def moved_to(self, x0: Vector) -> tuple[Setup, Vector]:
        """Return the setup of a run from another start, and that start as the scheme sees it."""
        return set_up_stage(self.task._replace(x0=x0), self.stage, x0.copy())

    def within_limits(self, limits: Mapping[str, Any]) -> Setup:
        """Return the same setup with other limits in place of those named."""
        for name in sorted(limits.keys() - set(LIMITS)):
            raise TypeError(f"A limit must be one of {', '.join(LIMITS)}, but {shown(name)} was given.")
        task = self.task._replace(limits={**self.task.limits, **limits})
        return self._replace(task=task, limits=Limits.of(self.scheme, self.n, **task.limits))

    @property
    def transform(self) -> Any:
        """What moves the points of the scheme to where they are evaluated."""
        return Clipping(self.box) if is_program(self.scheme) else Transform.of(self.scale, self.box)

    def value_at(
        self, point: Vector, evaluate: Evaluate | None = None, extras: Extras | None = None
    ) -> float:
        """Return f at a point as the scheme sees it; `evaluate` evaluates the function elsewhere.

        What f returns beside its value goes into `extras`.
        """
        # A problem moves points itself; a function gets one that was moved.
        own, moved = evaluate is None and self.can_be_compiled, self.transform.moved(point)
        values: list[Any] = [None]
        (evaluate or Here(self.objective))([point.copy() if own else moved.copy()], values)
        (extras or Extras()).take(values, [moved])
        return float(values[0])

    def first_snapshot(
        self,
        start: Vector,
        fx: float,
        rng: np.random.Generator,
        *,
        step: float = 1.0,
        nfev: int = 1,
        trace: bool | str = False,
    ) -> Snapshot:
        """Return the snapshot of a run that has evaluated its start, and perhaps points that were worse.

        The run may overwrite the start. First steps are `step` times as long as asked for; that is for
        programs. With a trace "x", the run keeps points.
        """
        if not math.isfinite(fx):
            raise ValueError(f"The objective must be finite at x0, but it is {fx} there.")
        x, at_bound = start, self.transform.at_bound(start)
        if is_program(self.scheme):
            begin = self._start_at(start, fx, step)
            sigma = float(np.min(begin.sigma0))
            state, table = self.scheme.begin(begin), trace_of({0: Row(1, fx, sigma, at_bound)})
            counters: Any = Counts(0, nfev=1, faulty=0, fun=fx, best_nit=0, best_nfev=1, best_sigma=sigma)
        else:
            counters, table = first_counters(fx, self.first_step, at_bound)
            state = self.scheme.init(start, fx, self.first_step)
            x = state.arrays.x
        table.nfev[0] = nfev
        past = Past.first(self.task.x0, fx, self.stage) if has_stages(self.task) else None
        first = Snapshot(x, rng.bit_generator.state, state, counters._replace(nfev=nfev), table, np.empty(0))
        return first._replace(past=past, points={} if trace == "x" else None)

    def _start_at(self, x: Vector, fx: float, step: float) -> Start:
        """Return the start of a program."""
        n, box, rounds, limits = self.n, self.box, self.task.rounds, self.limits
        lower, upper = (np.full(n, -np.inf), np.full(n, np.inf)) if box is None else box[:2]
        sigma0 = np.full(n, step * np.asarray(self.task.sigma0))
        # One call for many points does not make any of them free.
        batch = 1 if rounds is None or rounds.at_once == 1 else rounds.size(n)
        return Start(x, fx, sigma0, lower, upper, xtol=limits.xtol, ftol=limits.ftol, batch=batch)


def rounds_of(batch: Any, workers: int | None = None, *, vectorized: bool = False) -> Rounds | None:
    """Return how large rounds are to be: as asked for, or as suits the workers if their number is known.

    Times vary, so a method that has enough independent points gives each worker several per round.
    """
    if batch is not None:
        batch = checks.checked_count("batch", batch, at_least=1)
        return Rounds(at_once=batch, most=batch)
    if vectorized:
        return Rounds(at_once=1, most=_POINTS_OF_A_CALL)
    if workers is None or workers == 1:
        return None
    return Rounds(at_once=workers, most=_POINTS_EACH * workers)


def set_up(task: Task) -> tuple[Setup, Vector]:
    """Check what was asked for; return the setup of the first stage and its start, as the scheme sees it."""
    task = _checked(task)
    stage = first_stage(task)
    if stage.method != method_text(task.method):
        # Wrong options of later stages are errors at once, too.
        create_scheme(task.method, task.n, task.options, task.fun)
    return set_up_stage(task, stage, task.x0.copy() if has_stages(task) else task.x0)


def _checked(task: Task) -> Task:
    """Return what is asked for with its arguments checked; the function is checked when it is wrapped."""
    x0, least, most = checks.checked_point("x0", task.x0), _SMALLEST_SIGMA0, _LARGEST_SIGMA0
    if task.rounds is not None:
        size = task.rounds.most
        checks.checked_memory(f"A round of {size} points of n={x0.size} variables", size * x0.size)
    return task._replace(
        x0=x0,
        options=checks.checked_options(task.options),
        restarts=checks.checked_count("restarts", task.restarts, at_least=0),
        sigma0=checks.checked_numbers("sigma0", task.sigma0, x0.size, at_least=least, below=most),
    )


def set_up_stage(task: Task, stage: Stage, x0: Vector) -> tuple[Setup, Vector]:
    """Return the setup of a stage that begins at x0, and its start as the scheme sees it."""
    n = x0.size
    method = task.method if stage.method == method_text(task.method) else stage.method
    cls, _ = resolved(method, n)
    box, scale, start = _place_around(task, cls, x0)
    objective = _objective_of(task, cls, box, scale)
    scheme = create_scheme(method, n, stage.options, objective)
    limits, moved = Limits.of(scheme, n, **task.limits), None if start is x0 else x0
    return Setup(task, stage, scheme, objective, limits, box=box, scale=scale, x0=moved), start


def _place_around(task: Task, cls: type, x0: Vector) -> tuple[Box | None, Scale | None, Vector]:
    """Return the bounds and the scale of a run of a method, and its start as the method sees it."""
    box, scale, start = checked_box(task.bounds, x0), None, x0
    if box is not None and not is_program(cls):
        box = with_margins(box, x0, task.sigma0)
        start = preimage(x0, box)
    if isinstance(task.sigma0, np.ndarray) and not is_program(cls):
        scale, start = scale_around(task.sigma0, start)
    return box, scale, start


def _objective_of(task: Task, cls: type, box: Box | None, scale: Scale | None) -> Any:
    """Return the objective of a run of a method; programs call any function as it is."""
    fun = task.fun
    if isinstance(fun, Unknown):
        return fun
    if not is_program(cls):
        return checked_objective(fun, task.args, task.x0.size, Transform.of(scale, box))
    if not callable(fun):
        raise TypeError(f"fun must be callable, but {shown(fun)} was given.")
    return function_of_point(fun, task.args)
