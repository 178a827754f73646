"""EP-CMA-m and CMA with everything that the paper leaves open as an option.

Without options `PathCma` is the library's EP-CMA-m, bit for bit. Every option replaces one rule. The
pseudo-code is Fig. 2 of the paper; numbers in brackets are lines of its source, ``stich2014.tex``.

- **c_p**, what a failure does to the path: [273] gives 1/12 and refers to Igel et al. (2006), where that
  is the rate of a smoothed success probability. It is an argument of neither scheme [189, 235].
- **c_c**: [273] gives 2/(n+2). Hansen and Ostermeier (2001), whom it follows "closely", have 4/(n+4).
- **c_cov**: [276] gives 1/5 for m = 1, and [278] gives 2/(6+m) for m > 1.
- **order**, in which paths enter C [175, 176]: it decides on their weights. The stored paths are
  numbered, but that the first is the oldest follows from the direction of the shift alone [185].
- **keep**: the shift [185] does not store the current path. Read literally, the stored paths stay zero.
- **stored**: [278] says both that m paths are stored and that there are at most m - 1 copies; [172] has
  m - 1.
- **restart**, whether the path starts anew when it is stored: nothing is said.
- **first**, whether a path is stored before or after its update: in print it is after [181, 183, 184].
- **clock**, whether "every n^2/m-th generation" [278] counts iterations, as in print [184], or successes.
  Only then would EP-CMA-m be the same as CMA for m = n^2 [279], since CMA learns from successes alone
  [229, 231].
- **prompt**, whether a path is stored as soon as n^2/m generations have passed, or only when more have: in
  print it is more [184]. For m = n^2 that is every second generation, and EP-CMA-m could not be CMA.
- **failure**, what else a failure could do: see `FAILURES`.
- **steps**, what enters the path: (x_k - x_{k-1}) / sigma_{k-1} in print [179], though aSS has changed
  sigma in between [116]; and whether a path of "directions, but no step sizes" [400] is meant: see
  `STEPS`.
- **gain**, the factor of a step in the path: sqrt(c_c (2 - c_c)) [181] or sqrt(c_c (1 - c_c)) [270].

Not open, though printed in two ways: [276] draws with p_k and [176] with p_{k-1}; both are the path
before the step. Open, but of no consequence after the first n^2 iterations: whether stored paths that are
still zero count.

The seed of a run follows from the names and values of its options: changing them changes the results that
are committed. Work and memory per iteration are Theta(mn). All work on arrays is left to vector
operations, so that a team of GPU threads can execute it.
"""

from __future__ import annotations

import inspect
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_choice
from pursuit.compiling.jit import compilable
from pursuit.compiling.rows import push
from pursuit.compiling.vectors import add, blend, scale
from pursuit.methods import Needs, State, ask, create_scheme, tell
from pursuit.methods.line_searches import AdaptiveStep
from pursuit.methods.paper.cma import Cma
from pursuit.methods.paper.ep_cma import EpCma, EpCmaArrays

RATES = {
    "1/n^2": lambda n: 1.0 / n**2,
    "1/(12n)": lambda n: 1.0 / (12.0 * n),
    "1/(3n)": lambda n: 1.0 / (3.0 * n),
    "1/n": lambda n: 1.0 / n,
    "3/(2n)": lambda n: 1.5 / n,
    "1/12": lambda n: 1.0 / 12.0,
    "2/(n+2)": lambda n: 2.0 / (n + 2.0),
    "4/(n+4)": lambda n: 4.0 / (n + 4.0),
    "1/sqrt(n)": lambda n: 1.0 / math.sqrt(n),
}
"""Rates that depend on n, by the text that an option may have instead of a number."""

ORDERS = ("printed", "newest-first", "current-first", "reversed")
"""Printed: the stored paths, oldest first, then the current one. Newest first: the stored ones the other way
round, then the current one. Current first: the current one, then the stored ones, oldest first. Reversed: the
current one, then the stored ones, newest first."""

SHRINK, SHRINK_ONCE_PER_N, RESET, THRESHOLD = range(4)
FAILURES = {"shrink": SHRINK, "once-per-n": SHRINK_ONCE_PER_N, "reset": RESET, "threshold": THRESHOLD}
"""Shrink: every failure shortens the path by 1 - c_p. Once per n: every n-th failure does. Reset: a failure
sets the path to 0. Threshold, as in Igel et al. (2006): a failure does nothing, and a success shortens the
path by 1 - c_c without adding a step if the success probability, smoothed at the rate 1/12, is at least
0.44."""

DIRECTION, STEP, IN_UNITS_OF_SIGMA = range(3)
STEPS = {"direction": DIRECTION, "new-sigma": DIRECTION, "step": STEP, "sigma-units": IN_UNITS_OF_SIGMA}
"""Direction: u, the step divided by the step size that it was made with. New sigma: divided by the step size
that follows. Step: the step itself. Sigma units: the path is made of steps, and C of path / sigma."""

_SUCCESS_RATE, _ENOUGH_SUCCESSES = 1.0 / 12.0, 0.44


def rate_of(given: float | str | None, n: int) -> float | None:
    """Return a rate that is given as a number or as a text in `RATES`.

    Examples
    --------
    >>> from benchmarks.readings.variants import rate_of
    >>> rate_of("1/n", 20), rate_of(0.2, 20), rate_of(None, 20)
    (0.05, 0.2, None)
    """
    return RATES[checked_choice("A rate", given, tuple(RATES))](n) if isinstance(given, str) else given


class PathOptions(NamedTuple):
    """The options of `PathCma`; the defaults are the library's EP-CMA-m."""

    m: int | str = 4
    """A number, ``"sqrt"`` or ``"n"``."""
    c_c: float | str | None = None
    c_cov: float | None = None
    c_p: float | str | None = None
    order: str = "printed"
    keep: bool = True
    """Whether paths are stored at all."""
    stored: int = -1
    """How many paths are stored beside the current one, less m."""
    restart: bool = False
    first: bool = False
    """Whether a path is stored before its update."""
    clock: str = "iterations"
    prompt: bool = False
    failure: str = "shrink"
    steps: str = "direction"
    gain: str = "2-c_c"
    p: float = 0.27
    reading: str = "frozen"

    def library_scheme(self, n: int) -> EpCma:
        """Return the library's scheme with these rates, and a row for every path."""
        memories = {"sqrt": round(math.sqrt(n)), "n": n}
        m = memories[self.m] if isinstance(self.m, str) else self.m
        rates: dict[str, Any] = {"c_c": rate_of(self.c_c, n), "c_cov": self.c_cov}
        rates["c_p"] = rate_of(self.c_p, n)
        if self.failure in ("reset", "threshold"):
            # Then c_p plays no part, and readings do not differ.
            rates["c_p"] = 0.0
        given = EpCma.create(n, m=m, p=self.p, reading=self.reading, **rates)
        rates["c_cov"] = given.c_cov
        return EpCma.create(n, m=m + 1 + self.stored, p=self.p, reading=self.reading, **rates)


class PathCma(NamedTuple):
    """EP-CMA-m with other rules for its paths."""

    line_search: AdaptiveStep
    scheme: EpCma
    """Draws; its m is the number of paths, stored ones and the current."""
    m: int
    c_c: float
    c_p: float
    gain: float
    area: int
    """n^2, or 1 less: a path is stored when more than area/m iterations or successes have passed."""
    n: int
    order: int
    keep: int
    """Like the next three 0 or 1."""
    restart: int
    first: int
    successes: int
    """Whether successes are counted, not iterations."""
    failure: int
    steps: int

    @classmethod
    def create(cls, n: int, **options: Any) -> PathCma:
        """Return a variant with `PathOptions`."""
        chosen = PathOptions(**options)
        library = chosen.library_scheme(n)
        c_c = library.c_c
        gains = {"2-c_c": math.sqrt(c_c * (2.0 - c_c)), "1-c_c": math.sqrt(c_c * (1.0 - c_c))}
        # The step size that follows a success is this much larger.
        divisor = library.line_search.grow if chosen.steps == "new-sigma" else 1.0
        clock = checked_choice("clock", chosen.clock, ("iterations", "successes"))
        return cls(
            line_search=library.line_search,
            scheme=library,
            m=library.m - 1 - chosen.stored,
            c_c=c_c,
            c_p=library.c_p,
            gain=gains[checked_choice("gain", chosen.gain, tuple(gains))] / divisor,
            area=n * n - int(chosen.prompt),
            n=n,
            order=ORDERS.index(checked_choice("order", chosen.order, ORDERS)),
            keep=int(chosen.keep),
            restart=int(chosen.restart),
            first=int(chosen.first),
            successes=int(clock == "successes"),
            failure=FAILURES[checked_choice("failure", chosen.failure, tuple(FAILURES))],
            steps=STEPS[checked_choice("steps", chosen.steps, tuple(STEPS))],
        )

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first arrays."""
        first: EpCmaArrays = self.scheme.init(x, fx, sigma).arrays
        weights = first.weights[entered(ORDERS[self.order], self.scheme.m)]
        numbers = PathNumbers(fx=fx, f=fx, sigma=sigma, k=0, q=0, failures=0, success_rate=0.0)
        return State(first._replace(weights=weights), numbers)

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return self.scheme.needs(n)


def entered(order: str, rows: int) -> NDArray[np.intp]:
    """Return as the how manieth each path enters C: the stored ones, oldest first, and the current one.

    Examples
    --------
    >>> from benchmarks.readings.variants import entered
    >>> {order: entered(order, 4).tolist() for order in ("printed", "current-first")}
    {'printed': [0, 1, 2, 3], 'current-first': [1, 2, 3, 0]}
    """
    stored = np.arange(rows - 1)
    if order in ("newest-first", "reversed"):
        stored = stored[::-1]
    if order in ("printed", "newest-first"):
        return np.append(stored, rows - 1)
    return np.append(stored + 1, 0)


class PathNumbers(NamedTuple):
    """The numbers of `PathCma`: those of EP-CMA-m, and two counts of failures."""

    fx: float
    f: float
    sigma: float
    k: int
    """Iterations or successes."""
    q: int
    """k when a path was stored last."""
    failures: int
    """Since the path was shortened last, if only every n-th failure shortens it."""
    success_rate: float
    """The smoothed success probability."""


# The library takes the names of a scheme's options from the signature of its `create`.
PathCma.create.__func__.__signature__ = inspect.signature(PathOptions.__new__)  # type: ignore[attr-defined]


# The current path is the last row. Compiled for a GPU, no function can return it, so each takes all of them.


@compilable
def _keep_path(team, scheme, paths):
    push(team, paths)
    if scheme.restart == 1:
        scale(team, paths[paths.shape[0] - 1], 0.0)


@compilable
def _extend_path(team, scheme, paths, line, step, success_rate):
    """Update the path after a success."""
    path = paths[paths.shape[0] - 1]
    if scheme.failure == THRESHOLD and success_rate >= _ENOUGH_SUCCESSES:
        scale(team, path, 1.0 - scheme.c_c)
    elif scheme.steps == STEP:
        blend(team, path, 1.0 - scheme.c_c, scheme.gain * step.length, line.direction)
    else:
        blend(team, path, 1.0 - scheme.c_c, scheme.gain, line.direction)


@compilable
def _shorten_path(team, scheme, paths, failures):
    """Update the path after a failure."""
    path = paths[paths.shape[0] - 1]
    if scheme.failure == RESET:
        scale(team, path, 0.0)
    elif scheme.c_p != 0.0 and (scheme.failure == SHRINK or failures == scheme.n):
        scale(team, path, 1.0 - scheme.c_p)


@compilable
def _rescale_path(team, paths, factor):
    scale(team, paths[paths.shape[0] - 1], factor)


@ask.register(PathCma)
def _ask(team, scheme, arrays, numbers, normals):
    return ask(team, scheme.scheme, arrays, numbers, normals)


@tell.register(PathCma)
def _tell(team, scheme, arrays, numbers, line, step):
    success = step.length != 0.0
    fx, k, q = numbers.fx, numbers.k, numbers.q
    failures, success_rate = numbers.failures, (1.0 - _SUCCESS_RATE) * numbers.success_rate
    if success or scheme.successes == 0:
        k += 1
    due = scheme.keep == 1 and (k - q) * scheme.m > scheme.area
    if due and scheme.first == 1:
        _keep_path(team, scheme, arrays.paths)
    if success:
        fx = step.value
        success_rate += _SUCCESS_RATE
        add(team, arrays.x, step.length, line.direction)
        _extend_path(team, scheme, arrays.paths, line, step, success_rate)
    else:
        failures = failures + 1 if failures < scheme.n else 1
        _shorten_path(team, scheme, arrays.paths, failures)
    if scheme.steps == IN_UNITS_OF_SIGMA:
        _rescale_path(team, arrays.paths, line.sigma / step.sigma)
    if due and scheme.first == 0:
        _keep_path(team, scheme, arrays.paths)
    if due:
        q = k
    return PathNumbers(fx=fx, f=fx, sigma=step.sigma, k=k, q=q, failures=failures, success_rate=success_rate)


class RatedCma(NamedTuple):
    """The library's CMA, with a c_p that may be a text in `RATES`."""

    line_search: AdaptiveStep
    scheme: Cma

    @classmethod
    def create(cls, n: int, *, c_p: float | str) -> RatedCma:
        """Return the scheme."""
        scheme: Any = create_scheme("cma", n, {"c_p": rate_of(c_p, n)}, None)
        return cls(scheme.line_search, scheme)

    def init(self, x: Vector, fx: float, sigma: float) -> State:
        """Return the first arrays."""
        return self.scheme.init(x, fx, sigma)

    def needs(self, n: int) -> Needs:
        """Return what the scheme needs for n variables."""
        return self.scheme.needs(n)


@ask.register(RatedCma)
def _ask_cma(team, scheme, arrays, numbers, normals):
    return ask(team, scheme.scheme, arrays, numbers, normals)


@tell.register(RatedCma)
def _tell_cma(team, scheme, arrays, numbers, line, step):
    return tell(team, scheme.scheme, arrays, numbers, line, step)
