"""Checkpoints: whole or absent, readable by anyone, and a resumed run equals an uninterrupted one."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from typing import NamedTuple

import numpy as np
import pytest

import pursuit
from conformance.own import Narrowing
from pursuit.compiling.vectors import add
from pursuit.methods import AdaptiveStep, Line, Needs, Numbers, State, ask, tell
from test_optimizer import METHODS, START, advance, ellipsoid, every_method, make


def assert_same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    for name in ("fun", "nit", "nfev", "nfaulty", "sigma"):
        assert one[name] == other[name]
    for column, twin in zip((*one.trace, one.trace.x), (*other.trace, other.trace.x), strict=True):
        np.testing.assert_array_equal(column, twin)


@every_method
@pytest.mark.parametrize("bounds", [None, [(0.25, 3.0)] * 6])
def test_saved_and_loaded_at_any_moment_it_goes_on_as_if_nothing_had_happened(method, bounds, tmp_path):
    """Line searches are interrupted in the middle, blocks of normals at their edges."""
    path = tmp_path / "run.npz"
    through, broken = make(method, bounds=bounds), make(method, bounds=bounds)
    for pause in [0, 1, 1, 1, 1, 2, 3, 5, 600, 81, 82, 83, 84, 500]:
        advance(through, pause)
        advance(broken, pause)
        broken.save(path)
        broken = pursuit.Optimizer.load(path, trace=True)
        np.testing.assert_array_equal(through.ask(), broken.ask())
    assert_same(through.result, broken.result)


@every_method
def test_values_that_are_not_finite_do_not_keep_it_from_being_loaded(method, tmp_path):
    path, optimizer = tmp_path / "run.npz", make(method)
    for k in range(12):
        X = optimizer.ask()
        values = [ellipsoid(x) for x in X]
        if k % 2:
            values[-1] = np.nan if k % 4 == 1 else np.inf
        optimizer.tell(X, values)
        optimizer.save(path)
        loaded = pursuit.Optimizer.load(path, trace=True)
        np.testing.assert_array_equal(loaded.ask(), optimizer.ask())
        optimizer = loaded


class Blocks(NamedTuple):
    """Random Pursuit whose state is laid out for the number of variables that it was created for."""

    line_search: AdaptiveStep
    n: int

    @classmethod
    def create(cls, n):
        return cls(AdaptiveStep.create(0.27), n)

    def init(self, x, fx, sigma):
        return State(BlocksArrays(x, x.reshape(self.n // 3, 3).sum(axis=1)), Numbers(fx, fx, sigma))

    def needs(self, n):
        return Needs(normals=n)


class BlocksArrays(NamedTuple):
    x: np.ndarray
    sums: np.ndarray


@ask.register(Blocks)
def _ask(team, scheme, arrays, numbers, u):
    return Line(arrays.x, u, numbers.fx, numbers.sigma)


@tell.register(Blocks)
def _tell(team, scheme, arrays, numbers, line, step):
    add(team, arrays.x, step.length, line.direction)
    return Numbers(step.value, step.value, step.sigma)


def test_a_scheme_whose_first_state_relies_on_n_is_resumed(tmp_path):
    arguments = {"method": Blocks, "rng": 1, "trace": True}
    whole = pursuit.minimize(ellipsoid, START, maxiter=60, **arguments)
    for maxiter in (20, 60):
        part = pursuit.minimize(
            ellipsoid, START, maxiter=maxiter, checkpoint=tmp_path / "run.npz", **arguments
        )
    assert_same(whole, part)


def test_a_user_s_scheme_is_found_again(tmp_path):
    optimizer = pursuit.Optimizer(START, Narrowing, rng=3, options={"offspring": 5}, trace=True)
    advance(optimizer, 30)
    optimizer.save(tmp_path / "own.npz")
    loaded = pursuit.Optimizer.load(tmp_path / "own.npz", method=Narrowing, trace=True)
    advance(optimizer, 30)
    advance(loaded, 30)
    assert_same(optimizer.result, loaded.result)


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "SFC64", "Philox", "MT19937"])
def test_any_of_numpy_s_bit_generators_is_resumed(name, tmp_path):
    def fresh():
        return np.random.Generator(getattr(np.random, name)(5))

    whole = pursuit.Optimizer(START, "rp", rng=fresh(), trace=True)
    advance(whole, 40)
    part = pursuit.Optimizer(START, "rp", rng=fresh(), trace=True)
    advance(part, 20)
    part.save(tmp_path / "run.npz")
    part = pursuit.Optimizer.load(tmp_path / "run.npz", trace=True)
    advance(part, 20)
    assert_same(whole.result, part.result)


@pytest.mark.parametrize("method", ["adaptive-sarp", "rp", "sarp", "cma", "ep-cma-4", "sarp-exact"])
@pytest.mark.parametrize("kind", ["problem", "function"])
def test_minimize_resumes_where_its_limits_stopped_it(method, kind, tmp_path):
    problem = pursuit.problems.exp(7, 100.0)
    fun = problem if kind == "problem" else lambda x: problem(x)
    arguments = {
        "method": method,
        "options": {"kappa": 100.0} if method.startswith("sarp") else {},
        "trace": "x",
    }
    whole = pursuit.minimize(fun, problem.x0, rng=4, maxiter=500, **arguments)
    path = tmp_path / "run.npz"
    for maxiter in (1, 2, 3, 50, 499, 500):
        part = pursuit.minimize(fun, problem.x0, rng=4, maxiter=maxiter, checkpoint=path, **arguments)
        assert part.nit == maxiter
    assert_same(whole, part)


@pytest.mark.parametrize("kind", ["problem", "function"])
@pytest.mark.parametrize("method", ["adaptive-sarp", "rp", "sarp", "ep-cma-4"])
def test_minimize_resumes_exactly_after_its_evaluations_ran_out(method, kind, tmp_path):
    problem = pursuit.problems.exp(7, 100.0)
    fun = problem if kind == "problem" else lambda x: problem(x)
    arguments = {
        "method": method,
        "options": {"kappa": 9.0} if method == "sarp" else {},
        "rng": 4,
        "trace": "x",
    }
    whole = pursuit.minimize(fun, problem.x0, maxfev=500, **arguments)
    for maxfev in (1, 2, 3, 4, 50, 51, 52, 499, 500):
        part = pursuit.minimize(fun, problem.x0, maxfev=maxfev, checkpoint=tmp_path / "run.npz", **arguments)
        assert maxfev - (2 if method == "adaptive-sarp" else 1) <= part.nfev <= maxfev
    assert_same(whole, part)


def test_a_finished_run_is_not_run_again(tmp_path):
    calls = []

    def counted(x):
        calls.append(1)
        return ellipsoid(x)

    arguments = {"method": "rp", "rng": 1, "ftarget": 1e-3, "checkpoint": tmp_path / "run.npz"}
    first = pursuit.minimize(counted, START, **arguments)
    spent = len(calls)
    second = pursuit.minimize(counted, START, **arguments)
    # The stored point was evaluated once more, to see that the function is the same.
    assert len(calls) == spent + 1
    assert (second.fun, second.nit, second.message) == (first.fun, first.nit, first.message)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"method": "ep-cma-4"},
            "holds a run with method='rp', which cannot be resumed with method='ep-cma-4'",
        ),
        ({"sigma0": 2.0}, "holds a run with sigma0=1.0"),
        ({"options": {"p": 0.3}}, "holds a run with options={}"),
        ({"x0": START[:3]}, "holds a run with n=6"),
        ({"bounds": [(0.0, 9.0)] * 6}, "holds a run with other bounds"),
    ],
)
def test_another_run_s_checkpoint_is_refused_and_left_alone(change, words, tmp_path):
    path = tmp_path / "run.npz"
    arguments = {"fun": ellipsoid, "x0": START, "method": "rp", "rng": 1, "maxiter": 10, "checkpoint": path}
    pursuit.minimize(**arguments)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=words):
        pursuit.minimize(**{**arguments, **change})
    assert path.read_bytes() == before


def test_the_format_is_what_the_documentation_says(tmp_path):
    path = tmp_path / "run.npz"
    optimizer = make("sarp")
    advance(optimizer, 10)
    optimizer.save(path)
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
        assert (header["format"], header["version"]) == ("pursuit checkpoint", 9)
        assert header["method"] == "sarp"
        assert header["options"] == METHODS["sarp"]
        assert header["generator"]["bit_generator"] == "PCG64"
        assert header["counters"]["nit"] == optimizer.result.nit
        np.testing.assert_array_equal(file["state.x"], optimizer.result.x)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:20],
        lambda whole: b"",
        lambda whole: b"not a checkpoint at all",
        lambda whole: npz(other=np.ones(3)),
        lambda whole: npz(header=np.frombuffer(b"{]", dtype=np.uint8)),
        lambda whole: npz(header=np.frombuffer(b'{"a": 1}', dtype=np.uint8)),
    ],
)
def test_a_truncated_or_foreign_file_is_named(damage, tmp_path):
    path = tmp_path / "run.npz"
    make("rp").save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"run\.npz is not a checkpoint of pursuit, or not a whole one"):
        pursuit.Optimizer.load(path, trace=True)


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def test_a_pickle_in_the_file_is_never_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "exploded"),))

    path = tmp_path / "run.npz"
    path.write_bytes(npz(header=np.array(Bomb(), dtype=object)))
    with pytest.raises(ValueError, match="not a checkpoint"):
        pursuit.Optimizer.load(path, trace=True)
    assert not (tmp_path / "exploded").exists()


def test_a_newer_version_is_named(tmp_path):
    path = tmp_path / "run.npz"
    text = json.dumps({"format": "pursuit checkpoint", "version": 99}).encode()
    path.write_bytes(npz(header=np.frombuffer(text, dtype=np.uint8)))
    with pytest.raises(ValueError, match="of version 99, but this version of pursuit reads version 9"):
        pursuit.Optimizer.load(path, trace=True)


def test_a_missing_file_is_python_s_own_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        pursuit.Optimizer.load(tmp_path / "nothing.npz")


def test_a_full_disk_leaves_the_previous_checkpoint_whole(tmp_path):
    """The limit on a file's size makes the write fail as a full disk would, in the middle."""
    code = """
    import resource, signal, sys
    import numpy as np, pursuit
    optimizer = pursuit.Optimizer(np.ones(20_000), "rp", rng=1)
    optimizer.save("run.npz")
    optimizer.tell(optimizer.ask(), [1.0])
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    try:
        optimizer.save("run.npz")
    except OSError as error:
        print("refused", error.errno)
    print(optimizer.ask().shape)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("refused")
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]
    assert pursuit.Optimizer.load(tmp_path / "run.npz").result.nfev == 0


KILLED = """
import time
import numpy as np, pursuit
problem = pursuit.problems.exp(30, 1e4)
def slow(x):
    time.sleep(0.0002)
    return problem(x)
result = pursuit.minimize(
    problem if {whole} else slow, problem.x0, method="{method}", rng=8, maxiter={iterations},
    options=dict(kappa=1e4) if "sarp" in "{method}" else dict(), trace=True,
    checkpoint="{path}", checkpoint_every=0.0,
)
np.savez("{out}", x=result.x, fun=result.fun, nit=result.nit, nfev=result.nfev, trace=result.trace.fun)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "whole", "iterations"),
    [
        ("sarp", True, 4_000_000),
        ("ep-cma-4", True, 4_000_000),
        ("rp", False, 1_000),
        ("sarp-exact", False, 150),
    ],
)
def test_killed_at_any_moment_and_resumed_it_ends_with_the_same_result(method, whole, iterations, tmp_path):
    """Every process is killed some random time after it has begun to write checkpoints of its own."""
    expected, out, path = tmp_path / "expected.npz", tmp_path / "out.npz", tmp_path / "broken.npz"

    def process(checkpoint, result):
        code = KILLED.format(method=method, whole=whole, iterations=iterations, path=checkpoint, out=result)
        return subprocess.Popen([sys.executable, "-c", code])

    assert process(tmp_path / "whole.npz", expected).wait() == 0
    moments = random.Random(f"{method} {whole}")
    kills = 0
    for _ in range(5):
        written = path.stat().st_mtime_ns if path.exists() else 0
        running = process(path, out)
        while running.poll() is None and (not path.exists() or path.stat().st_mtime_ns == written):
            time.sleep(0.001)
        time.sleep(0.1 * moments.random())
        kills += running.poll() is None
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert kills >= 2
    assert process(path, out).wait() == 0
    with np.load(expected) as wanted, np.load(out) as got:
        for name in wanted.files:
            np.testing.assert_array_equal(wanted[name], got[name])


INTERRUPTED = """
import random, signal, time
import numpy as np, pursuit
from pursuit.engine.stopping import Reason
problem = pursuit.problems.exp(30, 1e4)
arguments = dict(
    method="{method}", rng=8, maxiter={iterations}, trace=True, checkpoint_every=1e9,
    options=dict(kappa=1e4) if "sarp" in "{method}" else dict(),
)
for _ in range(2):
    begin = time.process_time()
    whole = pursuit.minimize(lambda x: problem(x), problem.x0, **arguments)
    duration = time.process_time() - begin
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGVTALRM, lambda *_: signal.raise_signal(signal.SIGINT))
moments = random.Random(1)
interruptions = 0
while True:
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.02 + duration * moments.uniform(0.05, 0.2))
        part = pursuit.minimize(lambda x: problem(x), problem.x0, checkpoint="{path}", **arguments)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if part.status != Reason.INTERRUPTED:
            break
        interruptions += 1
    except KeyboardInterrupt:
        pass
print(interruptions, (whole.x == part.x).all(), whole.nit == part.nit, whole.nfev == part.nfev,
      (whole.trace.fun == part.trace.fun).all())
"""


@pytest.mark.parametrize(
    ("method", "iterations"),
    [
        ("sarp", 50_000),
        pytest.param("rp", 100_000, marks=pytest.mark.long),
        pytest.param("rp-exact", 15_000, marks=pytest.mark.long),
    ],
)
def test_interrupted_again_and_again_and_resumed_it_ends_with_the_same_result(method, iterations, tmp_path):
    code = INTERRUPTED.format(method=method, iterations=iterations, path=tmp_path / "run.npz")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    interruptions, *same = done.stdout.split()
    assert int(interruptions) >= 3
    assert same == ["True"] * 4


def test_no_checkpoint_is_written_unless_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pursuit.minimize(ellipsoid, START, method="rp", rng=1, maxiter=50)
    make("rp").ask()
    assert list(tmp_path.iterdir()) == []
