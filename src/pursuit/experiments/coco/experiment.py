"""A method on a suite, batch by batch: what the command ``pursuit coco`` does.

A batch is written into the folder ``unfinished`` and moved to the data when it is complete. A lock keeps
other processes out of the folder. So the data consist of complete batches only, however an experiment ends.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import BrokenExecutor, as_completed
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from pursuit.checks import checked_count
from pursuit.engine import counting
from pursuit.experiments.coco import solvers
from pursuit.experiments.common import StudyError
from pursuit.experiments.common.executors import one_thread_each, processes
from pursuit.experiments.common.files import locked, write_file
from pursuit.experiments.common.formatting import spaced
from pursuit.methods.catalogue import DEFAULT_METHOD

SUITES = ("bbob", "bbob-largescale", "bbob-noisy", solvers.BOXED, solvers.CONSTRAINED)
"""The suites with a single objective and continuous variables."""
# COCO counts the functions of a suite from 1.
_BEFORE = {"bbob-noisy": 100}


class ProblemBatch(NamedTuple):
    """The instances of a function in one dimension."""

    suite: str
    function: int
    dimension: int
    instances: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"f{self.function:03}_d{self.dimension:04}"

    def __str__(self) -> str:
        return f"f{self.function} in {self.dimension} dimensions"


def batches_of(
    suite: str,
    dimensions: Sequence[int] | None,
    functions: Sequence[int] | None,
    instances: Sequence[int] | None,
) -> list[ProblemBatch]:
    """Return the selected batches of a suite, those that take longest first; None selects all."""
    if suite not in SUITES:
        raise StudyError(f"A suite is one of {', '.join(SUITES)}, but {suite!r} was given.")
    # One instance has all dimensions and functions, and one dimension has all instances.
    whole = _ids(suite, "instances: 1", "")
    known_functions, _, known_dimensions = (sorted(set(numbers)) for numbers in zip(*whole, strict=True))
    chosen_dimensions = _chosen("dimensions", dimensions, known_dimensions)
    chosen_functions = _chosen("functions", functions, known_functions)
    if instances is None:
        instances = [triple[1] for triple in _ids(suite, "", f"dimensions: {known_dimensions[0]}")]
    elif any(instance < 1 for instance in instances):
        raise StudyError(f"The instances of {suite} are numbered from 1, but 0 was given.")
    return [
        ProblemBatch(suite, function, dimension, tuple(sorted(set(instances))))
        for dimension in sorted(chosen_dimensions, reverse=True)
        for function in sorted(chosen_functions)
    ]


def run_batch(
    batch: ProblemBatch, method: str, budget: int, folder: Path, about: str
) -> list[solvers.TrialResult]:
    """Run a batch, in any process, and return the results of its trials.

    Each may take `budget` evaluations per dimension. Data are written into a folder of the batch's name in
    `folder`, with a description of the solver.
    """
    cocoex, solver = _cocoex(), solvers.solver_named(method)
    suite = cocoex.Suite(
        batch.suite,
        f"instances: {_listed(batch.instances)}",
        f"dimensions: {batch.dimension} function_indices: {batch.function - _BEFORE.get(batch.suite, 0)}",
    )
    observer = cocoex.Observer(
        # All suites of single objectives have the same observer.
        "bbob",
        f'outer_folder: "{folder}" result_folder: {batch.name} '
        f'algorithm_name: {solver.name} algorithm_info: "{about}"',
    )
    if Path(observer.result_folder) != folder / batch.name:
        raise StudyError(f"COCO wrote to {observer.result_folder} instead of {folder / batch.name}")
    settings: Any = {"suite": batch.suite, "solve": solver.solve, "budget": budget * batch.dimension}
    results = []
    for number in range(len(suite)):
        problem = suite.get_problem(number, observer)
        try:
            results.append(solvers.run_trial(problem, observer, **settings))
        finally:
            problem.free()
    return results


def _ids(suite: str, instances: str, options: str) -> list[tuple[int, ...]]:
    """Return function, instance and dimension of each problem in a part of a suite."""
    found = (
        re.search(r"_f(\d+)_i(\d+)_d(\d+)$", text)
        for text in _cocoex().Suite(suite, instances, options).ids()
    )
    return [tuple(map(int, match.groups())) for match in found if match]


def _chosen(what: str, wanted: Iterable[int] | None, known: Collection[int]) -> Collection[int]:
    """Return the numbers that are wanted, if all are known. COCO would silently leave out the others."""
    if wanted is None:
        return known
    chosen = set(wanted)
    unknown = chosen.difference(known)
    if unknown:
        raise StudyError(
            f"The suite has the {what} {_listed(known)}, but {_listed(sorted(unknown))} was given."
        )
    return chosen


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _cocoex() -> Any:
    """Return COCO's module of experiments, set to print warnings and errors only."""
    import cocoex

    cocoex.log_level("warning")
    return cocoex


# --- a method on all batches ----------------------------------------------------------------------


SETTINGS = "experiment.json"
_UNFINISHED = "unfinished"


class Experiment(NamedTuple):
    """The data of an experiment, and the batches that failed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from pursuit.experiments.coco import Experiment
    >>> Experiment(data=Path("coco/bbob-auto/auto"), failures=[]).data.name
    'auto'
    """

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
    """Run a method on a COCO suite, except for batches that are finished already.

    Parameters
    ----------
    suite : str
        ``"bbob"``, ``"bbob-largescale"``, ``"bbob-noisy"``, ``"bbob-boxed"`` or ``"bbob-constrained"``.
    method : str
        A name from `pursuit.list_methods()`, or ``"module:function"`` for any other optimiser, called
        as ``function(fun, x0, sigma0=..., maxfev=..., seed=...)``, on ``bbob-boxed`` with ``bounds`` and on
        ``bbob-constrained`` with ``constraint``.
    out : path
        The folder of the experiment, by default ``coco/SUITE-METHOD``. Batches that it has are not run again.
    budget : int
        The number of evaluations of each problem, divided by its dimension.
    dimensions, functions, instances : sequence of int
        The problems to run, by default all of the suite.
    jobs : int
        The number of processes, by default one per core.

    Returns
    -------
    Experiment
        The folder with the data, and what failed.

    Examples
    --------
    >>> import tempfile
    >>> from pursuit.experiments.coco import run_suite
    >>> with tempfile.TemporaryDirectory() as out:
    ...     done = run_suite("bbob", "rp", out, budget=50, dimensions=[2], functions=[1], instances=[1, 2])
    ...     [path.name for path in done.data.iterdir()]
    ['f001_d0002']
    """
    solver = solvers.solver_named(method)
    budget = checked_count("budget", budget, at_least=1)
    batches = batches_of(suite, dimensions, functions, instances)
    folder = Path(f"coco/{suite}-{solver.name}" if out is None else out).absolute()
    with locked(folder):
        _check_settings(folder, _settings(method, solver, budget, batches))
        return _run_missing(batches, method, budget, folder / solver.name, jobs or os.cpu_count() or 1)


def data_of(folder: Path) -> Path:
    """Return where the data in a folder are: in one inside it if `run_suite` made them, else in itself."""
    settings = _stored_settings(folder)
    return folder if settings is None else folder / str(settings["name"])


def _stored_settings(folder: Path) -> dict[str, Any] | None:
    """Return the settings of the experiment in a folder; None if there is none."""
    path = folder / SETTINGS
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StudyError(f"{path} cannot be read: {error}.") from None
    if not isinstance(found, dict) or "name" not in found:
        raise StudyError(f"{path} is damaged: it does not hold the settings of an experiment.")
    return found


def _settings(
    method: str, solver: solvers.Solver, budget: int, batches: Sequence[ProblemBatch]
) -> dict[str, str | int | list[int]]:
    """Return what all batches of an experiment have in common."""
    return {
        "suite": batches[0].suite,
        "method": method,
        "name": solver.name,
        "budget": budget,
        "instances": list(batches[0].instances),
        # The data depend on the code that calls the solver, too.
        "code": solvers.hash_of(solvers.__file__, solvers.hash_of(counting.__file__, solver.code)),
        "coco-experiment": version("coco-experiment"),
    }


def _check_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Write the settings of a new experiment; raise if those of an older one differ."""
    found = _stored_settings(folder)
    if found is None:
        write_file(folder / SETTINGS, json.dumps(settings, indent=2) + "\n")
        return
    for name, setting in settings.items():
        if found.get(name) != setting:
            raise StudyError(
                f"{folder} holds an experiment with {name} {found.get(name)}, which cannot be continued "
                f"with {setting}: choose another folder with --out."
            )


def _run_missing(
    batches: Sequence[ProblemBatch], method: str, budget: int, data: Path, jobs: int
) -> Experiment:
    # Post-processing takes the name of a method from the folder of its data.
    unfinished = data.parent / _UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    data.mkdir(exist_ok=True)
    missing = [batch for batch in batches if not (data / batch.name).exists()]
    _say(f"{len(missing)} of {len(batches)} batches to do, {jobs} at a time.")
    about = f"{method}, {budget} evaluations per dimension, run by pursuit {version('pursuit')}"
    run = functools.partial(run_batch, method=method, budget=budget, folder=unfinished, about=about)
    failures = _execute(run, missing, data, jobs, len(batches)) if missing else []
    shutil.rmtree(unfinished, ignore_errors=True)
    return Experiment(data, failures)


def _execute(
    run: Callable[[ProblemBatch], Any], batches: Sequence[ProblemBatch], data: Path, jobs: int, wanted: int
) -> list[str]:
    """Run batches, move those that are complete to the data, and return what failed."""
    failures = []
    done = wanted - len(batches)
    with one_thread_each(), processes(min(jobs, len(batches))) as pool:
        begin = time.monotonic()
        futures = {pool.executor.submit(run, batch): batch for batch in batches}
        for future in as_completed(futures):
            batch = futures[future]
            try:
                results = future.result()
            except BrokenExecutor:
                raise StudyError(
                    "A process died: it may have run out of memory. "
                    "Finished batches are kept; run the same command to continue."
                ) from None
            except Exception as error:
                failures.append(f"{batch}: {type(error).__name__}: {error}")
                _say(f"FAILED: {failures[-1]}.")
                continue
            (data.parent / _UNFINISHED / batch.name).replace(data / batch.name)
            done += 1
            seconds = time.monotonic() - begin
            _say(f"{_summary(batch, results)} {done} of {wanted} done after {seconds:.0f} s.")
    return failures


def _summary(batch: ProblemBatch, results: Sequence[solvers.TrialResult]) -> str:
    solved, runs = sum(result.solved for result in results), sum(result.runs for result in results)
    evaluations = spaced(sum(result.evaluations for result in results))
    return f"{batch}: {solved} of {len(results)} solved, {runs} runs, {evaluations} evaluations."


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
