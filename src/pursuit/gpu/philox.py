"""Standard normals on a GPU: Philox4x32-10, counted by the iteration, and the method of Box and Muller.

Normals are a pure function of a run's key, the iteration and the place in it. There is no state to keep, and
the normals of the next iteration can be drawn while this one still waits for its values. They are computed
in single precision, which is enough for directions, and are as wide as double precision once they are used.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.cuda import libdevice, types
from numba.cuda.extending import intrinsic

from pursuit.gpu.threads import inline

GENERATOR = "philox4x32-10"
_ROUNDS = 10
_MULTIPLIERS = np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)
_WEYL = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
_UNIT, _HALF_UNIT = np.float32(2.0**-32), np.float32(2.0**-33)
_ANGLE = np.float32(math.pi * 2.0**-31)
_MINUS_TWO_LN_2 = np.float32(-2.0 * math.log(2.0))
_u32, _f32, _i32 = numba.uint32, numba.float32, numba.int32


class Key(NamedTuple):
    """The key of a run's normals, two words of 32 bits."""

    first: int
    second: int

    @classmethod
    def of(cls, seed: np.random.SeedSequence) -> Key:
        """Return the key that a seed amounts to."""
        first, second = seed.generate_state(2, np.uint32)
        return cls(int(first), int(second))


@inline
def four_words(counter: Any, place: Any, key: Any) -> Any:
    """Return four random words for a place in an iteration, whose number is the counter."""
    c0, c1, c2, c3 = _u32(counter), _u32(counter >> 32), _u32(place), _u32(0)
    k0, k1 = _u32(key.first), _u32(key.second)
    for _ in range(_ROUNDS):
        h0, l0 = _u32(libdevice.umulhi(_MULTIPLIERS[0], c0)), _u32(_MULTIPLIERS[0] * c0)
        h1, l1 = _u32(libdevice.umulhi(_MULTIPLIERS[1], c2)), _u32(_MULTIPLIERS[1] * c2)
        c0, c1, c2, c3 = _u32(h1 ^ c1 ^ k0), l1, _u32(h0 ^ c3 ^ k1), l0
        k0, k1 = _u32(k0 + _WEYL[0]), _u32(k1 + _WEYL[1])
    return c0, c1, c2, c3


def _instruction(name: str, returned: Any = types.float32) -> Any:
    """Return the function of a number in single precision that an instruction of PTX computes."""
    kind, register = (ir.FloatType(), "=f") if returned == types.float32 else (ir.DoubleType(), "=d")

    @intrinsic
    def instruction(typingctx, number):
        def generate(context, builder, signature, arguments):
            function = ir.FunctionType(kind, [ir.FloatType()])
            code = ir.InlineAsm(function, f"{name} $0, $1;", f"{register},f", side_effect=False)
            return builder.call(code, arguments)

        return returned(types.float32), generate

    return instruction


# Approximations in which numbers too small for full precision count as 0: that saves the instructions that
# look for them.
_log2, _root = _instruction("lg2.approx.ftz.f32"), _instruction("sqrt.approx.ftz.f32")
_sine, _cosine = _instruction("sin.approx.ftz.f32"), _instruction("cos.approx.ftz.f32")


widened: Any = _instruction("cvt.f64.f32", types.float64)
"""The same number in double precision, computed where this stands: a cast would wait until it is needed."""


@inline
def two_normals(first: Any, second: Any) -> Any:
    """Return two standard normals from two random words, in single precision."""
    uniform = _f32(_u32(first)) * _UNIT + _HALF_UNIT
    radius = _root(_MINUS_TWO_LN_2 * _log2(uniform))
    angle = _f32(_i32(second)) * _ANGLE
    return radius * _cosine(angle), radius * _sine(angle)
