"""Checkpoints that others made: nothing in them is believed, and whatever is wrong is one sentence."""

import copy
import io
import json
import os
import pickle
import resource
import signal
import stat
import sys
import zipfile

import numpy as np
import pytest

import pursuit
from conformance.own import Narrowing

START = np.array([1.0, 2.0, 3.0])


def ellipsoid(x):
    return float(np.sum(np.linspace(1.0, 50.0, x.size) * x * x))


def advance(optimizer, rounds):
    for _ in range(rounds):
        X = optimizer.ask()
        optimizer.tell(X, [ellipsoid(x) for x in X])


@pytest.fixture
def saved(tmp_path):
    """Return a checkpoint of `adaptive-sarp` in the middle of a run."""
    optimizer = pursuit.Optimizer(START, "adaptive-sarp", rng=1, bounds=[(-9.0, 9.0)] * 3)
    advance(optimizer, 200)
    optimizer.save(tmp_path / "run.npz")
    return tmp_path / "run.npz"


def edited(path, change):
    """Write a checkpoint again after a change of its header and its arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays.pop("header").tobytes())
    change(header, arrays)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, header=text, **arrays)


def put(*keys, value):
    def change(header, arrays):
        place = header
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


def array(name, value):
    return lambda header, arrays: arrays.update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        put("method", value="evilmod:X"),
        put("method", value="os:getcwd"),
        put("method", value=3),
        put("options", value=[1]),
        put("options", value={"speed": 1}),
        put("n", value=2),
        put("n", value=10**12),
        put("n", value=10**400),
        put("n", value=3.0),
        put("n", value=True),
        put("sigma0", value=-1.0),
        put("sigma0", value="1"),
        put("counters", "rows", value=10**6),
        put("counters", "rows", value=-1),
        put("counters", "due", value=1),
        put("counters", "nit", value=2**70),
        put("counters", "nfev", value=1.5),
        put("counters", "best.nit", value=10**9),
        put("counters", value={}),
        put("state", "course.past.oldest", value=10**9),
        put("state", "course.past.oldest", value=-1),
        put("state", "oldest", value=1),
        put("state", "fx", value=3),
        put("state", "fx", value=float("nan")),
        put("state", "sigma", value=float("inf")),
        put("state", "f", value=float("nan")),
        put("state", value=[]),
        put("received", value=[["a"]]),
        put("received", value={"a": 1}),
        array("received", np.ones(100)),
        array("received", np.ones((1, 1))),
        array("received", np.ones(1, dtype=np.int64)),
        put("generator", "bit_generator", value="seed"),
        put("generator", "bit_generator", value="Generator"),
        put("generator", "state", value={}),
        put("generator", "state", "state", value=-5),
        put("generator", "has_uint32", value=7),
        put("generator", value=[]),
        array("state.x", np.ones(2)),
        array("state.x", np.ones(3, dtype=np.int64)),
        array("state.x", np.array([1.0, np.nan, 2.0])),
        array("state.y", np.ones((3, 1))),
        array("state.y", np.array([1.0, np.inf, 2.0])),
        array("state.v", np.array([1.0, np.nan, 2.0])),
        put("counters", "best.value", value=float("-inf")),
        put("counters", "recent.until", value=0),
        put("limits", value={}),
        put("limits", "xtol", value=-1.0),
        put("limits", "maxfev", value="many"),
        array("state.more", np.ones(3)),
        array("trace.nit", np.ones(5, dtype=np.int64)),
        array("trace.at_bound", np.ones(5, dtype=np.int64)),
        lambda header, arrays: arrays["trace.fun"].__setitem__(0, np.nan),
        lambda header, arrays: arrays["trace.sigma"].__setitem__(0, np.inf),
        array("lower", np.full(3, 100.0)),
        array("x0", np.full(3, 1e9)),
        array("x0", np.full(2, 1.0)),
        array("x0", np.full(3, np.inf)),
        put("version", value={"array": [2.0, 2.0], "dtype": "f8"}),
        lambda header, arrays: arrays.pop("state.v"),
        lambda header, arrays: header.pop("generator"),
        lambda header, arrays: header.pop("n"),
    ],
)
def test_whatever_is_wrong_is_one_sentence_that_names_the_file(saved, tmp_path, monkeypatch, change):
    (tmp_path / "evilmod.py").write_text("import os\nos.mkdir('evil')\nclass X: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    edited(saved, change)
    with pytest.raises(ValueError, match=r"run\.npz .*\.$") as caught:
        pursuit.Optimizer.load(saved)
    assert len(str(caught.value)) < 1000
    assert "evilmod" not in sys.modules
    assert not (tmp_path / "evil").exists()


def test_values_of_an_iteration_that_it_did_not_ask_for_are_refused_by_minimize_too(tmp_path):
    path = tmp_path / "run.npz"
    pursuit.minimize(ellipsoid, START, method="rp", rng=1, maxfev=20, checkpoint=path)
    edited(path, array("received", np.ones(3)))
    with pytest.raises(ValueError, match=r"run\.npz cannot be used"):
        pursuit.minimize(ellipsoid, START, method="rp", rng=1, maxfev=30, checkpoint=path)


def test_an_array_for_an_option_is_refused_by_minimize_in_a_sentence(tmp_path):
    path = tmp_path / "run.npz"
    settings = {"method": "rp", "options": {"p": 0.3}, "rng": 1, "checkpoint": path}
    pursuit.minimize(ellipsoid, START, maxfev=20, **settings)
    edited(path, put("options", "p", value={"array": [0.3, 0.3], "dtype": "f8"}))
    with pytest.raises(ValueError, match=r"run\.npz holds a run with options="):
        pursuit.minimize(ellipsoid, START, maxfev=30, **settings)


def test_counts_of_a_state_that_no_run_has_are_refused(tmp_path):
    optimizer = pursuit.Optimizer(START, "ep-cma-2", rng=1)
    advance(optimizer, 30)
    optimizer.save(tmp_path / "run.npz")
    edited(tmp_path / "run.npz", put("state", "k", value=-1))
    with pytest.raises(ValueError, match=r"run\.npz cannot be used"):
        pursuit.Optimizer.load(tmp_path / "run.npz")


def test_values_are_refused_where_nothing_is_asked_for(tmp_path):
    optimizer = pursuit.Optimizer(START, "cma", rng=1, maxfev=20)
    while not optimizer.stop():
        advance(optimizer, 1)
    optimizer.save(tmp_path / "run.npz")
    edited(tmp_path / "run.npz", array("received", np.ones(1)))
    with pytest.raises(ValueError, match=r"run\.npz cannot be used"):
        pursuit.Optimizer.load(tmp_path / "run.npz")


def test_missing_bytes_are_one_sentence_that_names_the_file(saved):
    """Readers of archives raise errors of many kinds then, of the operating system's kind too."""
    whole = saved.read_bytes()
    for cut in range(0, len(whole), len(whole) // 97):
        saved.write_bytes(whole[:cut] + whole[cut + 1 :])
        with pytest.raises(ValueError, match=r"run\.npz (is not a|cannot be used)"):
            pursuit.Optimizer.load(saved)


@pytest.mark.parametrize("name", ["MT19937", "Philox", "SFC64"])
@pytest.mark.parametrize("where", ["pos", "buffer_pos", "key", "buffer", "state"])
def test_states_of_all_generators_are_checked(tmp_path, name, where):
    """NumPy would use a position beyond its arrays as it is."""
    rng = np.random.Generator(getattr(np.random, name)(1))
    path = tmp_path / "run.npz"
    pursuit.Optimizer(START, "rp", rng=rng).save(path)
    changed = []

    def change(header, arrays, place=None):
        place = header["generator"] if place is None else place
        for key, entry in place.items():
            if key == where and not (isinstance(entry, dict) and set(entry) != {"array", "dtype"}):
                place[key] = 10**6
                changed.append(key)
            elif isinstance(entry, dict):
                change(header, arrays, entry)

    edited(path, change)
    if changed:
        with pytest.raises(ValueError, match=r"run\.npz cannot be used"):
            pursuit.Optimizer.load(path)


def test_a_zip_bomb_is_not_unpacked(saved):
    big = io.BytesIO()
    np.save(big, np.zeros(2**26))
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("state.bomb.npy", big.getvalue())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="is compressed"):
        pursuit.Optimizer.load(saved)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**18


def test_no_memory_is_allocated_that_the_file_does_not_fill(saved):
    """A full covariance matrix of so many variables would take terabytes."""

    def change(header, arrays):
        header.update(method="cma", n=10**6)
        arrays["state.x"] = np.ones(10**6)

    edited(saved, change)
    with pytest.raises(ValueError, match="cannot be used"):
        pursuit.Optimizer.load(saved)


def test_a_class_is_used_only_if_it_is_passed(tmp_path):
    path = tmp_path / "own.npz"
    optimizer = pursuit.Optimizer(START, Narrowing, rng=1)
    advance(optimizer, 5)
    optimizer.save(path)
    with pytest.raises(ValueError, match=r"its method is a class, .*Narrowing: pass that class as method"):
        pursuit.Optimizer.load(path)
    np.testing.assert_array_equal(pursuit.Optimizer.load(path, method=Narrowing).ask(), optimizer.ask())


@pytest.mark.parametrize("rounds", [0, 1, 50])
@pytest.mark.parametrize("method", ["adaptive-sarp", "rp-exact", Narrowing], ids=str)
def test_copies_and_pickles_go_their_own_way(method, rounds):
    optimizer = pursuit.Optimizer(START, method, rng=1)
    advance(optimizer, rounds)
    twins = [copy.copy(optimizer), copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))]
    advance(optimizer, 20)
    for twin in twins:
        advance(twin, 20)
        np.testing.assert_array_equal(twin.ask(), optimizer.ask())
        assert twin.result.nfev == optimizer.result.nfev


def test_another_objective_is_noticed_and_can_be_insisted_on(tmp_path):
    arguments = {"method": "rp", "rng": 1, "checkpoint": tmp_path / "run.npz"}
    pursuit.minimize(ellipsoid, START, maxiter=50, **arguments)
    with pytest.raises(ValueError, match=r"run\.npz holds a run of another function: at its best point"):
        pursuit.minimize(lambda x: 10.0 + ellipsoid(x), START, maxiter=100, **arguments)
    result = pursuit.minimize(
        lambda x: 10.0 + ellipsoid(x), START, maxiter=100, checkpoint_check=False, **arguments
    )
    assert result.nit == 100


def never(x):
    raise AssertionError("the objective was called")


@pytest.mark.parametrize(
    ("checkpoint", "options", "error", "words"),
    [
        ("missing/run.npz", {}, FileNotFoundError, "The checkpoint cannot be written"),
        ("/dev/null/run.npz", {}, NotADirectoryError, "The checkpoint cannot be written"),
        ("run.npz", {"p": 0.3, "reading": {1, 2}}, (TypeError, ValueError), "reading must be|can hold"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_evaluated(
    tmp_path, monkeypatch, checkpoint, options, error, words
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        pursuit.minimize(never, START, method="rp", checkpoint=checkpoint, options=options)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_costs_a_warning_and_not_the_result(tmp_path):
    """A limit on the size of files stands for the disk."""
    path = tmp_path / "run.npz"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    calls = []

    def fun(x):
        calls.append(1)
        if len(calls) == 20:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        return ellipsoid(x)

    try:
        with pytest.warns(RuntimeWarning, match=r"run\.npz could not be written: File too large"):
            result = pursuit.minimize(fun, START, method="rp", rng=1, maxiter=100, checkpoint=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert result.nit == 100
    assert [entry.name for entry in tmp_path.iterdir()] in ([], ["run.npz"])


def test_a_link_is_written_through_and_the_mode_follows_the_umask(tmp_path):
    (tmp_path / "folder").mkdir()
    link, target = tmp_path / "link.npz", tmp_path / "folder" / "run.npz"
    link.symlink_to(target)
    (tmp_path / "folder" / ".run.npz.part").write_text("left by a killed process")
    before = os.umask(0o027)
    try:
        pursuit.minimize(ellipsoid, START, method="rp", rng=1, maxiter=5, checkpoint=link)
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["run.npz"]


@pytest.fixture
def in_stages(tmp_path):
    """Return a checkpoint of `auto` in a restart, with a part of a round told."""
    optimizer = pursuit.Optimizer(START, rng=1, restarts=2, xtol=1e-2)
    while len(optimizer.result.stages) < 3 or len(optimizer.ask()) < 2:
        advance(optimizer, 1)
    X = optimizer.ask()
    optimizer.tell(X[1:2], [ellipsoid(X[1])])
    optimizer.save(tmp_path / "run.npz")
    return tmp_path / "run.npz"


def test_a_checkpoint_of_several_stages_is_loaded(in_stages):
    optimizer = pursuit.Optimizer.load(in_stages)
    assert len(optimizer.result.stages) == 3
    assert optimizer.missing > 0


@pytest.mark.parametrize(
    "change",
    [
        put("told", value=[1.0]),
        put("told", value=["a", None]),
        put("told", value=3),
        put("past", value=None),
        put("past", value=[]),
        put("past", "f0", value=float("inf")),
        put("past", "f0", value="1"),
        put("past", "champion", value=7),
        put("past", "champion", value=-1),
        put("past", "champion", value=0.0),
        put("past", "stage", value={}),
        put("past", "stage.method", value="os:getcwd"),
        put("past", "stage.method", value=["rp"]),
        put("past", "stage.method", value="rp"),
        put("past", "stage.options", value={"m": -1}),
        put("past", "stage.options", value=3),
        put("past", "stage.start", value="elsewhere"),
        put("past", "stage.most", value=-5),
        put("past", "stage.most", value=1.5),
        put("past", "stage.why", value=7),
        put("past", "ended", value={}),
        put("past", "ended", value=[{}]),
        put("past", "ended.0.nfev", value=-3),
        put("past", "ended.0.nit", value="4"),
        put("past", "ended.0.reason", value=99),
        put("past", "ended.0.fun", value=None),
        put("past", "ended.0.noise", value="loud"),
        put("past", "ended.0.options", value=[]),
        array("past.x0", np.ones(2)),
        array("past.x0", np.array([1.0, np.nan, 2.0])),
        array("past.best", np.empty(0)),
        array("past.trace.nit", np.ones(3)),
        array("past.trace.fun", np.ones((2, 2))),
        array("past.more", np.ones(3)),
        put("restarts", value=-1),
        put("restarts", value=2.0),
    ],
)
def test_forged_stages_are_refused_by_a_sentence(in_stages, change):
    edited(in_stages, change)
    with pytest.raises(ValueError, match=r"run\.npz (cannot be used|is not)"):
        pursuit.Optimizer.load(in_stages)
