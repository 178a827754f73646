"""Under which reading the paper's claims agree best, and whether a path can replace SARP's drift.

``python -m benchmarks.readings DIR...`` reads the studies of this folder, as `pursuit reproduce` has run
them, and writes tables and figures into ``--out``. Further studies may be given: of cells that several have,
such as those of Random Pursuit in `full`, the one with the largest cap counts. A table ``runs.csv.gz``, as
this program writes it, stands for the studies that it was made from.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.readings import agreement, rates
from benchmarks.readings.measured import RunRow, measurements_in
from benchmarks.reporting import made_by
from benchmarks.runs import write_table


def main() -> None:
    """Read the studies, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, default=Path("docs/results/readings"), metavar="FOLDER")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with measurements_in(options.folders) as measurements:
        for name, make in (("claims", agreement.page), ("path", rates.page)):
            if parts := make(measurements, options.out):
                (options.out / f"{name}.md").write_text("\n\n".join([*parts, made_by("benchmarks.readings")]))
                print(options.out / f"{name}.md")
        write_table(options.out / "runs.csv.gz", RunRow._fields, measurements.runs())


if __name__ == "__main__":
    main()
