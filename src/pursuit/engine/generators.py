"""The states of NumPy's bit generators, read from a file that is not trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

_KINDS = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.SFC64,
        np.random.Philox,
        np.random.MT19937,
    )
}
# The numbers that NumPy uses unchecked, and their largest safe values.
_LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "uinteger": 2**32 - 1}


def generator_in_state(state: Any) -> np.random.Generator:
    """Return a new generator whose bit generator is of the kind and in the state that was saved.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.engine.generators import generator_in_state
    >>> rng = np.random.default_rng(1)
    >>> generator_in_state(rng.bit_generator.state).random() == rng.random()
    True
    """
    name = state.get("bit_generator") if isinstance(state, Mapping) else None
    if not isinstance(name, str) or name not in _KINDS:
        raise ValueError(f"the bit generator must be one of {', '.join(_KINDS)}, but is {name!r}")
    bits: Any = _KINDS[name]()
    _check_like(state, bits.state, "generator")
    bits.state = state
    return np.random.Generator(bits)


def _check_like(found: Any, like: Any, name: str) -> None:
    """Reject a state that is not made like another: NumPy takes what it is given unchecked."""
    if isinstance(like, dict):
        if not isinstance(found, Mapping) or found.keys() != like.keys():
            raise ValueError(f"{name} must have the entries {', '.join(like)}")
        for key, entry in like.items():
            _check_like(found[key], entry, key)
    elif isinstance(like, np.ndarray):
        if not isinstance(found, np.ndarray) or (found.shape, found.dtype) != (like.shape, like.dtype):
            raise ValueError(f"{name} must be an array of shape {like.shape} and type {like.dtype}")
    elif isinstance(like, int | np.integer):
        largest = _LARGEST.get(name, 2**128 - 1)
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= largest:
            raise ValueError(f"{name} must be a whole number from 0 to {largest}")
    elif found != like:
        raise ValueError(f"{name} must be {like!r}")
