"""The one place that knows a compiler: Numba, where it is installed.

All functions of this package are plain Python: call them, step through them, count their lines. Those that a
compiled loop may call are marked by `compilable`, which leaves them as they are. Numba is imported, and told
about them, when a whole loop is compiled for the first time. Without it the same loops are interpreted, and
take the same steps, bit for bit.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import threading
from collections.abc import Callable
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
    function: Callable[..., Any],
    choose: Callable[..., Callable[..., Any] | None],
    *,
    inlined: bool = False,
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
