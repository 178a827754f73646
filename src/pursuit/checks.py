"""Checks of what callers pass in. Each error is one sentence: what is expected, and what was given."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import operator
import os
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

# Longer integers are not written out; Python refuses to write very long ones.
_MOST_BITS_SHOWN = 128
_P = ParamSpec("_P")
_R = TypeVar("_R")
# Our arguments, each with names that people give instead; the first that a function has is meant.
_SAME = {
    "seeds": ("seed", "nruns", "n_runs"),
    "rng": ("seed", "random_state", "random_seed", "rngs"),
    "fun": ("f", "func", "function", "objective", "objective_function"),
    "x0": ("x", "start", "initial", "initial_guess", "init"),
    "maxfev": ("maxfun", "maxevals", "max_evals", "maxeval", "max_nfev", "max_fev", "maxfevals", "budget"),
    "maxiter": ("max_iter", "maxit", "niter", "n_iter", "iterations", "max_iterations"),
    "maxtime": ("timeout", "max_time", "time_limit", "maxsec"),
    "ftarget": ("target", "fmin", "f_min", "ftarg", "stopval", "f_target"),
    "xtol and ftol": ("tol", "tolerance", "eps", "gtol"),
    "xtol": ("xatol", "x_tol", "xtol_rel", "tolx"),
    "ftol": ("fatol", "f_tol", "ftol_rel", "tolfun"),
    "sigma0": ("sigma", "step", "step_size", "initial_step", "rhobeg", "initial_tr_radius"),
    "bounds": ("box", "limits", "lb", "ub", "lower", "upper"),
    "constraints": ("constraint", "cons"),
    "workers": ("n_jobs", "njobs", "jobs", "parallel", "processes", "num_workers", "n_workers"),
    "progress=True": ("verbose", "disp", "iprint"),
    "trace=True": ("history", "return_all", "retall"),
    "restarts": ("n_restarts", "nrestarts", "restart"),
    "batch": ("popsize", "population_size", "batch_size"),
    "options={{'{name}': ...}}": ("kappa", "damping", "line_search", "reading"),
    "callback": ("callbacks",),
    "methods": ("method",),
    "method": ("methods", "solver", "algorithm"),
}
# What has no counterpart.
_MISSING = {
    **dict.fromkeys(
        ("jac", "grad", "gradient", "fprime", "hess", "hessp", "hessian"),
        "derivatives are not used: leave it out",
    ),
    **dict.fromkeys(("maximize", "maximise"), "to maximise f, minimise -f"),
    "minimize": "f is always minimised: leave it out",
}


def with_known_arguments(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make the error for an unknown argument say which known one may be meant.

    Examples
    --------
    >>> from pursuit.checks import with_known_arguments
    >>> @with_known_arguments
    ... def solve(fun, rng=None):
    ...     pass
    >>> solve(abs, seed=1)
    Traceback (most recent call last):
    ...
    TypeError: solve takes no argument 'seed': use rng.
    """
    names = tuple(name for name in inspect.signature(function).parameters if name != "self")
    public = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name in kwargs:
            if name not in names:
                raise TypeError(f"{public} takes no argument '{name}'{_advice(name, names)}.")
        return function(*args, **kwargs)

    return checked


def checked_number(
    name: str, value: Any, *, above: float = -math.inf, below: float = math.inf, at_least: float = -math.inf
) -> float:
    """Return `value` as a finite float within the given range."""
    try:
        number = as_float(value)
    except TypeError:
        raise TypeError(f"{name} must be a number, but {shown(value)} was given.") from None
    if not (above < number < below and number >= at_least and math.isfinite(number)):
        wanted = _describe_range(above, below, at_least)
        raise ValueError(f"{name} must be {wanted}, but {shown(value)} was given.")
    return number


def checked_numbers(
    name: str, value: Any, n: int, *, below: float = math.inf, at_least: float = -math.inf
) -> float | Vector:
    """Return `value` as a finite float within the given range, or as n of them if they are not all equal."""
    if _is_single(value):
        return checked_number(name, value, below=below, at_least=at_least)
    numbers = checked_array(name, value)
    if numbers.shape != (n,):
        raise ValueError(
            f"{name} must be one number, or one for each of the {n} variables, "
            f"but its shape is {numbers.shape}."
        )
    wrong = ~((numbers >= at_least) & (numbers < below) & np.isfinite(numbers))
    first = int(np.argmax(wrong))
    number = checked_number(f"{name}[{first}]", float(numbers[first]), below=below, at_least=at_least)
    return number if (numbers == number).all() else numbers


def _is_single(value: Any) -> bool:
    """Say whether something is a number, or at least not a sequence."""
    try:
        as_float(value)
    except TypeError:
        return isinstance(value, str | bytes | bytearray) or not hasattr(value, "__len__")
    return True


def checked_count(name: str, value: Any, *, at_least: int) -> int:
    """Return `value` as an int that is not too small; a float without a fraction will do."""
    try:
        number = _as_int(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be an integer, but {shown(value)} was given.") from None
    if number < at_least:
        raise ValueError(f"{name} must be at least {at_least}, but {shown(value)} was given.")
    return number


def checked_limit(name: str, value: Any, unlimited: int) -> int:
    """Return a limit on something that is counted: `unlimited` for None and for anything larger."""
    return unlimited if value is None else min(checked_count(name, value, at_least=1), unlimited)


def checked_choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, but {shown(value)} was given.")
    return value


def checked_flag(name: str, value: Any) -> bool:
    """Return `value` as a bool, if it is one."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, but {shown(value)} was given.")
    return bool(value)


def checked_trace(value: Any) -> bool | str:
    """Return `value` if it says what the trace of a run is to have."""
    if isinstance(value, str) and value == "x":
        return value
    if not isinstance(value, bool | np.bool_):
        kind = ValueError if isinstance(value, str) else TypeError
        raise kind(f'trace must be True, False or "x", but {shown(value)} was given.')
    return bool(value)


def checked_point(name: str, value: Any) -> Vector:
    """Return a fresh, contiguous float64 copy of a finite one-dimensional point; a number is one, too."""
    point = np.atleast_1d(checked_array(name, value))
    if point.ndim != 1 or point.size == 0:
        raise ValueError(
            f"{name} must have one dimension and at least one entry, but its shape is {point.shape}."
        )
    faulty = ~np.isfinite(point)
    if faulty.any():
        first = int(np.argmax(faulty))
        raise ValueError(f"{name} must be finite, but {name}[{first}] is {point[first]}.")
    return point


def checked_array(name: str, value: Any) -> NDArray[np.float64]:
    """Return a fresh, contiguous float64 copy of an array of real numbers, of any shape.

    NumPy would take strings, dates, booleans and masked entries for numbers, and drop imaginary parts.
    Numbers too large for a float become infinite.
    """
    try:
        entries = entries_of(value)
        if entries.dtype.kind in "iuf":
            with np.errstate(over="ignore"):
                return np.array(entries, dtype=np.float64, order="C", subok=False)
        numbers = [as_float(entry) for entry in entries.flat]
    except Exception:
        # Also whatever a foreign class raises when it is asked for its entries.
        raise TypeError(f"{name} must be a sequence of real numbers, but {shown(value)} was given.") from None
    return np.array(numbers, dtype=np.float64).reshape(entries.shape)


def entries_of(value: Any) -> NDArray[Any]:
    """Return what was given as an array, of objects where NumPy would have to convert what it finds.

    Raises TypeError for entries that are masked or not of a numeric type, and whatever an object raises
    when it is asked for its entries.
    """
    if isinstance(value, list | tuple):
        if any(map(_is_masked, value)):
            raise TypeError
        return np.array(value, dtype=object)
    entries: NDArray[Any] = np.asarray(value)
    if entries.dtype.kind not in "iufO" or _is_masked(value):
        raise TypeError
    return entries


def as_float(value: Any) -> float:
    """Return a real number as a float, infinite if it is too large; raise TypeError for anything else.

    A number is what Python can convert to a float, except for strings, booleans, dates and arrays.
    """
    if isinstance(value, np.ndarray | np.generic):
        if value.ndim > 0 or value.dtype.kind not in "iufO" or _is_masked(value):
            raise TypeError
        if value.dtype.kind == "O":
            return as_float(value.item())
    if isinstance(value, bool | str | bytes | bytearray):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except Exception:
        # Also whatever a foreign number raises that is not real, or not a single one.
        raise TypeError from None


def checked_options(options: Any) -> dict[str, Any]:
    """Return a method's options as a new dict; None means none."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(
            "options must be a mapping from names to settings, such as {'p': 0.3}, "
            f"but {shown(options)} was given."
        )
    return dict(options)


def checked_generator(rng: Any) -> np.random.Generator:
    """Return the generator that `rng` stands for, as `numpy.random.default_rng` understands it."""
    try:
        if _has_text(rng):
            raise TypeError
        return np.random.default_rng(rng)
    except Exception:
        # NumPy asks objects for their repr, which may raise anything.
        raise TypeError(
            "rng must be None, a non-negative integer, a sequence of these, or a numpy.random.Generator, "
            f"but {shown(rng)} was given."
        ) from None


def checked_seeds(rng: Any) -> np.random.SeedSequence:
    """Return the seed sequence that `rng` stands for, from which others can be spawned."""
    sequence = checked_generator(rng).bit_generator.seed_seq
    if not isinstance(sequence, np.random.SeedSequence):
        raise TypeError(f"rng must be one that seeds can be spawned from, but {shown(rng)} was given.")
    return sequence


def takes_intermediate_result(callback: Any) -> bool:
    """Say whether a callback wants a result by the name `intermediate_result`, and not the point alone.

    A callback that cannot be called with a single argument is rejected.
    """
    if not callable(callback):
        raise TypeError(f"callback must be callable, but {shown(callback)} was given.")
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):
        if isinstance(callback, type):
            raise TypeError(
                f"callback must be a function of the best point, but the class {shown(callback)} was given."
            ) from None
        # Many functions written in C do not say what they take.
        return False
    if set(signature.parameters) == {"intermediate_result"}:
        return True
    try:
        signature.bind(None)
    except TypeError:
        raise TypeError(
            "callback must take one argument, intermediate_result or the best point so far, "
            f"but {shown(callback)} does not."
        ) from None
    return False


def checked_memory(what: str, entries: int) -> None:
    """Reject what needs more float64 numbers than this machine has memory for.

    Some systems would grant the memory, and then kill the process when it is used.
    """
    wanted, there = 8 * entries, _memory_of_machine()
    if wanted > there:
        raise ValueError(
            f"{what} would take {_gibibytes(wanted)} GiB of memory, "
            f"but this machine has {_gibibytes(there)} GiB."
        )


def shown(value: Any, width: int = 60) -> str:
    """Return a value as an error shows it: its `repr` on one line, cut where it is long."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS_SHOWN:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = " ".join(repr(value).split())
    except Exception:
        # A foreign class whose repr fails, or a list of integers too long to write.
        text = f"an object of the class {type(value).__qualname__}"
    return cut(text, width)


def cut(text: str, width: int = 60) -> str:
    """Return a text, with dots in place of its end if it is long."""
    return text if len(text) <= width else text[: width - 3] + "..."


def _advice(name: str, names: tuple[str, ...]) -> str:
    """Return what to do instead, after a colon; empty if nothing is known."""
    plain = name.lower()
    if plain in _MISSING:
        return f": {_MISSING[plain]}"
    for ours, others in _SAME.items():
        if plain in others and ours.partition("=")[0].split()[0] in names:
            return f": use {ours.format(name=name)}"
    close = difflib.get_close_matches(plain, names, 1, 0.75)
    return f": perhaps {close[0]} is meant" if close else f": it takes {', '.join(names)}"


def _is_masked(value: Any) -> bool:
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def _as_int(value: Any) -> int:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_):
        raise TypeError
    try:
        return operator.index(value)
    except TypeError:
        number = as_float(value)
    if not number.is_integer():
        raise TypeError
    return int(number)


def _has_text(rng: Any) -> bool:
    """Say whether there is text in a seed; NumPy would read numbers from it."""
    if isinstance(rng, list | tuple):
        return any(map(_has_text, rng))
    return isinstance(rng, str | bytes) or (isinstance(rng, np.ndarray) and rng.dtype.kind in "SU")


def _describe_range(above: float, below: float, at_least: float) -> str:
    bounds = []
    if at_least > -math.inf:
        bounds.append(f"at least {at_least:g}")
    if above > -math.inf:
        bounds.append(f"above {above:g}")
    if below < math.inf:
        bounds.append(f"below {below:g}")
    return " and ".join(["finite", *bounds])


def _memory_of_machine() -> int:
    """Return the bytes of memory, or if the system does not say, more than any machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize


def _gibibytes(size: int) -> str:
    return f"{Decimal(size) / 2**30:.3g}"
