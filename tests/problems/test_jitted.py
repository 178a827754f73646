"""What Numba cannot compile is named with the line of the user's that is wrong,
before anything is evaluated."""

import os
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

import pursuit
from fuzz.promises import check_sentence
from pursuit.problems import evaluate, value


@numba.njit
def helper(x):
    return x.size_of_it


@numba.njit
def calls_wrong_helper(x):
    return np.sum(x) + helper(x)


@numba.njit
def unknown_name(x):
    return undefined_name(x)  # noqa: F821 (that is the point)


@numba.njit
def wrong_types(x):
    return x @ [1, 2]


@numba.njit
def with_argument(x, a):
    return x[a]


@numba.njit
def forgets_return(x):
    x[0] = 1.0


@numba.njit  # noqa: RET503 (that is the point)
def forgets_return_at_times(x):
    if x[0] > 0.0:
        return 1.0


@numba.njit
def returns_array(x):
    return x


@numba.njit("float64(float32[:])")
def of_other_numbers(x):
    return x[0]


class Own(NamedTuple):
    n: int

    def __call__(self, x):
        return evaluate(self, x)


@value.register(Own)
def _value(team, own, x):
    return x.size_of_it


@pytest.mark.parametrize("bounds", [None, [(-9.0, 9.0)] * 2])
@pytest.mark.parametrize(
    ("fun", "args", "words"),
    [
        (
            calls_wrong_helper,
            (),
            "'return np.sum(x) + helper(x)': Unknown attribute 'size_of_it' of type array",
        ),
        (unknown_name, (), "name 'undefined_name' is not defined."),
        (wrong_types, (), "'return x @ [1, 2]': there is no matmul(array(float64, 1d, C), list(int64)"),
        (with_argument, ("a",), "'return x[a]': there is no getitem(array(float64, 1d, C), unicode_type)."),
        (
            with_argument,
            (),
            "fun must take the point and the entries of args: missing a required argument: 'a'.",
        ),
        (with_argument, (object(),), "args[0] must be of a type that Numba can compile for, but <object"),
        (with_argument, (10**400,), "args[0] must be of a type that Numba can compile for, but an integer"),
        (forgets_return, (), "but it returns None (did you forget return?)."),
        (forgets_return_at_times, (), "but it returns None in some cases (did you forget return?)."),
        (returns_array, (), "but it returns what Numba calls Array(float64, 1, 'C', False, aligned=True)."),
        (of_other_numbers, (), "Numba cannot compile fun for a point of type float64[::1]."),
        (Own(2), (), "'return x.size_of_it': Unknown attribute 'size_of_it' of type array"),
    ],
)
def test_the_line_that_is_wrong_is_shown(fun, args, words, bounds):
    with pytest.raises(TypeError) as caught:
        pursuit.minimize(fun, [1.0, 2.0], args, method="rp", rng=1, maxfev=10, bounds=bounds)
    check_sentence(caught.value)
    assert words in str(caught.value)
    if "line" in str(caught.value):
        assert "of test_jitted.py" in str(caught.value)


@numba.jit(forceobj=True)
def in_object_mode(x):
    return float(x @ x)


def test_a_function_that_numba_leaves_to_python_is_one_of_python():
    result = pursuit.minimize(in_object_mode, [1.0, 2.0], method="rp", rng=1, maxfev=50)
    assert (
        result.fun == pursuit.minimize(lambda x: float(x @ x), [1.0, 2.0], method="rp", rng=1, maxfev=50).fun
    )


SWITCHED_OFF = """
import sys
import numba, pursuit

@numba.njit
def sphere(x):
    return (x * x).sum()

print(pursuit.minimize(sphere, [1.0, 2.0], method="rp", rng=1, maxfev=50).fun.hex())
"""


def test_with_numba_s_compiler_switched_off_a_jitted_function_gives_the_same_bits():
    runs = [
        subprocess.run(
            [sys.executable, "-c", SWITCHED_OFF],
            env={**os.environ, "NUMBA_DISABLE_JIT": switch},
            capture_output=True,
            text=True,
            check=True,
        )
        for switch in ("0", "1")
    ]
    assert runs[0].stdout == runs[1].stdout != ""
