"""What the README and pages of the site quote from the measurements.

``python -m benchmarks.peers --page`` writes them between two comments on each page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.peers.front import rotated_problems, sentence
from benchmarks.peers.measurements import Measurements, RunSummary
from benchmarks.peers.summary import count
from pursuit.experiments.common.files import write_file
from pursuit.experiments.common.formatting import table

_END = "<!-- end -->"
# In the order of the table, each with a name for people who do not know the packages.
METHODS = {
    "auto": "`auto`, the default",
    "differences": "`differences`",
    "evolution": "`evolution`",
    "adaptive-sarp": "`adaptive-sarp`",
    "ep-cma-4": "`ep-cma-4`",
    "rp": "`rp`",
    "pycma": "CMA-ES (pycma)",
    "pypop7 OPOC2009": "(1+1)-CMA-ES (pypop7)",
    "pypop7 LMCMA": "LM-CMA (pypop7)",
    "pypop7 RMES": "Rm-ES (pypop7)",
    "fcmaes CR-FM-NES": "CR-FM-NES (fcmaes)",
    "scipy L-BFGS-B": "L-BFGS-B, by differences (SciPy)",
    "scipy Powell": "Powell (SciPy)",
}


def evaluations_table(measured: Measurements) -> str:
    """Return the evaluations of each method on each rotated problem; the fewest are bold."""
    found = rotated_problems(measured)
    fewest = {task: min(one.evaluations for one in row.values()) for task, row in found.items()}
    rows = [
        [name, *(_cell(row.get(method), fewest[task]) for task, row in found.items())]
        for method, name in METHODS.items()
    ]
    return table(["", *(task.label for task in found)], rows)


def _cell(runs: RunSummary | None, fewest: float) -> str:
    if runs is None or math.isinf(runs.evaluations):
        return "—"
    shown = count(runs.evaluations)
    return f"**{shown}**" if runs.evaluations == fewest else shown


PLACES: list[tuple[Path, str, Callable[[Measurements], str]]] = [
    (Path("README.md"), "sentence", sentence),
    (Path("docs/index.md"), "sentence", sentence),
    (Path("docs/choosing.md"), "table", evaluations_table),
]
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
