"""The log of a run: a line for each iteration, whole whatever happens, and the same after a resume."""

import csv
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import pursuit

START = np.full(4, 3.0)
SCRIPT = """
import sys, time
import numpy as np
import pursuit

def slow(x):
    time.sleep(0.002)
    return float(np.sum(np.arange(1, 5) * (x - 1.0) ** 2) + np.sum((x - 1.0) ** 4))

path = sys.argv[1]
pursuit.minimize(
    slow, np.full(4, 3.0), method="evolution", rng=1, maxfev=800, callback=pursuit.Log(path, x=True),
    checkpoint=sys.argv[2], checkpoint_every=0.05, xtol=0, ftol=0,
)
"""


def f(x):
    return float(np.sum(np.arange(1, 5) * (x - 1.0) ** 2) + np.sum((x - 1.0) ** 4))


def lines_of(path):
    text = path.read_text()
    if path.suffix == ".csv":
        return list(csv.DictReader(text.splitlines()))
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", ["run.csv", "run.jsonl"])
def test_there_is_a_line_for_each_iteration(name, tmp_path):
    path = tmp_path / name
    path.write_text("an old file\n" * 3)
    seen = []
    log = pursuit.Log(path, x=True)

    def callback(intermediate_result):
        log(intermediate_result)
        seen.append((intermediate_result.nit, intermediate_result.nfev, intermediate_result.fun))
        assert len(lines_of(path)) == intermediate_result.nit

    result = pursuit.minimize(f, START, rng=1, callback=callback)
    lines = lines_of(path)
    assert [(int(line["nit"]), int(line["nfev"]), float(line["fun"])) for line in lines] == seen
    assert len(lines) == result.nit
    last = lines[-1]["x"].split() if name.endswith("csv") else lines[-1]["x"]
    assert [float(number) for number in last] == result.x.tolist()


def test_a_second_run_begins_the_file_anew(tmp_path):
    log = pursuit.Log(tmp_path / "run.jsonl")
    for seed in (1, 2):
        result = pursuit.minimize(f, START, method="evolution", rng=seed, maxfev=100 * seed, callback=log)
    assert [line["nit"] for line in lines_of(tmp_path / "run.jsonl")] == list(range(1, result.nit + 1))


@pytest.mark.parametrize("name", ["run.csv", "run.jsonl"])
def test_the_log_of_a_run_that_was_killed_and_resumed_is_that_of_an_unbroken_one(name, tmp_path):
    paths = {kind: (tmp_path / f"{kind}-{name}", tmp_path / f"{kind}.npz") for kind in ("killed", "unbroken")}
    commands = {kind: [sys.executable, "-c", SCRIPT, *map(str, pair)] for kind, pair in paths.items()}
    log, checkpoint = paths["killed"]
    process = subprocess.Popen(commands["killed"])
    deadline = time.monotonic() + 120.0
    while not (checkpoint.exists() and log.exists() and len(lines_of(log)) > 20):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = lines_of(log)
    with log.open("ab") as file:
        file.write(b'{"nit": 9')  # as a full disk leaves it
    for kind in paths:
        subprocess.run(commands[kind], check=True)
    assert log.read_bytes() == paths["unbroken"][0].read_bytes()
    assert lines_of(log)[: len(before)] == before


def test_points_of_any_structure(tmp_path):
    path = tmp_path / "run.jsonl"
    pursuit.minimize(
        lambda p: f(np.hstack([p["a"], p["b"]])),
        {"a": 3.0, "b": np.full(3, 3.0)},
        rng=1,
        maxfev=50,
        callback=pursuit.Log(path, x=True),
    )
    assert all(len(line["x"]) == 4 for line in lines_of(path))


def test_other_names_are_refused():
    with pytest.raises(
        ValueError, match=r"The name of a log must end in .csv or .jsonl, but 'run.txt' was given"
    ):
        pursuit.Log("run.txt")
