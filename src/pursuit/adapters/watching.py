"""Callbacks that show a run in TensorBoard, MLflow or W&B: a point of each curve per iteration."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

from pursuit.optional import optional_module
from pursuit.reporting.records import numbers_of

Callback = Callable[[Any], None]
"""A callback of `pursuit.minimize`."""


def to_tensorboard(folder: str | os.PathLike[str]) -> Callback:
    """Return a callback that writes what TensorBoard shows into a folder: ``tensorboard --logdir folder``."""
    writer = optional_module("tensorboard.summary", "to_tensorboard").Writer(os.fspath(folder))

    def show(intermediate_result: Any) -> None:
        for name, number in _numbers(intermediate_result).items():
            writer.add_scalar(f"pursuit/{name}", number, intermediate_result.nit)
        writer.flush()

    return show


def to_mlflow() -> Callback:
    """Return a callback that logs to the active run of MLflow, or to a new one."""
    mlflow = optional_module("mlflow", "to_mlflow")

    def show(intermediate_result: Any) -> None:
        mlflow.log_metrics(_numbers(intermediate_result), step=intermediate_result.nit)

    return show


def to_wandb(run: Any) -> Callback:
    """Return a callback that logs to a run of Weights & Biases, what ``wandb.init()`` returns."""

    def show(intermediate_result: Any) -> None:
        run.log(_numbers(intermediate_result), step=intermediate_result.nit)

    return show


def _numbers(result: Any) -> dict[str, float]:
    """Return the numbers of a result that are finite."""
    known = {name: number for name, number in numbers_of(result).items() if isinstance(number, float | int)}
    return {name: float(number) for name, number in known.items() if math.isfinite(number)}
