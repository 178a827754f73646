"""`auto` and `auto-values` with the rules that were tried before theirs were chosen.

Without options a `Variant` is one of the two. Every option replaces one rule, so that a study (`choose.toml`)
shows what that rule is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compiling.vectors import add, blend, copy, dot, scale, shift
from pursuit.methods import Patience, ask, create_scheme, tell
from pursuit.methods.acceleration import carry
from pursuit.methods.line_searches import AdaptiveStep

COMPARISONS, CORRELATION, EITHER, NEVER = range(4)
TESTS = {"comparisons": COMPARISONS, "correlation": CORRELATION, "either": EITHER, "never": NEVER}


class Rules(NamedTuple):
    """How momentum grows, and what ends it."""

    damping: float
    growth: float
    test: int
    """What restarts it: values that rise, steps against the drift, either of them, or nothing."""
    window: float
    """With the value of how many iterations ago a value is compared, divided by n."""
    kept: int
    """How many values of this window are kept."""
    age_left: float
    """The part of the age that survives a restart."""
    paths: int
    """How many drifts are kept, those at the latest restarts."""

    @classmethod
    def create(
        cls,
        *,
        damping: float,
        growth: float = 1.0,
        test: str = "comparisons",
        window: float = 2.0,
        kept: int = 16,
        age_left: float = 0.5,
        paths: int = 0,
    ) -> Rules:
        """Return rules; the defaults are those of `auto` and `auto-values`."""
        return cls(
            damping=damping,
            growth=growth,
            test=TESTS[test],
            window=window,
            kept=kept,
            age_left=age_left,
            paths=paths,
        )

    def no_past(self, n: int) -> Past:
        """Return what a run begins with."""
        return Past(
            age=0.0,
            values=np.full(self.kept, math.inf),
            index=0,
            higher=0,
            agreement=0.0,
            due=0.0,
            drifts=np.zeros((self.paths, n)),
            restarts=0,
        )


class Past(NamedTuple):
    """The age, earlier values of f(y), and the drifts that are kept."""

    age: float
    values: NDArray[np.float64]
    index: int
    """Which of the values is replaced next."""
    higher: int
    """How many values were higher than those that they replaced, since index 0."""
    agreement: float
    """The sum of the cosines between steps and drift, since index 0."""
    due: float
    """Iterations until the next value is kept."""
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
    age, index, higher, due, restarts = past.age + m, past.index, past.higher, past.due - m, past.restarts
    if due <= 0.0:
        due += max(1.0, rules.window * n / rules.kept)
        higher += 1 if value > past.values[index] else 0
        past.values[index] = value
        index += 1
    if index == rules.kept:
        rising = rules.test in (COMPARISONS, EITHER) and 2 * higher > rules.kept
        turning = rules.test in (CORRELATION, EITHER) and agreement < 0.0
        if rising or turning:
            if rules.paths > 0:
                _keep_drift(team, past.drifts[restarts % rules.paths], v, y)
            copy(team, v, y)
            past.values[:] = math.inf
            age, restarts = age * rules.age_left, restarts + 1
        index, higher, agreement = 0, 0, 0.0
    return Past(
        age=age,
        values=past.values,
        index=index,
        higher=higher,
        agreement=agreement,
        due=due,
        drifts=past.drifts,
        restarts=restarts,
    )


@numba.njit
def _cosine(s, v, y):
    """Return the cosine of the angle between s and v - y, 0 where one of them is 0."""
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


def base_scheme(
    n: int,
    of: str,
    *,
    mirrored: bool = True,
    p: float = 0.5,
    times: float = 1.0,
    learning: float | None = None,
) -> Any:
    """Return `auto` or `auto-values`, with at most `times` sqrt(n) directions from one point."""
    own: dict[str, float] = {"p": p} if of == "auto" else {}
    if learning is not None:
        own["learning"] = learning
    base: Any = create_scheme(of, n, own, None)
    if not mirrored:
        base = base._replace(oracle=AdaptiveStep.create(p))
    directions = max(1.0, times * math.sqrt(n))
    return base._replace(most=directions) if of == "auto" else base._replace(m=round(directions))


class Variant(NamedTuple):
    """One of the two schemes with other rules, or other directions than its own."""

    oracle: Any
    scheme: Any
    stretch: float
    """How much wider the search is along the drifts that are kept."""
    drift: bool
    """Whether the first direction from each point is the drift."""
    equal: bool
    """Whether all directions have the same length, as those of `auto-values` always have."""

    @classmethod
    def create(
        cls,
        n: int,
        *,
        of: str,
        scheme: Mapping[str, Any] | None = None,
        rules: Mapping[str, Any] | None = None,
        directions: Mapping[str, Any] | None = None,
    ) -> Variant:
        """Return a variant of the scheme `of`.

        Parameters
        ----------
        n : int
            The number of variables.
        of : str
            ``"auto"`` or ``"auto-values"``.
        scheme : mapping
            Arguments of `base_scheme`.
        rules : mapping
            Arguments of `Rules.create`.
        directions : mapping
            `stretch`, `drift` and `equal`.
        """
        base = base_scheme(n, of, **scheme or {})
        chosen = Rules.create(**{"damping": base.momentum.damping, **(rules or {})})
        shape: dict[str, Any] = {"stretch": 1.0, "drift": False, "equal": False, **(directions or {})}
        return cls(oracle=base.oracle, scheme=base._replace(momentum=chosen), **shape)

    def init(self, x: Vector, fx: float, sigma: float) -> Any:
        """Return the first state."""
        return self.scheme.init(x, fx, sigma)

    def points(self) -> int:
        """Return the most points that a query holds."""
        return int(self.scheme.points())

    def draws(self, n: int) -> int:
        """Return the number of normals per iteration."""
        return n

    def patience(self, n: int) -> Patience:
        """Return after how many iterations without a better point to give up."""
        given: Patience = self.scheme.patience(n)
        return given


@ask.register(Variant)
def _ask(team, scheme, state, u):
    n = u.shape[0]
    length = math.sqrt(dot(team, n, u, u))
    if scheme.drift and math.isnan(state.fy) and _distance(state.v, state.y) > 0.0:
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
