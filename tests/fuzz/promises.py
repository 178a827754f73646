"""What must hold of every call, whatever it was given."""

import linecache
import math
import re
from pathlib import Path

import numpy as np

import pursuit
from pursuit.engine.stopping import Reason

SOURCE = str(Path(pursuit.__file__).parent)
# An argument's name, perhaps with an index, begins many sentences, and a quotation a few.
_BEGINNING = re.compile(r"[A-Z'\"]|(x|x0|X|F|n|m|p|L|fun|args|rng|sigma0|kappa|damping|growth|learning"
                        r"|tolerance|ftarget|maxfev|maxiter|maxtime|method|options|callback|workers|bounds|trace|progress"
                        r"|line_search|reading|c_c|c_cov|c_p|tell|problem|checkpoint\w*|xtol|ftol|an? \w+"
                        r"|[0-9-]+|<|\{|\()(\[\d+\])?\s*")  # fmt: skip
_FROM_INSIDE = re.compile(
    "nopython|ufunc|truth value|unsupported operand|has no attribute|positional argument|inhomogeneous"
    "|setting an array element|int too large|cannot convert|unhashable|not subscriptable|unexpected keyword"
)


class BrokenPromiseError(AssertionError):
    """A promise that a call did not keep."""


def expect(holds, what):
    """Raise the error that names a promise if it does not hold."""
    if not holds:
        raise BrokenPromiseError(what)


def check_sentence(error):
    """Expect an error to be one of ours: raised by a statement of this package, and a sentence."""
    text = str(error)
    kind = f"{type(error).__name__}: {text[:300]}"
    expect(isinstance(error, TypeError | ValueError | RuntimeError), f"raw error {kind}")
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    file, line = last.tb_frame.f_code.co_filename, last.tb_lineno
    statement = linecache.getline(file, line).strip()
    expect(file.startswith(SOURCE), f"raised outside of the package, in {Path(file).name}: {kind}")
    expect(statement.startswith("raise"), f"not raised by us but in `{statement}`: {kind}")
    expect("\n" not in text and len(text) < 500 and text.endswith("."), f"not a sentence: {kind}")
    expect(_BEGINNING.match(text), f"begins like no sentence: {kind}")
    expect(not _FROM_INSIDE.search(text), f"from inside: {kind}")


def check_point(x, start, bounds):
    """Expect a point to be one of as many numbers as the start, within bounds."""
    expect(type(x) is np.ndarray and x.dtype == np.float64 and x.shape == start.shape, f"x is {x!r}")
    if bounds is not None:
        lower, upper = sides_of(bounds)
        expect(((lower <= x) & (x <= upper)).all(), f"x is {x}, outside of {lower} and {upper}")


def sides_of(bounds):
    """Return the lower and the upper bounds as arrays."""
    if hasattr(bounds, "lb"):
        return np.asarray(bounds.lb, dtype=float), np.asarray(bounds.ub, dtype=float)
    lower = [-math.inf if side is None else side for side, _ in bounds]
    upper = [math.inf if side is None else side for _, side in bounds]
    return np.array(lower, dtype=float), np.array(upper, dtype=float)


def check_evaluations(objective, start, bounds):
    """Expect the start to be evaluated first, exactly where it is, and every point to be within bounds."""
    for point in objective.points:
        check_point(point, start, bounds)
    if objective.points:
        first = objective.points[0]
        expect(np.array_equal(first, start), f"the start {start} is evaluated at {first}")


def check_record(result, objective, start, bounds):
    """Expect a result to have all that was seen, and the best of it."""
    check_point(result.x, start, bounds)
    seen = [math.inf if math.isnan(value) else value for value in objective.values]
    best = min(seen, default=math.inf)
    expect(result.fun == best, f"fun is {result.fun!r}, but the least value seen is {best!r}")
    expect(result.nfev == len(seen), f"nfev is {result.nfev}, but {len(seen)} values were seen")
    faulty = sum(map(math.isnan, objective.values))
    expect(result.nfaulty == faulty, f"nfaulty is {result.nfaulty}, but {faulty} values were NaN")
    where = [point for point, value in zip(objective.points, seen, strict=False) if value == result.fun]
    expect(any(np.array_equal(point, result.x) for point in where), f"fun was not seen at x = {result.x}")


def check_result(result, kind, start, bounds, limits):
    """Expect what must hold of every result, whatever was minimised."""
    expect(isinstance(result, kind), f"{result!r} is returned")
    check_point(result.x, start, bounds)
    expect(type(result.fun) is float and not math.isnan(result.fun), f"fun is {result.fun!r}")
    expect(type(result.nit) is int and type(result.nfev) is int, "nit or nfev is no int")
    expect(result.nfev >= 1 and result.nit >= 0, f"nfev is {result.nfev}, nit {result.nit}")
    expect(result.nfev <= limits.get("maxfev", math.inf), f"nfev is {result.nfev} with {limits}")
    expect(result.nit <= limits.get("maxiter", math.inf), f"nit is {result.nit} with {limits}")
    expect(result.status in list(Reason), f"status is {result.status!r}")
    expect(result.message.endswith(".") and result.message[0].isupper(), f"message is {result.message!r}")
    if "ftarget" in limits:
        reached = result.fun <= float(limits["ftarget"])
        expect(
            reached == (result.status == Reason.TARGET),
            f"fun is {result.fun} with {limits}: {result.message}",
        )
    if "trace" in result:
        check_trace(result)


def check_trace(result):
    """Expect a trace to begin at the start, to end at the end, and to contain the best."""
    nit, nfev, fun, _, sigma, at_bound = result.trace
    # Evaluations of an iteration that was not completed belong to the one before it.
    expect(nit[0] == 0 and (nfev[0] == 1 or result.nit == 0), f"the trace begins with {nit[0]}, {nfev[0]}")
    expect((np.diff(nit) > 0).all() and (np.diff(nfev) >= 0).all(), f"the trace runs {nit}, {nfev}")
    expect(nit[-1] == result.nit and nfev[-1] == result.nfev, f"the trace ends with {nit[-1]}, {nfev[-1]}")
    expect(np.min(fun) == result.fun, f"the least of the trace is {np.min(fun)}, but fun is {result.fun}")
    expect(not (sigma < 0.0).any(), f"the step sizes are {sigma}")
    most = result.x.size if "active_mask" in result else 0
    expect((at_bound >= 0).all() and (at_bound <= most).all(), f"so many are at a bound: {at_bound}")
