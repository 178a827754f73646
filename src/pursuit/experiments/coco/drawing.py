"""Data profiles as a figure and a table: what the command ``pursuit coco-profiles`` does."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from pursuit.experiments.coco.profiles import Profile, data_profiles
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.files import write_file

_ROWS_PER_DECADE = 20


def draw_profiles(
    folders: Sequence[str | Path],
    out: str | Path,
    *,
    functions: Sequence[int] | None = None,
    dimensions: Sequence[int] | None = None,
) -> tuple[Path, Path]:
    """Draw the data profiles of experiments, and write them as a table beside the figure.

    Parameters
    ----------
    folders : sequence of paths
        The folders of experiments made by `run_suite`, or any with COCO data, all on the same problems.
    out : path
        The file of the figure, whose name ends with .svg, .png or .pdf. That of the table ends with .csv.
    functions, dimensions : sequence of int
        The problems to use, by default all.

    Returns
    -------
    tuple of Path
        The files of the figure and of the table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pursuit.experiments.coco import draw_profiles, run_suite
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = {"budget": 50, "dimensions": [2], "functions": [1], "instances": [1]}
    ...     data = [run_suite("bbob", method, Path(folder, method), **run).data for method in ("rp", "cma")]
    ...     [path.name for path in draw_profiles(data, Path(folder, "profiles.svg"))]
    ['profiles.svg', 'profiles.csv']
    """
    return write_profiles(data_profiles(folders, functions=functions, dimensions=dimensions), Path(out))


def write_profiles(profiles: Sequence[Profile], path: Path) -> tuple[Path, Path]:
    """Draw profiles into a file, and write them as a table beside it; return both files."""
    # Matplotlib takes long to import, and the worker processes, which import this module, never draw.
    from pursuit.experiments.coco.figure import write_figure

    table = path.with_suffix(".csv")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_figure(profiles, path)
        write_file(table, _table(profiles))
    except OSError as error:
        raise StudyError(f"The figure cannot be written into {path.parent}: {error.strerror}.") from None
    return path, table


def _table(profiles: Sequence[Profile]) -> str:
    """Return profiles as CSV: a row for each budget, a column for each method, empty beyond what it spent."""
    last = max(profile.spent for profile in profiles)
    rows = math.ceil(_ROWS_PER_DECADE * math.log10(max(1.0, last)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["evaluations_per_dimension", *(profile.name for profile in profiles)])
    for budget in [*(10.0 ** (row / _ROWS_PER_DECADE) for row in range(rows)), last]:
        shares = [f"{profile.share(budget):.5f}" if budget <= profile.spent else "" for profile in profiles]
        writer.writerow([f"{budget:.4g}", *shares])
    return text.getvalue()
