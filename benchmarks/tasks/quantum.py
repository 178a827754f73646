"""A variational quantum eigensolver: 30 angles of a circuit of six qubits, measured with 1000 shots."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from benchmarks.tasks.task import Case, case
from pursuit.checks import Vector

_QUBITS, _LAYERS, _SHOTS = 6, 5, 1000
# Bit j of a basis state, as the eigenvalue 1 or -1 of Z on qubit j.
_SIGNS = 1.0 - 2.0 * (np.arange(2**_QUBITS)[:, None] >> np.arange(_QUBITS)[::-1] & 1)
_BONDS = -(_SIGNS[:, :-1] * _SIGNS[:, 1:]).sum(axis=1)
_FIELDS = -_SIGNS.sum(axis=1)
# Controlled Z gates between neighbours: a sign for each pair of ones.
_ENTANGLE = np.prod(np.where((_SIGNS[:, :-1] < 0) & (_SIGNS[:, 1:] < 0), -1.0, 1.0), axis=1)
_HADAMARD = functools.reduce(np.kron, [np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2.0)] * _QUBITS)


def state(angles: Vector) -> Vector:
    """Return the state vector, which is real, after layers of rotations about Y and controlled Z gates."""
    psi = np.zeros(2**_QUBITS)
    psi[0] = 1.0
    halves = 0.5 * angles.reshape(_LAYERS, _QUBITS)
    for cosines, sines in zip(np.cos(halves), np.sin(halves), strict=True):
        for qubit in range(_QUBITS):
            pairs = psi.reshape(2**qubit, 2, -1)
            c, s = cosines[qubit], sines[qubit]
            psi = (np.array([[c, -s], [s, c]]) @ pairs).ravel()
        psi = psi * _ENTANGLE
    return psi


def _chances(angles: Vector) -> tuple[Vector, Vector]:
    """Return the chances of the outcomes if all qubits are measured along Z, and along X."""
    psi = state(angles)
    along_z, along_x = psi**2, (_HADAMARD @ psi) ** 2
    return along_z / along_z.sum(), along_x / along_x.sum()


def measured(angles: Vector, rng: np.random.Generator) -> float:
    """Return the energy of an Ising chain in a transverse field, from half of the shots in either basis."""
    half = _SHOTS // 2
    along_z, along_x = (rng.multinomial(half, chances) for chances in _chances(angles))
    return float(along_z @ _BONDS + along_x @ _FIELDS) / half


def energy(angles: Vector) -> float:
    """Return the expected energy."""
    along_z, along_x = _chances(angles)
    return float(along_z @ _BONDS + along_x @ _FIELDS)


@functools.cache
def _ground() -> float:
    hamiltonian: NDArray[np.float64] = np.diag(_BONDS) + _HADAMARD @ np.diag(_FIELDS) @ _HADAMARD
    return float(np.linalg.eigvalsh(hamiltonian)[0])


def eigensolver(seed: int) -> Case:
    """Return the task, with random angles to begin with; the gap is that to the ground state."""
    x0 = np.random.default_rng([seed, 3]).uniform(-np.pi, np.pi, _QUBITS * _LAYERS)
    return case(measured, lambda x: energy(x) - _ground(), x0, 0.3)
