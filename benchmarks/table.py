"""Iterations to f <= 1e-9 of every scheme, beside those of an independent prototype.

``python -m benchmarks.table`` measures every entry of `prototype.csv`; with ``--quick`` it compares all ten
schemes in 20 dimensions. Both write a table, the raw runs and a picture into the folder ``--out``.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np

import pursuit
from benchmarks.reporting import made_by, spaced, table
from pursuit.stopping import Reason

TARGET = 1e-9
CAP = 10**6.5
PROBLEMS = ("exp", "lin", "two", "rosenbrock")
PROTOTYPE = Path(__file__).with_name("prototype.csv")


class Cell(NamedTuple):
    """One entry of the table: a method on a problem."""

    method: str
    reading: str
    problem: str
    n: int
    L: float = 1e4


class Run(NamedTuple):
    """What is kept of a run."""

    cell: Cell
    number: int
    nit: int
    nfev: int
    fun: float
    reason: str
    trace_nit: np.ndarray
    trace_fun: np.ndarray


def make_problem(cell: Cell) -> pursuit.problems.Problem:
    if cell.problem == "rosenbrock":
        return pursuit.problems.rosenbrock(cell.n)
    problem: pursuit.problems.Problem = getattr(pursuit.problems, cell.problem)(cell.n, cell.L)
    return problem


def run_cell(cell: Cell, runs: int) -> list[Run]:
    """Run one cell; every run's generator is seeded by the cell and the run's number alone."""
    problem = make_problem(cell)
    done = []
    for index in range(runs):
        seed = np.random.SeedSequence(list(f"{cell} {index}".encode()))
        result = pursuit.minimize(
            problem,
            problem.x0,
            method=cell.method,
            rng=seed,
            ftarget=TARGET,
            maxiter=int(CAP * cell.n),
            options={"reading": cell.reading},
            trace=True,
        )
        done.append(
            Run(
                cell,
                index,
                result.nit,
                result.nfev,
                result.fun,
                Reason(result.status).name.lower(),
                result.trace.nit,
                result.trace.fun,
            )
        )
    return done


def run_cells(cells: Sequence[Cell], runs: Sequence[int], jobs: int) -> dict[Cell, list[Run]]:
    """Run all cells in parallel, each so many times, those that take longest first."""
    # The time of a run grows with n, with the memory, and most where the path is forgotten.
    ranks = ("ep-cma-n", "rp", "ep-cma-1", "ep-cma-4", "rp-exact")

    def position(job: tuple[Cell, int]) -> tuple[int, int]:
        return -job[0].n, ranks.index(job[0].method) if job[0].method in ranks else len(ranks)

    results = {}
    with ProcessPoolExecutor(jobs) as pool:
        for done in pool.map(
            run_cell, *zip(*sorted(zip(cells, runs, strict=True), key=position), strict=True)
        ):
            results[done[0].cell] = done
            print(f"{' '.join(map(str, done[0].cell)):42} {summary(done)}", flush=True)
    return {cell: results[cell] for cell in cells}


def summary(runs: Sequence[Run]) -> str:
    """Return the median of #ITS/n, or how the runs that count for it failed."""
    reasons = {run.reason for run in runs}
    if reasons == {"target"}:
        return spaced(round(median_of(runs)))
    failed = sum(run.reason != "target" for run in runs)
    names = " or ".join(sorted(reasons - {"target"}))
    return names if failed == len(runs) else f"{failed} of {len(runs)} {names}"


def median_of(runs: Sequence[Run]) -> float:
    return statistics.median(run.nit for run in runs) / runs[0].cell.n


def read_prototype() -> dict[Cell, str]:
    with PROTOTYPE.open() as file:
        return {
            Cell(row["method"], row["reading"], row["problem"], int(row["n"])): row["its_per_n"]
            for row in csv.DictReader(file)
        }


def agreement(runs: Sequence[Run], expected: str) -> str:
    """Return ours divided by the prototype's, or whether both diverge."""
    if expected == "diverges":
        return "both diverge" if all(run.reason == "diverged" for run in runs) else "differs"
    if any(run.reason != "target" for run in runs):
        return "differs"
    return f"{median_of(runs) / float(expected):.2f}"


def comparison(results: dict[Cell, list[Run]]) -> str:
    """Return every entry beside the prototype's."""
    prototype = read_prototype()
    keys = dict.fromkeys((cell.method, cell.reading, cell.n) for cell in results)
    rows = []
    for method, reading, n in keys:
        row = [method, reading, str(n)]
        for problem in PROBLEMS:
            cell = Cell(method, reading, problem, n)
            if cell not in results:
                row.append("")
            elif cell in prototype:
                row.append(f"{summary(results[cell])} ({agreement(results[cell], prototype[cell])})")
            else:
                row.append(summary(results[cell]))
        rows.append(row)
    return table(["method", "reading", "n", *PROBLEMS], rows)


def write_runs(path: Path, results: dict[Cell, list[Run]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["method", "reading", "problem", "n", "L", "run", "nit", "nfev", "fun", "reason"])
        for runs in results.values():
            for run in runs:
                writer.writerow([*run.cell, run.number, run.nit, run.nfev, f"{run.fun:.6e}", run.reason])


def draw(path: Path, results: dict[Cell, list[Run]], n: int, reading: str) -> None:
    """Draw f against #ITS/n, for each scheme the run that realises the median."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    colours = dict(zip(pursuit.methods(), plt.get_cmap("tab10").colors, strict=True))  # type: ignore[attr-defined]
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.5), sharey=True, layout="constrained")
    for axis, problem in zip(axes.flat, PROBLEMS, strict=True):
        for method in pursuit.methods():
            runs = sorted(results.get(Cell(method, reading, problem, n), []), key=lambda run: run.nit)
            if not runs:
                continue
            middle = runs[len(runs) // 2]
            style = "--" if method.endswith("-exact") else "-"
            its = np.maximum(middle.trace_nit, 1) / n
            axis.loglog(its, np.maximum(middle.trace_fun, TARGET), style, color=colours[method], label=method)
        axis.set(title=problem, xlabel="iterations / n", xlim=(1, None), ylim=(TARGET, None))
        axis.grid(alpha=0.3)
    for axis in axes[:, 0]:
        axis.set_ylabel("f")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper")
    figure.suptitle(
        f"f against iterations, n = {n}, L = 1e4, reading {reading}: the median run of each scheme"
    )
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="all ten schemes, n = 20, one reading")
    parser.add_argument("--n", type=int, nargs="+", default=[20, 100], help="dimensions of the whole table")
    parser.add_argument("--runs", type=int, help="11, or 51 for n = 20 in the whole table")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    reading = "fitted" if options.quick else "frozen"
    everything = [Cell(method, reading, problem, 20) for method in pursuit.methods() for problem in PROBLEMS]
    if not options.quick:
        chosen = [cell for cell in read_prototype() if cell.n in options.n]
        everything = list(dict.fromkeys([*chosen, *everything]))
    # EP-CMA-sqrt is EP-CMA-4 for n = 20: one run serves both.
    cells = [cell for cell in everything if cell.method != "ep-cma-sqrt"]
    # Medians of 11 runs of the noisier schemes scatter by 15 %: the whole table takes 51 where that is cheap.
    runs = [options.runs or (51 if cell.n == 20 and not options.quick else 11) for cell in cells]
    results = run_cells(cells, runs, options.jobs)
    minutes = (time.perf_counter() - begin) / 60
    text = (
        f"# Iterations to f <= {TARGET:g}, divided by n\n\n"
        f"Medians of {' or '.join(map(str, sorted(set(runs))))} runs (see `runs.csv`), L = 1e4; "
        "in brackets ours divided by an independent prototype's "
        "(`benchmarks/prototype.csv`).\n"
        "EP-CMA-sqrt is EP-CMA-4 for n = 20. SARP knows the condition number.\n\n"
        f"{comparison(results)}\n\nIt took {minutes:.1f} minutes.\n"
        f"{made_by('benchmarks.table' + (' --quick' if options.quick else ''))}"
    )
    (options.out / "table.md").write_text(text)
    write_runs(options.out / "runs.csv", results)
    draw(options.out / "convergence.png", results, 20, reading)
    print(f"\n{text}\nTable, runs and picture are in {options.out}/.")


if __name__ == "__main__":
    main()
