"""A method on a suite, batch by batch: what the command ``pursuit coco`` does.

A batch is written into the folder ``unfinished`` and moved when it is complete, by the one process that holds
the folder's lock. So beside ``unfinished`` there are complete batches only, whatever befalls an experiment.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, as_completed
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from pursuit.checks import checked_count
from pursuit.experiments.coco import trials
from pursuit.experiments.coco.batches import Batch, Task, batches_of, run_batch
from pursuit.experiments.coco.solvers import hash_of, solver_named
from pursuit.experiments.coco.trials import Outcome
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.executors import processes
from pursuit.experiments.common.formatting import spaced
from pursuit.experiments.study.store import held
from pursuit.methods.catalogue import DEFAULT_METHOD

SETTINGS = "experiment.json"
_UNFINISHED = "unfinished"
_THREADS = ("MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Experiment(NamedTuple):
    """Where an experiment lies, and what of it failed."""

    data: Path
    """The folder for `cocopp`."""
    failures: list[str]


def run_suite(
    suite: str = "bbob-largescale",
    method: str = DEFAULT_METHOD,
    out: str | Path | None = None,
    *,
    budget: int = 1000,
    dimensions: Sequence[int] | None = None,
    functions: Sequence[int] | None = None,
    instances: Sequence[int] | None = None,
    jobs: int | None = None,
) -> Experiment:
    """Run what is missing of a method's experiment on a suite of COCO.

    Parameters
    ----------
    suite : str
        ``"bbob"`` or ``"bbob-largescale"``.
    method : str
        A name out of `pursuit.methods()`, or ``"module:function"`` for anybody else's optimiser, which is
        called as ``function(fun, x0, sigma0=..., maxfev=..., seed=...)``.
    out : path
        The folder that keeps the experiment, ``coco/SUITE-METHOD`` if not given; what it has is not run
        again.
    budget : int
        How many evaluations a problem may take, divided by its dimension.
    dimensions, functions, instances : sequence of int
        Some of the problems alone; those of the suite if not given.
    jobs : int
        How many processes work; every core if not given.

    Examples
    --------
    >>> import tempfile
    >>> from pursuit.experiments.coco import run_suite
    >>> with tempfile.TemporaryDirectory() as out:
    ...     done = run_suite("bbob", "auto", out, budget=50, dimensions=[2], functions=[1], instances=[1, 2])
    ...     [path.name for path in done.data.iterdir()]
    ['f001_d0002']
    """
    solver = solver_named(method)
    budget = checked_count("budget", budget, at_least=1)
    batches = batches_of(suite, dimensions, functions, instances)
    folder = Path(f"coco/{suite}-{solver.name}" if out is None else out).absolute()
    # Post-processing names a method by its folder.
    data, unfinished = folder / solver.name, folder / _UNFINISHED
    settings = {
        "suite": suite,
        "method": method,
        "name": solver.name,
        "budget": budget,
        "instances": list(batches[0].instances),
        # What calls the solver makes the data what they are as well.
        "code": hash_of(trials.__file__, solver.code),
        "coco-experiment": version("coco-experiment"),
    }
    about = f"{method}, {budget} evaluations per dimension, run by pursuit {version('pursuit')}"
    jobs = jobs or os.cpu_count() or 1
    with held(folder):
        _keep_to(folder, settings)
        shutil.rmtree(unfinished, ignore_errors=True)
        data.mkdir(exist_ok=True)
        missing = [batch for batch in batches if not (data / batch.name).exists()]
        _say(f"{len(missing)} of {len(batches)} batches to do, {jobs} at a time.")
        tasks = [Task(batch, method, budget, unfinished, about) for batch in missing]
        failures = _conduct(tasks, data, jobs, len(batches))
        shutil.rmtree(unfinished, ignore_errors=True)
    return Experiment(data, failures)


def data_of(folder: Path) -> Path:
    """Return the folder with an experiment's data: that of an experiment of ours, or the folder as it is."""
    try:
        settings = json.loads((folder / SETTINGS).read_text())
    except FileNotFoundError:
        return folder
    return folder / str(settings["name"])


def _conduct(tasks: Sequence[Task], data: Path, jobs: int, wanted: int) -> list[str]:
    """Execute tasks, move what is complete, and return what failed."""
    if not tasks:
        return []
    failures = []
    done = wanted - len(tasks)
    with _one_thread_each(), processes(min(jobs, len(tasks))) as crew:
        begin = time.monotonic()
        futures = {crew.executor.submit(run_batch, task): task for task in tasks}
        for future in as_completed(futures):
            task = futures[future]
            try:
                outcomes = future.result()
            except BrokenExecutor:
                raise StudyError(
                    "A process died: is there enough memory? "
                    "What is finished is kept; the same command goes on."
                ) from None
            except Exception as error:
                failures.append(f"{task.batch}: {type(error).__name__}: {error}")
                _say(f"FAILED: {failures[-1]}.")
                continue
            (task.folder / task.batch.name).replace(data / task.batch.name)
            done += 1
            seconds = time.monotonic() - begin
            _say(f"{_told(task.batch, outcomes)} {done} of {wanted} done after {seconds:.0f} s.")
    return failures


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Have the libraries of processes that are started use one thread, unless people have chosen otherwise.

    The processes keep all cores busy. Where each has as many threads as there are cores on top, somebody's
    linear algebra takes ten times as long.
    """
    added = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _told(batch: Batch, outcomes: Sequence[Outcome]) -> str:
    solved = sum(outcome.solved for outcome in outcomes)
    runs, evaluations = sum(outcome.runs for outcome in outcomes), sum(one.evaluations for one in outcomes)
    return f"{batch}: {solved} of {len(outcomes)} solved, {runs} runs, {spaced(evaluations)} evaluations."


def _keep_to(folder: Path, settings: dict[str, Any]) -> None:
    """Write down the settings of an experiment, or see that they are those that it was begun with."""
    path = folder / SETTINGS
    if not path.exists():
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(settings, indent=2) + "\n")
        draft.replace(path)
        return
    found = json.loads(path.read_text())
    for name, setting in settings.items():
        if found.get(name) != setting:
            raise StudyError(
                f"{folder} holds an experiment with {name} {found.get(name)}, which cannot go on with "
                f"{setting}: choose another folder with --out."
            )


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
