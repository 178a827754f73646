"""Say that rows were made by methods that did what they do today.

``python -m benchmarks.adopt CODE ... [--methods NAME ...]`` gives the rows of these methods, by default all,
that the code with one of these hashes has made, today's version. Only who has compared knows whether this is
true: by ``PYTHONPATH=tests python -m golden.programs`` and ``golden.record`` in a checkout of that code.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.__main__ import SUITES
from benchmarks.pages import cutest as cutest_page
from benchmarks.pages.stamp import Named
from benchmarks.runs import read_rows, write_table
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
                rows = read_rows(path, part.kind)
                found = adopted(rows, part.named, options.codes, options.methods)
                write_table(path, part.kind._fields, found)
    for court in (cutest.CUTEST, cutest.MORE_WILD):
        path = court.folder / cutest_page.TABLE
        lines = cutest_page.read_lines(path)
        cutest_page.write_lines(path, adopted(lines, cutest.named, options.codes, options.methods))


def adopted(rows: Iterable[Any], named: Named, codes: list[str], methods: list[str] | None) -> Iterator[Any]:
    """Return rows with today's version, without those of methods that are gone."""
    for row in rows:
        try:
            solver = named(getattr(row, "solver", ""))
        except (KeyError, ValueError):
            continue
        first, comma, rest = row.version.partition(",")
        is_chosen = methods is None or solver.method in methods
        is_known = (first.rpartition("+")[2] or "unknown") in codes
        known = solver.ours and is_chosen and is_known
        yield row._replace(version=f"{solver.version}{comma}{rest}") if known else row


if __name__ == "__main__":
    main()
