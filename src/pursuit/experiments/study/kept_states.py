"""States of runs that a GPU has not finished, kept beside the store: a file for each batch of runs.

A state is written after every leg of a batch, by a thread of its own, so that the GPU does not wait for the
disk; if the disk is slower than the legs, the latest state counts. If a file is lost, only its runs have to
start again. So files are dropped if they cannot be read, when the code has changed, and when all runs of
their cell are done.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector
from pursuit.engine.archive import read_arrays, replacing
from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.files import remove_leftovers
from pursuit.experiments.study.grid import Key

FOLDER = "unfinished"
_PREFIX = "memory-"


class KeptState(NamedTuple):
    """The state of a batch of runs."""

    numbers: NDArray[np.int64]
    """Of its runs, within their cell."""
    seconds: Vector
    """How long each took so far."""
    memory: Mapping[str, Any]
    """What the batch needs to continue."""


class KeptStates:
    """The folder of states; a context that waits at its end until all are written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: dict[Path, KeptState] = {}
        self._failure: OSError | None = None
        self._thread = ThreadPoolExecutor(1)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise self._error(error) from None
        remove_leftovers(folder)

    def __enter__(self) -> KeptStates:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
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
        memory = {name: np.array(array) for name, array in state.memory.items()}
        copied = KeptState(state.numbers.copy(), state.seconds.copy(), memory)
        self._waiting[path] = copied
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
        state = self._waiting.pop(path, None)
        if state is None:
            # A later one was written instead.
            return
        arrays = {f"{_PREFIX}{name}": array for name, array in state.memory.items()}
        try:
            with replacing(path) as part, part.open("wb") as file:
                np.savez(file, numbers=state.numbers, seconds=state.seconds, **arrays)
        except OSError as error:
            self._failure = error


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _name(key: Key) -> str:
    """Return the beginning of the names of a cell's files, whatever code made them."""
    return _digest(key.identity, key.target, key.cap)


def _digest(*values: Any) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()[:24]
