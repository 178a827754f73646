"""`adaptive-sarp` with the rules that were tried before its own were chosen.

Without options but `of` a `Variant` is `adaptive-sarp` itself. Every option replaces one rule, so that a
study (`choose.toml`) shows what that rule is worth. The seed of a run follows from the names and values of
its options: changing them changes the results that are committed.
"""

from __future__ import annotations

import inspect
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.compiling.jit import compilable
from pursuit.compiling.vectors import add, blend, copy, dot, scale, shift
from pursuit.methods import Needs, State, ask, create_scheme, tell
from pursuit.methods.acceleration import Momentum, carry
from pursuit.methods.flat_direction import FlatDirection
from pursuit.methods.line_searches import AdaptiveStep

COMPARISONS, CORRELATION, EITHER, NEVER = range(4)
TESTS = {"comparisons": COMPARISONS, "correlation": CORRELATION, "either": EITHER, "never": NEVER}


class Rules(NamedTuple):
    """How momentum grows, and what ends it."""

    damping: float
    growth: float
    test: int
    """What restarts it: values that rise, steps against the drift, either of them, or nothing."""
    look_back: float
    """With the value of how many iterations ago a value is compared, divided by n."""
    kept: int
    """How many of these values are kept."""
    age_left: float
    """The part of the age that survives a restart."""
    paths: int
    """How many drifts are kept, those at the latest restarts."""


class Past(NamedTuple):
    """The age, and what is known of earlier values of f(y)."""

    age: float
    position: int
    """Which of the values is replaced next."""
    higher: int
    """How many values were higher than those that they replaced, since position 0."""
    agreement: float
    """The sum of the cosines between steps and drift, since position 0."""
    due: float
    """Iterations until the next value is kept."""
    restarts: int


class VariantArrays(NamedTuple):
    """The arrays of `adaptive-sarp`, and the drifts that are kept."""

    x: Vector
    y: Vector
    v: Vector
    s: Vector
    flat: FlatDirection
    values: Vector
    drifts: NDArray[np.float64]


@carry.register(Rules)
def _carry(team, rules, past, arrays, m, value):
    y, v, s, n = arrays.y, arrays.v, arrays.s, arrays.y.shape[0]
    root = max(1.0, rules.growth * past.age / n)
    theta = m / (n * math.sqrt(rules.damping) * root)
    agreement = past.agreement + _cosine(s, v, y)
    add(team, y, 1.0, s)
    blend(team, y, 1.0 / (1.0 + theta), theta / (1.0 + theta), v)
    blend(team, v, 1.0 - theta, theta, y)
    add(team, v, root / math.sqrt(rules.damping), s)
    age, due = past.age + m, past.due - m
    position, higher, restarts = past.position, past.higher, past.restarts
    if due <= 0.0:
        due += max(1.0, rules.look_back * n / rules.kept)
        higher += 1 if value > arrays.values[position] else 0
        arrays.values[position] = value
        position += 1
    if position == rules.kept:
        rising = rules.test in (COMPARISONS, EITHER) and 2 * higher > rules.kept
        turning = rules.test in (CORRELATION, EITHER) and agreement < 0.0
        if rising or turning:
            if rules.paths > 0:
                _keep_drift(team, arrays.drifts[restarts % rules.paths], v, y)
            copy(team, v, y)
            arrays.values[:] = math.inf
            age, restarts = age * rules.age_left, restarts + 1
        position, higher, agreement = 0, 0, 0.0
    return Past(
        age=age,
        position=position,
        higher=higher,
        agreement=agreement,
        due=due,
        restarts=restarts,
    )


@compilable
def _cosine(s, v, y):
    """Return the cosine of the angle between s and v - y, 0 where one of them is 0."""
    both = steps = drifts = 0.0
    for i in range(s.shape[0]):
        both += s[i] * (v[i] - y[i])
        steps += s[i] * s[i]
        drifts += (v[i] - y[i]) ** 2
    return both / math.sqrt(steps * drifts) if steps * drifts > 0.0 else 0.0


@compilable
def _distance(v, y):
    return math.sqrt(np.sum((v - y) ** 2))


@compilable
def _keep_drift(team, out, v, y):
    """Set out to v - y, divided by its length."""
    length = _distance(v, y)
    shift(team, out, v, -1.0, y)
    scale(team, out, 1.0 / length)


class VariantOptions(NamedTuple):
    """The options of a variant; the defaults are the rules of `adaptive-sarp`."""

    of: str
    """The scheme whose rules are replaced, ``"adaptive-sarp"``: it has its part in the seeds."""
    damping: float | None = None
    """By default the scheme's own."""
    growth: float = 1.0
    mirrored: bool = True
    """Whether a trial that fails is repeated to the other side."""
    p: float = 0.5
    times: float = 1.0
    """The largest number of directions from one point, divided by sqrt(n)."""
    test: str = "comparisons"
    """A name in `TESTS`."""
    look_back: float = 2.0
    kept: int = 16
    age_left: float = 0.5
    paths: int = 0
    stretch: float = 1.0
    drift: bool = False
    equal: bool = False
    learning: float | None = None
    """By default the scheme's own."""

    def base_scheme(self, n: int) -> Any:
        """Return the scheme whose rules are to be replaced."""
        own: dict[str, float] = {"p": self.p}
        if self.learning is not None:
            own["learning"] = self.learning
        base: Any = create_scheme(self.of, n, own, None)
        if not self.mirrored:
            base = base._replace(line_search=AdaptiveStep.create(self.p))
        return base._replace(most=max(1.0, self.times * math.sqrt(n)))

    def rules(self, damping: float) -> Rules:
        """Return the rules, with this damping if no other is chosen."""
        return Rules(
            damping=damping if self.damping is None else self.damping,
            growth=self.growth,
            test=TESTS[self.test],
            look_back=self.look_back,
            kept=self.kept,
            age_left=self.age_left,
            paths=self.paths,
        )


class Variant(NamedTuple):
    """The scheme with other rules, or other directions than its own."""

    line_search: Any
    scheme: Any
    stretch: float
    """How much wider the search is along the drifts that are kept."""
    drift: bool
    """Whether the first direction from each point is the drift."""
    equal: bool
    """Whether all directions have the same length."""

    @classmethod
    def create(cls, n: int, **options: Any) -> Variant:
        """Return a variant with `VariantOptions`."""
        chosen = VariantOptions(**options)
        base = chosen.base_scheme(n)
        return cls(
            line_search=base.line_search,
            scheme=base._replace(momentum=chosen.rules(base.momentum.damping)),
            stretch=chosen.stretch,
            drift=chosen.drift,
            equal=chosen.equal,
        )

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first state."""
        rules = self.scheme.momentum
        plain = self.scheme._replace(momentum=Momentum(rules.damping, rules.growth))
        arrays, numbers = plain.init(x, fx, sigma)
        own = {"values": np.full(rules.kept, math.inf), "drifts": np.zeros((rules.paths, x.size))}
        past = Past(age=0.0, position=0, higher=0, agreement=0.0, due=0.0, restarts=0)
        return State(VariantArrays(**{**arrays._asdict(), **own}), numbers._replace(past=past))

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        needs: Needs = self.scheme.needs(n)
        return needs


# The library takes the names of a scheme's options from the signature of its `create`.
Variant.create.__func__.__signature__ = inspect.signature(VariantOptions.__new__)  # type: ignore[attr-defined]


@ask.register(Variant)
def _ask(team, scheme, arrays, numbers, u):
    n = u.shape[0]
    length = math.sqrt(dot(team, n, u, u))
    if scheme.drift and math.isnan(numbers.trials.fy) and _distance(arrays.v, arrays.y) > 0.0:
        _keep_drift(team, u, arrays.v, arrays.y)
        scale(team, u, length)
    if scheme.equal:
        scale(team, u, math.sqrt(n) / length)
    for k in range(min(numbers.past.restarts, arrays.drifts.shape[0])):
        path = arrays.drifts[k]
        add(team, u, scheme.stretch * dot(team, n, path, u), path)
    return ask(team, scheme.scheme, arrays, numbers, u)


@tell.register(Variant)
def _tell(team, scheme, arrays, numbers, query, answer):
    return tell(team, scheme.scheme, arrays, numbers, query, answer)
