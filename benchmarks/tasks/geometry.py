"""A truss with a limit to the largest stress, and the geometry of a molecule."""

from __future__ import annotations

import functools

import numpy as np
from scipy.optimize import minimize_scalar

from benchmarks.tasks.task import Case, case
from pursuit.checks import Vector

# The truss of ten bars of the textbooks, in inches, kips and ksi: the last two nodes are held.
_NODES = 360.0 * np.array([[2, 1], [2, 0], [1, 1], [1, 0], [0, 1], [0, 0]])
_BARS = np.array([[4, 2], [2, 0], [5, 3], [3, 1], [2, 3], [0, 1], [4, 3], [5, 2], [2, 1], [3, 0]])
_FREE = 8
_SPANS = _NODES[_BARS[:, 1]] - _NODES[_BARS[:, 0]]
_LENGTHS = np.linalg.norm(_SPANS, axis=1)
_STIFFNESS, _DENSITY, _STRESS, _SHIFT = 1e4, 0.1, 25.0, 2.0
_LOADS = np.zeros(_FREE)
_LOADS[[3, 7]] = -100.0
# In thousands of pounds; from the same truss with a smooth constraint for each bar and node.
LIGHTEST = 5.0608536


@functools.cache
def _stretching() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the matrix from the shifts of free nodes to how much longer bars become."""
    matrix = np.zeros((len(_BARS), 2 * len(_NODES)))
    for bar, ((first, second), span, length) in enumerate(zip(_BARS, _SPANS, _LENGTHS, strict=True)):
        matrix[bar, 2 * first : 2 * first + 2] = -span / length
        matrix[bar, 2 * second : 2 * second + 2] = span / length
    return matrix[:, :_FREE]


def weight(areas: Vector) -> float:
    """Return the weight of the truss in thousands of pounds."""
    return 1e-3 * _DENSITY * float(areas @ _LENGTHS)


def overload(areas: Vector) -> float:
    """Return by which part the largest stress, or the largest shift of a node, exceeds its limit."""
    matrix = _stretching()
    shifts = np.linalg.solve(matrix.T * (_STIFFNESS * areas / _LENGTHS) @ matrix, _LOADS)
    stresses = _STIFFNESS * (matrix @ shifts) / _LENGTHS
    return float(max(np.abs(stresses).max() / _STRESS, np.abs(shifts).max() / _SHIFT)) - 1.0


def truss(seed: int) -> Case:
    """Return the task to find the areas of ten bars.

    Bars that are all thicker by a factor bear as much more: a truss that breaks its limits is judged by what
    it weighs once it keeps to them.
    """
    x0 = np.random.default_rng([seed, 8]).uniform(8.0, 20.0, len(_BARS))

    def gap(x: Vector) -> float:
        return weight(x) * (1.0 + max(overload(x), 0.0)) - LIGHTEST

    return case(lambda x, rng: weight(x), gap, x0, 3.0, (0.1, 35.0), overload)


def lennard_jones(x: Vector) -> float:
    """Return the energy of atoms."""
    atoms = x.reshape(-1, 3)
    rows, columns = _pairs(len(atoms))
    sixth = ((atoms[rows] - atoms[columns]) ** 2).sum(axis=1) ** -3.0
    return 4.0 * float((sixth * sixth - sixth).sum())


@functools.cache
def _pairs(count: int) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...]:
    return np.triu_indices(count, 1)


@functools.cache
def _icosahedron() -> tuple[Vector, float]:
    """Return the best geometry of 13 atoms and its energy: all that its symmetry leaves open is a length."""
    golden = 0.5 * (1.0 + np.sqrt(5.0))
    corner = np.array([[0.0, a, b * golden] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    shell = np.concatenate([np.roll(corner, turn, axis=1) for turn in range(3)])
    atoms = np.concatenate([np.zeros((1, 3)), shell]).ravel()
    found = minimize_scalar(lambda size: lennard_jones(size * atoms), bracket=(0.5, 0.6), tol=1e-14)
    return found.x * atoms, float(found.fun)


def molecule(seed: int) -> Case:
    """Return the task to relax a cluster of 13 atoms that is distorted."""
    atoms, lowest = _icosahedron()
    x0 = atoms + 0.12 * np.random.default_rng([seed, 9]).standard_normal(atoms.size)
    return case(lambda x, rng: lennard_jones(x), lambda x: lennard_jones(x) - lowest, x0, 0.05)
