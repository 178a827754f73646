"""Where the numbers and arrays of records lie in a GPU's memory.

A record, a `NamedTuple` of numbers, arrays and other records, lies in words of eight bytes: its image. Images
of runs are the rows of a matrix in global memory, which Python fills and reads. While a kernel runs, numbers
are in registers, and arrays are in shared memory if they are small, otherwise where the image is.

The compiler knows all places, so that every array is an address and a number to it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import from_dtype
from numba.cuda import types
from numba.cuda.extending import intrinsic
from numba.cuda.np.arrayobj import populate_array

from pursuit.compiling.gpu.errors import GpuError

Row = np.ndarray[Any, Any]
_WORD = 8
_GLOBAL = 1


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
        return -(-math.prod(self.shape) * self.dtype.itemsize // _WORD)

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


class Memory(NamedTuple):
    """Addresses that a kernel works with."""

    image: int
    """Of the image at hand."""
    run: Any
    """The run's part of shared memory, as an array."""
    block: Any
    """The block's part."""


class Space:
    """Memory that is given away piece by piece."""

    def __init__(self, begin: int = 0) -> None:
        self.words = begin

    def take(self, words: int) -> int:
        """Return where a piece of so many words begins."""
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
    return -(-array.nbytes // _WORD)


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
    raise GpuError(f"A GPU takes numbers and arrays of numbers, but {path} is of type {type(value).__name__}.")


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


# --- the same in compiled code ---------------------------------------------------------------------


class Access(NamedTuple):
    """Compiled functions that work on images of one kind."""

    read: Any
    """read(memory): the record."""
    bind: Any
    """bind(record, memory): the same record, its arrays where the compiler knows them to lie.

    What goes around a loop hides from it where an array lies, and an array never changes its place."""
    write: Any
    """write(record, memory): write the numbers of the record into the image."""


def access_to(image: Image) -> Access:
    """Return the compiled functions for images of this kind."""
    root = image.root

    @intrinsic
    def read(typingctx, memory):
        def generate(context, builder, signature, arguments):
            source = _Source(context, builder, memory, arguments[0])
            return source.build(root, None)

        return root.type(memory), generate

    @intrinsic
    def bind(typingctx, record, memory):
        def generate(context, builder, signature, arguments):
            source = _Source(context, builder, memory, arguments[1])
            return source.build(root, arguments[0])

        return root.type(root.type, memory), generate

    @intrinsic
    def write(typingctx, record, memory):
        def generate(context, builder, signature, arguments):
            source = _Source(context, builder, memory, arguments[1])
            source.store(root, arguments[0])
            return context.get_dummy_value()

        return types.none(root.type, memory), generate

    return Access(read, bind, write)


class _Source:
    """Generates the code that reads and writes parts of images."""

    def __init__(self, context: Any, builder: Any, memory_type: Any, memory: Any) -> None:
        self._context, self._builder = context, builder
        address, run, block = (builder.extract_value(memory, k) for k in range(3))
        word = ir.IntType(64)
        self._image = builder.inttoptr(address, ir.PointerType(word, addrspace=_GLOBAL))
        self._shared = {
            Where.RUN: context.make_array(memory_type.types[1])(context, builder, run).data,
            Where.BLOCK: context.make_array(memory_type.types[2])(context, builder, block).data,
        }

    def build(self, part: Any, value: Any) -> Any:
        """Return a part: its arrays from memory, its numbers from `value`, or from memory without one."""
        if isinstance(part, Record):
            built = [
                self.build(inner, None if value is None else self._builder.extract_value(value, k))
                for k, inner in enumerate(part.parts)
            ]
            return self._context.make_tuple(self._builder, part.type, built)
        if isinstance(part, Array):
            return self._array(part)
        return self._number(part) if value is None else value

    def store(self, part: Any, value: Any) -> None:
        """Write the numbers of a part."""
        if isinstance(part, Record):
            for k, inner in enumerate(part.parts):
                self.store(inner, self._builder.extract_value(value, k))
        elif isinstance(part, Number):
            if part.type == types.boolean:
                value = self._builder.zext(value, ir.IntType(64))
            pointer = self._pointer(part.offset, value.type)
            self._builder.store(value, pointer)

    def _number(self, part: Number) -> Any:
        kind = ir.DoubleType() if part.type == types.float64 else ir.IntType(64)
        value = self._builder.load(self._pointer(part.offset, kind))
        if part.type == types.boolean:
            value = self._builder.trunc(value, self._context.get_value_type(types.boolean))
        return value

    def _pointer(self, offset: int, kind: Any) -> Any:
        place = self._builder.gep(self._image, [ir.Constant(ir.IntType(64), offset)])
        return self._builder.bitcast(place, ir.PointerType(kind, addrspace=_GLOBAL))

    def _array(self, part: Array) -> Any:
        context, builder = self._context, self._builder
        array = context.make_array(part.type)(context, builder)
        kind = context.get_data_type(part.type.dtype)
        if part.where == Where.IMAGE:
            data = builder.addrspacecast(self._pointer(part.offset, kind), array.data.type)
        else:
            base = builder.gep(self._shared[part.where], [context.get_constant(types.intp, part.shared)])
            data = builder.bitcast(base, array.data.type)
        size = part.dtype.itemsize
        strides = [size * math.prod(part.shape[k + 1 :]) for k in range(len(part.shape))]
        populate_array(
            array,
            data=data,
            shape=[context.get_constant(types.intp, extent) for extent in part.shape],
            strides=[context.get_constant(types.intp, stride) for stride in strides],
            itemsize=context.get_constant(types.intp, size),
            meminfo=None,
        )
        return array._getvalue()


@intrinsic
def piece(typingctx, pool, offset, length):
    """Return `length` numbers of an array from `offset` on."""
    kind = types.Array(pool.dtype, 1, "C")

    def generate(context, builder, signature, arguments):
        source = context.make_array(signature.args[0])(context, builder, arguments[0])
        array = context.make_array(kind)(context, builder)
        size = context.get_constant(types.intp, _WORD)
        populate_array(
            array,
            data=builder.gep(source.data, [arguments[1]]),
            shape=[arguments[2]],
            strides=[size],
            itemsize=size,
            meminfo=None,
        )
        return array._getvalue()

    return kind(pool, types.intp, types.intp), generate


@intrinsic
def seen_from(typingctx, lane, arguments):
    """Return arguments as a thread sees them: every vector from the thread's first entry on.

    The places of a thread's entries then differ by numbers that the compiler knows. So it knows which of
    them are the same, and keeps in registers what one operation writes and the next one reads.
    """

    def generate(context, builder, signature, values):
        seen = []
        for k, kind in enumerate(arguments.types):
            value = builder.extract_value(values[1], k)
            if isinstance(kind, types.Array) and kind.ndim == 1:
                array = context.make_array(kind)(context, builder, value)
                array.data = builder.gep(array.data, [values[0]])
                value = array._getvalue()
            seen.append(value)
        return context.make_tuple(builder, arguments, seen)

    return arguments(types.int64, arguments), generate


def array_at(dtype: Any) -> Any:
    """Return the compiled function `(address, length)` that returns an array in global memory."""
    kind = types.Array(dtype, 1, "C")

    @intrinsic
    def at(typingctx, address, length):
        def generate(context, builder, signature, arguments):
            array = context.make_array(kind)(context, builder)
            pointer = ir.PointerType(context.get_data_type(dtype), addrspace=_GLOBAL)
            size = context.get_constant(types.intp, _WORD)
            populate_array(
                array,
                data=builder.addrspacecast(builder.inttoptr(arguments[0], pointer), array.data.type),
                shape=[arguments[1]],
                strides=[size],
                itemsize=size,
                meminfo=None,
            )
            return array._getvalue()

        return kind(types.int64, types.intp), generate

    return at


doubles_at, integers_at = array_at(types.float64), array_at(types.int64)
