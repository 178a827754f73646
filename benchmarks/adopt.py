"""Say that rows were made by methods that did what they do today, and bring old tables into today's form.

``python -m benchmarks.adopt CODE ... [--methods NAME ...]`` gives the rows of these methods, by default all,
that the code with one of these hashes has made, today's version. Only who has compared knows whether this is
true: by ``PYTHONPATH=tests python -m golden.programs`` and ``golden.record`` in a checkout of that code.
"""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path
from typing import Any

from benchmarks.__main__ import SUITES
from benchmarks.pages import cutest as cutest_page
from benchmarks.pages.stamp import Named
from benchmarks.runs import Table
from benchmarks.suites import cutest
from pursuit.experiments.common.files import write_file

# Columns that older tables lack, and names that they had.
_FILLED = {
    "rivals/runs.csv": {"rotated": "False", "detail": "", "seconds": "", "best": "", "maxtime": "600.0"},
    "parallel/times.csv": {"version": ""},
}
_RENAMED = {"versions": "version"}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "codes", nargs="*", metavar="CODE", help="the first eight digits of a hash of the code"
    )
    parser.add_argument("--methods", nargs="+", metavar="NAME")
    options = parser.parse_args()
    for name, suite in SUITES.items():
        for part in suite.parts.values():
            path = suite.folder / part.file
            if suite.rows is None and path.exists():
                _bring_up(path, f"{name}/{part.file}")
                count = adopt(Table(path, part.kind), part.named, options.codes, options.methods)
                print(f"{path}: {count} rows")
    _adopt_cutest(options.codes, options.methods)


def _bring_up(path: Path, name: str) -> None:
    """Write a table with today's columns."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    head = [_RENAMED.get(column, column) for column in rows[0]]
    added = [column for column in _FILLED.get(name, {}) if column not in head]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    more = ["maxfev"] if name == "rivals/runs.csv" and "maxfev" not in head else []
    writer.writerow([*head, *added, *more])
    for row in rows:
        filled = [_FILLED[name][column] for column in added]
        writer.writerow([*row.values(), *filled, *(str(5000 * int(row["n"])) for _ in more)])
    write_file(path, text.getvalue())


def adopt(table: Table[Any], named: Named, codes: list[str], methods: list[str] | None) -> int:
    """Give rows today's version, and a package's version; those of methods that are gone are deleted."""
    count = 0
    for row in table.rows:
        try:
            solver = named(getattr(row, "solver", ""))
        except (KeyError, ValueError):
            table.delete(row)
            continue
        is_chosen = methods is None or solver.method in methods
        first, comma, rest = row.version.partition(",")
        code = first.rpartition("+")[2]
        if (solver.ours and is_chosen and code in codes) or (not solver.ours and not row.version):
            table.replace(row._replace(version=f"{solver.version}{comma}{rest}"))
            count += 1
        elif code != first:
            table.replace(row._replace(version=f"{code}{comma}{rest}"))
    table.write()
    return count


def _adopt_cutest(codes: list[str], methods: list[str] | None) -> None:
    path = SUITES["cutest"].folder / cutest_page.TABLE
    lines = []
    for line in cutest_page.read_lines(path):
        solver = cutest.named(line.solver)
        is_chosen = (methods is None or solver.method in methods) and (line.version or "unknown") in codes
        new = line.version or ("unknown" if solver.ours else solver.version)
        lines.append(line._replace(version=solver.version if solver.ours and is_chosen else new))
    cutest_page.write_lines(path, lines)


if __name__ == "__main__":
    main()
