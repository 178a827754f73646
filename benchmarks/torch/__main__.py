"""Fine-tune small networks without gradients, and write the page on it.

``python -m benchmarks.torch`` makes the rows that are missing, and can be interrupted at any time; then it
writes docs/results/torch. It needs the environment of `make test-torch` with `pursuit[study]`, and torchzero.
"""

from __future__ import annotations

import argparse
import itertools
import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.runs import Table
from benchmarks.torch import page
from benchmarks.torch.page import Row
from benchmarks.torch.solvers import Solver, solvers
from benchmarks.torch.tasks import TASKS, Task

FOLDER = Path("docs/results/torch")
PASSES, SEEDS = 2000, 3
# A step with gradients costs about as much as so many forward passes.
BACKWARD = 3


def losses(task: Task, solver: Solver, seed: int) -> list[float]:
    """Return the held-out loss at four moments of a run; after it diverged, infinity."""
    step = solver.create([p for p in task.model.parameters() if p.requires_grad], seed)
    rng = torch.Generator().manual_seed(seed)
    passes, found, marks = 0, [held_out(task)], [PASSES // 4, PASSES // 2, PASSES]
    while marks:
        batch = task.batch(rng)

        def closure(batch: Any = batch) -> Tensor:
            nonlocal passes
            passes += BACKWARD if solver.backward else 1
            return task.loss(task.model, batch)

        step(closure)
        if passes >= marks[0]:
            marks.pop(0)
            found.append(held_out(task))
            if not found[-1] < 10.0 * found[0]:
                return [*found[:-1], *[math.inf] * (len(marks) + 1)]
    return found


@torch.no_grad()
def held_out(task: Task) -> float:
    return float(task.loss(task.model, task.held_out))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.torch", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--solvers", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args()
    stored = Table(options.out / page.FILE, Row)
    for seed, name, solver in itertools.product(range(options.seeds), options.tasks, solvers()):
        row = Row(name, solver.name, "" if solver.lr is None else f"{solver.lr:g}", str(seed))
        if stored.get(row) is None and (not options.solvers or solver.name in options.solvers):
            torch.manual_seed(seed)
            found = [f"{loss:.4f}" for loss in losses(TASKS[name](), solver, seed)]
            stored.add(Row(*row[:4], *found))
            print(*stored.get(row), flush=True)
    page.write(options.out, stored.rows)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
