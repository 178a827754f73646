"""What analysis, figures and report read of a study, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pursuit.engine.tally import Trace
from pursuit.experiments.common.formatting import power


class Cell(NamedTuple):
    """One entry of a study, by the names that people know it by."""

    problem: str
    L: float | None
    """None for a problem without it."""
    n: int
    scheme: str
    reading: str

    def __str__(self) -> str:
        condition = "" if self.L is None else f" L={power(self.L)}"
        return f"{self.problem}{condition} n={self.n} {self.scheme} {self.reading}"


def applies(where: Mapping[str, tuple[Any, ...]], cell: Cell) -> bool:
    """Tell whether a cell has, for each field of `where`, one of its values; without L, any L will do."""
    return all(
        getattr(cell, field) in values or (field == "L" and cell.L is None) for field, values in where.items()
    )


class Run(NamedTuple):
    """What is kept of a run beside its trace."""

    number: int
    nit: int
    nfev: int
    fun: float
    """The best value seen."""
    reason: str
    """Why it stopped, the name of a `pursuit.engine.stopping.Reason` in small letters."""
    seconds: float
    """How long it took; the only entry that another execution would change."""

    @property
    def success(self) -> bool:
        """Whether the run reached the target."""
        return self.reason == "target"


class CellResults(NamedTuple):
    """The finished runs of a cell."""

    cell: Cell
    target: float
    cap: int
    """The most iterations of a run."""
    wanted: int
    """How many runs were declared."""
    code: str
    """The hash of the code that made them."""
    runs: tuple[Run, ...]
    """In order of their numbers."""


class Figure(NamedTuple):
    """How panels, one per problem, L and n, are put together into one picture."""

    name: str
    """Also that of its files."""
    caption: str
    rows: str
    """What changes from row to row: "problem", "L" or "n"."""
    columns: str
    """What changes from column to column."""
    where: dict[str, tuple[Any, ...]]
    """The values of "problem", "L" and "n" that it shows, as in `applies`; all, where it names none."""


class Results(NamedTuple):
    """All that is known of a study."""

    title: str
    cells: tuple[CellResults, ...]
    """In the order of the declaration."""
    figures: tuple[Figure, ...]
    """As declared; `shown_figures` are what is drawn."""
    trace: Callable[[Cell, int], Trace]
    """Returns the trace of a cell's run of that number."""
    made: dict[str, str]
    """What the study was made with: versions and the like, for people."""

    def shown_figures(self) -> tuple[Figure, ...]:
        """Return the figures that are declared, or else one for each problem."""
        problems = dict.fromkeys(entry.cell.problem for entry in self.cells)
        return self.figures or tuple(
            Figure(problem, f"FVAL against #ITS on {problem}.", "n", "L", {"problem": (problem,)})
            for problem in problems
        )

    def select(self, **wanted: Sequence[Any] | Any) -> list[CellResults]:
        """Return the cells of these names, one or several for each field, that have runs.

        Examples
        --------
        >>> from pursuit.experiments.study.results import Cell, CellResults, Results, Run
        >>> run = Run(0, nit=5, nfev=6, fun=0.0, reason="target", seconds=0.1)
        >>> cells = [CellResults(Cell("exp", 1e4, n, "rp", "fitted"), 1e-9, 9, 1, "", (run,)) for n in (2, 3)]
        >>> results = Results("", tuple(cells), (), lambda cell, number: None, {})
        >>> [entry.cell.n for entry in results.select(problem="exp", n=[3, 4])]
        [3]
        """
        return [
            entry
            for entry in self.cells
            if entry.runs
            and all(_matches(getattr(entry.cell, name), value) for name, value in wanted.items())
        ]


def _matches(found: Any, wanted: Any) -> bool:
    return found in wanted if isinstance(wanted, (list, tuple, set, frozenset)) else found == wanted
