"""The cells of several studies by what they measured, and studies made of a choice of them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from benchmarks.runs import read_rows
from pursuit.experiments.common import StudyError
from pursuit.experiments.study import read_store
from pursuit.experiments.study.results import Cell, CellResults, KeptTraces, Results, RunRecord, Trace

FOLDER = Path(__file__).parent
# That of all studies of the readings.
_TARGET = 1e-9


class Place(NamedTuple):
    """A problem with its L and n."""

    problem: str
    L: float | None
    n: int


class Label(NamedTuple):
    """A scheme as a study names it; without a reading, it is the same under all."""

    scheme: str
    reading: str | None = None


class Setting(NamedTuple):
    """A way to read the paper: by which cells each of its schemes is represented."""

    name: str
    schemes: Mapping[str, Label]


class RunRow(NamedTuple):
    """A run, as a table of runs has it."""

    problem: str
    L: float | None
    n: int
    scheme: str
    reading: str
    cap: int
    run: int
    nit: int
    nfev: int
    reason: str


# A cell, and what returns its traces.
_Measured = tuple[CellResults, Callable[[Cell, int], Trace]]


class Measurements:
    """All cells of some studies that have runs; of cells of the same name, the one of the largest cap."""

    def __init__(self, studies: Sequence[Results]) -> None:
        self._found: dict[tuple[Label, Place], _Measured] = {}
        for results in studies:
            for entry in results.select():
                for reading in (entry.cell.reading, None):
                    key = Label(entry.cell.scheme, reading), Place(*entry.cell[:3])
                    known = self.get(*key)
                    if known is None or (entry.cap, len(entry.runs)) > (known.cap, len(known.runs)):
                        self._found[key] = entry, results.trace

    def get(self, label: Label, place: Place) -> CellResults | None:
        """Return the cell of a scheme at a place, if it was measured."""
        return self._found.get((label, place), (None,))[0]

    def places(self, scheme: str) -> list[Place]:
        """Return where schemes whose labels begin so were measured, in the order of the declarations."""
        return list(dict.fromkeys(place for label, place in self._found if label.scheme.startswith(scheme)))

    def runs(self) -> Iterator[RunRow]:
        """Return every run."""
        for (label, _), (entry, _) in self._found.items():
            if label.reading is not None:
                for run in entry.runs:
                    yield RunRow(*entry.cell, entry.cap, run.number, run.nit, run.nfev, run.reason)

    def study(self, settings: Sequence[Setting], places: Sequence[Place]) -> Results:
        """Return a study of the paper's schemes with a reading for every setting."""
        sources = {
            Cell(*place, scheme=scheme, reading=setting.name): self._found[label, place]
            for setting in settings
            for place in places
            for scheme, label in setting.schemes.items()
            if (label, place) in self._found
        }

        def trace(cell: Cell, number: int) -> Trace:
            entry, trace = sources[cell]
            return trace(entry.cell, number)

        cells = tuple(entry._replace(cell=cell) for cell, (entry, _) in sources.items())
        return Results(title="", cells=cells, figures=(), trace=trace, made={})


@contextlib.contextmanager
def measurements_in(sources: Sequence[Path]) -> Iterator[Measurements]:
    """Read studies: folders, whose stores stay open for their traces, and tables of runs, which have none."""
    with contextlib.ExitStack() as stack:
        yield Measurements(
            [
                results_of_runs(source)
                if source.is_file()
                else stack.enter_context(read_store(source)).results()
                for source in sources
            ]
        )


def results_of_runs(path: Path) -> Results:
    """Return the results that a table of runs has: how many iterations runs took, and no values."""
    runs: dict[tuple[Cell, int], list[RunRecord]] = {}
    for row in read_rows(path, RunRow):
        run = RunRecord(row.run, row.nit, row.nfev, fun=math.nan, reason=row.reason, seconds=math.nan)
        runs.setdefault((Cell(*row[:5]), row.cap), []).append(run)
    cells = tuple(
        CellResults(cell=cell, target=_TARGET, cap=cap, wanted=len(found), code="", runs=tuple(found))
        for (cell, cap), found in runs.items()
    )
    kept = KeptTraces(curves={}, rates={}, remark="")
    return Results(title="", cells=cells, figures=(), trace=_no_trace, made={}, kept=kept)


def _no_trace(cell: Cell, number: int) -> NoReturn:
    raise StudyError("A table of runs has no traces.")
