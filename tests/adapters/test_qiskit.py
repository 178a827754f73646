"""The minimiser for Qiskit, called by Qiskit's own algorithms."""

import numpy as np
import pytest

from pursuit.adapters.qiskit import minimizer


def test_a_variational_eigensolver_finds_the_ground_state():
    pytest.importorskip("qiskit_algorithms", reason="`make test-adapters` has it")
    from qiskit.circuit.library import real_amplitudes
    from qiskit.primitives import StatevectorEstimator
    from qiskit.quantum_info import SparsePauliOp
    from qiskit_algorithms import VQE

    observable = SparsePauliOp(["ZZ", "XI", "IX"], [-1.0, 0.5, 0.5])
    exact = np.linalg.eigvalsh(observable.to_matrix())[0]
    solver = VQE(
        StatevectorEstimator(),
        real_amplitudes(2, reps=1),
        minimizer(rng=1, maxfev=400),
        initial_point=np.full(4, 0.3),
    )
    found = solver.compute_minimum_eigenvalue(observable)
    assert found.eigenvalue.real == pytest.approx(exact, abs=1e-6)
    assert found.cost_function_evals <= 400
