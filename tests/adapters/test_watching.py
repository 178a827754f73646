"""What TensorBoard, MLflow and W&B have of a run, read back by themselves; nothing leaves this machine."""

import json

import pytest

import pursuit
from pursuit.adapters.watching import to_mlflow, to_tensorboard, to_wandb


def valley(x):
    return float((x[0] - 1.0) ** 2 + 10.0 * (x[1] - x[0] ** 2) ** 2)


def watched(callback):
    return pursuit.minimize(valley, [0.0, 0.0], rng=1, callback=callback, maxfev=60)


def test_tensorboard(tmp_path):
    pytest.importorskip("tensorboard", reason="`make test-adapters` has it")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    result = watched(to_tensorboard(tmp_path))
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    tags = events.Tags()
    assert "pursuit/fun" in tags["tensors"]
    found = events.Tensors("pursuit/nfev")
    assert [event.step for event in found] == list(range(1, result.nit + 1))


def test_mlflow(tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="`make test-adapters` has it")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    with mlflow.start_run() as run:
        result = watched(to_mlflow())
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "fun")
    assert [metric.step for metric in history] == list(range(1, result.nit + 1))
    assert min(metric.value for metric in history) == pytest.approx(result.fun, rel=1e-9)


def test_wandb(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="`make test-adapters` has it")
    monkeypatch.chdir(tmp_path)
    with wandb.init(mode="offline", project="pursuit", dir=tmp_path) as run:
        result = watched(to_wandb(run))
        assert run.summary["nit"] == result.nit
        assert json.loads(json.dumps(run.summary["fun"])) == pytest.approx(result.fun)
    assert list(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))
