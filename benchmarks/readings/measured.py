"""The cells of several studies by what they measured, and studies made of a choice of them."""

from __future__ import annotations

import contextlib
import csv
import gzip
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from pursuit.experiments.common import StudyError
from pursuit.experiments.study import read_store
from pursuit.experiments.study.results import (
    Cell,
    CellResults,
    KeptTraces,
    Results,
    RunRecord,
    Trace,
)

# That of all studies of the readings.
_TARGET = 1e-9


class Place(NamedTuple):
    """A problem with its L and n."""

    problem: str
    L: float | None
    n: int


class Measured(NamedTuple):
    """The runs of a cell, and how to get their traces."""

    entry: CellResults
    trace: Callable[[Cell, int], Trace]


class Label(NamedTuple):
    """A scheme as a study names it; without a reading, it is the same under all."""

    scheme: str
    reading: str | None = None


class Setting(NamedTuple):
    """A way to read the paper: by which cells each of its schemes is represented."""

    name: str
    schemes: Mapping[str, Label]


class Measurements:
    """All cells of some studies that have runs; of cells of the same name, the one of the largest cap."""

    def __init__(self, studies: Sequence[Results]) -> None:
        self._found: dict[tuple[Label, Place], Measured] = {}
        for results in studies:
            for entry in results.select():
                self._add(Measured(entry, results.trace))

    def _add(self, measured: Measured) -> None:
        cell = measured.entry.cell
        for reading in (cell.reading, None):
            key = Label(cell.scheme, reading), place_of(cell)
            if key not in self._found or _extent(measured) > _extent(self._found[key]):
                self._found[key] = measured

    def get(self, label: Label, place: Place) -> CellResults | None:
        """Return the cell of a scheme at a place, if it was measured."""
        measured = self._found.get((label, place))
        return None if measured is None else measured.entry

    def entries(self) -> list[CellResults]:
        """Return all cells."""
        return [found.entry for (label, _), found in self._found.items() if label.reading is not None]

    def places(self, scheme: str) -> list[Place]:
        """Return where schemes whose labels begin so were measured, in the order of the declarations."""
        return list(dict.fromkeys(place for label, place in self._found if label.scheme.startswith(scheme)))

    def study(self, settings: Sequence[Setting], places: Sequence[Place]) -> Results:
        """Return a study of the paper's schemes with a reading for every setting."""
        sources: dict[Cell, Measured] = {}
        for setting in settings:
            for place in places:
                for scheme, label in setting.schemes.items():
                    if (label, place) in self._found:
                        cell = Cell(*place, scheme=scheme, reading=setting.name)
                        sources[cell] = self._found[label, place]

        def trace(cell: Cell, number: int) -> Trace:
            return sources[cell].trace(sources[cell].entry.cell, number)

        cells = tuple(source.entry._replace(cell=cell) for cell, source in sources.items())
        return Results(title="", cells=cells, figures=(), trace=trace, made={})


def place_of(cell: Cell) -> Place:
    """Return the problem of a cell with its L and n."""
    return Place(cell.problem, cell.L, cell.n)


def _extent(measured: Measured) -> tuple[int, int]:
    return measured.entry.cap, len(measured.entry.runs)


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
    """Return the results that a table of `runs.csv.gz` has: how many iterations runs took, and no values."""
    runs: dict[tuple[Cell, int], list[RunRecord]] = {}
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            condition = float(row["L"]) if row["L"] else None
            cell = Cell(row["problem"], condition, int(row["n"]), row["scheme"], row["reading"])
            run = RunRecord(
                number=int(row["run"]),
                nit=int(row["nit"]),
                nfev=int(row["nfev"]),
                fun=math.nan,
                reason=row["reason"],
                seconds=math.nan,
            )
            runs.setdefault((cell, int(row["cap"])), []).append(run)
    cells = tuple(
        CellResults(cell=cell, target=_TARGET, cap=cap, wanted=len(found), code="", runs=tuple(found))
        for (cell, cap), found in runs.items()
    )
    kept = KeptTraces(curves={}, rates={}, remark="")
    return Results(title="", cells=cells, figures=(), trace=_no_trace, made={}, kept=kept)


def _no_trace(cell: Cell, number: int) -> NoReturn:
    raise StudyError("A table of runs has no traces.")
