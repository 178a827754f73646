"""Records in a GPU's memory as compiled code sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import ir
from numba.cuda import types
from numba.cuda.extending import intrinsic

from pursuit.gpu.layout import Part, Record, Where

_GLOBAL = 1
_WORD = ir.IntType(64)


class Memory(NamedTuple):
    """Addresses that a kernel works with."""

    image: int
    """Of the image at hand."""
    run: Any
    """The run's part of shared memory, as an array."""
    block: Any
    """The block's part."""


def reading(record: Record) -> Any:
    """Return the compiled function `(memory)` that returns a record in an image."""

    @intrinsic
    def read(typingctx, memory):
        def generate(context, builder, signature, arguments):
            return _Source(context, builder, memory, arguments[0]).build(record)

        return record.type(memory), generate

    return read


def writing(record: Record) -> Any:
    """Return the compiled function `(value, memory)` that writes the numbers of a record into an image."""

    @intrinsic
    def write(typingctx, value, memory):
        def generate(context, builder, signature, arguments):
            _Source(context, builder, memory, arguments[1]).store(record, arguments[0])
            return context.get_dummy_value()

        return types.none(record.type, memory), generate

    return write


class _Source:
    """Generates the code that reads and writes parts of images."""

    def __init__(self, context: Any, builder: Any, memory_type: Any, memory: Any) -> None:
        self._context, self._builder = context, builder
        address, *shared = (builder.extract_value(memory, k) for k in range(3))
        self._image = builder.inttoptr(address, ir.PointerType(_WORD, addrspace=_GLOBAL))
        run, block = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(memory_type.types[1:], shared, strict=True)
        )
        self._shared = {Where.RUN: run, Where.BLOCK: block}

    def build(self, part: Any) -> Any:
        """Return a part."""
        if isinstance(part, Record):
            return self._context.make_tuple(self._builder, part.type, [*map(self.build, part.parts)])
        return self._array(part) if part.shape else self._number(part)

    def store(self, part: Any, value: Any) -> None:
        """Write the numbers of a part."""
        if isinstance(part, Record):
            for k, inner in enumerate(part.parts):
                self.store(inner, self._builder.extract_value(value, k))
        elif not part.shape:
            if part.type == types.boolean:
                value = self._builder.zext(value, _WORD)
            self._builder.store(value, self._pointer(part, value.type))

    def _number(self, part: Part) -> Any:
        kind = ir.DoubleType() if part.type == types.float64 else _WORD
        value = self._builder.load(self._pointer(part, kind))
        if part.type == types.boolean:
            value = self._builder.trunc(value, self._context.get_value_type(types.boolean))
        return value

    def _pointer(self, part: Part, kind: Any) -> Any:
        place = self._builder.gep(self._image, [ir.Constant(_WORD, part.offset)])
        return self._builder.bitcast(place, ir.PointerType(kind, addrspace=_GLOBAL))

    def _array(self, part: Part) -> Any:
        context, builder = self._context, self._builder
        kind = context.get_data_type(part.type.dtype)
        shape = [ir.Constant(_WORD, extent) for extent in part.shape]
        if part.where == Where.IMAGE:
            data = self._pointer(part, kind)
        else:
            base = builder.gep(self._shared[part.where], [ir.Constant(_WORD, part.shared)])
            data = builder.bitcast(base, ir.PointerType(kind))
        return _array(context, builder, part.type, data, shape)


def _array(context: Any, builder: Any, kind: Any, data: Any, shape: Sequence[Any]) -> Any:
    """Return an array of a type, whose numbers lie one after the other from a place on."""
    array = context.make_array(kind)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides: list[Any] = []
    count = ir.Constant(_WORD, 1)
    for extent in reversed(shape):
        strides.insert(0, builder.mul(count, ir.Constant(_WORD, size)))
        count = builder.mul(count, extent)
    extents = types.UniTuple(types.intp, len(shape))
    array.data = builder.addrspacecast(data, array.data.type) if data.type != array.data.type else data
    array.shape, array.strides = (context.make_tuple(builder, extents, each) for each in (shape, strides))
    array.itemsize, array.nitems = ir.Constant(_WORD, size), count
    array.meminfo, array.parent = (ir.Constant(owner.type, None) for owner in (array.meminfo, array.parent))
    return array._getvalue()


@intrinsic
def piece(typingctx: Any, pool: Any, offset: Any, length: Any) -> Any:
    """Return `length` numbers of an array from `offset` on."""
    kind = types.Array(pool.dtype, 1, "C")

    def generate(context, builder, signature, arguments):
        source = context.make_array(signature.args[0])(context, builder, arguments[0])
        return _array(context, builder, kind, builder.gep(source.data, [arguments[1]]), [arguments[2]])

    return kind(pool, types.intp, types.intp), generate


@intrinsic
def seen_from(typingctx: Any, lane: Any, arguments: Any) -> Any:
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
            pointer = ir.PointerType(context.get_data_type(dtype), addrspace=_GLOBAL)
            return _array(context, builder, kind, builder.inttoptr(arguments[0], pointer), [arguments[1]])

        return kind(types.int64, types.intp), generate

    return at


doubles_at: Any = array_at(types.float64)
integers_at: Any = array_at(types.int64)
