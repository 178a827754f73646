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


class Where(enum.IntEnum):
    """In which memory an array lies while a kernel runs."""

    IMAGE = 0
    """In its image, in global memory."""
    RUN = 1
    """In shared memory, in the part of its run."""
    BLOCK = 2
    """In shared memory, one for all runs of a block: nobody writes it."""


class Number(NamedTuple):
    """A number in an image."""

    offset: int
    type: Any

    @property
    def words(self) -> int:
        """Its size."""
        return 1


class Array(NamedTuple):
    """An array in an image."""

    offset: int
    shape: tuple[int, ...]
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
        return types.Array(from_dtype(self.dtype), len(self.shape), "C")


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
        """Return the words of the arrays that lie somewhere."""
        arrays = [array for array in arrays_in(self.root) if array.where == where]
        if not arrays:
            return Span(0, 0, 0)
        return Span(arrays[0].offset, arrays[0].shared, sum(array.words for array in arrays))

    def write(self, record: Any, row: Row) -> None:
        """Write a record into a row."""
        _write(self.root, record, row)

    def read(self, row: Row) -> Any:
        """Return the record in a row; its arrays are views."""
        return _read(self.root, row)


class Space:
    """Memory that is allocated piece by piece."""

    def __init__(self, begin: int = 0) -> None:
        self.words: int = begin

    def take(self, words: int) -> int:
        """Return where a piece of this many words begins."""
        offset = self.words
        self.words += words
        return offset


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
    arrays = {path: array for path, owner, name, array in _walk(record, "") if isinstance(array, np.ndarray)}
    places = {
        path: place(owner, name, array) for path, owner, name, array in _walk(record, "") if path in arrays
    }
    begin = sum(1 for _ in _walk(record, "")) - len(arrays)
    spaces = {}
    for where in (Where.RUN, Where.BLOCK, Where.IMAGE):
        spaces[where] = Space(begin)
        begin += sum(words_of(array) for path, array in arrays.items() if places[path][0] == where)
    numbers = Space()

    def describe(path: str, value: Any) -> Any:
        if isinstance(value, tuple):
            parts = (describe(_join(path, name), part) for name, part in _fields_of(value))
            return Record(type(value), tuple(parts))
        if isinstance(value, np.ndarray):
            where, shared = places[path]
            return Array(spaces[where].take(words_of(value)), value.shape, value.dtype, where, shared)
        return Number(numbers.take(1), _type_of_number(value, path))

    return Image(describe("", record), begin)


def words_of(array: Row) -> int:
    """Return how many words an array fills."""
    return -(-array.nbytes // WORD)


def _walk(record: Any, path: str) -> Iterator[tuple[str, Any, str, Any]]:
    """Yield path, owner, name and value of all numbers and arrays of a record."""
    for name, value in _fields_of(record):
        inner = _join(path, name)
        if isinstance(value, tuple):
            yield from _walk(value, inner)
            continue
        if isinstance(value, np.ndarray) and (value.dtype.hasobject or not value.flags.c_contiguous):
            raise GpuError(f"A GPU takes contiguous arrays of numbers, and {inner} is not one.")
        yield inner, record, name, value


def _fields_of(record: Any) -> list[tuple[str, Any]]:
    names = getattr(record, "_fields", tuple(map(str, range(len(record)))))
    return list(zip(names, record, strict=True))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _type_of_number(value: Any, path: str) -> Any:
    if isinstance(value, bool | np.bool_):
        return types.boolean
    if isinstance(value, int | np.integer):
        return types.int64
    if isinstance(value, float | np.floating):
        return types.float64
    raise GpuError(
        f"A GPU takes numbers and arrays of numbers, but {path} is of type {type(value).__name__}."
    )


def arrays_in(part: Any) -> list[Array]:
    """Return all arrays of a part."""
    if isinstance(part, Record):
        return [array for inner in part.parts for array in arrays_in(inner)]
    return [part] if isinstance(part, Array) else []


def _write(part: Any, value: Any, row: Row) -> None:
    if isinstance(part, Record):
        for inner, entry in zip(part.parts, value, strict=True):
            _write(inner, entry, row)
    elif isinstance(part, Array):
        _view(part, row)[...] = value
    elif part.type == types.float64:
        row[part.offset : part.offset + 1].view(np.float64)[0] = value
    else:
        row[part.offset] = value


def _read(part: Any, row: Row) -> Any:
    if isinstance(part, Record):
        values = [_read(inner, row) for inner in part.parts]
        return part.cls(*values) if hasattr(part.cls, "_fields") else tuple(values)
    if isinstance(part, Array):
        return _view(part, row)
    if part.type == types.float64:
        return float(row[part.offset : part.offset + 1].view(np.float64)[0])
    return bool(row[part.offset]) if part.type == types.boolean else int(row[part.offset])


def _view(part: Array, row: Row) -> Row:
    numbers = row[part.offset : part.offset + part.words].view(part.dtype)
    return numbers[: math.prod(part.shape)].reshape(part.shape)
