"""Functions that choose their implementation by the class of an argument."""

import inspect
import pydoc
from typing import NamedTuple

import numba
import numpy as np
import pytest

import pursuit
from pursuit.compiling.dispatch import generic
from pursuit.compiling.vectors import SERIAL
from pursuit.methods import ask, tell
from pursuit.problems import evaluate, line_minimizer, value


class Square(NamedTuple):
    side: float


class Disc(NamedTuple):
    radius: float


@generic(on="shape", default=True)
def corners(factor, shape):
    """Return a multiple of the number of corners."""
    return 0.0 * factor


@corners.register(Square)
def _corners(factor, square):
    return 4.0 * factor


@numba.njit
def corners_in_compiled_code(factor, shape):
    return corners(factor, shape)


@pytest.mark.parametrize("call", [corners, corners_in_compiled_code])
def test_the_class_of_one_argument_decides_and_others_get_the_default(call):
    assert call(2.0, Square(1.0)) == 8.0
    assert call(2.0, Disc(1.0)) == 0.0


def test_a_class_without_implementation_is_named():
    with pytest.raises(TypeError, match="value is not implemented for the class Square"):
        value(None, Square(1.0), np.ones(2))


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        (ask, "(team: 'Any', scheme: 'Any', arrays: 'Any', numbers: 'Any', normals: 'Vector') -> 'Any'"),
        (
            tell,
            "(team: 'Any', scheme: 'Any', arrays: 'Any', numbers: 'Any', query: 'Any', answer: 'Any') "
            "-> 'Any'",
        ),
        (value, "(team: 'Any', problem: 'Any', x: 'Vector') -> 'float'"),
        (line_minimizer, "(team: 'Any', problem: 'Any', x: 'Vector', u: 'Vector') -> 'float'"),
    ],
)
def test_help_shows_signature_and_docstring(function, signature):
    assert str(inspect.signature(function)) == signature
    text = pydoc.render_doc(function, renderer=pydoc.plaintext)
    assert f"{function.__name__}(team" in text
    assert "decides on the implementation" in text


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (pursuit.problems.exp(3, 100.0), "Quadratic(spectrum=array([  1.,  10., 100.]))"),
        (pursuit.problems.rosenbrock(4), "Rosenbrock(n=4)"),
        (Square(2.0), "Square(side=2.0)"),
        (SERIAL, "Serial(lanes=1)"),
    ],
)
def test_records_show_the_names_of_their_classes(record, text):
    """And not the names by which Numba tells these apart."""
    assert repr(record) == text


class Terse(NamedTuple):
    side: float

    def __repr__(self):
        return "a square"


@corners.register(Terse)
def _corners_of_terse(factor, square):
    return 4.0 * factor


def test_a_repr_of_its_own_stays():
    assert repr(Terse(1.0)) == "a square"


def define(factor):
    class Sphere(NamedTuple):
        n: int

        def __call__(self, x):
            return evaluate(self, x)

    @value.register(Sphere)
    def _value(team, sphere, x):
        return factor * np.sum(x * x)

    return Sphere


def test_a_class_defined_again_replaces_the_first():
    """As when a cell of a notebook is executed again."""
    results = []
    for factor in (1.0, 10.0, 100.0):
        problem = define(factor)(3)
        assert repr(problem) == "Sphere(n=3)"
        assert problem(np.ones(3)) == 3.0 * factor
        results.append(pursuit.minimize(problem, np.ones(3), method="rp", rng=1, maxiter=30))
        assert results[-1].fun == factor * np.sum(results[-1].x ** 2)
    np.testing.assert_array_equal(results[0].x, results[2].x)
