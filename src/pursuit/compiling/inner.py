"""Functions that only compiled code calls."""

from __future__ import annotations

from typing import Any

import numba

# Its types do not know of all that it takes.
_njit: Any = numba.njit
inner: Any = _njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Compile a function without what Python needs to call it, which for a large state is most of the code.

Divisions by zero give infinities and NaN, as with NumPy, and no exceptions.
"""
