"""The tasks of the suite."""

from __future__ import annotations

from benchmarks.tasks import control, fits, geometry, learning, noisy, policies, quantum, signals
from benchmarks.tasks.task import Task

SUITE = (
    Task(
        "pid", "PID controller of four loops, kinks", control.pid, (1000, 5000),
        ("pycma", "Nelder-Mead", "BOBYQA"), 0.02,
    ),
    Task(
        "mlp", "hyper-parameters of a network, noise", learning.hyperparameters, (150,),
        ("pycma", "Optuna TPE", "BOBYQA"), 0.02,
    ),
    Task("cartpole", "policy for a cart with a pole", policies.cartpole, (2000,), ("pycma", "ARS"), 5.0),
    Task("pendulum", "policy for a pendulum", policies.pendulum, (4000,), ("pycma", "ARS"), 150.0),
    Task(
        "vqe", "variational quantum eigensolver, shots", quantum.eigensolver, (600, 3000),
        ("pycma", "SPSA 0.07", "SPSA 0.2"), 0.05,
    ),
    Task(
        "tv/zero", "smoothed total variation, from 0", signals.from_zero, (300_000,), ("L-BFGS-B",), 1e-3
    ),
    Task(
        "tv/data", "smoothed total variation, from the data", signals.from_data, (300_000,), ("L-BFGS-B",),
        1e-3,
    ),
    Task(
        "tills", "the gallery's noisy simulator", noisy.tills, (1000,),
        ("pycma", "SPSA 0.07", "SPSA 0.2", "BOBYQA"), 0.02,
    ),
    Task(
        "drug", "fit of a differential equation", fits.drug, (1000,),
        ("L-BFGS-B", "L-BFGS-B central", "Nelder-Mead", "BOBYQA"), 1e-9,
    ),
    Task(
        "truss", "ten bars, a limit to the largest stress", geometry.truss, (1000,),
        ("COBYQA", "COBYLA", "SLSQP"), 5e-3,
    ),
    Task(
        "valley", "noisy valley behind a plateau", noisy.valley, (150,),
        ("pycma", "Optuna TPE", "BOBYQA"), 0.02,
    ),
    Task(
        "molecule", "geometry of 13 atoms", geometry.molecule, (2000,),
        ("L-BFGS-B", "L-BFGS-B central", "pycma"), 1e-6,
    ),
    Task(
        "epidemic", "fit of an epidemic, samples of the data", fits.epidemic, (500,),
        ("pycma", "SPSA 0.07", "SPSA 0.2", "Nelder-Mead", "BOBYQA"), 1e-3,
    ),
    Task(
        "last-layer", "a network's last layer", learning.last_layer, (6000,), ("L-BFGS-B", "pycma"), 1e-4
    ),
)  # fmt: skip
"""Thirteen, of which one begins at two points."""
