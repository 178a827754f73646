"""What TensorBoard, MLflow and W&B have of a run, read back by themselves; nothing leaves this machine."""

import pytest

import pursuit
from pursuit.adapters.watching import to_mlflow, to_tensorboard, to_wandb


def valley(x):
    return float((x[0] - 1.0) ** 2 + 10.0 * (x[1] - x[0] ** 2) ** 2)


def watched(callback):
    """Return the iterations after which the callback was called, and the value after the last."""
    seen = []

    def call(intermediate_result):
        callback(intermediate_result)
        seen.append((intermediate_result.nit, intermediate_result.fun))

    pursuit.minimize(valley, [0.0, 0.0], rng=1, callback=call, maxfev=60)
    assert len(seen) > 10
    return [nit for nit, _ in seen], seen[-1][1]


def test_tensorboard(tmp_path):
    pytest.importorskip("tensorboard", reason="`make test-adapters` has it")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    iterations, _ = watched(to_tensorboard(tmp_path))
    events = EventAccumulator(str(tmp_path), size_guidance={"tensors": 0})
    events.Reload()
    tags = events.Tags()
    assert "pursuit/fun" in tags["tensors"]
    found = events.Tensors("pursuit/nfev")
    assert [event.step for event in found] == iterations


@pytest.mark.filterwarnings("ignore")  # those of the database that it brings
def test_mlflow(tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="`make test-adapters` has it")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    with mlflow.start_run() as run:
        iterations, fun = watched(to_mlflow())
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "fun")
    assert [metric.step for metric in history] == iterations
    assert history[-1].value == fun


def test_wandb(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="`make test-adapters` has it")
    monkeypatch.chdir(tmp_path)
    with wandb.init(mode="offline", project="pursuit", dir=tmp_path) as run:
        iterations, fun = watched(to_wandb(run))
        run.log({}, step=iterations[-1] + 1)  # only now the last point is complete
        assert run.summary["fun"] == fun
    assert list(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))
