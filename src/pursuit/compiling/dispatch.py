"""Functions that choose their implementation by the type of one argument.

This is `functools.singledispatch` with one addition: a compiler makes the same choice while it compiles a
caller. So `ask(team, scheme, ...)` is the same function of the same scheme whether Python calls it or a
compiled loop, and inside the loop the choice costs nothing. Implementations are plain Python.
"""

from __future__ import annotations

import collections
import functools
import inspect
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from pursuit.compiling.jit import compiled_form, is_compilable, replaceable

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
F = TypeVar("F", bound=Callable[..., Any])


class GenericFunction(Protocol[P, R_co]):
    """A function made by `generic`."""

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the implementation for the class of the argument that decides."""

    def register(self, cls: type) -> Callable[[F], F]:
        """Return a decorator that makes a function the implementation for `cls`."""

    def handles(self, cls: type) -> bool:
        """Say whether `cls` has an implementation of its own."""


_generic_functions: dict[Any, dict[type, Any]] = {}
"""The implementations of every generic function, by class."""


def generic(on: str, *, default: bool = False) -> Callable[[Callable[P, R_co]], GenericFunction[P, R_co]]:
    """Declare a function with one implementation for each class of one argument.

    The classes are `NamedTuple`s: records that Numba takes apart at no cost, that pickle, and that every
    reader knows. Where Numba is to compile it, an implementation must be valid in its nopython mode. The
    function returned has the signature and the docstring of the declaration, and the methods of
    `GenericFunction`.

    Parameters
    ----------
    on : str
        The name of the parameter whose class decides.
    default : bool
        Whether the function declared is the implementation for all classes without one of their own.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from pursuit.compiling.dispatch import generic
    >>> @generic(on="shape")
    ... def area(shape):
    ...     '''Return the area of a shape.'''
    >>> class Square(NamedTuple):
    ...     side: float
    >>> @area.register(Square)
    ... def _(square):
    ...     return square.side**2
    >>> area(Square(3.0))
    9.0
    """

    def declare(declared: Callable[P, R_co]) -> GenericFunction[P, R_co]:
        position = list(inspect.signature(declared).parameters).index(on)
        implementations: dict[type, Any] = {}
        fallback = declared if default else None

        @functools.wraps(declared)
        def function(*args: Any) -> Any:
            cls = type(args[position])
            implementation = implementations.get(cls, fallback)
            if implementation is None:
                raise TypeError(f"{declared.__name__} is not implemented for the class {cls.__qualname__}.")
            return implementation(*args)

        def choose(*types: Any) -> Callable[..., Any] | None:
            cls = getattr(types[position], "instance_class", ModuleType)
            chosen = implementations.get(cls, fallback)
            return None if chosen is None else compiled_form(chosen)

        def register(cls: type) -> Callable[[F], F]:
            def decorate(implementation: F) -> F:
                _make_name_unique(cls)
                implementations[cls] = implementation
                return implementation

            return decorate

        replaceable(function, choose, inlined=True)
        function.register = register  # type: ignore[attr-defined]
        function.handles = implementations.__contains__  # type: ignore[attr-defined]
        _generic_functions[function] = implementations
        return cast("GenericFunction[P, R_co]", function)

    return declare


def implementations_of(cls: type) -> list[Callable[..., Any]]:
    """Return the functions registered for a class, for all generic functions."""
    return [found[cls] for found in _generic_functions.values() if cls in found]


def implementation_for(function: Any, cls: type) -> Any:
    """Return the implementation of a generic function that is registered for a class."""
    return _generic_functions[function][cls]


def forms_of(function: Any) -> list[Callable[..., Any]]:
    """Return all that may be compiled in place of a function; nothing if that is unknown."""
    if function in _generic_functions:
        return [function.__wrapped__, *_generic_functions[function].values()]
    return [compiled_form(function)] if is_compilable(function) else []


_class_names: dict[str, type] = {}


def _make_name_unique(cls: type) -> None:
    """Give a class a `__name__` that no other registered class has.

    Numba tells compiled functions of different classes apart by that name alone. Of two classes called
    Sphere, from two modules or from two executions of a notebook cell, the second would run the code of the
    first. `__qualname__`, by which classes are pickled, stays as it is.
    """
    if _class_names.get(cls.__name__) is cls:
        return
    name = unique = re.sub(r"\W+", "_", f"{cls.__module__}.{cls.__qualname__}")
    count = 1
    while unique in _class_names:
        count += 1
        unique = f"{name}_{count}"
    _class_names[unique] = cls
    cls.__name__ = unique
    if cls.__repr__.__module__ == collections.namedtuple.__module__:
        cls.__repr__ = _repr_of_record  # type: ignore[assignment]


def _repr_of_record(record: Any) -> str:
    """Return what a `NamedTuple` shows, with the name that its class was given."""
    name = type(record).__qualname__.rpartition(".")[2]
    return f"{name}({', '.join(f'{field}={getattr(record, field)!r}' for field in record._fields)})"
