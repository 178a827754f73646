"""Calls of `minimize`, of `Optimizer`, of SciPy's `minimize` and of the problems, made at random."""

import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
from hypothesis import strategies as st

import pursuit
from fuzz import promises
from fuzz.arguments import (
    NO_COUNTS,
    NO_NUMBERS,
    NO_POINTS,
    NO_POSITIVES,
    NO_STEPS,
    Rude,
    bounds_around,
    counts,
    no_bounds,
    numbers,
    points,
    seeds,
    steps_of,
)
from fuzz.objectives import ERRORS, SLIPS, VALUES, Objective, jitted

# Compiling takes long, so few methods, and most often the same.
METHODS = ("rp", "rp", "rp", "auto", "auto", "auto", "rp-exact", "sarp", "cma", "ep-cma-2", "differences")

WRONG = {
    "x0": NO_POINTS,
    "sigma0": NO_STEPS,
    "ftarget": [*NO_NUMBERS, 10**400],
    "xtol": [None, *NO_NUMBERS, -1e-300, 10**400],
    "ftol": [None, *NO_NUMBERS, -1e-300, 10**400],
    "maxfev": NO_COUNTS,
    "maxiter": NO_COUNTS,
    "maxtime": NO_POSITIVES,
    "checkpoint_every": [None, *NO_NUMBERS, -1.0, 10**400],
    "rng": [-1, "a", "1", b"1", 1.5, [-1], ["a"], ["1"], [[1], ["2"]], object(), Rude(), {}, 1j,
            np.array(["1"]), [1.5],
            -(10**400), int],
    "method": [None, 3, "newton", "", "ep-cma-0", "ep-cma--1", "ep-cma-" + 20 * "9",
               "ep-cma-" + 5000 * "9", "EP-CMA-4",
               dict, object(), Rude, Rude(), b"rp", ["rp"], np.array(["rp", "cma"]), "rp\n", "x" * 1000,
               np.float64],
    "options": [[1, 2], "p", 3, False, [], [("p", 0.5)], {"p": 0}, {"p": "0.5"}, {"p": np.nan},
                {"p": 10**400}, {"q": 1},
                {1: 2}, {None: 1}, {"p": [1]}, {"x" * 1000: 1}, {"p": Rude()}, {(): 1}, Rude(), {"p": True}],
    "callback": [3, "f", int, lambda: None, lambda a, b: None, object(), Rude(), [len]],
    "workers": ["1", 1.5, None, [], np.nan, 0, -2, -(10**400), True, Rude(), {}, object(),
                10**6, 10**400, np.array([1, 2])],
    **{flag: [1, 0.0, "yes", None, [], np.array([True, False]), Rude()]
       for flag in ("trace", "progress", "checkpoint_check")},
    "fun": [None, 3, "f", object(), [len], Rude(), np.zeros(2)],
}  # fmt: skip
"""What must be refused, in a sentence and before anything is evaluated."""

# What must be accepted although it looks strange.
STRANGE = {
    "maxfev": [2**63, 10**400, 1e4, np.array(7), np.int8(5), Fraction(12), 30.0, np.float32(9), None],
    "maxiter": [2**63, 10**400, 1e4, np.array(7), np.int8(5), Fraction(12), 30.0, np.float32(9), None],
    "sigma0": [1, np.float32(0.5), np.array(0.5), Fraction(1, 3), np.int8(2)],
    "ftarget": [0, -(10**30), np.float32(1.5), Fraction(-7, 2), None],
    "xtol": [0, 1e300, np.float32(1e-3), Fraction(1, 10)],
    "ftol": [0, 1e300, np.float32(1e-3), Fraction(1, 10)],
    "maxtime": [100, np.float32(50), 1e300, None],
    "rng": [None, 0, 2**200, [1, 2, 3], (4, 5), np.int64(6), np.array([1, 2]), np.random.default_rng(3),
            np.random.SeedSequence(8), np.random.PCG64(9), np.random.Generator(np.random.MT19937(4)), []],
    "options": [None, {}],
    "workers": [1, map, np.int64(1), 1.0],
    "callback": [None, lambda x: None, lambda intermediate_result: None, list, max],
    "trace": [True, False, np.True_],
}  # fmt: skip


class Minimize(NamedTuple):
    """A call of `minimize`, or through SciPy."""

    fun: Any
    start: Any
    arguments: dict[str, Any]
    wrong: str | None
    through: str

    def run(self):
        """Make the call."""
        arguments = dict(self.arguments)
        fun, x0 = arguments.pop("fun", self.fun), arguments.pop("x0", self.start)
        if self.through == "minimize":
            return pursuit.minimize(fun, x0, **arguments)
        method = pursuit.scipy_method(arguments.pop("method"))
        if self.through == "method":
            return method(fun, x0, (), **arguments)
        bounds, callback = arguments.pop("bounds", None), arguments.pop("callback", None)
        return scipy.optimize.minimize(
            fun, x0, method=method, bounds=bounds, callback=callback, options=arguments
        )

    def check(self):
        """Make the call and expect every promise to be kept; return a word for what has happened."""
        start, bounds = np.array([float(entry) for entry in self.start]), self.arguments.get("bounds")
        recorded = isinstance(self.fun, Objective)
        try:
            result = self.run()
        except Exception as error:
            word = self._check_error(error)
        else:
            promises.expect(self.wrong is None, f"{self.wrong} is accepted")
            kind = pursuit.Result if self.through == "minimize" else scipy.optimize.OptimizeResult
            promises.check_result(result, kind, start, bounds, self._limits())
            if recorded:
                promises.expect(not self.fun.has_slipped, f"{self.fun.slip} is accepted as a value")
                promises.expect(self.fun.raised is None, f"{self.fun.error} is swallowed")
                promises.check_record(result, self.fun, start, bounds)
                promises.expect(self.fun.value(result.x) == result.fun, "fun is not f at x")
            else:
                promises.expect(self.fun(result.x) == result.fun, "fun is not f at x")
            word = "returned"
        if recorded and self.wrong in (None, "workers"):
            promises.check_evaluations(self.fun, start, bounds)
        return f"{self.through}: {word}"

    def _check_error(self, error):
        if isinstance(self.fun, Objective) and error is self.fun.raised:
            found = getattr(error, "pursuit_result", None)
            promises.expect((found is None) == (not self.fun.values), "pursuit_result is missing")
            if found is not None:
                start, bounds = np.array([float(entry) for entry in self.start]), self.arguments.get("bounds")
                promises.check_record(found, self.fun, start, bounds)
                promises.check_trace(found)
            return "raised by the objective"
        promises.check_sentence(error)
        if self.wrong is not None:
            seen = isinstance(self.fun, Objective) and self.fun.points
            promises.expect(not seen, f"{self.wrong} is refused only after an evaluation")
            return "refused"
        if "must be finite at x0" in str(error):
            return "not finite at x0"
        slipped = isinstance(self.fun, Objective) and self.fun.has_slipped
        promises.expect(slipped, f"valid, but refused: {error}")
        return "no value"

    def _limits(self):
        given = {name: self.arguments.get(name) for name in ("maxfev", "maxiter", "ftarget")}
        # No limit is too large for an integer; as a float it may be.
        return {name: limit for name, limit in given.items() if limit is not None}


@st.composite
def objectives(draw):
    """Return a function to minimise, and a start for it."""
    kind = draw(st.sampled_from(["function"] * 8 + ["slip", "error", "jitted", "problem"]))
    start = draw(points())
    if kind == "jitted":
        return jitted, start
    if kind == "problem":
        return pursuit.problems.exp(max(2, len(start)), 10.0), [*start, 1.0] if len(start) < 2 else start
    at = draw(st.integers(1, 30))
    name = draw(st.sampled_from(sorted(VALUES)))
    if kind == "slip":
        return Objective(name, slip=draw(st.sampled_from(sorted(SLIPS))), at=at), start
    if kind == "error":
        return Objective(name, error=draw(st.sampled_from(sorted(ERRORS))), at=at), start
    return Objective(name), start


@st.composite
def minimize_calls(draw):
    """Return a call of `minimize`, with nothing wrong or a single thing."""
    fun, start = draw(objectives())
    reals = [float(entry) for entry in start]
    # Numba compiles a loop for every method that a jitted function is minimised by, and keeps none of them.
    arguments: dict[str, Any] = {
        "method": "rp" if fun is jitted else draw(st.sampled_from(METHODS)),
        "maxfev": draw(counts),
        "maxiter": draw(counts),
    }
    for name, values in {
        "rng": seeds, "sigma0": steps_of(len(start)), "ftarget": numbers, "trace": st.booleans(),
        "bounds": bounds_around(reals),
    }.items():  # fmt: skip
        if draw(st.booleans()):
            arguments[name] = draw(values)
    if arguments["method"] == "sarp":
        arguments["options"] = {"kappa": draw(st.sampled_from([1, 10.0, 1e6, 1e300]))}
    wrong = None
    match draw(st.sampled_from(["right", "right", "strange", "wrong"])):
        case "strange":
            name = draw(st.sampled_from(sorted(STRANGE)))
            if name != "options" or arguments["method"] != "sarp":
                arguments[name] = draw(st.sampled_from(STRANGE[name]))
        case "wrong":
            wrong = draw(st.sampled_from([*WRONG, "bounds"]))
            chosen = no_bounds(len(start)) if wrong == "bounds" else st.sampled_from(WRONG[wrong])
            arguments[wrong] = draw(chosen)
    through = draw(st.sampled_from(["minimize"] * 4 + ["method"]))
    if wrong is None and draw(st.integers(0, 7)) == 0:
        through = "scipy"
    return Minimize(fun, start, arguments, wrong, through)


class AskAndTell(NamedTuple):
    """The life of an `Optimizer`."""

    fun: Objective
    start: Any
    arguments: dict[str, Any]
    acts: list[Any]

    def check(self):
        """Ask and tell, at times wrongly, and expect every promise to be kept."""
        start, bounds = np.array([float(entry) for entry in self.start]), self.arguments.get("bounds")
        optimizer = pursuit.Optimizer(self.start, **self.arguments)
        for act, detail in self.acts:
            if act == "look":
                promises.expect(isinstance(optimizer.stop(), dict), "stop returns no dict")
                promises.expect(isinstance(optimizer.result, pursuit.Result), "result is none")
                promises.expect(isinstance(repr(optimizer), str), "there is no repr")
            elif act == "tell wrong":
                self._tell_wrong(optimizer, detail)
            elif not self._tell(optimizer, start, bounds):
                break
        if self.fun.values:
            promises.check_record(optimizer.result, self.fun, start, bounds)
        return "optimizer: used"

    def _tell(self, optimizer, start, bounds):
        """Ask, evaluate and tell; return whether this is to continue."""
        if optimizer.stop():
            try:
                optimizer.ask()
            except Exception as error:
                promises.check_sentence(error)
            return False
        asked = optimizer.ask()
        values = [self.fun(x.copy()) for x in asked]
        promises.check_evaluations(self.fun, start, bounds)
        try:
            optimizer.tell(asked, values)
        except Exception as error:
            promises.check_sentence(error)
            promises.expect("must be finite at x0" in str(error), f"valid, but refused: {error}")
            self.fun.values.clear()
            return False
        return True

    def _tell_wrong(self, optimizer, detail):
        before = optimizer.result
        if optimizer.stop():
            return
        which, value = detail
        asked = optimizer.ask()
        values = [1.0] * len(asked)
        try:
            optimizer.tell(*((value, values) if which == "X" else (asked, value)))
        except Exception as error:
            promises.check_sentence(error)
        else:
            raise promises.BrokenPromiseError(f"{which} is accepted: {value!r}")
        after = optimizer.result
        promises.expect(
            before.fun == after.fun and before.nfev == after.nfev and np.array_equal(before.x, after.x),
            f"wrong {which} has changed the result",
        )
        promises.expect(
            np.array_equal(asked, optimizer.ask()), f"wrong {which} has changed what is asked for"
        )


NO_ROWS = [
    *(entry for entry in NO_POINTS if not isinstance(entry, float)),
    None,
    [[9e99] * 5],
    np.zeros((3, 1, 1)),
]
# Numbers in any shape are values, if there is one for each point: so there are more than a round has.
NO_VALUES = [
    None, "1", [None], ["1"], [1j], [True], [[1.0], [2.0, 3.0]], [1.0] * 999, [], np.ma.masked,
    [np.ma.masked], object(), [object()], Rude(), [Rude()], {}, np.array(["1"]), np.array([1j]),
    [np.zeros(999)], [[1.0, 2.0], [3.0]],
    np.array(["2020"], dtype="datetime64[Y]"), np.ones((1, 999)), iter([1.0]),
]  # fmt: skip


@st.composite
def optimizer_calls(draw):
    """Return the life of an optimizer."""
    start = draw(points())
    arguments: dict[str, Any] = {
        "method": draw(st.sampled_from(["rp", "auto", "rp", "auto", "rp-exact", "cma"]))
    }
    reals = [float(entry) for entry in start]
    for name, values in {
        "rng": seeds, "sigma0": steps_of(len(start)), "trace": st.booleans(), "bounds": bounds_around(reals),
    }.items():  # fmt: skip
        if draw(st.booleans()):
            arguments[name] = draw(values)
    mistakes = st.one_of(
        st.tuples(st.just("X"), st.sampled_from(NO_ROWS)), st.tuples(st.just("F"), st.sampled_from(NO_VALUES))
    )
    act = st.one_of(
        st.just(("tell", None)),
        st.just(("tell", None)),
        st.just(("look", None)),
        st.tuples(st.just("tell wrong"), mistakes),
    )
    fun = Objective(draw(st.sampled_from(sorted(VALUES))))
    return AskAndTell(fun, start, arguments, draw(st.lists(act, max_size=25)))


class Problems(NamedTuple):
    """A problem made, and evaluated at a point."""

    family: str
    n: Any
    L: Any
    x: Any
    rng: Any

    def check(self):
        """Make a problem, rotate it, evaluate it."""
        family = getattr(pursuit.problems, self.family)
        try:
            problem = family(self.n) if self.family == "rosenbrock" else family(self.n, self.L)
            if self.rng != "unturned":
                problem = pursuit.problems.rotated(problem, self.rng)
            value = problem(problem.x0 if self.x is None else self.x)
        except Exception as error:
            promises.check_sentence(error)
            return "problems: refused"
        promises.expect(type(value) is float, f"the value is {value!r}")
        promises.expect(len(repr(problem)) > 0 and "pursuit_problems" not in repr(problem), "the repr is odd")
        return "problems: evaluated"


problem_calls = st.builds(
    Problems,
    st.sampled_from(["exp", "lin", "two", "rosenbrock"]),
    st.one_of(st.integers(1, 9), st.sampled_from([*NO_COUNTS, 10**12, 10**400, 2**63, 3.0, np.int8(4)])),
    st.one_of(st.floats(1.0, 1e9), st.sampled_from([*NO_POSITIVES, 0.5, 1e308])),
    st.one_of(st.none(), st.none(), st.sampled_from(NO_POINTS), points()),
    st.one_of(st.just("unturned"), st.just("unturned"), seeds, st.sampled_from(WRONG["rng"])),
)

calls = st.one_of(minimize_calls(), minimize_calls(), minimize_calls(), optimizer_calls(), problem_calls)


def check(call):
    """Make a call and expect every promise to be kept,
    and no warning; return a word for what has happened."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call.check()
