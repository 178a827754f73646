"""Tables of a TOML file, read key by key, with errors that name the file and the key."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pursuit.experiments.common import StudyError
from pursuit.experiments.common.formatting import shortened

# Control characters, line ends, and what changes the direction of a text; not the joiners of emoji.
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"
# What can be drawn on logarithmic axes, with room above and below.
_LARGEST = 1e100


Check = Callable[[Any], Any]


def read(content: dict[str, Any], place: str, checks: Mapping[str, Check], **defaults: Any) -> dict[str, Any]:
    """Return the checked values of a table's keys; those without a default are required.

    `place` is what its keys are called in errors, but for their own names.
    """
    found = {}
    for name, check in checks.items():
        if name in content:
            try:
                found[name] = check(content[name])
            except ValueError as error:
                raise wrong(place, name, f"{error}, but {shown(content[name])} was given") from None
        elif name in defaults:
            found[name] = defaults[name]
        else:
            raise wrong(place, name, "is missing")
    for name in content:
        if name not in checks:
            raise wrong(place, name, f"is unknown; allowed are {', '.join(checks)}")
    return found


def wrong(place: str, name: str, what: str) -> StudyError:
    """Return the error that says what is wrong with a key."""
    return StudyError(f"{place}{name} {what}.")


def shown(value: Any) -> str:
    """Return a value for an error message, cut if it is long."""
    try:
        return shortened(repr(value), 100)
    except ValueError:
        return "a number of thousands of digits"


def _must(be: str, holds: Callable[[Any], bool], make: Callable[[Any], Any] = lambda value: value) -> Check:
    """Return a check that returns what it makes of a value for which a condition holds."""

    def check(value: Any) -> Any:
        if not holds(value):
            raise ValueError(f"must {be}")
        return make(value)

    return check


text: Check = _must("be a text", lambda value: isinstance(value, str) and bool(value.strip()))
flag: Check = _must("be true or false", lambda value: isinstance(value, bool))
dictionary: Check = _must("be a table", lambda value: isinstance(value, dict))
filled_list: Check = _must(
    "be a list that is not empty", lambda value: isinstance(value, list) and bool(value)
)
tables: Check = _must(
    "be an array of tables",
    lambda value: isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value),
)


def line(most: int) -> Check:
    """Return a check for a text that fits on one line of at most `most` characters."""
    visible = _must(
        "be a text in one line, without control characters",
        lambda value: all(unicodedata.category(c) not in _INVISIBLE or c in _JOINERS for c in value),
    )
    short = _must(f"be a text of at most {most} characters", lambda value: len(value) <= most)
    return lambda value: short(visible(text(value)))


def label(value: Any) -> Any:
    """Check a name that can be part of a file's name and of a selection."""
    what = "be a text without spaces, commas, equals signs and slashes"
    return _must(what, lambda given: not any(c.isspace() or c in "=,/\\" for c in given))(line(200)(value))


def number(value: Any) -> float:
    """Check a finite number."""
    try:
        if not isinstance(value, bool) and isinstance(value, (int, float)) and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise ValueError("must be a finite number")


def positive(most: float) -> Check:
    """Return a check for positive numbers of at most `most`."""
    return _must(f"be positive and at most {most:g}", lambda value: 0.0 < number(value) <= most, float)


at_least_one: Check = _must(
    f"be a number of at least 1 and at most {_LARGEST:g}, or several",
    lambda value: 1.0 <= number(value) <= _LARGEST,
    float,
)
target: Check = _must(
    f"be 0 or a number between {1.0 / _LARGEST:g} and {_LARGEST:g} in size",
    lambda value: number(value) == 0.0 or 1.0 / _LARGEST <= abs(value) <= _LARGEST,
    float,
)


def whole(least: int, most: int) -> Check:
    """Return a check for integers of at least `least` and at most `most`."""
    large = _must(
        f"be a whole number of at least {least}",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least,
    )
    small = _must(f"be a whole number of at most {most}", lambda value: value <= most)
    return lambda value: small(large(value))


def list_of(check: Check) -> Callable[[Any], tuple[Any, ...]]:
    """Return a check for one entry, or a list of different ones."""
    different = _must("not name anything twice", lambda entries: len(set(entries)) == len(entries))
    return lambda value: tuple(
        different([check(entry) for entry in (filled_list(value) if isinstance(value, list) else [value])])
    )


def one_of(allowed: Iterable[str]) -> Callable[[Any], str]:
    """Return a check for one of several texts."""
    return _must(f"be one of {', '.join(allowed)}", lambda value: value in allowed)


def options(value: Any) -> dict[str, Any]:
    """Check the options of a scheme, which are kept as JSON."""
    found: dict[str, Any] = dictionary(value)
    try:
        json.dumps(found)
    except (TypeError, ValueError):
        raise ValueError("must be a table of texts, numbers, truth values and lists of these") from None
    return found
