"""A report of a study whose traces are not all at hand: those that are, beside the runs of an earlier report.

``python -m benchmarks.complete RAW EARLIER OUT [CPU ...]`` publishes into OUT the report of the runs that the
tables in EARLIER have, as ``pursuit report RAW --publish OUT`` does where RAW has all. Runs that both have
must be equal. Traces in RAW give the curves, rates and runtime distributions of readings of which they are
complete; for a cell that RAW lacks, one run of a study in CPU serves instead, or the curve that EARLIER has.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
from collections.abc import Sequence
from pathlib import Path

from pursuit.experiments.common import StudyError
from pursuit.experiments.study import draw_report, read_store
from pursuit.experiments.study.evidence import RATED
from pursuit.experiments.study.report import analyse
from pursuit.experiments.study.report.tables import read_tables, write_tables
from pursuit.experiments.study.results import Cell, CellResults, KeptTraces, Results, RunRecord, Trace
from pursuit.experiments.study.stats import rates_of, trace_of_median, with_distributions


def completed(raw: Results, earlier: Results, spare: Sequence[Results]) -> Results:
    """Return the runs of an earlier report, with what the traces of the others say of them."""
    before = {entry.cell: entry for entry in earlier.cells}
    finished = {entry.cell: entry for entry in raw.select()}
    for cell, entry in finished.items():
        check_equal(entry, before[cell])
    whole = {cell: entry for cell, entry in finished.items() if len(entry.runs) == entry.wanted}
    curves = earlier.kept.curves if earlier.kept else {}
    kept = [
        before[cell]._replace(runs=(_run_of(curve, before[cell].target),)) for cell, curve in curves.items()
    ]
    spare = [*spare, earlier._replace(cells=tuple(kept), trace=lambda cell, _: curves[cell])]
    # Of runs elsewhere, those that have all of their traces come first.
    others = {e.cell: (one, e) for one in spare[::-1] for e in one.select() if e.cell not in whole}
    readings = [
        reading
        for reading in dict.fromkeys(cell.reading for cell in before)
        if all(cell in whole or cell in others for cell in before if cell.reading == reading)
    ]
    traced = [
        whole[cell] if cell in whole else others[cell][1]
        for cell, entry in before.items()
        if entry.runs and cell.reading in readings
    ]

    def trace(cell: Cell, number: int) -> Trace:
        return (raw if cell in whole else others[cell][0]).trace(cell, number)

    source = with_distributions(raw._replace(cells=tuple(traced), trace=trace))
    found = {
        entry.cell: rates_of(source, entry) for entry in source.select(scheme=RATED) if entry.cell in whole
    }
    rates = dict(earlier.kept.rates if earlier.kept else {})
    for cell, reading in itertools.product(before, readings):
        same = cell._replace(reading=reading)
        if same in found and before[same].runs == before[cell].runs:
            rates[cell] = found[same]
    single = [cell for cell in others if cell.reading in readings]
    remark = 'the run with the median number of iterations, or of the one named under "Made with"'
    return earlier._replace(
        made=_made(raw, earlier, readings, single),
        kept=KeptTraces(
            curves={entry.cell: trace_of_median(source, entry) for entry in traced},
            rates=rates,
            remark=remark if single else "",
        ),
        distributions=source.distributions,
    )


def _run_of(curve: Trace, target: float) -> RunRecord:
    """Return the run of which an earlier report keeps the curve."""
    best = float(curve.fun.min())
    reason = "target" if best <= target else "maxiter"
    return RunRecord(0, int(curve.nit[-1]), int(curve.nfev[-1]), best, reason, seconds=math.nan)


def check_equal(entry: CellResults, other: CellResults) -> None:
    """Raise an error if runs of the same number differ."""
    known = {run.number: (run.nit, run.nfev, run.reason) for run in other.runs}
    for run in entry.runs:
        if known.get(run.number, (run.nit, run.nfev, run.reason)) != (run.nit, run.nfev, run.reason):
            raise StudyError(f"Run {run.number} of {entry.cell} is not that of the earlier report.")


def _made(raw: Results, earlier: Results, readings: Sequence[str], single: Sequence[Cell]) -> dict[str, str]:
    others = [name for name in dict.fromkeys(e.cell.reading for e in earlier.cells) if name not in readings]
    when = ", ".join(f"{name} {earlier.made[name]}" for name in ("date", "code") if name in earlier.made)
    found = {
        f"runs under {' and '.join(others)}": f"{when}; traces were not kept, and rates are of a CPU"
        if others
        else "",
        "run 0 on a CPU": f"curves and distributions of {', '.join(map(str, single))}" if single else "",
    }
    return {**raw.made, **{name: text for name, text in found.items() if text}}


def main() -> None:
    """Publish the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("raw", "earlier", "out"):
        parser.add_argument(name, type=Path, metavar=name.upper())
    parser.add_argument("cpu", type=Path, nargs="*", metavar="CPU")
    options = parser.parse_args()
    earlier = read_tables(options.earlier / "tables")
    with contextlib.ExitStack() as stack:
        raw, *spare = (
            stack.enter_context(read_store(each)).results() for each in (options.raw, *options.cpu)
        )
        results = completed(raw, earlier, spare)
        write_tables(analyse(results), options.out / "tables", packed=True)
    draw_report(options.out)


if __name__ == "__main__":
    main()
