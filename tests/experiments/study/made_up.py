"""Results whose every number can be worked out by hand, without a run."""

import itertools
import math

import numpy as np

from pursuit.experiments.study.results import Cell, CellResults, FigureSpec, Results, RunRecord, Trace

TARGET = 1e-9
CAP = 100_000
SCHEMES = ("rp", "sarp", "cma")
READINGS = ("printed", "fitted")
PLACES = [("exp", 1e4), ("exp", 1e6), ("rosenbrock", None)]
DIMENSIONS = (5, 10)
# It would end the page's own script if it were not escaped.
TITLE = "Made up </script><script>window.broken = true</script> & small"
FIGURES = [
    FigureSpec(name="wide", caption="On exp.", rows="n", columns="L", where={"problem": ("exp",)}),
    FigureSpec(
        name="narrow", caption="On rosenbrock.", rows="n", columns="L", where={"problem": ("rosenbrock",)}
    ),
]


def length_of(cell: Cell, number: int) -> int:
    """Return the iterations of a run: proportional to n, 1 : 2 : 3, and doubled under the first reading."""
    each = {"rp": 400, "sarp": 200, "cma": 100}[cell.scheme]
    return each * cell.n * (2 if cell.reading == "printed" else 1) * (number + 1)


def run_of(cell: Cell, number: int) -> RunRecord:
    nit = length_of(cell, number)
    if diverges(cell):
        return RunRecord(number=number, nit=nit, nfev=2 * nit, fun=3.0, reason="diverged", seconds=0.5)
    nfev = (2 if cell.scheme == "sarp" else 1) * nit + 1
    return RunRecord(number=number, nit=nit, nfev=nfev, fun=5e-10, reason="target", seconds=0.25)


def diverges(cell: Cell) -> bool:
    return (cell.problem, cell.scheme, cell.reading) == ("rosenbrock", "sarp", "printed")


def trace_of(cell: Cell, number: int) -> Trace:
    """Return a straight line from 100 to the target on a logarithmic scale, or one that diverges."""
    run = run_of(cell, number)
    nit = np.unique(np.append(0, np.geomspace(1, run.nit, 1000).astype(np.int64)))
    if diverges(cell):
        fun = 3.0 * np.exp(300.0 * nit / run.nit)
        fun[-1] = math.inf
    else:
        fun = 100.0 * (run.fun / 100.0) ** (nit / run.nit)
    return Trace(nit, (nit * (run.nfev - 1)) // run.nit + 1, fun)


def made_up_results(*, places=PLACES, readings=READINGS, figures=FIGURES, seconds=1.0) -> Results:
    """Return results of 36 cells with 3 runs each, but for one that lacks two of them and one that has none.

    Parameters
    ----------
    places : sequence of tuples
        The problems with their L.
    readings : sequence of str
        The readings.
    figures : sequence of FigureSpec
        What the study declares.
    seconds : float
        What the time of each run is multiplied by.
    """
    cells = []
    for (problem, L), n, scheme, reading in itertools.product(places, DIMENSIONS, SCHEMES, readings):
        cell = Cell(problem=problem, L=L, n=n, scheme=scheme, reading=reading)
        kept = {("exp", 1e6, 10, "rp", "printed"): 1, ("exp", 1e6, 10, "rp", "fitted"): 0}.get(cell, 3)
        runs = [run_of(cell, number) for number in range(kept)]
        runs = [run._replace(seconds=run.seconds * seconds) for run in runs]
        cells.append(
            CellResults(cell=cell, target=TARGET, cap=CAP * n, wanted=3, code="c0de", runs=tuple(runs))
        )
    made = {"pursuit": "0.1.0", "date": "2014-09-13"}
    return Results(title=TITLE, cells=tuple(cells), figures=tuple(figures), trace=trace_of, made=made)
