"""The line style of each scheme, in every figure and in the report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple


class Style(NamedTuple):
    """The line style of a scheme, in Matplotlib's notation."""

    colour: str
    """As "#rrggbb"."""
    line: Literal["-", "--", "-.", ":"]
    marker: str


# A scheme with exact line search is dashed, in the colour of the scheme without. EP-CMA goes from light green
# to dark blue as its memory grows. People with any kind of colour vision can distinguish all colours, and the
# lightest is dark enough for thin lines on paper.
SCHEME_STYLES: dict[str, Style] = {
    "rp": Style("#000000", "-", "o"),
    "rp-exact": Style("#000000", "--", "D"),
    "sarp": Style("#d55e00", "-", "^"),
    "sarp-exact": Style("#d55e00", "--", "v"),
    "cma": Style("#aa3377", "-", "s"),
    "ep-cma-1": Style("#79bd62", "-", "<"),
    "ep-cma-2": Style("#2baaa5", "-", ">"),
    "ep-cma-4": Style("#1f87c4", "-", "P"),
    "ep-cma-sqrt": Style("#2b55ae", "-", "X"),
    "ep-cma-n": Style("#241a6b", "-", "*"),
}
"""The styles of the paper's ten schemes, in the order of legends."""

# Other schemes have lines that are neither solid nor dashed.
_OTHER_COLOURS = ("#e69f00", "#7a5230", "#777777", "#cc79a7")
_OTHER_LINES: tuple[Literal["-.", ":"], ...] = ("-.", ":")
_OTHER_MARKERS = ("p", "d", "h", "8")


def style_of(scheme: str, schemes: Iterable[str]) -> Style:
    """Return the style of a scheme, which is the same in all figures of a study.

    Parameters
    ----------
    scheme : str
        Its name.
    schemes : iterable of str
        The names of all schemes of the study. Those that are not the paper's take the remaining colours in
        this order.

    Returns
    -------
    Style
        Its colour, line and marker.

    Examples
    --------
    >>> from pursuit.experiments.study.figures.styles import style_of
    >>> style_of("sarp-exact", ["sarp-exact"])
    Style(colour='#d55e00', line='--', marker='v')
    >>> style_of("mine", ["rp", "mine"]) == style_of("mine", ["mine", "another"])
    True
    """
    if scheme in SCHEME_STYLES:
        return SCHEME_STYLES[scheme]
    others = [name for name in dict.fromkeys([*schemes, scheme]) if name not in SCHEME_STYLES]
    turn, place = divmod(others.index(scheme), len(_OTHER_COLOURS))
    return Style(
        _OTHER_COLOURS[place],
        _OTHER_LINES[turn % len(_OTHER_LINES)],
        _OTHER_MARKERS[(place + turn) % len(_OTHER_MARKERS)],
    )


def legend_order(schemes: Iterable[str]) -> list[str]:
    """Return the different names among `schemes`: the paper's in its order, then the others as given."""
    found = dict.fromkeys(schemes)
    return [name for name in SCHEME_STYLES if name in found] + [n for n in found if n not in SCHEME_STYLES]
