"""What the benchmarks share with the library's experiments, by the names in `pursuit.experiments.common`."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from pursuit.experiments.coco.figure import _COLOURS as COLOURS
from pursuit.experiments.study.figures.layout import in_print as print_style
from pursuit.experiments.study.figures.layout import label_powers, save
from pursuit.experiments.study.store import held as locked

__all__ = [
    "CAP",
    "COLOURS",
    "CountedFunction",
    "RunEnded",
    "label_powers",
    "locked",
    "one_thread_each",
    "print_style",
    "save",
    "write_file",
]

CAP = "cap"


class RunEnded(BaseException):
    """The run is over. It is not an `Exception`, since some solvers catch those and continue."""


class CountedFunction:
    """A function that counts its evaluations, and raises `RunEnded` at the end of the run and ever after."""

    def __init__(
        self, fun: Callable[[Any], float], maxfev: int, reason_to_end: Callable[[float], str] | None = None
    ) -> None:
        self.evaluations = 0
        self.best = math.inf
        self.status = ""
        self._fun = fun
        self._maxfev = maxfev
        self._reason_to_end = reason_to_end

    @property
    def left(self) -> int:
        """How many evaluations are left."""
        return self._maxfev - self.evaluations

    def __call__(self, x: Any) -> float:
        """Return f(x)."""
        if self.status:
            raise RunEnded
        if self.left <= 0:
            self.end(CAP)
        self.evaluations += 1
        value = self._fun(x)
        self.best = min(self.best, value)
        if self._reason_to_end is not None and (reason := self._reason_to_end(value)):
            self.end(reason)
        return value

    def end(self, status: str) -> NoReturn:
        """End the run for a reason, and raise `RunEnded`."""
        self.status = status
        raise RunEnded


def write_file(path: Path, content: str) -> None:
    """Write a file atomically, and create its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content.encode())
    part.replace(path)


@contextlib.contextmanager
def one_thread_each(*others: str) -> Iterator[None]:
    """Let the libraries in processes started meanwhile use one thread each."""
    names = ("MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    added = [name for name in (*names, "VECLIB_MAXIMUM_THREADS", *others) if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
