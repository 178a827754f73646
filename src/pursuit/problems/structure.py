"""Parameters as people have them: dicts, lists, tuples and dataclasses of numbers and arrays, nested.

Methods know flat arrays alone. Callers' points are taken apart before a run, and put together for callers.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_array, shown


class _Leaf(NamedTuple):
    """A number or an array, and which of the flat numbers are its."""

    name: str
    first: int
    size: int
    shape: tuple[int, ...] | None
    """None for a number."""


class _Node(NamedTuple):
    """A container."""

    keys: tuple[Any, ...]
    parts: tuple[Any, ...]
    build: Callable[[list[Any]], Any]


class Structure(NamedTuple):
    """What callers' points look like; flat arrays by default, which stay what they are.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.problems.structure import structure_of
    >>> structure, flat = structure_of({"rate": 0.5, "weights": np.zeros((1, 2))})
    >>> flat
    array([0.5, 0. , 0. ])
    >>> structure.shaped(flat + 1.0)
    {'rate': 1.5, 'weights': array([[1., 1.]])}
    """

    tree: _Leaf | _Node | None = None

    @property
    def size(self) -> int | None:
        """How many numbers a point has; None for flat arrays, which may have any."""
        return None if self.tree is None else sum(leaf.size for leaf, _ in _matched(self.tree, None, ""))

    def shaped(self, x: NDArray[Any]) -> Any:
        """Return a flat point as callers know it; of several, one per row, leaves have this dimension first.

        Its arrays are views of x.
        """
        return x if self.tree is None else _shaped(self.tree, x)

    def flat(self, point: Any, name: str = "x0") -> Any:
        """Return a point of this structure as a flat array."""
        if self.tree is None:
            return point
        return np.concatenate(
            [_numbers(*matched, name) for matched in _matched(self.tree, point, name, one=False)]
        )

    def function(self, fun: Any) -> Any:
        """Return a function of points as a function of flat ones, which pickles if it does."""
        return fun if self.tree is None or not callable(fun) else partial(_at_shaped, fun, self)

    def constraint(self, given: Any) -> Any:
        """Return one of SciPy's constraints as one on flat points; linear ones are that already."""
        if self.tree is None or not (isinstance(given, Mapping) or hasattr(given, "fun")):
            return given
        if isinstance(given, Mapping):
            return {**given, "fun": self.function(given.get("fun"))}
        return type(given)(self.function(given.fun), given.lb, given.ub)

    def sizes(self, sigma0: Any) -> Any:
        """Return step sizes, one for all or in this structure, as one for all or a flat array."""
        if self.tree is None or _opened(sigma0) is None:
            return sigma0
        matched = _matched(self.tree, sigma0, "sigma0")
        return np.concatenate([_numbers(leaf, entry, "sigma0", one=True) for leaf, entry in matched])

    def bounds(self, bounds: Any) -> Any:
        """Return bounds in this structure as pairs."""
        if self.tree is None or _opened(bounds) is None:
            return bounds
        return np.concatenate(
            [_pairs(*matched) for matched in _matched(self.tree, bounds, "bounds")]
        ).tolist()


def structure_of(x0: Any) -> tuple[Structure, Any]:
    """Return the structure of a start and its numbers as a flat array; what is none stays as it is."""
    if isinstance(x0, Mapping) and {"x", "nfev"} <= x0.keys():
        # A result, ours or SciPy's, stands for its point.
        x0 = x0["x"]
    if isinstance(x0, np.ndarray) or not _is_structured(x0):
        return Structure(), x0
    numbers: list[Vector] = []
    tree = _read(x0, "", numbers)
    if not any(map(np.size, numbers)):
        raise ValueError(f"x0 must hold at least one number, but {shown(x0)} was given.")
    return Structure(tree), np.concatenate(numbers)


def flat_of(value: Any) -> NDArray[Any]:
    """Return all entries of a point as a flat array, whatever its structure."""
    opened = _opened(value)
    return np.ravel(value) if opened is None else np.concatenate([flat_of(entry) for entry in opened[1]])


def rows_of(points: Any) -> NDArray[Any]:
    """Return several points as rows, whose leaves have them in their first dimension."""
    opened = _opened(points)
    return np.reshape(points, (len(points), -1)) if opened is None else np.hstack([*map(rows_of, opened[1])])


def _is_structured(value: Any) -> bool:
    """Say whether something is more than a sequence of numbers or a matrix."""
    if not isinstance(value, list | tuple):
        return _opened(value) is not None
    if hasattr(value, "_fields") or any(np.ndim(entry) for entry in value if isinstance(entry, np.ndarray)):
        return True
    inside = [entry for entry in value if _opened(entry) is not None]
    if any(map(_is_structured, inside)):
        return True
    return bool(inside) and len({len(entry) for entry in inside}) + (len(inside) < len(value)) > 1


def _opened(value: Any) -> tuple[tuple[Any, ...], list[Any], Callable[[list[Any]], Any]] | None:
    """Return the keys of a container, its entries, and what builds another one; None of anything else."""
    if isinstance(value, Mapping):
        keys = tuple(value)
        return keys, list(value.values()), partial(_dict_of, keys)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        # Fields that __init__ does not take follow from the others.
        names = tuple(field.name for field in dataclasses.fields(value) if field.init)
        return names, [getattr(value, name) for name in names], partial(_instance_of, type(value), names)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return value._fields, list(value), partial(_made, type(value))
    if isinstance(value, list | tuple):
        return tuple(range(len(value))), list(value), list if isinstance(value, list) else tuple
    return None


def _dict_of(keys: tuple[Any, ...], entries: list[Any]) -> dict[Any, Any]:
    return dict(zip(keys, entries, strict=True))


def _made(cls: Any, entries: list[Any]) -> Any:
    return cls._make(entries)


def _instance_of(cls: type, names: tuple[str, ...], entries: list[Any]) -> Any:
    return cls(**dict(zip(names, entries, strict=True)))


def _read(value: Any, name: str, numbers: list[Vector]) -> _Leaf | _Node:
    """Return the structure of a value, and add its numbers to a list."""
    opened = _opened(value)
    if opened is not None:
        keys, entries, build = opened
        label = "[{!r}]" if type(value) in (list, tuple) or isinstance(value, Mapping) else ".{}"
        parts = [
            _read(entry, name + label.format(key), numbers) for key, entry in zip(keys, entries, strict=True)
        ]
        return _Node(keys, tuple(parts), build)
    if not (
        isinstance(value, float | np.floating) or getattr(getattr(value, "dtype", None), "kind", "") == "f"
    ):
        raise TypeError(
            f"x0{name} must be a float or an array of floats, but {shown(value)} was given. What is not "
            "to vary can be an argument of the function instead."
        )
    leaf = checked_array(f"x0{name}", value)
    wrong = leaf[~np.isfinite(leaf)]
    if wrong.size:
        raise ValueError(f"x0 must be finite, but x0{name} holds {wrong.flat[0]}.")
    first = sum(map(np.size, numbers))
    numbers.append(leaf.ravel())
    return _Leaf(name, first, leaf.size, None if isinstance(value, float | np.floating) else leaf.shape)


def _shaped(tree: _Leaf | _Node, x: NDArray[Any]) -> Any:
    if isinstance(tree, _Node):
        return tree.build([_shaped(part, x) for part in tree.parts])
    if tree.shape is not None:
        return x[..., tree.first : tree.first + tree.size].reshape(x.shape[:-1] + tree.shape)
    return x[tree.first].item() if x.ndim == 1 else x[..., tree.first]


def _at_shaped(fun: Callable[..., Any], structure: Structure, x: NDArray[Any], *args: Any) -> Any:
    return fun(structure.shaped(x), *args)


def _matched(tree: _Leaf | _Node, given: Any, what: str, *, one: bool = True) -> Iterator[tuple[_Leaf, Any]]:
    """Yield each leaf with what is given for it: None where a dict lacks it, perhaps `one` thing for many."""
    if isinstance(tree, _Leaf):
        yield tree, given
        return
    opened = _opened(given)
    keys, entries = ((), []) if opened is None else opened[:2]
    if opened is None and one:
        keys, entries = tree.keys, [given] * len(tree.keys)
    is_part = one and isinstance(given, Mapping) and {*keys} <= {*tree.keys}
    if not is_part and {*keys} != {*tree.keys}:
        raise ValueError(f"{what} must have the structure of x0, but {shown(given)} was given.")
    found = dict(zip(keys, entries, strict=True))
    for key, part in zip(tree.keys, tree.parts, strict=True):
        yield from _matched(part, found.get(key), what, one=one)


def _numbers(leaf: _Leaf, given: Any, what: str, *, one: bool = False) -> Vector:
    """Return the numbers of a leaf, flat; perhaps `one` will do for all."""
    numbers, shape = checked_array(what + leaf.name, given), leaf.shape or ()
    if numbers.shape != shape and not (one and numbers.shape == ()):
        raise ValueError(f"{what}{leaf.name} must have the shape {shape}, but its shape is {numbers.shape}.")
    return np.broadcast_to(numbers, shape).ravel()


def _pairs(leaf: _Leaf, given: Any) -> NDArray[Any]:
    """Return the bounds of a leaf as pairs, one per row, in which None stands for infinity."""
    shape = leaf.shape or ()
    try:
        if hasattr(given, "lb") and hasattr(given, "ub"):
            given = np.stack([np.broadcast_to(side, shape) for side in (given.lb, given.ub)], axis=-1)
        pairs = np.array((-math.inf, math.inf) if given is None else given, dtype=object)
        if pairs.shape not in ((2,), (*shape, 2)):
            raise ValueError
    except ValueError:
        raise ValueError(
            f"bounds{leaf.name} must be a pair (lower, upper), or one for each entry of x0{leaf.name}, but "
            f"{shown(given)} was given."
        ) from None
    return np.broadcast_to(pairs, (*shape, 2)).reshape(-1, 2)
