"""Studies on a GPU: identities, stores of both devices, resuming; with an engine that only pretends."""

import json
import sys

import numpy as np
import pytest

from experiments.study.pretended_gpu import Engine
from experiments.study.small import DECLARATION, RUNS, declared
from pursuit.cli import main
from pursuit.experiments.study import (
    StudyError,
    draw_report,
    gpu_scheduler,
    load_study,
    read_store,
    reproduce,
)
from pursuit.experiments.study.gpu_scheduler import FOLDER, expected_iterations
from pursuit.experiments.study.grid import entries_of, identify
from pursuit.experiments.study.results import CellResults, RunRecord

FEW = "n=4 L=10 scheme=rp,cma"


@pytest.fixture
def engine(monkeypatch):
    """Return an engine that only pretends, in place of the real one."""
    pretended = Engine()
    for name, module in pretended.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    # States are kept after every leg, however short it was.
    monkeypatch.setattr(gpu_scheduler, "KEEP_EVERY", 0.0)
    identify.cache_clear()
    yield pretended
    identify.cache_clear()


@pytest.fixture
def study(tmp_path):
    """Return the small study, declared for a GPU."""
    return declared(tmp_path, DECLARATION.replace("runs = 3\n", 'runs = 3\ndevice = "gpu"\n', 1))


def stored(folder, device=None):
    """Return the finished runs of a store, without their times."""
    with read_store(folder) as store:
        cells = store.results(device).cells
    return {str(entry.cell): [run._replace(seconds=0.0) for run in entry.runs] for entry in cells}


def states(folder):
    return sorted((folder / FOLDER).glob("*"))


def interrupt(engine, study, folder, landings):
    """Run a study, and interrupt it after so many landings."""
    engine.landings_left = landings
    with pytest.raises(KeyboardInterrupt):
        reproduce(study, folder)
    engine.landings_left = None


def test_the_device_is_part_of_an_identity_on_a_gpu_alone(engine, tmp_path):
    study = load_study(declared(tmp_path))
    here, there = entries_of(study), entries_of(study._replace(device="gpu"))
    for one, other in zip(here, there, strict=True):
        assert one.cell == other.cell
        added = {"device": "gpu", "generator": "pretended", "lanes": 8 if one.cell.n == 4 else 16}
        assert json.loads(other.key.identity) == {**json.loads(one.key.identity), **added}


@pytest.mark.parametrize("device", [None, "gpu"])
def test_the_declaration_names_the_device_and_the_call_decides(engine, study, tmp_path, device):
    assert load_study(study).device == "gpu"
    assert load_study("quick").device == "cpu"
    reproduce(study, tmp_path / "out", only=FEW, device=device)
    assert engine.iterations > 0
    with read_store(tmp_path / "out") as store:
        assert store.devices() == ["gpu"]
    engine.iterations = 0
    reproduce(study, tmp_path / "out", only=FEW, runs=1, jobs=1, device="cpu")
    assert engine.iterations == 0
    with read_store(tmp_path / "out") as store:
        assert store.devices() == ["cpu", "gpu"]


def test_unknown_devices_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"device must be one of cpu, gpu, but 'tpu' was given"):
        reproduce("quick", tmp_path / "out", device="tpu")
    text = DECLARATION.replace("runs = 3\n", 'runs = 3\ndevice = "tpu"\n', 1)
    with pytest.raises(StudyError, match=r"the key device must be one of cpu, gpu, but 'tpu' was given"):
        load_study(declared(tmp_path, text))


def test_without_a_gpu_a_sentence_says_why_and_nothing_is_started(engine, tmp_path, capsys):
    engine.missing = "There is no GPU here: the driver is not installed."
    assert main(["reproduce", "--device", "gpu", "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == "pursuit: There is no GPU here: the driver is not installed.\n"
    assert not (tmp_path / "out").exists()


def test_the_engine_itself_says_why_there_is_no_gpu(tmp_path, capsys):
    device = pytest.importorskip("pursuit.gpu.device")
    errors = pytest.importorskip("pursuit.gpu.errors")
    try:
        device.find_device()
    except errors.GpuError as error:
        sentence = str(error)
    else:
        pytest.skip("there is a GPU")
    assert main(["reproduce", "--device", "gpu", "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == f"pursuit: {sentence.removesuffix('.')}.\n"
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_compiled_is_left_out_with_a_sentence(engine, study, tmp_path, capsys):
    engine.refused, engine.refused_scheme = "This scheme cannot run on a GPU.", "RandomPursuit"
    reproduced = reproduce(study, tmp_path / "out")
    assert {failure.cell.scheme for failure in reproduced.failures} == {"rp"}
    assert "This scheme cannot run on a GPU. The rest of its runs are left out." in str(
        reproduced.failures[0]
    )
    runs = stored(tmp_path / "out")
    assert all(bool(found) == (" rp " not in f"{cell} ") for cell, found in runs.items())
    assert {cell.split()[-1] for cell in runs} != {"rp"}


def test_an_executor_is_not_for_a_gpu(engine, study, tmp_path):
    with pytest.raises(StudyError, match="on the GPU of this machine or by an executor"):
        reproduce(study, tmp_path / "out", executor="local")


def test_all_runs_are_stored_and_running_again_runs_nothing(engine, study, tmp_path, capsys):
    out = tmp_path / "out"
    assert reproduce(study, out).failures == []
    assert f"{RUNS} of {RUNS} runs to do, many at a time on the gpu." in capsys.readouterr().err
    runs = [run for found in stored(out).values() for run in found]
    assert len(runs) == RUNS
    # Readings that do not differ for a scheme, and only these, share runs.
    assert engine.iterations == sum(run.nit for run in runs)
    assert states(out) == []
    engine.iterations = 0
    reproduce(study, out)
    assert engine.iterations == 0
    with read_store(out) as store:
        assert store.unused() == 0
        entry = store.results().cells[0]
        trace = store.results().trace(entry.cell, 0)
        assert trace.nit[-1] == entry.runs[0].nit
        assert sum(run.seconds for entry in store.results().cells for run in entry.runs) > 0.0


def test_runs_of_both_devices_are_stored_beside_each_other(engine, study, tmp_path, capsys):
    out = tmp_path / "out"
    reproduce(study, out, only=FEW, runs=2, jobs=1, device="cpu")
    here = stored(out)
    reproduce(study, out, only=FEW)
    there = stored(out)
    assert here.keys() == there.keys()
    assert all(here[cell] != there[cell] for cell in here)
    assert stored(out, "cpu") == here
    with read_store(out) as store:
        assert store.unused() == 0
        assert store.results("cpu").made["device"] == "cpu"
        assert store.results().made["device"] == "gpu, Pretended 9000"
    capsys.readouterr()
    assert main(["status", str(out)]) == 0
    said = capsys.readouterr().out
    assert "12 of 12 runs are done." in said
    assert "Device: gpu.\n" in said
    assert "There are also cells of the cpu, with runs of their own: --device cpu.\n" in said
    assert main(["status", str(out), "--device", "cpu"]) == 0
    said = capsys.readouterr().out
    assert "8 of 8 runs are done." in said
    assert "Device: cpu.\n" in said


def test_a_report_shows_the_runs_of_one_device(engine, study, tmp_path):
    out = tmp_path / "out"
    reproduce(study, out, only=FEW, runs=2, jobs=1, device="cpu")
    draw_report(out)
    here = (out / "tables" / "runs.csv").read_bytes()
    reproduce(study, out, only=FEW, runs=2)
    draw_report(out)
    assert (out / "tables" / "runs.csv").read_bytes() != here
    assert "gpu, Pretended 9000" in (out / "report.md").read_text()
    assert main(["report", str(out), "--device", "cpu"]) == 0
    assert (out / "tables" / "runs.csv").read_bytes() == here


@pytest.mark.parametrize("landings", [1, 3, 25, 60])
def test_an_interrupted_study_continues_from_its_last_legs(engine, study, tmp_path, landings):
    reproduce(study, tmp_path / "whole")
    needed, engine.iterations = engine.iterations, 0
    interrupt(engine, study, tmp_path / "out", landings)
    assert states(tmp_path / "out")
    reproduce(study, tmp_path / "out")
    assert stored(tmp_path / "out") == stored(tmp_path / "whole")
    assert engine.iterations == needed
    assert states(tmp_path / "out") == []


def damaged_in_the_middle(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)


def other_arrays(**arrays):
    return lambda path: np.savez(path, **arrays)


NUMBERS, TIMES, WORDS = np.arange(3), np.zeros(3), np.full((3, 2), 9)


@pytest.mark.parametrize(
    "damage",
    [
        damaged_in_the_middle,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-30]),
        other_arrays(words=WORDS),
        other_arrays(numbers=np.array([{}]), seconds=TIMES),
        other_arrays(numbers=NUMBERS, seconds=TIMES),
        other_arrays(**{"numbers": NUMBERS[:2], "seconds": TIMES[:2], "memory-words": WORDS}),
        other_arrays(**{"numbers": 0 * NUMBERS, "seconds": TIMES, "memory-words": WORDS}),
        other_arrays(**{"numbers": NUMBERS, "seconds": TIMES - 1, "memory-words": WORDS}),
        other_arrays(**{"numbers": NUMBERS, "seconds": TIMES, "memory-words": WORDS[:, :1]}),
    ],
)
def test_a_damaged_state_is_named_and_its_runs_begin_anew(engine, study, tmp_path, damage, capsys):
    reproduce(study, tmp_path / "whole")
    interrupt(engine, study, tmp_path / "out", 25)
    path, *others = states(tmp_path / "out")
    damage(path)
    capsys.readouterr()
    reproduce(study, tmp_path / "out")
    said = capsys.readouterr().err
    assert said.count("cannot be read") == 1
    assert f"in {path} cannot be read (" in said
    assert "): its runs start again.\n" in said
    assert stored(tmp_path / "out") == stored(tmp_path / "whole")
    assert others
    assert states(tmp_path / "out") == []


def test_states_of_other_code_are_dropped_unread(engine, study, tmp_path, capsys):
    reproduce(study, tmp_path / "whole")
    interrupt(engine, study, tmp_path / "out", 25)
    path = states(tmp_path / "out")[0]
    cell, _, numbers = path.name.split("-")
    path.rename(path.with_name(f"{cell}-0123456789abcdef-{numbers}"))
    capsys.readouterr()
    reproduce(study, tmp_path / "out")
    assert "cannot be read" not in capsys.readouterr().err
    assert stored(tmp_path / "out") == stored(tmp_path / "whole")
    assert states(tmp_path / "out") == []


def test_states_of_cells_that_are_not_asked_for_stay(engine, study, tmp_path):
    reproduce(study, tmp_path / "whole")
    needed, engine.iterations = engine.iterations, 0
    interrupt(engine, study, tmp_path / "out", 25)
    reproduce(study, tmp_path / "out", only=FEW)
    assert states(tmp_path / "out")
    reproduce(study, tmp_path / "out")
    assert stored(tmp_path / "out") == stored(tmp_path / "whole")
    assert engine.iterations == needed


def test_fewer_and_more_runs_than_a_state_has(engine, study, tmp_path):
    reproduce(study, tmp_path / "whole")
    interrupt(engine, study, tmp_path / "out", 19)
    reproduce(study, tmp_path / "out", runs=1)
    assert {len(runs) for runs in stored(tmp_path / "out").values()} == {1}
    reproduce(study, tmp_path / "out")
    assert stored(tmp_path / "out") == stored(tmp_path / "whole")
    interrupt_at = declared(tmp_path, study.read_text().replace("runs = 3\n", "runs = 5\n", 1))
    engine.landings_left = 4
    with pytest.raises(KeyboardInterrupt):
        reproduce(interrupt_at, tmp_path / "out")
    engine.landings_left = None
    reproduce(interrupt_at, tmp_path / "out")
    reproduce(interrupt_at, tmp_path / "more")
    assert stored(tmp_path / "out") == stored(tmp_path / "more")
    assert states(tmp_path / "out") == []


def test_where_states_cannot_be_written_a_sentence_says_so(engine, study, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / FOLDER).write_text("in the way")
    with pytest.raises(StudyError, match=r"The states of runs cannot be written into .*unfinished: "):
        reproduce(study, tmp_path / "out")


def test_the_longest_runs_begin_first(engine, tmp_path):
    entries = {entry.cell[:4]: entry for entry in entries_of(load_study(declared(tmp_path)))}
    small, large = entries["exp", 10.0, 4, "rp"], entries["exp", 10.0, 6, "rp"]
    assert expected_iterations(small, []) == 120.0
    assert expected_iterations(entries["rosenbrock", None, 4, "rp"], []) == 43_200.0
    run = RunRecord(number=0, nit=1000, nfev=1001, fun=0.0, reason="target", seconds=0.1)
    known = CellResults(cell=small.cell, target=1e-6, cap=80_000, wanted=1, code="", runs=(run,))
    assert expected_iterations(small, [known]) == 1000.0
    assert expected_iterations(large, [known]) == 1500.0
    assert expected_iterations(entries["exp", 10.0, 4, "cma"], [known]) == 1600.0
    reproduce(declared(tmp_path), tmp_path / "out", device="gpu")
    assert engine.order == sorted(engine.order, reverse=True)


@pytest.mark.gpu
def test_on_a_gpu_a_study_in_two_parts_equals_one_in_a_piece(study, tmp_path):
    device = pytest.importorskip("pursuit.gpu.device")
    errors = pytest.importorskip("pursuit.gpu.errors")
    try:
        device.find_device()
    except errors.GpuError as error:
        pytest.skip(str(error))
    reproduce(study, tmp_path / "whole")
    reproduce(study, tmp_path / "out", runs=1)
    reproduce(study, tmp_path / "out")
    assert stored(tmp_path / "out") == stored(tmp_path / "whole")
    assert all(run.success for runs in stored(tmp_path / "out").values() for run in runs)
    assert states(tmp_path / "out") == []
