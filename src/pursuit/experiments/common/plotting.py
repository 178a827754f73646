"""The style of all printed figures, their colours, logarithmic axes, and writing them to files."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.figure
import matplotlib.style
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from PIL import Image

from pursuit.experiments.common.files import write_file
from pursuit.reporting.plotting import COLOURS as COLOURS

# Without the time of writing, which Matplotlib would add.
_METADATA: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}

FORMATS = tuple(_METADATA)
PRINT, SCREEN = 300, 160
"""Resolutions of pictures, in dots per inch."""
print_style: contextlib.ContextDecorator = matplotlib.style.context(
    "pursuit.experiments.common.print", after_reset=True
)
"""Decorates functions that draw: the user's own settings of Matplotlib neither matter nor change."""


def label_powers(axis: Axis, first: float, last: float, most: int) -> None:
    """Label a logarithmic axis at powers of ten from `first` to `last`, not many more than `most` of them."""
    low, high = math.ceil(math.log10(first) - 1e-9), math.floor(math.log10(last) + 1e-9)
    stride = max(1, round((high - low) / most))
    axis.set_major_locator(FixedLocator([10.0**exponent for exponent in range(low, high + 1, stride)]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"1e{round(math.log10(value))}"))
    axis.set_minor_locator(NullLocator())


@print_style
def save(
    figure: matplotlib.figure.Figure, folder: Path, name: str, formats: Sequence[str], dpi: int = PRINT
) -> tuple[Path, ...]:
    """Write a figure in each of the formats, and return the paths of the files.

    The same figure gives the same files, byte for byte. `dpi` is the resolution of pictures.
    """
    paths = tuple(folder / f"{name}.{ending}" for ending in formats)
    with warnings.catch_warnings():
        # A character that the font lacks, such as an emoji, is drawn as a box.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        # One layout serves all formats.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for path, ending in zip(paths, formats, strict=True):
            # In memory first: where a disk is full, Matplotlib's own error may hide the reason.
            content = io.BytesIO()
            figure.savefig(content, format=ending, dpi=dpi, metadata=_METADATA[ending])
            write_file(path, _with_palette(content) if ending == "png" else content.getvalue())
    return paths


def _with_palette(png: io.BytesIO) -> bytes:
    """Return a picture with 64 colours, which look the same in print and take a quarter of the space."""
    packed = io.BytesIO()
    picture = Image.open(png).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    picture.save(packed, "png", optimize=True)
    return packed.getvalue()
