"""Say that rows were made by methods that did what they do today.

``python -m benchmarks.adopt CODE ... [--methods NAME ...]`` gives the rows of these methods, by default all,
that the code with one of these hashes has made, today's version. Only who has compared knows whether this is
true: by ``PYTHONPATH=tests python -m golden.programs`` and ``golden.record`` in a checkout of that code.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.__main__ import SUITES
from benchmarks.pages import cutest as cutest_page
from benchmarks.pages.stamp import Named
from benchmarks.runs import Table
from benchmarks.suites import cutest


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "codes", nargs="*", metavar="CODE", help="the first eight digits of a hash of the code"
    )
    parser.add_argument("--methods", nargs="+", metavar="NAME")
    options = parser.parse_args()
    for suite in SUITES.values():
        for part in suite.parts.values():
            path = suite.folder / part.file
            if suite.rows is None and path.exists():
                count = adopt(Table(path, part.kind), part.named, options.codes, options.methods)
                print(f"{path}: {count} rows")
    for court in (cutest.CUTEST, cutest.MORE_WILD):
        _adopt_lines(court.name, options.codes, options.methods)


def adopt(table: Table[Any], named: Named, codes: list[str], methods: list[str] | None) -> int:
    """Give rows today's version; those of methods that are gone are deleted."""
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
        if solver.ours and is_chosen and code in codes:
            table.replace(row._replace(version=f"{solver.version}{comma}{rest}"))
            count += 1
    table.write()
    return count


def _adopt_lines(name: str, codes: list[str], methods: list[str] | None) -> None:
    path = SUITES[name].folder / cutest_page.TABLE
    lines = []
    for line in cutest_page.read_lines(path):
        solver = cutest.named(line.solver)
        is_chosen = (methods is None or solver.method in methods) and (line.version or "unknown") in codes
        lines.append(line._replace(version=solver.version) if solver.ours and is_chosen else line)
    cutest_page.write_lines(path, lines)


if __name__ == "__main__":
    main()
