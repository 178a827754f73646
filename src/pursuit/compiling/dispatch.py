"""Functions that pick their implementation by the type of one argument.

This is `functools.singledispatch` with one addition: the choice is also made by Numba, while it
compiles a caller. So `ask(team, scheme, state, normals)` means the same function of the same scheme
whether Python calls it or a loop that was compiled whole, and in the latter it costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
from numba.core.extending import overload


class Generic:
    """A function with one compiled implementation per class of its argument number `on`.

    The classes are `NamedTuple`s: the only records that Numba takes apart for free, that pickle, and
    that a reader knows. An implementation must be valid in Numba's nopython mode.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from pursuit.compiling.dispatch import Generic
    >>> area = Generic("area", on=0)
    >>> class Square(NamedTuple):
    ...     side: float
    >>> @area.register(Square)
    ... def _(square):
    ...     return square.side**2
    >>> area(Square(3.0))
    9.0
    """

    def __init__(self, name: str, on: int) -> None:
        self.__name__ = self.__qualname__ = name
        self.on = on
        self._implementations: dict[type, Any] = {}
        overload(self, strict=False, jit_options={"forceinline": True})(self._compile_time_choice)

    def register(self, cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that makes a function the implementation for `cls`."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            _tell_apart(cls)
            self._implementations[cls] = numba.njit(forceinline=True)(function)
            return function

        return decorate

    def handles(self, cls: type) -> bool:
        """Tell whether `cls` has an implementation."""
        return cls in self._implementations

    def source_of(self, cls: type) -> Callable[..., Any]:
        """Return the Python function that was registered for `cls`."""
        function: Callable[..., Any] = self._implementations[cls].py_func
        return function

    def __call__(self, *args: Any) -> Any:
        """Call the implementation for the class of argument number `on`."""
        return self._implementations[type(args[self.on])](*args)

    def _compile_time_choice(self, *types: Any) -> Callable[..., Any] | None:
        cls = getattr(types[self.on], "instance_class", ModuleType)
        chosen = self._implementations.get(cls)
        if chosen is None:
            return None
        return lambda *args: chosen(*args)


_named: dict[str, type] = {}


def _tell_apart(cls: type) -> None:
    """Give a class a `__name__` that no other registered class has.

    By that name alone Numba tells compiled functions of different classes apart: of two classes called
    Sphere, from two modules or from two executions of one cell of a notebook, the second would run the
    code of the first. `__qualname__`, by which classes are pickled, stays as it is.
    """
    if _named.get(cls.__name__) is cls:
        return
    name = unique = re.sub(r"\W+", "_", f"{cls.__module__}.{cls.__qualname__}")
    count = 1
    while unique in _named:
        count += 1
        unique = f"{name}_{count}"
    _named[unique] = cls
    cls.__name__ = unique
