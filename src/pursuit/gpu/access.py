"""Records in a GPU's memory as compiled code sees them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from llvmlite import ir
from numba.cuda import types
from numba.cuda.extending import intrinsic
from numba.cuda.np.arrayobj import populate_array

from pursuit.gpu.layout import WORD, Array, Image, Number, Record, Where

_GLOBAL = 1


class Memory(NamedTuple):
    """Addresses that a kernel works with."""

    image: int
    """Of the image at hand."""
    run: Any
    """The run's part of shared memory, as an array."""
    block: Any
    """The block's part."""


class Access(NamedTuple):
    """Compiled functions that work on images of one kind."""

    read: Any
    """read(memory): the record."""
    write: Any
    """write(record, memory): write the numbers of the record into the image."""


def access_to(image: Image) -> Access:
    """Return the compiled functions for images of this kind."""
    root = image.root

    @intrinsic
    def read(typingctx, memory):
        def generate(context, builder, signature, arguments):
            source = _Source(context, builder, memory, arguments[0])
            return source.build(root)

        return root.type(memory), generate

    @intrinsic
    def write(typingctx, record, memory):
        def generate(context, builder, signature, arguments):
            source = _Source(context, builder, memory, arguments[1])
            source.store(root, arguments[0])
            return context.get_dummy_value()

        return types.none(root.type, memory), generate

    return Access(read, write)


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

    def build(self, part: Any) -> Any:
        """Return a part."""
        if isinstance(part, Record):
            return self._context.make_tuple(self._builder, part.type, [*map(self.build, part.parts)])
        return self._array(part) if isinstance(part, Array) else self._number(part)

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
def piece(typingctx: Any, pool: Any, offset: Any, length: Any) -> Any:
    """Return `length` numbers of an array from `offset` on."""
    kind = types.Array(pool.dtype, 1, "C")

    def generate(context, builder, signature, arguments):
        source = context.make_array(signature.args[0])(context, builder, arguments[0])
        array = context.make_array(kind)(context, builder)
        size = context.get_constant(types.intp, WORD)
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
            array = context.make_array(kind)(context, builder)
            pointer = ir.PointerType(context.get_data_type(dtype), addrspace=_GLOBAL)
            size = context.get_constant(types.intp, WORD)
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


doubles_at: Any = array_at(types.float64)
integers_at: Any = array_at(types.int64)
