"""Arrays that compiled code borrows.

Numba counts how often an array is referred to, wherever it is passed on. The arrays of a run are held by
Python for as long as the run exists. So a loop works with views of them that belong to nobody, and that cost
nothing to pass on.
"""

from __future__ import annotations

import functools
from typing import Any

from pursuit.compiling import jit


def lent(record: Any) -> Any:
    """Return a record whose arrays are not counted in compiled code; whoever calls it holds them."""
    return record


def _choose(record: Any) -> Any:
    """Return what is compiled in place of `lent` for a type: recursively, by the fields of a record."""
    numba = jit.numba()
    if isinstance(record, numba.types.Array) and _is_plain(record):
        carray, pointer_to = numba.carray, _pointer_to()
        return lambda record: carray(pointer_to(record.ctypes.data, record), record.shape)
    if not isinstance(record, numba.types.BaseNamedTuple):
        return lambda record: record
    parts = ", ".join(f"lent(record.{field})" for field in record.instance_class._fields)
    names = {"make": record.instance_class, "lent": lent}
    exec(f"def lent_record(record):\n    return make({parts})", names)
    return names["lent_record"]


def _is_plain(array: Any) -> bool:
    """Say whether an array is a vector or matrix of numbers, one after the other; others are counted."""
    return array.layout == "C" and array.ndim > 0 and isinstance(array.dtype, jit.numba().types.Number)


@functools.cache
def _pointer_to() -> Any:
    """Return what turns an address into a pointer to numbers like those of an array."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def pointer_to(typing_context: Any, address: Any, like: Any) -> Any:
        kind = types.CPointer(like.dtype)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(kind))

        return kind(address, like), generate

    return pointer_to


jit.replaceable(lent, _choose, inlined=True)
