"""How each scheme looks, in every figure and in the report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple


class Style(NamedTuple):
    """The look of a scheme; line and marker are in Matplotlib's signs."""

    colour: str
    """As "#rrggbb"."""
    line: Literal["-", "--", "-.", ":"]
    marker: str


# A scheme with line search is dashed in the colour of the scheme without. EP-CMA goes from light green to
# dark blue as its memory grows. All colours stay apart for people who cannot tell red from green, or blue
# from yellow, and the lightest is dark enough for thin lines on paper.
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
"""The look of the paper's ten schemes, in the order in which legends name them."""

# Schemes of other names have lines that are neither solid nor dashed.
_OTHER_COLOURS = ("#e69f00", "#7a5230", "#777777", "#cc79a7")
_OTHER_LINES: tuple[Literal["-.", ":"], ...] = ("-.", ":")
_OTHER_MARKERS = ("p", "d", "h", "8")


def style_of(scheme: str, schemes: Iterable[str]) -> Style:
    """Return the look of a scheme, which is the same whichever of a study's schemes are shown with it.

    Parameters
    ----------
    scheme : str
        Its name.
    schemes : iterable of str
        The names of all schemes of the study. Those that are not the paper's take what colours are left, in
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
    """Return the different names among `schemes`: the paper's in its order, then others as they come."""
    found = dict.fromkeys(schemes)
    return [name for name in SCHEME_STYLES if name in found] + [n for n in found if n not in SCHEME_STYLES]
