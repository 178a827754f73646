"""Batches, as far as they can be told without a GPU."""

from typing import NamedTuple

import numpy as np
import pytest

from conformance.own import Bowl, Narrowing

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed: pip install 'pursuit[gpu]'")

from numba.cuda import dispatcher

import pursuit
from pursuit.engine.setup import set_up
from pursuit.engine.stopping import Reason
from pursuit.gpu import kernels
from pursuit.gpu.batch import Batch
from pursuit.gpu.errors import GpuError
from pursuit.gpu.plan import default_lanes
from pursuit.methods.stages import Task
from pursuit.problems.transform import Rotated

H200 = (9, 0)


def batch_of(fun, x0, method="rp", *, runs=3, lanes=None, bounds=None, **limits):
    setup, start = set_up(Task(x0, method, limits, bounds=bounds, fun=fun))
    seeds = np.random.SeedSequence(1).spawn(runs)
    starts = np.tile(start, (runs, 1))
    return Batch(setup, setup.limits, starts, [float(fun(np.array(x0)))] * runs, seeds, lanes=lanes)


@pytest.fixture
def batch():
    problem = pursuit.problems.exp(5, 100.0)
    return batch_of(problem, problem.x0, "adaptive-sarp")


def test_a_new_batch_has_evaluated_its_starts_and_nothing_else(batch):
    assert batch.runs == 3
    assert batch.running.tolist() == [0, 1, 2]
    assert batch.nit.tolist() == [0, 0, 0]
    outcome = batch.outcome(1)
    assert (outcome.nit, outcome.nfev, outcome.reason) == (0, 1, Reason.RUNNING)
    assert outcome.fun == batch.setup.objective(outcome.x)
    assert outcome.trace().nit.tolist() == [0]


def test_a_batch_is_resumed_from_what_it_keeps(batch, tmp_path):
    np.savez(tmp_path / "kept.npz", **batch.memory())
    with np.load(tmp_path / "kept.npz", allow_pickle=False) as kept:
        again = Batch.resumed(batch.setup, batch.limits, kept)
    np.testing.assert_array_equal(again.words, batch.words)


def test_a_memory_of_other_runs_is_refused(batch):
    memory = batch.memory()
    with pytest.raises(ValueError, match="that of other runs"):
        Batch.resumed(batch.setup, batch.limits, {**memory, "words": memory["words"][:, 1:]})
    with pytest.raises(ValueError, match="teams of 8 threads, not 16"):
        Batch.resumed(batch.setup, batch.limits, memory, lanes=16)


def test_runs_of_different_seeds_differ_in_their_keys_alone(batch):
    assert len({row.tobytes() for row in batch.words}) == 3
    assert sum((batch.words[0] != batch.words[1]).tolist()) <= 2


def test_a_python_function_is_refused_with_the_reason():
    setup, start = set_up(Task([1.0, 2.0], "rp", {}, fun=lambda x: x @ x))
    with pytest.raises(GpuError, match=r"functions jitted by Numba, but <function .* is none of these"):
        Batch(setup, setup.limits, [start], [5.0], [np.random.SeedSequence(1)])


def test_work_arrays_that_runs_cannot_have_for_themselves_are_refused():
    # The vectors of a run leave no room for both of these in a multiprocessor's memory.
    n = 4096
    problem = Rotated(pursuit.problems.exp(n, 100.0), Q=np.eye(n), turned_x=np.empty(n), turned_u=np.empty(n))
    with pytest.raises(
        GpuError, match=r"The array `turned_\w` of Rotated has 4096 entries, too many for each"
    ):
        batch_of(problem, problem.x0, "adaptive-sarp")


@pytest.mark.parametrize("lanes", [0, 3, 1024, "many"])
def test_the_width_of_a_team_is_a_power_of_two(lanes):
    problem = pursuit.problems.exp(5, 100.0)
    with pytest.raises(ValueError, match="lanes must be a power of two from 1 to 512"):
        batch_of(problem, problem.x0, lanes=lanes)


def test_code_that_takes_arrays_apart_is_executed_by_one_thread():
    quadratic = pursuit.problems.exp(5, 100.0)
    rp = batch_of(quadratic, quadratic.x0).setup.scheme
    assert default_lanes(rp, quadratic, 5) > 1
    assert default_lanes(rp, Bowl(5), 5) == 1
    assert default_lanes(Narrowing(4), quadratic, 5) == 1


class PretendedDevice(NamedTuple):
    compute_capability: tuple[int, int]


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    """An empty folder for kernels, and what numba-cuda asks a GPU for when it compiles."""
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: PretendedDevice(H200))
    monkeypatch.setattr(kernels, "cache_folder", lambda *records: tmp_path)
    monkeypatch.setattr(kernels, "_made", {})
    return tmp_path


def test_a_kernel_is_compiled_once_and_a_damaged_one_again(fresh_cache, monkeypatch):
    problem = pursuit.problems.exp(5, 100.0)
    blueprint = batch_of(problem, problem.x0).blueprint(H200)
    made = kernels.machine_code(blueprint)
    assert made.cubin.startswith(b"\x7fELF")
    (file,) = fresh_cache.iterdir()
    kernels._made.clear()
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "ptx_of", None)
        assert kernels.machine_code(blueprint) == made
    kernels._made.clear()
    file.write_bytes(file.read_bytes()[:-1])
    assert kernels.machine_code(blueprint).cubin.startswith(b"\x7fELF")


def test_what_does_not_compile_for_a_gpu_is_refused_with_the_reason(fresh_cache):
    import numba

    @numba.njit
    def sorted_sum(x):
        return np.sort(x)[0] + np.linalg.norm(x)

    blueprint = batch_of(sorted_sum, [1.0, 2.0]).blueprint(H200)
    with pytest.raises(GpuError, match=r"RandomPursuit on Jitted cannot be compiled for a GPU: .+"):
        kernels.machine_code(blueprint)


@pytest.mark.parametrize(
    ("method", "name"), [("auto", "Differences"), ("differences", "Differences"), ("evolution", "Evolution")]
)
def test_a_program_is_refused(method, name):
    problem = pursuit.problems.exp(5, 100.0)
    with pytest.raises(GpuError, match=rf"A GPU runs step methods, .* but {name} is a program in Python"):
        batch_of(problem, problem.x0, method)
