"""The optimiser for PennyLane, on a circuit of PennyLane's."""

import itertools

import numpy as np
import pytest

qml = pytest.importorskip("pennylane", reason="`make test-adapters` has it")
from pursuit.adapters.pennylane import PursuitOptimizer  # noqa: E402


def circuit_of(shots, seed=1):
    device = qml.device("default.qubit", wires=2, seed=seed)

    @qml.set_shots(shots)
    @qml.qnode(device)
    def cost(weights, phase, fixed):
        qml.RX(weights[0], wires=0)
        qml.RY(weights[1], wires=1)
        qml.CNOT(wires=[0, 1])
        qml.RZ(phase, wires=1)
        qml.RX(fixed, wires=1)
        return qml.expval(qml.PauliZ(0) @ qml.PauliZ(1))

    return cost


def arguments():
    values = [([0.3, 0.4], True), (0.1, True), (0.2, False)]
    return [qml.numpy.array(value, requires_grad=varies) for value, varies in values]


def test_steps_lead_to_the_minimum_and_leave_alone_what_is_fixed():
    cost, args, optimizer = circuit_of(None), arguments(), PursuitOptimizer(rng=1)
    first = float(cost(*args))
    costs = []
    for _ in range(40):
        args, before = optimizer.step_and_cost(cost, *args)
        costs.append(before)
    assert costs[0] == pytest.approx(first)
    assert all(later <= earlier for earlier, later in itertools.pairwise(costs))
    assert float(cost(*args)) == pytest.approx(-1.0, abs=1e-6)
    assert float(args[2]) == 0.2
    assert [arg.requires_grad for arg in args] == [True, True, False]
    assert optimizer.result.stages[0].method == "differences"


def test_one_argument_and_other_arguments():
    def cost(x, scale=1.0):
        return scale * qml.numpy.sum((x - 1.0) ** 2)

    optimizer = PursuitOptimizer(method="evolution", rng=1)
    with pytest.raises(RuntimeError, match="There is no result before the first step"):
        _ = optimizer.result
    x = optimizer.step(cost, qml.numpy.zeros(3, requires_grad=True), scale=2.0)
    assert x.shape == (3,)
    spent = optimizer.result.nfev
    x = optimizer.step(cost, x, scale=2.0)
    assert optimizer.result.nfev > spent
    optimizer.step(cost, x + 5.0, scale=2.0)
    assert optimizer.result.nfev <= spent
    with pytest.raises(ValueError, match="Some argument must have requires_grad=True"):
        optimizer.step(cost, np.zeros(3))


def test_the_noise_of_shots_is_measured():
    cost, args, optimizer = circuit_of(1000), arguments(), PursuitOptimizer(rng=1, sigma0=0.5)
    while not optimizer._optimizer or (not optimizer._optimizer.stop() and optimizer.result.nfev < 600):
        args = optimizer.step(cost, *args)
    assert circuit_of(None)(*args) < -0.97
