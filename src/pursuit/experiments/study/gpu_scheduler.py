"""The scheduler of a study on a GPU: all missing runs at once, in legs of a few seconds.

The missing runs of a cell are a batch. After each of its legs, the runs that have ended are stored, and the
states of the others are kept beside the store, in a file for each batch: whatever ends this process, only
what was computed since then is lost. A thread of its own writes the states, so that the GPU does not wait for
the disk; if the disk is slower than the legs, the latest state counts. If a file is lost, only its runs have
to start again. So files are dropped if they cannot be read, when the code has changed, and when all runs of
their cell are done.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.engine.archive import read_arrays, replacing
from pursuit.experiments.common import StudyError
from pursuit.experiments.common.files import remove_leftovers
from pursuit.experiments.study.grid import Entry, Key, make_batch, recorded, seed_of, set_up_runs
from pursuit.experiments.study.results import DEVICES, Cell, CellResults, Trace
from pursuit.experiments.study.scheduler import Progress, RunFailure, RunGroup, run_groups
from pursuit.experiments.study.store import Store

FOLDER = "unfinished"
_PREFIX = "memory-"
# At least this many seconds lie between two states of a batch that are written to disk.
KEEP_EVERY = 1.0
# That of the Hessian at the minimiser.
_CONDITION_OF_ROSENBROCK = 3600.0


class RunBatch(NamedTuple):
    """A batch of runs of one group."""

    group: RunGroup
    batch: Any
    """What the GPU executes, a `pursuit.gpu.batch.Batch`."""
    numbers: NDArray[np.int64]
    """The numbers of its runs within their cell."""
    seconds: Vector
    """How long each of its runs took so far."""
    wanted: frozenset[int]
    """The numbers that the store lacks; a state that is older than the store may have others."""
    path: Path
    """The file of its state."""


class KeptState(NamedTuple):
    """The state of a batch of runs."""

    numbers: NDArray[np.int64]
    """Of its runs, within their cell."""
    seconds: Vector
    """How long each took so far."""
    memory: Mapping[str, Any]
    """What the batch needs to continue."""


class KeptStates:
    """The folder of states, to be closed at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: dict[Path, dict[str, Any]] = {}
        self._failure: OSError | None = None
        self._thread = ThreadPoolExecutor(1)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise self._error(error) from None
        remove_leftovers(folder)

    def close(self) -> None:
        """Wait until all are written."""
        self._thread.shutdown()
        with contextlib.suppress(OSError):
            # It stays if there is something in it.
            self._folder.rmdir()

    def path_of(self, key: Key, numbers: Sequence[int]) -> Path:
        """Return the file of a batch of a cell's runs."""
        return self._folder / f"{_name(key)}-{key.code}-{_digest(*numbers)}.npz"

    def paths_of(self, key: Key) -> list[Path]:
        """Return the files of a cell's batches, and drop those that other code has left."""
        found = sorted(self._folder.glob(f"{_name(key)}-*.npz"))
        ours = [path for path in found if path.name.startswith(f"{_name(key)}-{key.code}-")]
        for path in set(found) - set(ours):
            self.drop(path)
        return ours

    def read(self, path: Path) -> KeptState:
        """Return the state that a file holds; raise a ValueError if it is damaged."""
        try:
            arrays = read_arrays(path)
            numbers, seconds = arrays.pop("numbers"), arrays.pop("seconds")
        except Exception as error:
            # Damaged archives raise errors of many kinds.
            raise ValueError(str(error)) from None
        if numbers.dtype != np.int64 or numbers.ndim != 1 or np.unique(numbers).size != numbers.size:
            raise ValueError("its numbers of runs are not whole numbers, each once")
        if seconds.dtype != np.float64 or seconds.shape != numbers.shape or not np.all(seconds >= 0.0):
            raise ValueError("its times are not one for each run")
        return KeptState(
            numbers, seconds, {name.removeprefix(_PREFIX): array for name, array in arrays.items()}
        )

    def keep(self, path: Path, state: KeptState) -> None:
        """Have a state written; its arrays may be overwritten afterwards."""
        memory = {f"{_PREFIX}{name}": array for name, array in state.memory.items()}
        arrays = {"numbers": state.numbers, "seconds": state.seconds, **memory}
        self._waiting[path] = {name: np.array(array) for name, array in arrays.items()}
        self._thread.submit(self._write, path)
        if self._failure is not None:
            raise self._error(self._failure)

    def drop(self, path: Path) -> None:
        """Remove a file, after what is written now."""
        self._waiting.pop(path, None)
        self._thread.submit(_remove, path)

    def drop_all(self, key: Key) -> None:
        """Remove the files of a cell's batches."""
        for path in self._folder.glob(f"{_name(key)}-*.npz"):
            self.drop(path)

    def _error(self, error: OSError) -> StudyError:
        return StudyError(
            f"The states of runs cannot be written into {self._folder}: {error.strerror or error}. "
            "Finished runs are kept."
        )

    def _write(self, path: Path) -> None:
        arrays = self._waiting.pop(path, None)
        if arrays is None:
            # A later one was written instead.
            return
        try:
            with replacing(path) as part, part.open("wb") as file:
                np.savez(file, **arrays)
        except OSError as error:
            self._failure = error


def check_gpu() -> Any:
    """Return the GPU of this machine, or raise an error that says why there is none."""
    from pursuit.gpu.device import find_device
    from pursuit.gpu.errors import GpuError

    try:
        return find_device()
    except GpuError as error:
        raise StudyError(str(error)) from None


def execute_on_gpu(
    entries: Sequence[Entry], store: Store, workers: int | None, progress: Progress
) -> list[RunFailure]:
    """Execute the runs that the store lacks, and return one of each cell that cannot be compiled for a GPU.

    The seconds of a run are its share of the time in which the GPU was at work, without compiling: the time
    between two landings of legs belongs to the batch that has landed, in equal parts to its runs. So the
    seconds of all runs add up to the time that the study took, and are no measure of how long one run would
    take alone.

    Parameters
    ----------
    entries : sequence of Entry
        The study.
    store : Store
        Where finished runs are stored; the states of others are kept in a folder beside it.
    workers : int or None
        How many processes compile what the GPU executes, by default one for each core.
    progress : Progress
        Shows what happens.
    """
    from pursuit.gpu.errors import GpuError
    from pursuit.gpu.schedule import build_kernels, run_batches

    groups = run_groups(entries, store)
    with contextlib.closing(KeptStates(store.path.parent / FOLDER)) as kept:
        scheduler = _GpuScheduler(store, kept, progress)
        try:
            batches = scheduler.begin(groups)
            if batches:
                batches = scheduler.without_refused(batches, build_kernels(batches, workers=workers))
                scheduler.start_clock()
                run_batches(batches, landed=scheduler.landed, workers=workers)
        except GpuError as error:
            raise StudyError(f"{str(error).removesuffix('.')}. Finished runs are kept.") from error
        finally:
            progress.end()
    return scheduler.failures


class _GpuScheduler:
    """The batches that the GPU executes."""

    def __init__(self, store: Store, kept: KeptStates, progress: Progress) -> None:
        self._store = store
        self._kept = kept
        self._progress = progress
        self.failures: list[RunFailure] = []
        self._batches: dict[int, RunBatch] = {}
        self._kept_at: dict[int, float] = {}
        self._begun = self._clock = 0.0

    def begin(self, groups: Sequence[RunGroup]) -> list[Any]:
        """Return the batches of all missing runs that still have to be executed."""
        missing = [group for group in groups if group.missing]
        for group in groups:
            if not group.missing:
                self._kept.drop_all(group.entry.key)
        if not missing:
            return []
        self._progress.begin(groups, 1, "gpu")
        known = [entry for device in DEVICES for entry in self._store.results(device).select()]
        for group in missing:
            for one in self._batches_of(group):
                one.batch.expected = expected_iterations(group.entry, known)
                self._batches[id(one.batch)] = one
        for one in self._batches.values():
            # A process that was killed may have kept the end of a run, and not have stored the run.
            self._collect(one, np.setdiff1d(np.arange(one.numbers.size), one.batch.running))
        return [one.batch for one in self._batches.values() if one.batch.running.size]

    def without_refused(self, batches: Sequence[Any], refusals: Sequence[str | None]) -> list[Any]:
        """Return the batches that could be compiled, and report the others, whose runs are left out."""
        for batch, refusal in zip(batches, refusals, strict=True):
            one = self._batches[id(batch)]
            if refusal is not None and not one.group.given_up:
                failure = RunFailure(one.group.entry.cell, min(one.wanted), StudyError(refusal))
                self.failures.append(failure)
                self._progress.noticed(f"FAILED: {failure}")
                for _ in one.wanted:
                    one.group.give_up()
        return [batch for batch, refusal in zip(batches, refusals, strict=True) if refusal is None]

    def start_clock(self) -> None:
        """Begin to measure the time of runs."""
        self._begun = self._clock = time.perf_counter()

    def landed(self, batch: Any, ended: Sequence[int]) -> None:
        """Store the runs that have ended in a leg of a batch, and keep the states of the others."""
        one = self._batches[id(batch)]
        at_work = [*ended, *batch.running]
        now = time.perf_counter()
        one.seconds[at_work] += (now - self._clock) / len(at_work)
        self._clock = now
        self._collect(one, ended)
        if batch.running.size and now - self._kept_at.get(id(batch), self._begun) >= KEEP_EVERY:
            self._kept.keep(one.path, KeptState(one.numbers, one.seconds, batch.memory()))
            self._kept_at[id(batch)] = time.perf_counter()

    def _batches_of(self, group: RunGroup) -> Iterator[RunBatch]:
        """Yield batches of a group's missing runs: those whose states are kept, and one of all others."""
        key = group.entry.key
        wanted = frozenset(group.take() for _ in range(len(group.missing)))
        others = set(wanted)
        for path in self._kept.paths_of(key):
            found = self._resumed(group, path)
            if found is None or not others.intersection(map(int, found[1].numbers)):
                continue
            batch, state = found
            if any(int(number) >= group.wanted for number in state.numbers[batch.running]):
                # More runs were wanted when this state was kept; it can wait until they are again.
                continue
            others -= set(map(int, state.numbers))
            yield RunBatch(group, batch, state.numbers, state.seconds, wanted, path)
        if others:
            numbers = np.array(sorted(others), dtype=np.int64)
            batch = make_batch(
                group.entry.recipe, [seed_of(key.identity, number) for number in sorted(others)]
            )
            path = self._kept.path_of(key, sorted(others))
            yield RunBatch(group, batch, numbers, np.zeros(numbers.size), wanted, path)

    def _resumed(self, group: RunGroup, path: Path) -> tuple[Any, KeptState] | None:
        """Return the batch whose state a file holds; drop a file that holds none."""
        from pursuit.gpu.batch import Batch

        setup, _ = set_up_runs(group.entry.recipe)
        try:
            state = self._kept.read(path)
            batch = Batch.resumed(setup, setup.limits, state.memory)
            if batch.runs != state.numbers.size:
                raise ValueError(f"it has the states of {batch.runs} runs, not of {state.numbers.size}")
        except (ValueError, KeyError, TypeError) as error:
            self._kept.drop(path)
            self._progress.noticed(
                f"The state of {group.entry.cell} in {path} cannot be read ({str(error).removesuffix('.')}): "
                "its runs start again."
            )
            return None
        return batch, state

    def _collect(self, one: RunBatch, rows: Iterable[int]) -> None:
        """Store those runs that have ended and that the store lacks."""
        finished = []
        for row in map(int, rows):
            number = int(one.numbers[row])
            if number in one.wanted:
                outcome = one.batch.outcome(row)
                run = recorded(number, outcome, outcome.reason, one.seconds[row])
                finished.append((run, Trace.of(outcome.trace())))
        if finished:
            self._store.add((one.group.entry.key, run, trace) for run, trace in finished)
            for run, _ in finished:
                one.group.finish(run)
                self._progress.finished(one.group)
        if not one.batch.running.size:
            self._kept.drop(one.path)
        if one.group.done == one.group.wanted:
            self._kept.drop_all(one.group.entry.key)


def expected_iterations(entry: Entry, known: Sequence[CellResults]) -> float:
    """Return how many iterations the longest run of a cell may take, by which the longest begin first.

    It is that of the same scheme on the same problem in the nearest dimension that is known, taken as
    proportional to n. Where none is known, it is what theory suggests for the scheme, or the cap.
    """
    cell, cap = entry.cell, float(entry.recipe.cap)
    alike = [
        other
        for other in known
        if (other.cell.problem, other.cell.L, other.cell.scheme) == (cell.problem, cell.L, cell.scheme)
    ]
    if not alike:
        return min(cap, _rough_iterations(cell))
    nearest = min(
        alike, key=lambda other: (abs(math.log(other.cell.n / cell.n)), other.cell.reading != cell.reading)
    )
    return min(cap, max(run.nit for run in nearest.runs) * cell.n / nearest.cell.n)


def _rough_iterations(cell: Cell) -> float:
    """Return about how many iterations a scheme takes on a quadratic function with condition number L."""
    condition = cell.L or _CONDITION_OF_ROSENBROCK
    if cell.scheme.startswith("sarp"):
        return 20.0 * cell.n * math.sqrt(condition)
    if cell.scheme in ("cma", "ep-cma-n"):
        return 100.0 * cell.n**2
    return 3.0 * cell.n * condition


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _name(key: Key) -> str:
    """Return the beginning of the names of a cell's files, whatever code made them."""
    return _digest(key.identity, key.target, key.cap)


def _digest(*values: Any) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()[:24]
