"""Where the numbers and arrays of records lie in a GPU's memory.

A record, a `NamedTuple` of numbers, arrays and other records, lies in words of eight bytes: its image. Images
of runs are the rows of a matrix in global memory, which Python fills and reads. While a kernel runs, numbers
are in registers, and arrays are in shared memory if they are small, otherwise where the image is.

The compiler knows all places, so to it every array is an address and a length.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype
from numba.cuda import types

from pursuit.gpu.errors import GpuError

Row = np.ndarray[Any, Any]
WORD = 8
# The types of numbers, by the kind of their type in NumPy.
_NUMBERS = {"b": np.dtype(bool), "i": np.dtype(np.int64), "u": np.dtype(np.int64), "f": np.dtype(np.float64)}


class Where(enum.IntEnum):
    """In which memory a part of a record lies while a kernel runs; in an image they lie in this order."""

    REGISTER = 0
    """In a register: a number."""
    RUN = 1
    """In shared memory, in the part of its run."""
    BLOCK = 2
    """In shared memory, one for all runs of a block: nobody writes it."""
    IMAGE = 3
    """In its image, in global memory."""


class Part(NamedTuple):
    """A number or an array in an image."""

    offset: int
    shape: tuple[int, ...]
    """Nothing for a number."""
    dtype: np.dtype[Any]
    where: Where
    shared: int
    """Its offset in shared memory."""

    @property
    def words(self) -> int:
        """Its size."""
        return -(-math.prod(self.shape) * self.dtype.itemsize // WORD)

    @property
    def type(self) -> Any:
        """Numba's type of it."""
        kind = from_dtype(self.dtype)
        return types.Array(kind, len(self.shape), "C") if self.shape else kind

    def view(self, row: Row) -> Row:
        """Return what lies there in a row."""
        numbers = row[self.offset : self.offset + self.words].view(self.dtype)
        return numbers[: math.prod(self.shape)].reshape(self.shape)


class Record(NamedTuple):
    """A record in an image."""

    cls: type
    parts: tuple[Any, ...]

    @property
    def type(self) -> Any:
        """Numba's type of it."""
        return types.BaseTuple.from_types([part.type for part in self.parts], self.cls)


class Span(NamedTuple):
    """Words that lie side by side in an image and in shared memory."""

    image: int
    shared: int
    words: int


class Image(NamedTuple):
    """A record, and the words that it fills: numbers, then arrays by where they lie during a kernel."""

    root: Record
    words: int

    def span(self, where: Where) -> Span:
        """Return the words of what lies somewhere."""
        found = [part for part in parts_in(self.root) if part.where == where]
        return (
            Span(found[0].offset, found[0].shared, sum(part.words for part in found))
            if found
            else Span(0, 0, 0)
        )

    def write(self, record: Any, row: Row) -> None:
        """Write a record into a row."""
        values = (value for _, _, _, value in _walk(record, ""))
        for part, value in zip(parts_in(self.root), values, strict=True):
            part.view(row)[...] = value

    def read(self, row: Row) -> Any:
        """Return the record in a row; its arrays are views."""
        return _read(self.root, row)


class Space:
    """Memory that is allocated piece by piece."""

    def __init__(self) -> None:
        self.words: int = 0

    def take(self, words: int) -> int:
        """Return where a piece of this many words begins."""
        self.words += words
        return self.words - words


def image_of(record: Any, place: Callable[[Any, str, Row], tuple[Where, int]]) -> Image:
    """Return how a record lies in its image.

    Parameters
    ----------
    record : NamedTuple
        A record like all those that will lie there: arrays of the same shapes.
    place : callable
        `place(owner, name, array)` says where an array, a field of the record `owner`, lies while a kernel
        runs, and where in shared memory. Arrays of one kind must follow each other there.
    """
    parts = []
    for path, owner, name, value in _walk(record, ""):
        _check(value, path)
        if isinstance(value, np.ndarray):
            parts.append(Part(0, value.shape, value.dtype, *place(owner, name, value)))
        else:
            parts.append(Part(0, (), _NUMBERS[np.asarray(value).dtype.kind], Where.REGISTER, 0))
    space = Space()
    for k in sorted(range(len(parts)), key=lambda k: parts[k].where):
        parts[k] = parts[k]._replace(offset=space.take(parts[k].words))
    return Image(_described(record, iter(parts)), space.words)


def words_of(array: Row) -> int:
    """Return how many words an array fills."""
    return -(-array.nbytes // WORD)


def _walk(record: Any, path: str) -> Iterator[tuple[str, Any, str, Any]]:
    """Yield path, owner, name and value of all numbers and arrays of a record."""
    names = getattr(record, "_fields", tuple(map(str, range(len(record)))))
    for name, value in zip(names, record, strict=True):
        inner = f"{path}.{name}" if path else name
        if isinstance(value, tuple):
            yield from _walk(value, inner)
        else:
            yield inner, record, name, value


def _check(value: Any, path: str) -> None:
    """Reject what a GPU does not take."""
    if isinstance(value, np.ndarray):
        if value.ndim == 0 or value.dtype.hasobject or not value.flags.c_contiguous:
            raise GpuError(f"A GPU takes contiguous arrays of numbers, and {path} is not one.")
    elif not isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
        raise GpuError(
            f"A GPU takes numbers and arrays of numbers, but {path} is of type {type(value).__name__}."
        )


def _described(value: Any, parts: Iterator[Part]) -> Any:
    """Return where a record lies whose parts come in order."""
    if isinstance(value, tuple):
        return Record(type(value), tuple(_described(entry, parts) for entry in value))
    return next(parts)


def parts_in(part: Any) -> Iterator[Part]:
    """Yield all numbers and arrays of a record, in order."""
    if isinstance(part, Record):
        for inner in part.parts:
            yield from parts_in(inner)
    else:
        yield part


def _read(part: Any, row: Row) -> Any:
    if isinstance(part, Record):
        values = [_read(inner, row) for inner in part.parts]
        return part.cls(*values) if hasattr(part.cls, "_fields") else tuple(values)
    return part.view(row) if part.shape else part.view(row).item()
