"""The results of a study: all that statistics, figures and the report read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.experiments.common.formatting import power

DEVICES = ("cpu", "gpu")
"""What executes the runs of a study."""


class Cell(NamedTuple):
    """A problem, its L and n, a scheme and a reading of the paper, by the names that the study gives them."""

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
    """Return whether a cell has one of the values of each field of `where`; without L, it has every L."""
    return all(
        getattr(cell, field) in values or (field == "L" and cell.L is None) for field, values in where.items()
    )


class Trace(NamedTuple):
    """What a study keeps of the course of a run, at selected iterations."""

    nit: NDArray[np.int64]
    nfev: NDArray[np.int64]
    fun: NDArray[np.float64]
    """The value of the latest iterate."""

    @classmethod
    def of(cls, trace: Any) -> Trace:
        """Return what a study keeps of the trace of a run."""
        return cls(trace.nit, trace.nfev, trace.fun)


class RunRecord(NamedTuple):
    """A finished run, without its trace."""

    number: int
    nit: int
    nfev: int
    fun: float
    """The best value seen."""
    reason: str
    """Why it stopped: the name of a `pursuit.engine.stopping.Reason` in lower case."""
    seconds: float
    """How long it took, the only field that changes when a run is repeated."""

    @property
    def success(self) -> bool:
        """Whether the run reached the target."""
        return self.reason == "target"


class CellResults(NamedTuple):
    """The finished runs of a cell."""

    cell: Cell
    target: float
    cap: int
    """The maximum number of iterations of a run."""
    wanted: int
    """How many runs were declared."""
    code: str
    """The hash of the code that made them."""
    runs: tuple[RunRecord, ...]
    """In the order of their numbers."""

    @property
    def seconds(self) -> float:
        """How long its runs took together."""
        return sum(run.seconds for run in self.runs)

    @property
    def diverges(self) -> bool:
        """Whether most runs diverged: more iterations would not have helped."""
        return 2 * sum(run.reason == "diverged" for run in self.runs) > len(self.runs)


class FigureSpec(NamedTuple):
    """Which panels, one for each problem, L and n, a figure shows, and how it arranges them."""

    name: str
    """Also that of its files."""
    caption: str
    rows: str
    """What changes from row to row: "problem", "L" or "n"."""
    columns: str
    """What changes from column to column."""
    where: dict[str, tuple[Any, ...]]
    """The values of "problem", "L" and "n" that it shows, as in `applies`; by default all."""
    without: tuple[str, ...] = ()
    """Schemes that it leaves out."""

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> FigureSpec:
        """Return a figure that was kept as JSON, which has lists instead of tuples."""
        where = {field: tuple(values) for field, values in content["where"].items()}
        return cls(**{**content, "where": where, "without": tuple(content.get("without", ()))})


class Distribution(NamedTuple):
    """The runtime distribution of a scheme over its cells."""

    scheme: str
    budgets: NDArray[np.float64]
    """Iterations or evaluations divided by n."""
    shares: NDArray[np.float64]
    """Which share of runs and targets is reached within each."""


class KeptTraces(NamedTuple):
    """What the tables of a report keep of the traces of its runs."""

    curves: Mapping[Cell, Trace]
    """Of one run of a cell, thinned."""
    rates: Mapping[Cell, tuple[float, ...]]
    """Of the runs of a cell, as `convergence_rate` takes them."""
    remark: str
    """Which runs these are, for readers."""


class Results(NamedTuple):
    """All results of a study."""

    title: str
    cells: tuple[CellResults, ...]
    """In the order of the declaration."""
    figures: tuple[FigureSpec, ...]
    """As declared; `shown_figures` returns those to draw."""
    trace: Callable[[Cell, int], Trace]
    """Returns the trace of a cell's run of that number."""
    made: dict[str, str]
    """Versions, date and machine, for readers."""
    judges_claims: bool = True
    """Whether it is the paper's study, by which its claims are judged."""
    kept: KeptTraces | None = None
    """What is left of the traces where `trace` has none, as in the tables of a report."""
    distributions: Mapping[tuple[str, int, str], Sequence[Distribution]] | None = None
    """The runtime distributions of each reading, n and measure, if they are known already."""

    @property
    def names_readings(self) -> bool:
        """Whether readers are told the reading of a cell: it says nothing where there is only one.

        What is said of the paper depends on how it is read.
        """
        return self.judges_claims or len({entry.cell.reading for entry in self.cells}) > 1

    @property
    def usual_measure(self) -> str:
        """What runs are compared by unless something else is asked for.

        The paper counts iterations; other methods may spend many evaluations on one.
        """
        return "iterations" if self.judges_claims else "evaluations"

    def name_of(self, cell: Cell) -> str:
        """Return the name of a cell for readers."""
        name = str(cell)
        return name if self.names_readings else name.removesuffix(f" {cell.reading}")

    def shown_figures(self) -> tuple[FigureSpec, ...]:
        """Return the declared figures or, if there are none, one for each problem."""
        problems = dict.fromkeys(entry.cell.problem for entry in self.cells)
        return self.figures or tuple(
            FigureSpec(
                problem, f"The problem {problem}.", rows="n", columns="L", where={"problem": (problem,)}
            )
            for problem in problems
        )

    def select(self, **wanted: Sequence[Any] | Any) -> list[CellResults]:
        """Return the cells that have runs and, for each given field, this value or one of these values.

        Examples
        --------
        >>> from pursuit.experiments.study.results import Cell, CellResults, Results, RunRecord
        >>> run = RunRecord(number=0, nit=5, nfev=6, fun=0.0, reason="target", seconds=0.1)
        >>> cells = [Cell(problem="exp", L=1e4, n=n, scheme="rp", reading="fitted") for n in (2, 3)]
        >>> found = [
        ...     CellResults(cell=cell, target=1e-9, cap=9, wanted=1, code="", runs=(run,)) for cell in cells
        ... ]
        >>> results = Results(title="", cells=tuple(found), figures=(), trace=lambda *_: None, made={})
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
