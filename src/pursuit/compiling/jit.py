"""The one place that knows a compiler: Numba, where it is installed.

All functions of this package are plain Python: call them, step through them, count their lines. Those that a
compiled loop may call are marked by `compilable`, which leaves them as they are. Numba is imported, and told
about them, when a whole loop is compiled for the first time. Without it the same loops are interpreted, and
take the same steps, bit for bit.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
# Python calls the function itself, and never what is compiled in its place.
_OPTIONS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_one_at_a_time = threading.RLock()


_waiting: list[tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = []
"""What Numba has not been told about yet: functions, what chooses the code for them, and options."""
_loops: dict[Any, Callable[..., Any]] = {}
"""What is compiled in place of functions that are marked here: themselves, or loops."""


def has_compiler() -> bool:
    """Say whether loops are compiled: Numba is installed, and NUMBA_DISABLE_JIT does not switch it off."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in {"", "0"} and _is_installed()


@functools.cache
def _is_installed() -> bool:
    return importlib.util.find_spec("numba") is not None


def compilable(function: F) -> F:
    """Let compiled code call a function, which stays plain Python.

    A division by zero gives an infinity or NaN in compiled code, as with NumPy.
    """
    return _marked(function, inlined=False)


def inlined(function: F) -> F:
    """Let compiled code call a function, as `compilable` does, and take it over where it is called."""
    return _marked(function, inlined=True)


def _marked(function: F, *, inlined: bool) -> F:
    _loops.setdefault(function, function)
    replaceable(function, lambda *types: compiled_form(function), inlined=inlined)
    return function


def loop_for(function: Callable[..., Any]) -> Callable[[F], F]:
    """Return a decorator for what is compiled in place of a function, mostly a loop over entries of arrays.

    Both give the same bits.
    """

    def decorate(loop: F) -> F:
        _loops[function] = loop
        return loop

    return decorate


def compiled_form(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what is compiled in place of a function: its loop, or else the function itself."""
    return _loops.get(function, function)


def is_compilable(function: Callable[..., Any]) -> bool:
    """Say whether a function is marked here, so that `compiled_form` is what is compiled in its place."""
    return function in _loops


def replaceable(
    function: Callable[..., Any], choose: Callable[..., Callable[..., Any] | None], *, inlined: bool = False
) -> None:
    """Let compiled code call, in place of a function, what `choose` returns for its arguments' types."""
    options: dict[str, Any] = {"forceinline": True} if inlined else {"error_model": "numpy"}
    with _one_at_a_time:
        _waiting.append((function, choose, options))
        if "numba" in sys.modules:
            # A user's own jitted function may be the first one that calls it.
            _introduce_all()


def numba() -> Any:
    """Return the module Numba, which knows all functions that compiled code may call from now on."""
    with _one_at_a_time:
        import numba

        _introduce_all()
        return numba


def _introduce_all() -> None:
    """Tell Numba about the functions that are waiting for it."""
    from numba.extending import overload

    while _waiting:
        function, choose, options = _waiting.pop()
        overload(function, strict=False, jit_options=cast("Any", _OPTIONS | options))(choose)


_logger = logging.getLogger("pursuit")
_Listener = tuple[Callable[[str], None], Callable[[], None]]
_listeners: ContextVar[tuple[_Listener, ...]] = ContextVar("_listeners", default=())


@contextlib.contextmanager
def announcing(begin: Callable[[str], None], end: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Meanwhile, call `begin` with the name of each function about to be compiled, and `end` after it."""
    token = _listeners.set((*_listeners.get(), (begin, end)))
    try:
        yield
    finally:
        _listeners.reset(token)


@contextlib.contextmanager
def compilation(function: Callable[..., Any], *, expected: bool) -> Iterator[None]:
    """Say that a function is about to be compiled, if that is expected, and at the end that it has been.

    Meanwhile Python's garbage collector is off: the compiler makes millions of objects and keeps most of
    them, so collecting would take a sixth of the time and find little.
    """
    if not expected:
        yield
        return
    _logger.info("Compiling %s, which is not in the cache on disk.", function.__name__)
    listeners, was_enabled = _listeners.get(), gc.isenabled()
    for begin, _ in listeners:
        begin(function.__name__)
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
        for _, end in listeners:
            end()


def lent(record: Any) -> Any:
    """Return a record whose arrays are not counted in compiled code; whoever calls it holds them.

    Numba counts how often an array is referred to, wherever it is passed on, which takes most of the time of
    a short iteration. The arrays of a run are held by Python for as long as the run exists. So a loop works
    with views of them that belong to nobody.
    """
    return record


def _lent_form(record: Any) -> Any:
    """Return what is compiled in place of `lent` for a type: recursively, by the fields of a record."""
    types, carray = numba().types, numba().carray
    if isinstance(record, types.Array) and _is_plain(record):
        pointer_to = _pointer_to()
        return lambda record: carray(pointer_to(record.ctypes.data, record), record.shape)
    if not isinstance(record, types.BaseNamedTuple):
        return lambda record: record
    parts = ", ".join(f"lent(record.{field})" for field in record.instance_class._fields)
    names = {"make": record.instance_class, "lent": lent}
    exec(f"def lent_record(record):\n    return make({parts})", names)
    return names["lent_record"]


def _is_plain(array: Any) -> bool:
    """Say whether an array is a vector or matrix of numbers, one after the other; others are counted."""
    return array.layout == "C" and array.ndim > 0 and isinstance(array.dtype, numba().types.Number)


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


replaceable(lent, _lent_form, inlined=True)
