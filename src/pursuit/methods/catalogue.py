"""The methods by name, and how to make one from a name, options and a problem."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from pursuit.checks import checked_number, checked_options, cut, shown
from pursuit.methods.auto import Auto
from pursuit.methods.contract import ask, tell
from pursuit.methods.differences.program import Differences
from pursuit.methods.evolution.program import Evolution
from pursuit.methods.paper.adaptive_sarp import AdaptiveSarp
from pursuit.methods.paper.cma import Cma
from pursuit.methods.paper.ep_cma import EpCma
from pursuit.methods.paper.random_pursuit import RandomPursuit
from pursuit.methods.paper.sarp import Sarp
from pursuit.methods.programs import is_program
from pursuit.methods.rivals.acdm import Acdm
from pursuit.methods.rivals.arp import AcceleratedPursuit
from pursuit.methods.rivals.ars import AcceleratedSearch
from pursuit.methods.rivals.cr_fm_nes import CrFmNes
from pursuit.methods.rivals.l_cma import LCma
from pursuit.methods.rivals.lm_cma import LmCma
from pursuit.methods.rivals.r1_nes import R1Nes
from pursuit.methods.rivals.rg import RandomGradient
from pursuit.methods.rivals.sep_cma import SepCma
from pursuit.methods.rivals.spsa import Spsa
from pursuit.problems.contract import value
from pursuit.problems.transform import has_line_minimizer

# Needs to know nothing about the problem.
DEFAULT_METHOD = "auto"
# Python does not read integers of any length, and one with more digits is too large anyway.
_MOST_DIGITS = 100

_NAMED: dict[str, tuple[type, dict[str, Any]]] = {
    "auto": (Auto, {}),
    "differences": (Differences, {}),
    "evolution": (Evolution, {}),
    "adaptive-sarp": (AdaptiveSarp, {}),
    "rp": (RandomPursuit, {}),
    "rp-exact": (RandomPursuit, {"line_search": "exact"}),
    "sarp": (Sarp, {}),
    "sarp-exact": (Sarp, {"line_search": "exact"}),
    "cma": (Cma, {}),
    "ep-cma-1": (EpCma, {"m": 1}),
    "ep-cma-2": (EpCma, {"m": 2}),
    "ep-cma-4": (EpCma, {"m": 4}),
    "ep-cma-sqrt": (EpCma, {"m": "sqrt"}),
    "ep-cma-n": (EpCma, {"m": "n"}),
    "sep-cma": (SepCma, {}),
    "cr-fm-nes": (CrFmNes, {}),
    "r1-nes": (R1Nes, {}),
    "lm-cma": (LmCma, {}),
    "l-cma": (LCma, {}),
    "spsa": (Spsa, {}),
    "rg": (RandomGradient, {}),
    "ars": (AcceleratedSearch, {}),
    "arp": (AcceleratedPursuit, {}),
    "acdm": (Acdm, {}),
}


def list_methods() -> tuple[str, ...]:
    """Return the names that `method` accepts; ``ep-cma-<m>`` works for any m.

    Examples
    --------
    >>> import pursuit
    >>> pursuit.list_methods()[:4]
    ('auto', 'differences', 'evolution', 'adaptive-sarp')
    """
    return tuple(_NAMED)


def create_scheme(method: str | type, n: int, options: Mapping[str, Any] | None, problem: Any) -> Any:
    """Return the scheme or program that `method` and `options` describe, for n variables of `problem`.

    What the options leave open is taken from the problem if it knows: the condition number or the extreme
    curvatures, and the exact line minimiser. A problem without one gets the bracketing search instead.
    """
    cls: Any
    cls, settings = resolved(method, n)
    allowed = options_of(method, n)
    for name, setting in checked_options(options).items():
        if name not in allowed:
            known = f"its options are {', '.join(allowed)}" if allowed else "it has none"
            raise ValueError(
                f"{shown(name)} is not an option of the method {cut(method_text(method))}: {known}."
            )
        settings[name] = setting
    # A program, and a choice between methods, knows nothing of the problem.
    if not (is_program(cls) or hasattr(cls, "next_stage")):
        settings |= _known_settings(cls, settings, allowed, problem)
    return cls.create(n, **settings)


def _known_settings(
    cls: type, settings: dict[str, Any], allowed: tuple[str, ...], problem: Any
) -> dict[str, Any]:
    """Return what a problem knows of itself, where the settings leave it open."""
    known: dict[str, Any] = {}
    has_spectrum = value.handles(type(problem)) and hasattr(problem, "m") and hasattr(problem, "L")
    if has_spectrum and {"kappa", "L"} & set(allowed) and not {"a", "kappa", "m", "L"} & settings.keys():
        smallest = checked_number("The m of the problem", problem.m, above=0.0)
        largest = max(smallest, checked_number("The L of the problem", problem.L))
        is_quotient = "kappa" in allowed
        spectrum = {"kappa": largest / smallest} if is_quotient else {"m": smallest, "L": largest}
        known = {name: number for name, number in spectrum.items() if name in allowed}
    option = inspect.signature(cls.create).parameters.get("line_search")  # type: ignore[attr-defined]
    line_search = settings.get("line_search", option and option.default)
    if isinstance(line_search, str) and line_search == "exact" and not has_line_minimizer(problem):
        known["line_search"] = "bracketing"
    return known


def options_of(method: str | type, n: int) -> tuple[str, ...]:
    """Return the names of a method's options."""
    cls: Any
    cls, settings = resolved(method, n)
    names: list[str] = []
    for name, parameter in inspect.signature(cls.create).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            # A record of options that methods share, `**options: Unpack[Record]`.
            for record in get_args(get_type_hints(cls.create).get(name)):
                names += record.__annotations__
        else:
            names.append(name)
    return tuple(name for name in names if name != "n" and name not in settings)


def resolved(method: str | type, n: int) -> tuple[type, dict[str, Any]]:
    """Return the class that a method stands for in n dimensions, and the options that its name implies."""
    if isinstance(method, type):
        _check_class(method)
        return method, {}
    if not isinstance(method, str):
        raise TypeError(f"method must be a name or a scheme's class, but {shown(method)} was given.")
    numbered = re.fullmatch(r"ep-cma-([0-9]+)", method)
    if numbered:
        return EpCma, {"m": int(numbered[1][:_MOST_DIGITS])}
    if method not in _NAMED:
        raise ValueError(
            f"method must be one of {', '.join(list_methods())} or ep-cma-<m>, but {shown(method)} was given."
        )
    cls, settings = _NAMED[method]
    memories = {"sqrt": round(math.sqrt(n)), "n": n}
    return cls, {name: memories.get(setting, setting) for name, setting in settings.items()}


def _check_class(cls: type) -> None:
    """Reject a class that is neither a scheme nor a program."""
    if is_program(cls):
        missing = [
            f"a method {name}" for name in ("create", "begin", "best", "check") if not hasattr(cls, name)
        ]
    else:
        missing = [f"an implementation of {g.__name__}" for g in (ask, tell) if not g.handles(cls)]
        missing += [f"a method {name}" for name in ("create", "init", "needs") if not hasattr(cls, name)]
    if missing:
        raise TypeError(
            f"method must be a name or a scheme's class, but {cls.__qualname__} lacks "
            f"{' and '.join(missing)}."
        )


def method_name(method: str | type) -> str:
    """Return a method's name for users; for a class, the name of the class."""
    return method if isinstance(method, str) else method.__qualname__


def method_text(method: str | type) -> str:
    """Return a method's name, or for a class the text "module:name" by which to find it again."""
    return method if isinstance(method, str) else f"{method.__module__}:{method.__qualname__}"
