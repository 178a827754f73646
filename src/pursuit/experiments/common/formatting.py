"""Numbers and tables for readers, as text and as Markdown."""

from __future__ import annotations

import hashlib
import html
import math
import re
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


def folded(title: str, text: str) -> str:
    """Return Markdown that a browser shows as its title, which opens it.

    Examples
    --------
    >>> print(folded("n = 20", "Much text."))
    <details><summary>n = 20</summary>
    <BLANKLINE>
    Much text.
    <BLANKLINE>
    </details>
    """
    return f"<details><summary>{html.escape(title)}</summary>\n\n{text}\n\n</details>"


def escaped(text: str) -> str:
    r"""Return a text that Markdown shows as it is; pipes are left to `table`.

    Examples
    --------
    >>> print(escaped("f_1 <b> $x$"))
    f\_1 \<b\> \$x\$
    """
    return re.sub(r"([\\`*_{}\[\]<>&$~])", r"\\\1", text)


def shortened(text: str, most: int = 24) -> str:
    """Return a text of at most `most` characters, for places with little room.

    Examples
    --------
    >>> shortened("sarp"), shortened("an-extraordinarily-long-name", 12)
    ('sarp', 'an-extraord…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def file_name(text: str) -> str:
    """Return a name for files: the text itself if it is short and simple, else one that is made from it.

    Examples
    --------
    >>> file_name("figure-3"), file_name("a<b>")
    ('figure-3', 'a_b_-4e07dd89')
    """
    simple = re.sub(r"[^\w.-]", "_", text)[:40]
    return text if simple == text else f"{simple}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def spaced(number: int) -> str:
    """Return a number with a space between thousands.

    Examples
    --------
    >>> spaced(1234567)
    '1 234 567'
    """
    return f"{number:,}".replace(",", " ")


def brief(number: float) -> str:
    """Return a number rounded for readers: to an integer from 1000 on, else to three digits; a dash for NaN.

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
