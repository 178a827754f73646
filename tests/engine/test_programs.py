"""Programs, run by everything that runs methods: the same run whatever evaluates its points."""

import dataclasses
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pursuit
from engine.searching import Searching
from pursuit.engine import program_run
from pursuit.engine.checkpoint import Checkpoint

N = 5
X0 = np.full(N, 2.0)
BOUNDS = [(-1.0, 3.0)] * 2 + [(0.5, 2.5)] * (N - 2)


def quartic(x):
    return float(np.sum(np.arange(1.0, x.size + 1.0) * x**2) + np.sum(x**4))


def quartics(X):
    return [quartic(x) for x in X]


def stamp(result):
    """Return all numbers of a result, to the last bit."""
    trace = [] if "trace" not in result else [column.tolist() for column in result.trace]
    return (
        result.x.tolist(),
        result.fun,
        result.nit,
        result.nfev,
        result.nfaulty,
        result.sigma,
        result.status,
        result.message.split(" `")[0],
        trace,
    )


def run(fun=quartic, method=Searching, **more):
    given = {"rng": 7, "maxfev": 200, "trace": True, "bounds": BOUNDS, **more}
    return pursuit.minimize(fun, X0, method=method, **given)


def told(optimizer, fun=quartic, order=1):
    while not optimizer.stop():
        X = optimizer.ask()[::order]
        optimizer.tell(X, [fun(x) for x in X])
    return optimizer.result


METHODS = (Searching, "differences")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1, 2, 3, 64])
def test_chunks_make_no_difference(monkeypatch, method, size):
    expected = stamp(run(method=method))
    monkeypatch.setattr(program_run, "_MOST_POINTS", size)
    assert stamp(run(method=method)) == expected


@pytest.mark.parametrize("method", METHODS)
def test_the_same_run_whatever_evaluates_its_points(method):
    expected = stamp(run(method=method, batch=4))
    with ThreadPoolExecutor(3) as threads:
        assert stamp(run(method=method, batch=4, workers=threads)) == expected
    assert stamp(run(method=method, batch=4, workers=map)) == expected
    assert stamp(run(method=method, batch=4, workers=2)) == expected
    assert stamp(run(quartics, method=method, batch=4, vectorized=True)) == expected
    for order in (1, -1):
        optimizer = pursuit.Optimizer(X0, method, rng=7, maxfev=200, bounds=BOUNDS, batch=4, trace=True)
        assert stamp(told(optimizer, order=order)) == expected


@pytest.mark.parametrize("method", METHODS)
def test_the_same_run_without_a_batch(method):
    expected = stamp(run(method=method))
    assert stamp(run(quartics, method=method, vectorized=True)) == expected
    optimizer = pursuit.Optimizer(X0, method, rng=7, maxfev=200, bounds=BOUNDS, trace=True)
    assert stamp(told(optimizer)) == expected
    many = pursuit.minimize_many(
        quartic, X0, seeds=[7, 8], method=method, maxfev=200, bounds=BOUNDS, trace=True, workers=2
    )
    assert stamp(many[0]) == expected


def test_a_problem_and_its_function_give_the_same_run():
    problem = pursuit.problems.exp(N, 1e2)
    one, other = (
        pursuit.minimize(fun, X0, method=Searching, rng=1, maxfev=300) for fun in (problem, problem.__call__)
    )
    assert stamp(one) == stamp(other)


def test_a_function_jitted_by_numba_is_called_as_it_is():
    import numba

    @numba.njit
    def jitted(x, weight):
        return weight * np.sum(x * x)

    one = pursuit.minimize(jitted, X0, (2.0,), method=Searching, rng=1, maxfev=300)
    other = pursuit.minimize(jitted.py_func, X0, (2.0,), method=Searching, rng=1, maxfev=300)
    assert abs(one.fun - other.fun) < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_every_point_is_a_new_array_inside_the_bounds(method):
    seen = []

    def keeping(x):
        seen.append((x, x.copy()))
        return quartic(x)

    assert run(keeping, method=method).nfev == len(seen) > 10
    lower, upper = np.array(BOUNDS).T
    for x, then in seen:
        assert np.array_equal(x, then)
        assert (lower <= x).all()
        assert (x <= upper).all()


def test_a_function_may_overwrite_its_argument():
    def careless(x):
        value = quartic(x)
        x[:] = np.nan
        return value

    assert stamp(run(careless)) == stamp(run())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("most", [1, 2, 3, 9, 17, 50])
def test_maxfev_is_kept_to_the_last_evaluation(method, most):
    calls = []

    def counted(x):
        calls.append(quartic(x))
        return calls[-1]

    result = run(counted, method=method, maxfev=most)
    assert len(calls) == result.nfev == most
    assert result.fun == min(calls)
    assert result.message == "The evaluation limit maxfev was reached."


@pytest.mark.parametrize("method", METHODS)
def test_the_value_that_reaches_the_target_is_the_last(method):
    calls = []

    def counted(x):
        calls.append(quartic(x))
        return calls[-1]

    result = run(counted, method=method, ftarget=40.0, maxfev=None)
    assert calls[-1] <= 40.0 < min(calls[:-1])
    assert (result.nfev, result.fun, result.success) == (len(calls), calls[-1], True)
    assert quartic(result.x) == result.fun


def test_a_round_that_was_asked_for_is_evaluated_to_its_end():
    calls = []

    def counted(x):
        calls.append(quartic(x))
        return calls[-1]

    result = run(counted, ftarget=40.0, batch=3)
    first = next(j for j, value in enumerate(calls) if value <= 40.0)
    # After the start, five probes and three steps in each iteration.
    assert first < len(calls) - 1
    assert result.nfev == len(calls)
    assert result.fun == min(calls)


def test_time_is_looked_at_between_two_evaluations():
    def slow(x):
        time.sleep(0.06)
        return quartic(x)

    result = run(slow, maxtime=0.15, maxfev=None)
    assert result.message == "The time limit maxtime was reached."
    # Three evaluations fill the time; the start is evaluated before.
    assert result.nfev <= 5


def test_values_that_are_not_numbers_are_counted():
    values = []

    def faulty(x):
        values.append(np.nan if len(values) % 4 == 3 else quartic(x))
        return values[-1]

    result = run(faulty)
    assert result.nfaulty == np.count_nonzero(np.isnan(values)) > 0
    assert result.fun == np.nanmin(values)


def test_the_callback_is_called_after_every_iteration():
    seen = []
    result = run(callback=lambda intermediate_result: seen.append(intermediate_result.nit))
    assert seen == list(range(1, result.nit + 1))


class Pausing(Searching):
    """Makes an iteration that asks for nothing after each other one."""

    def iterate(self, state, rng):
        state.remark = "" if state.remark else "paused"
        if state.remark:
            yield from super().iterate(state, rng)


def test_an_iteration_that_asks_for_nothing_does_not_count():
    seen = []
    result = run(method=Pausing, callback=lambda intermediate_result: seen.append(intermediate_result.nit))
    assert seen == list(range(1, result.nit + 1))
    plain = run()
    assert (result.nit, result.nfev, result.fun) == (plain.nit, plain.nfev, plain.fun)
    for name in ("nit", "nfev", "fun", "sigma"):
        np.testing.assert_array_equal(getattr(result.trace, name), getattr(plain.trace, name))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_exception_leaves_what_was_found(workers):
    with pytest.raises(ZeroDivisionError) as caught:
        run(fails_below, workers=workers, bounds=None)
    found = caught.value.pursuit_result
    assert found.nfev > 1
    assert np.isfinite(found.fun)


def fails_below(x):
    value = quartic(x)
    return value / 0.0 if value < 60.0 else value


def test_ctrl_c_ends_a_run_with_what_was_found():
    count = 0

    def interrupted(x):
        nonlocal count
        count += 1
        if count == 33:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1.0)
        return quartic(x)

    result = run(interrupted)
    assert result.nfev == 32
    assert result.message == "The run was interrupted from the keyboard."


def test_restarts_begin_programs_again():
    result = pursuit.minimize(
        quartic, X0, method=Searching, rng=1, restarts=2, maxfev=3000, options={"factor": 0.1}
    )
    assert [stage.start for stage in result.stages] == ["the start", "a new point", "a new point"]
    assert "`" in result.message


def test_the_reason_is_the_programs_own_sentence():
    result = pursuit.minimize(quartic, X0, method=Searching, rng=1, xtol=1e-3)
    assert result.message == "Converged: steps are shorter than xtol."
    assert result.success


def test_constraints_hold():
    result = pursuit.minimize(
        quartic, X0, method="differences", rng=1, constraints={"type": "eq", "fun": lambda x: x[0] - 1.0}
    )
    assert abs(result.x[0] - 1.0) < 1e-5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("batch", [None, 4])
def test_an_optimizer_saved_after_every_value_goes_on_as_if_it_had_not_been(tmp_path, method, batch):
    given = {"rng": 7, "maxfev": 120, "bounds": BOUNDS, "trace": True, "batch": batch}
    expected = stamp(told(pursuit.Optimizer(X0, method, **given)))
    optimizer, path = pursuit.Optimizer(X0, method, **given), tmp_path / "run.npz"
    own = method if isinstance(method, type) else None
    while not optimizer.stop():
        x = optimizer.ask()[-1:]
        optimizer.tell(x, [quartic(x[0])])
        optimizer.save(path)
        optimizer = pursuit.Optimizer.load(path, method=own, trace=True)
    assert stamp(optimizer.result) == expected
    assert stamp(pickle.loads(pickle.dumps(optimizer)).result) == expected


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_fails_at_every_evaluation_goes_on_as_if_it_had_not(tmp_path, method):
    """The exception comes after the first evaluation of each part, so that every value is a last one once."""
    expected = stamp(run(method=method, maxfev=90))
    path = tmp_path / "run.npz"

    def fragile(x):
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError("The simulator has crashed.")
        return quartic(x)

    for _ in range(200):
        left = 3
        try:
            result = run(fragile, method=method, maxfev=90, checkpoint=path)
            break
        except OSError:
            pass
    assert stamp(result) == expected


@pytest.mark.parametrize("method", ["differences", "auto"])
def test_a_killed_run_goes_on_as_if_it_had_not_been(tmp_path, method):
    script = textwrap.dedent(
        f"""
        import os, signal, sys
        import numpy as np
        import pursuit

        count = 0

        def quartic(x):
            global count
            count += 1
            if count > 70:
                os.kill(os.getpid(), signal.SIGKILL)
            return float(np.sum(np.arange(1.0, x.size + 1.0) * x**2) + np.sum(x**4))

        result = pursuit.minimize(quartic, np.full({N}, 2.0), method={method!r}, rng=7, maxfev=200,
                                  checkpoint=sys.argv[1], checkpoint_every=0.0)
        print(result.x.tolist(), result.fun, result.nit, result.nfev)
        """
    )
    path = tmp_path / "run.npz"
    for _ in range(10):
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
    expected = pursuit.minimize(quartic, X0, method=method, rng=7, maxfev=200)
    assert done.stdout.strip() == f"{expected.x.tolist()} {expected.fun} {expected.nit} {expected.nfev}"


def test_a_run_goes_on_with_other_limits(tmp_path):
    path = tmp_path / "run.npz"
    run(maxfev=77, checkpoint=path)
    assert stamp(run(maxfev=200, checkpoint=path)) == stamp(run())
    part = run(maxfev=77, checkpoint=tmp_path / "short.npz")
    assert stamp(run(maxfev=200, maxiter=part.nit, checkpoint=tmp_path / "short.npz"))[2:4] == (part.nit, 77)
    first = run(xtol=1e-2, maxfev=None, checkpoint=tmp_path / "other.npz")
    second = run(xtol=1e-4, maxfev=None, checkpoint=tmp_path / "other.npz")
    assert first.sigma >= 1e-4 > second.sigma


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_has_reached_its_target_goes_on_to_a_lower_one(tmp_path, method):
    """Whether the value that reached it is the last of an iteration or not."""
    limits = {"method": method, "maxfev": 150, "bounds": None}
    values = sorted(set(run(**limits).trace.fun), reverse=True)
    expected = stamp(run(**limits))
    for number, target in enumerate(values[1:]):
        path = tmp_path / f"{number}.npz"
        first = run(ftarget=target, checkpoint=path, **limits)
        assert first.success
        assert stamp(run(ftarget=target, checkpoint=path, **limits)) == stamp(first)
        assert stamp(run(checkpoint=path, **limits)) == expected


def test_a_checkpoint_of_another_function_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    run(checkpoint=path)
    with pytest.raises(ValueError, match="holds a run of another function"):
        run(lambda x: 1.0 + quartic(x), checkpoint=path)


@pytest.mark.parametrize("n", [3, 20, 200])
def test_states_hold_what_a_checkpoint_can_hold(n):
    """Numbers of Python and contiguous arrays: others would not be the same after they are read."""
    from pursuit.methods.differences.program import Differences

    optimizer = pursuit.Optimizer(np.ones(n), "differences", rng=1, maxfev=20 * n)
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [quartic(x) for x in X])
        check_record(optimizer._run.snapshot().state)
    assert isinstance(optimizer._run.setup.scheme, Differences)


def check_record(record):
    names = (
        [field.name for field in dataclasses.fields(record)]
        if dataclasses.is_dataclass(record)
        else record._fields
    )
    for name in names:
        check_entry(f"{type(record).__name__}.{name}", getattr(record, name))


def check_entry(name, entry):
    if dataclasses.is_dataclass(entry) or hasattr(entry, "_fields"):
        check_record(entry)
    elif isinstance(entry, tuple):
        for part in entry:
            check_entry(name, part)
    elif isinstance(entry, np.ndarray):
        assert entry.flags.c_contiguous or entry.flags.f_contiguous, name
    else:
        assert type(entry) in (bool, int, float, str, type(None)), f"{name} is {type(entry)}"


def saved(tmp_path, count=40):
    optimizer = pursuit.Optimizer(X0, Searching, rng=7, bounds=BOUNDS)
    while optimizer.result.nfev < count:
        X = optimizer.ask()[:1]
        optimizer.tell(X, [quartic(X[0])])
    path = tmp_path / "run.npz"
    optimizer.save(path)
    return path


def rewritten(path, change):
    """Change the header and the arrays of a checkpoint."""
    import json

    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays.pop("header").tobytes())
    change(header, arrays)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, header=text, **arrays)


def put(name, entry):
    def change(header, arrays):
        header["state"][name] = entry

    return change


def put_array(name, array):
    def change(header, arrays):
        arrays[name] = array

    return change


def put_count(name, number):
    def change(header, arrays):
        header["counters"][name] = number

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("f", "low"),
        put("f", None),
        put("f", float("nan")),
        put("f", True),
        put("lengths", {"class": "Popen"}),
        put("lengths", {"class": "State"}),
        put("lengths", None),
        put("lengths.sigma", -1.0),
        put("box", 3.0),
        put("steps", {"length": 10**9}),
        put("steps", {"length": -1}),
        put("steps", []),
        put("remark", 7),
        put("ending", {"class": "Ending"}),
        put("estimate", 1),
        put("surplus", 1),
        put("noise", 10**400),
        put_array("state.x", np.zeros(N + 1)),
        put_array("state.x", np.full(N, np.inf)),
        put_array("state.x", np.zeros(N, dtype=np.int64)),
        put_array("state.f", np.zeros(N)),
        put_array("state.order", np.zeros(N)),
        put_array("state.surplus", np.zeros(N)),
        put_array("x", np.zeros(1)),
        put_array("surplus", np.zeros(1)),
        put_array("received", np.full(4, np.nan)),
        put_array("received", np.zeros((2, 2))),
        put_array("received", np.full(10_000, 1.0)),
        put_array("trace.nit", np.array([5], dtype=np.int64)),
        put_array("trace.fun", np.zeros(0)),
        put_count("nfev", -1),
        put_count("nfev", 1.5),
        put_count("nit", 2**63),
        put_count("fun", float("nan")),
        put_count("best_nfev", 10**6),
        lambda header, arrays: header.pop("counters"),
        lambda header, arrays: header.update(state=[]),
        lambda header, arrays: header["state"].pop("f"),
        lambda header, arrays: arrays.pop("received"),
        lambda header, arrays: arrays.pop("state.x"),
        lambda header, arrays: header.update(version=5),
    ],
)
def test_a_wrong_file_is_refused_by_a_sentence(tmp_path, change):
    path = saved(tmp_path)
    rewritten(path, change)
    with pytest.raises(ValueError, match=r"run\.npz .*\.$"):
        pursuit.Optimizer.load(path, method=Searching)


def test_a_file_is_read_whole_or_not_at_all(tmp_path):
    path = saved(tmp_path)
    content = path.read_bytes()
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"run\.npz"):
            Checkpoint(path)


def test_the_default_needs_no_compiler():
    script = (
        "import sys, numpy as np, pursuit\n"
        "pursuit.minimize(lambda x: float(x @ x), np.ones(3), rng=1)\n"
        "print(sorted({'numba', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
