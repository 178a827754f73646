"""What the README quotes from the measurements, and with it the first page of the site.

``python -m benchmarks.peers --page`` writes it between two comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.peers.front import sentence
from benchmarks.peers.measurements import Measurements
from pursuit.experiments.common.files import write_file

_END = "<!-- end -->"

PLACES: list[tuple[Path, str, Callable[[Measurements], str]]] = [(Path("README.md"), "sentence", sentence)]
"""The pages, the names of their places, and what stands there."""


def quoted(text: str, name: str, what: str) -> str:
    r"""Return the text of a page with something else between the two comments of a place.

    Examples
    --------
    >>> print(quoted("<!-- sum: by hand -->\n1\n<!-- end -->", "sum", "2"))
    <!-- sum: by hand -->
    2
    <!-- end -->
    """
    begin = re.search(rf"^<!-- {name}: .*-->\n", text, flags=re.MULTILINE)
    if begin is None:
        raise ValueError(f"The page has no comment that begins with <!-- {name}: .")
    end = text.index(_END, begin.end())
    return f"{text[: begin.end()]}{what}\n{text[end:]}"


def write(measured: Measurements) -> None:
    """Write what each page quotes."""
    for path, name, make in PLACES:
        write_file(path, quoted(path.read_text(), name, make(measured)))
