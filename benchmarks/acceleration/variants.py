"""`auto` and `auto-values` with the rules that were tried before theirs were chosen.

`Variant` is one of the two as long as no further option is given. Every option exchanges one rule, so that
a study (`choose.toml`) shows what it is worth.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compiling.dispatch import generic
from pursuit.compiling.vectors import add, blend, copy, dot, scale, shift
from pursuit.methods import Patience, ask, create_scheme, tell
from pursuit.methods.acceleration import Momentum, carry
from pursuit.methods.auto import AutoState
from pursuit.methods.auto_values import AutoValuesState
from pursuit.methods.line_searches import AdaptiveStep

COMPARISONS, CORRELATION, EITHER, NEVER = range(4)
TESTS = {"comparisons": COMPARISONS, "correlation": CORRELATION, "either": EITHER, "never": NEVER}


class Rules(NamedTuple):
    """How momentum grows, and what ends it."""

    damping: float
    growth: float
    test: int
    """What ends it: values that rise, steps against the drift, either of them, or nothing."""
    look_back: float
    """How many times n iterations to look back."""
    kept: int
    """How many values of them to keep."""
    age_left: float
    """What survives of the age."""
    paths: int
    """How many drifts to keep, those at the latest restarts."""

    def first_past(self, n: int) -> Past:
        """Return what a run begins with."""
        return Past(
            age=0.0,
            values=np.full(self.kept, math.inf),
            oldest=0,
            rises=0,
            agreement=0.0,
            due=0.0,
            drifts=np.zeros((self.paths, n)),
            restarts=0,
        )


class Past(NamedTuple):
    """The age, values of f(y) of old, and the drifts kept."""

    age: float
    values: NDArray[np.float64]
    oldest: int
    rises: int
    agreement: float
    """The sum of the cosines between steps and drift in this round."""
    due: float
    drifts: NDArray[np.float64]
    restarts: int


@carry.register(Rules)
def _carry(team, rules, past, y, v, s, m, value):
    n = y.shape[0]
    root = max(1.0, rules.growth * past.age / n)
    theta = m / (n * math.sqrt(rules.damping) * root)
    agreement = past.agreement + _cosine(s, v, y)
    add(team, y, 1.0, s)
    blend(team, y, 1.0 / (1.0 + theta), theta / (1.0 + theta), v)
    blend(team, v, 1.0 - theta, theta, y)
    add(team, v, root / math.sqrt(rules.damping), s)
    age, due, restarts = past.age + m, past.due - m, past.restarts
    oldest, rises = past.oldest, past.rises
    if due <= 0.0:
        due += max(1.0, rules.look_back * n / rules.kept)
        rises += 1 if value > past.values[oldest] else 0
        past.values[oldest] = value
        oldest += 1
    if oldest == rules.kept:
        rising = rules.test in (COMPARISONS, EITHER) and 2 * rises > rules.kept
        turning = rules.test in (CORRELATION, EITHER) and agreement < 0.0
        if rising or turning:
            if rules.paths > 0:
                _keep_drift(team, past.drifts[restarts % rules.paths], v, y)
            copy(team, v, y)
            past.values[:] = math.inf
            age, restarts = age * rules.age_left, restarts + 1
        oldest, rises, agreement = 0, 0, 0.0
    return Past(
        age=age,
        values=past.values,
        oldest=oldest,
        rises=rises,
        agreement=agreement,
        due=due,
        drifts=past.drifts,
        restarts=restarts,
    )


@numba.njit
def _cosine(s, v, y):
    """Return the cosine of the angle between s and v - y, 0 where there is none."""
    both = steps = drifts = 0.0
    for i in range(s.shape[0]):
        both += s[i] * (v[i] - y[i])
        steps += s[i] * s[i]
        drifts += (v[i] - y[i]) ** 2
    return both / math.sqrt(steps * drifts) if steps * drifts > 0.0 else 0.0


@numba.njit
def _distance(v, y):
    return math.sqrt(np.sum((v - y) ** 2))


@numba.njit
def _keep_drift(team, out, v, y):
    """Set out to v - y, divided by its length."""
    length = _distance(v, y)
    shift(team, out, v, -1.0, y)
    scale(team, out, 1.0 / length)


class Variant(NamedTuple):
    """One of the two schemes with other rules, or other directions than its own."""

    line_search: Any
    scheme: Any
    stretch: float
    """How much wider than elsewhere to search along the drifts kept."""
    drift: bool
    """Whether the first direction from each point is that of the drift."""
    equal: bool
    """Whether all directions have the same length, which those of `auto-values` have anyway."""

    @classmethod
    def create(
        cls,
        n: int,
        *,
        of: str,
        damping: float | None = None,
        growth: float = 1.0,
        mirrored: bool = True,
        p: float = 0.5,
        times: float = 1.0,
        test: str = "comparisons",
        look_back: float = 2.0,
        kept: int = 16,
        age_left: float = 0.5,
        paths: int = 0,
        stretch: float = 1.0,
        drift: bool = False,
        equal: bool = False,
        learning: float | None = None,
    ) -> Variant:
        """Return a variant of one of the schemes, with at most `times` sqrt(n) directions from one point."""
        own: dict[str, float] = {"p": p} if of == "auto" else {}
        if learning is not None:
            own["learning"] = learning
        base: Any = create_scheme(of, n, own, None)
        if not mirrored:
            base = base._replace(line_search=AdaptiveStep.create(p))
        directions = max(1.0, times * math.sqrt(n))
        base = base._replace(most=directions) if of == "auto" else base._replace(m=round(directions))
        damping = base.momentum.damping if damping is None else damping
        rules = Rules(
            damping=damping,
            growth=growth,
            test=TESTS[test],
            look_back=look_back,
            kept=kept,
            age_left=age_left,
            paths=paths,
        )
        return cls(base.line_search, base._replace(momentum=rules), stretch, drift, equal)

    def init(self, x: Vector, fx: float, sigma: float) -> Any:
        """Return the first state."""
        rules = self.scheme.momentum
        plain = self.scheme._replace(momentum=Momentum(rules.damping, rules.growth))
        return plain.init(x, fx, sigma)._replace(past=rules.first_past(x.size))

    def points(self) -> int:
        """Return the most points that a query holds."""
        return int(self.scheme.points())

    def patience(self, n: int) -> Patience:
        """Return after how many iterations without a better point to give up."""
        given: Patience = self.scheme.patience(n)
        return given


@generic(on="state")
def value_at_y(state: Any) -> float:
    """Return f(y), NaN before it is evaluated."""


@value_at_y.register(AutoState)
def _value_among_trials(state):
    return state.trials.fy


@value_at_y.register(AutoValuesState)
def _value_among_probes(state):
    return state.probes.fy


@ask.register(Variant)
def _ask(team, scheme, state, u):
    n = u.shape[0]
    length = math.sqrt(dot(team, n, u, u))
    if scheme.drift and math.isnan(value_at_y(state)) and _distance(state.v, state.y) > 0.0:
        _keep_drift(team, u, state.v, state.y)
        scale(team, u, length)
    if scheme.equal:
        scale(team, u, math.sqrt(n) / length)
    for k in range(min(state.past.restarts, state.past.drifts.shape[0])):
        path = state.past.drifts[k]
        add(team, u, scheme.stretch * dot(team, n, path, u), path)
    return ask(team, scheme.scheme, state, u)


@tell.register(Variant)
def _tell(team, scheme, state, query, answer):
    return tell(team, scheme.scheme, state, query, answer)
