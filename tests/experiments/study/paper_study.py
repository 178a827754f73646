"""A made-up study in which the paper is right: every claim holds, until a test changes some cells."""

import math

import numpy as np

from pursuit.experiments.study.results import Cell, CellResults, Results, RunRecord, Trace

EP_CMA = ("ep-cma-1", "ep-cma-2", "ep-cma-4", "ep-cma-sqrt", "ep-cma-n")
# The paper has no runs of the last.
SCHEMES = ("rp", "rp-exact", "sarp", "sarp-exact", "cma", *EP_CMA, "lm-cma-4")
DIMENSIONS = (20, 40, 60, 80, 100)
# Iterations divided by n, for n = 100, that make every claim true at once: of rp, sarp, cma and EP-CMA-m.
AS_THE_PAPER_SAYS = {
    ("exp", 1e4): (30_000, 3_000, 800, (9_000, 5_000, 3_000, 1_000, 900)),
    ("exp", 1e6): (900_000, 30_000, 8_000, (420_000, 90_000, 60_000, 30_000, 21_000)),
    ("lin", 1e4): (50_000, 5_000, 800, (1_000, 900, 800, 800, 800)),
    ("lin", 1e6): (480_000, 48_000, 1_000, (2_000, 1_500, 1_000, 1_000, 1_000)),
    ("two", 1e4): (150_000, 3_100, 1_200, (60_000, 40_000, 30_000, 20_000, 10_000)),
    ("two", 1e6): (1_500_000, 31_000, 12_000, (600_000, 400_000, 300_000, 200_000, 100_000)),
    ("rosenbrock", None): (70_000, 2_000, 200_000, (200_000, 200_000, 200_000, 200_000, 200_000)),
}


def iterations(cell):
    """Return the iterations of a scheme as the paper has them."""
    rp, sarp, cma, ep_cma = AS_THE_PAPER_SAYS[cell.problem, cell.L]
    at_100 = {"rp": rp, "rp-exact": rp / 2.5, "sarp": sarp, "sarp-exact": sarp / 2.5, "cma": cma}
    at_100 |= dict(zip(EP_CMA, ep_cma, strict=True))
    power = 2 if cell.scheme == "cma" or (cell.scheme in EP_CMA and cell.problem == "rosenbrock") else 1
    if cell.scheme in EP_CMA and cell.problem == "lin":
        power = 1.2
    if cell.scheme == "lm-cma-4":
        return 0.5 * iterations(cell._replace(scheme="ep-cma-4"))
    return 100 * at_100[cell.scheme] * (cell.n / 100) ** power


def study(change=lambda cell: 1, dimensions=DIMENSIONS, readings=("fitted",)):
    """Return the paper's study, with the iterations of a cell multiplied by what `change` returns.

    Instead of a factor it may return several, one per run, the reason why all runs failed, or None to leave
    the cell out.
    """
    cells = (
        Cell(problem=problem, L=L, n=n, scheme=scheme, reading=reading)
        for problem, L in AS_THE_PAPER_SAYS
        for n in dimensions
        for scheme in SCHEMES
        for reading in readings
    )
    entries = {cell: entry_of(cell, change(cell)) for cell in cells if change(cell) is not None}

    def trace(cell, number):
        run = entries[cell].runs[number]
        nit, fun = [0, run.nit], [1e4, run.fun]
        if (cell.problem, cell.scheme) == ("lin", "ep-cma-1"):
            # Once the flattest direction is learnt, it is as many times faster than rp as that is flatter.
            gap = 1 + (cell.L - 1) / (cell.n - 1)
            last = iterations(cell._replace(scheme="rp")) / gap * math.log(1 / 9e-10) / math.log(1e4 / 9e-10)
            nit, fun = [0, run.nit - round(last), run.nit], [1e4, 1.0, run.fun]
        return Trace(np.array(nit), np.array(nit), np.array(fun))

    return Results(title="made up", cells=tuple(entries.values()), figures=(), trace=trace, made={})


def entry_of(cell, change):
    cap = int(10**6.5 * cell.n)
    if isinstance(change, str):
        runs = (RunRecord(number=0, nit=cap, nfev=cap, fun=0.5, reason=change, seconds=0.0),)
    else:
        factors = change if isinstance(change, tuple) else (change,)
        counts = [round(iterations(cell) * factor) for factor in factors]
        runs = tuple(
            RunRecord(number=i, nit=count, nfev=count, fun=9e-10, reason="target", seconds=0.0)
            for i, count in enumerate(counts)
        )
    return CellResults(cell=cell, target=1e-9, cap=cap, wanted=len(runs), code="", runs=runs)


def changed(factor, **where):
    """Return a change of the cells whose fields have these values, or one of them where a tuple is given."""

    def change(cell):
        values = cell._asdict()
        return factor if all(values[name] in np.atleast_1d(wanted) for name, wanted in where.items()) else 1

    return change
