"""The schemes by name, and how to make one from a name, options and a problem."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from typing import Any

from pursuit.checks import checked_number, checked_options, cut, shown
from pursuit.methods.acdm import Acdm
from pursuit.methods.adaptive_sarp import AdaptiveSarp
from pursuit.methods.arp import AcceleratedPursuit
from pursuit.methods.ars import AcceleratedSearch
from pursuit.methods.auto import Auto
from pursuit.methods.cma import Cma
from pursuit.methods.contract import Scheme, ask, tell
from pursuit.methods.cr_fm_nes import CrFmNes
from pursuit.methods.ep_cma import EpCma
from pursuit.methods.l_cma import LCma
from pursuit.methods.lm_cma import LmCma
from pursuit.methods.momentum import RankedMomentum
from pursuit.methods.r1_nes import R1Nes
from pursuit.methods.random_pursuit import RandomPursuit
from pursuit.methods.rg import RandomGradient
from pursuit.methods.sarp import Sarp
from pursuit.methods.sep_cma import SepCma
from pursuit.methods.spsa import Spsa
from pursuit.methods.values.scheme import Values
from pursuit.problems.contract import has_line_minimizer, value

# Needs to know nothing about the problem.
DEFAULT_METHOD = "auto"
# Python does not read integers of any length, and one with more digits is too large anyway.
_MOST_DIGITS = 100

_NAMED: dict[str, tuple[type, dict[str, Any]]] = {
    "auto": (Auto, {}),
    "values": (Values, {}),
    "momentum": (RankedMomentum, {}),
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


def methods() -> tuple[str, ...]:
    """Return the names that `method` accepts; ``ep-cma-<m>`` works for any m.

    Examples
    --------
    >>> import pursuit
    >>> pursuit.methods()[:4]
    ('auto', 'values', 'momentum', 'adaptive-sarp')
    """
    return tuple(_NAMED)


def create_scheme(method: str | type, n: int, options: Mapping[str, Any] | None, problem: Any) -> Scheme:
    """Return the scheme that `method` and `options` describe, for n variables of `problem`.

    What the options leave open is taken from the problem if it knows: the condition number or the extreme
    curvatures, and the exact line minimiser. A problem without one gets the bracketing search instead.
    """
    cls, settings = resolved(method, n)
    allowed = options_of(method, n)
    for name, setting in checked_options(options).items():
        if name not in allowed:
            raise ValueError(
                f"{shown(name)} is not an option of the method {cut(method_text(method))}: "
                f"its options are {', '.join(allowed)}."
            )
        settings[name] = setting
    if not {"a", "kappa", "m", "L"} & settings.keys() and _has_spectrum(problem):
        settings.update(_known_of(problem, allowed))
    line_search = settings.get("line_search", _default_of(cls, "line_search"))
    if isinstance(line_search, str) and line_search == "exact" and not has_line_minimizer(problem):
        settings["line_search"] = "bracketing"
    scheme: Scheme = cls.create(n, **settings)  # type: ignore[attr-defined]
    return scheme


def _default_of(cls: type, option: str) -> Any:
    """Return the default of an option of a scheme's class; None where it has no such option."""
    parameters = inspect.signature(cls.create).parameters  # type: ignore[attr-defined]
    return parameters[option].default if option in parameters else None


def _has_spectrum(problem: Any) -> bool:
    return value.handles(type(problem)) and hasattr(problem, "m") and hasattr(problem, "L")


def _known_of(problem: Any, allowed: tuple[str, ...]) -> dict[str, float]:
    """Return the condition number of a problem, or its extreme curvatures, where they are options."""
    if not {"kappa", "L"} & set(allowed):
        return {}
    smallest = checked_number("The m of the problem", problem.m, above=0.0)
    largest = checked_number("The L of the problem", problem.L)
    if "kappa" in allowed:
        return {"kappa": max(1.0, largest / smallest)}
    known = {"m": smallest, "L": max(smallest, largest)}
    return {name: number for name, number in known.items() if name in allowed}


def options_of(method: str | type, n: int) -> tuple[str, ...]:
    """Return the names of a method's options."""
    cls, settings = resolved(method, n)
    parameters = inspect.signature(cls.create).parameters  # type: ignore[attr-defined]
    return tuple(name for name in parameters if name != "n" and name not in settings)


def resolved(method: str | type, n: int) -> tuple[type, dict[str, Any]]:
    """Return the class that a method stands for in n dimensions, and the options that its name implies."""
    if isinstance(method, type):
        missing = [f"an implementation of {g.__name__}" for g in (ask, tell) if not g.handles(method)]
        missing += [f"a method {name}" for name in ("create", "init") if not hasattr(method, name)]
        if missing:
            raise TypeError(
                f"method must be a name or a scheme's class, but {method.__qualname__} lacks "
                f"{' and '.join(missing)}."
            )
        return method, {}
    if not isinstance(method, str):
        raise TypeError(f"method must be a name or a scheme's class, but {shown(method)} was given.")
    numbered = re.fullmatch(r"ep-cma-([0-9]+)", method)
    if numbered:
        return EpCma, {"m": int(numbered[1][:_MOST_DIGITS])}
    if method not in _NAMED:
        raise ValueError(
            f"method must be one of {', '.join(methods())} or ep-cma-<m>, but {shown(method)} was given."
        )
    cls, settings = _NAMED[method]
    memories = {"sqrt": round(math.sqrt(n)), "n": n}
    return cls, {name: memories.get(setting, setting) for name, setting in settings.items()}


def method_name(method: str | type) -> str:
    """Return a method's name for users; for a class, the name of the class."""
    return method if isinstance(method, str) else method.__qualname__


def method_text(method: str | type) -> str:
    """Return a method's name, or for a class the text "module:name" by which to find it again."""
    return method if isinstance(method, str) else f"{method.__module__}:{method.__qualname__}"
