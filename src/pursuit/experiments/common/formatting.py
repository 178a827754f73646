"""Numbers and tables for people, as text and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table.

    Examples
    --------
    >>> print(table(["n", "median"], [["20", "28 059"]]))
    | n | median |
    | --- | --- |
    | 20 | 28 059 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def spaced(number: int) -> str:
    """Return a number with a space between thousands.

    Examples
    --------
    >>> spaced(1234567)
    '1 234 567'
    """
    return f"{number:,}".replace(",", " ")


def brief(number: float) -> str:
    """Return a number rounded for people: to an integer from 1000 on, else to three digits; a dash for NaN.

    Examples
    --------
    >>> [brief(number) for number in (28059.4, 2.4641, float("inf"), float("nan"))]
    ['28 059', '2.46', '∞', '—']
    """
    if math.isnan(number):
        return "—"
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    return spaced(round(number)) if abs(number) >= 999.5 else f"{number:.3g}"


def power(number: float) -> str:
    """Return a number, in scientific notation where that is shorter.

    Examples
    --------
    >>> power(1e4), power(2.5e-9), power(10.0)
    ('1e4', '2.5e-9', '10')
    """
    factor, exponent = f"{number:e}".split("e")
    return min(f"{number:g}", f"{float(factor):g}e{int(exponent)}", key=len)
