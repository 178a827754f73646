"""Random problems of the paper's kinds, to check that no run diverges or loses its best point."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import pursuit
from pursuit.engine.stopping import Reason
from pursuit.problems import evaluate, value

_KINDS = ("exp", "lin", "two", "rosenbrock")
# As much as any of the runs should need, divided by n.
_EVALUATIONS = 200_000


class Recording(NamedTuple):
    """A problem that remembers its smallest value."""

    problem: Any
    least: np.ndarray[Any, np.dtype[np.float64]]

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.problem.n)

    def __call__(self, x: Any) -> float:
        """Return f(x)."""
        return evaluate(self, x)


@value.register(Recording)
def _value(team, recording, x):
    found = value(team, recording.problem, x)
    recording.least[0] = min(recording.least[0], found)
    return found


class Outcome(NamedTuple):
    """How a run stopped."""

    reason: str
    kind: str
    fun: float
    best_kept: bool
    """Whether its result is the smallest value seen, at the point where it was seen."""


def outcome(method: str, number: int) -> Outcome:
    """Run a method on the problem of that number."""
    rng = np.random.default_rng([20141406, number])
    kind = _KINDS[number % len(_KINDS)]
    n = 2 + number // len(_KINDS) % 49
    L = 10.0 ** rng.uniform(0.0, 7.0)
    problem: Any = getattr(pursuit.problems, kind)(*((n,) if kind == "rosenbrock" else (n, L)))
    if rng.random() < 0.5:
        problem = pursuit.problems.rotated(problem, rng)
    x0 = problem.x0 + rng.standard_normal(n)
    recording: Any = Recording(problem, np.array([np.inf]))
    result = pursuit.minimize(
        recording, x0, method=method, rng=rng, ftarget=1e-9, maxfev=_EVALUATIONS * n,
        sigma0=10.0 ** rng.uniform(-2.0, 2.0),
    )  # fmt: skip
    kept = bool(result.fun == recording.least[0] == problem(result.x) <= problem(x0))
    return Outcome(Reason(result.status).name.lower(), kind, float(result.fun), kept)
