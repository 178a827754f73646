"""Under which reading the paper's claims agree best, and whether a path can replace SARP's drift.

``python -m benchmarks.readings DIR...`` reads the studies of this folder, as `pursuit reproduce` has run
them, and writes tables and figures into ``--out``. Further studies may be given: of cells that several have,
such as those of Random Pursuit in `full`, the one with the largest cap counts. A table ``runs.csv.gz``, as
this program writes it, stands for the studies that it was made from.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path

from benchmarks.readings import agreement, rates
from benchmarks.readings.agreement import Judged
from benchmarks.readings.measured import Measurements, measurements_in
from benchmarks.reporting import made_by
from pursuit.experiments.common.plotting import save
from pursuit.experiments.study.results import Cell

_GROUPS = {
    "constants": ("c_p of CMA and EP-CMA-m, and c of SARP", agreement.constant_settings),
    "sarp": ("c of SARP with adaptive and with exact steps", agreement.damping_settings),
    "structure": ("Other rules for evolution paths", agreement.structure_settings),
}


def claims_page(measurements: Measurements, out: Path) -> str:
    """Return the page on the claims, and draw its figures."""
    parts = [
        "# Which reading agrees with the paper's claims",
        "A claim has several measurements, each of which agrees with the paper, does not, or is not decided. "
        "Numbers in brackets: the measurements that agree, and all that are decided under some setting. A "
        "claim holds if all of these agree. Settings are in the order of the claims that hold, and then of "
        "the mean share of measurements that agree.",
        "\n".join(f"{claim.number}. {claim.sentence}" for claim in agreement.OF_DATA),
    ]
    everything: list[Judged] = []
    for name, (title, settings) in _GROUPS.items():
        rows = agreement.judged(measurements, settings())
        if any(claim.measured for row in rows for claim in row.claims.values()):
            everything += rows
            save(agreement.agreement_figure(rows), out, name, ["png"])
            parts += [f"## {title}", f"![Settings and claims]({name}.png)", agreement.agreement_table(rows)]
    lines = [
        [row.setting, number, *claim] for row in everything for number, claim in sorted(row.claims.items())
    ]
    (out / "claims.csv").write_text(_csv(["setting", "claim", "agreeing", "decided", "measured"], lines))
    return _page(parts)


def path_page(measurements: Measurements, out: Path) -> str:
    """Return the page on EP-CMA-1 and SARP, and draw its maps; "" where neither was measured."""
    scanned = rates.quotients(measurements, scanned=True)
    if not scanned:
        return ""
    chosen = rates.candidates(scanned)
    shown = chosen | rates.specialists(scanned)
    parts = [
        "# EP-CMA-1 beside SARP",
        "Iterations of EP-CMA-1 divided by those of SARP, quotients of medians; below 1, EP-CMA-1 is faster. "
        'After ">", most runs of EP-CMA-1 ended at the cap. An iteration of SARP takes two evaluations, and '
        "one of EP-CMA-1 takes one.",
        "## The settings",
        rates.setting_table(shown),
        "## On the problems that were scanned",
        rates.candidate_table(scanned, shown, intervals=False),
    ]
    for n in sorted({place.n for row in scanned.values() for place in row}):
        save(rates.map_figure(scanned, n), out, f"path-{n}", ["png"])
        parts.append(f"![EP-CMA-1 divided by SARP, n = {n}](path-{n}.png)")
    others = rates.quotients(measurements, scanned=False)
    if others:
        parts += [
            "## On other problems",
            "The settings were chosen by the table above alone. Intervals are at 95 %.",
            rates.candidate_table(others, chosen, intervals=True),
        ]
    lines = [
        [*place, *setting, quotient.value, quotient.low, quotient.high, quotient.capped]
        for found in (scanned, others)
        for setting, row in found.items()
        for place, quotient in row.items()
    ]
    header = ["problem", "L", "n", "c_c", "c_cov", "c_p", "quotient", "low", "high", "capped"]
    _write_packed(out / "path.csv.gz", header, lines)
    return _page(parts)


def _page(parts: Sequence[str]) -> str:
    return "\n\n".join([*parts, made_by("benchmarks.readings")])


def write_runs(measurements: Measurements, path: Path) -> None:
    """Write every run, compressed, since there are many."""
    rows = [
        [*entry.cell, entry.cap, run.number, run.nit, run.nfev, run.reason]
        for entry in measurements.entries()
        for run in entry.runs
    ]
    _write_packed(path, [*Cell._fields, "cap", "run", "nit", "nfev", "reason"], rows)


def _write_packed(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    # Without the time of writing, the same rows give the same bytes.
    path.write_bytes(gzip.compress(_csv(header, rows).encode(), mtime=0))


def _csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, default=Path("docs/results/readings"), metavar="FOLDER")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with measurements_in(options.folders) as measurements:
        pages = {
            "claims": claims_page(measurements, options.out),
            "path": path_page(measurements, options.out),
        }
        write_runs(measurements, options.out / "runs.csv.gz")
    for name, page in pages.items():
        if page:
            (options.out / f"{name}.md").write_text(page)
            print(options.out / f"{name}.md")


if __name__ == "__main__":
    main()
