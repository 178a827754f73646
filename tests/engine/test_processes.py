"""Processes that evaluate points: what hangs or dies costs that point, and no process is left behind."""

import ctypes
import faulthandler
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import pursuit
from pursuit.engine.stopping import Reason

START = np.linspace(-1.0, 2.0, 6)
SETTINGS = {"rng": 3, "maxfev": 200, "batch": 8}


def bowl(x):
    return float(np.sum(np.linspace(1.0, 30.0, x.size) * x * x))


def is_low(x):
    """A region which the run enters again and again."""
    return x[1] < START[1] - 1e-9


def holed(x):
    return np.nan if is_low(x) else bowl(x)


def crashing(x):
    if is_low(x):
        faulthandler.disable()
        ctypes.string_at(0)
    return bowl(x)


def leaving(x):
    if is_low(x):
        os._exit(3)
    return bowl(x)


def killed(x, folder, most):
    if is_low(x) and len(list(folder.iterdir())) < most:
        (folder / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return bowl(x)


def hanging(x, folder, most):
    """Hang, with a program that it has started, as often as asked for."""
    if x[1] != START[1] and len(list(folder.iterdir())) < most:
        program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        (folder / f"{os.getpid()} {program.pid}").touch()
        program.wait()
    return bowl(x)


class UnsendableError(Exception):
    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")
        self.lock = threading.Lock()  # does not pickle, whatever others do so that exceptions do


def raising(x, error):
    if is_low(x):
        raise error("no licence") if error is not UnsendableError else UnsendableError("this", "that")
    return bowl(x)


def exists(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def assert_same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    assert (one.fun, one.nfev, one.nit, one.nfaulty) == (other.fun, other.nfev, other.nit, other.nfaulty)


@pytest.mark.parametrize(("fun", "how"), [(crashing, "SIGSEGV"), (leaving, "exit status 3")])
def test_points_at_which_processes_die_count_as_nan(fun, how):
    result = pursuit.minimize(fun, START, workers=2, **SETTINGS)
    assert_same(result, pursuit.minimize(holed, START, **SETTINGS))
    assert result.nfaulty > 0
    assert re.search(
        rf" {result.nfaulty} evaluations? died with the process and counts? as NaN, the last one {how}\.$",
        result.message,
    )


def test_a_process_that_is_killed_once_changes_nothing(tmp_path):
    result = pursuit.minimize(killed, START, args=(tmp_path, 1), workers=2, **SETTINGS)
    assert len(list(tmp_path.iterdir())) == 1
    assert_same(result, pursuit.minimize(bowl, START, **SETTINGS))
    assert "process" not in result.message


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
@pytest.mark.parametrize("workers", [1, 2])
def test_what_hangs_is_killed_with_all_that_it_has_started(workers, tmp_path):
    result = pursuit.minimize(
        hanging,
        START,
        args=(tmp_path, 3),
        workers=workers,
        eval_timeout=1.0,
        method="differences",
        **SETTINGS,
    )
    hung = [int(pid) for path in tmp_path.iterdir() for pid in path.name.split()]
    assert len(hung) == 6
    assert not any(map(exists, hung))
    assert result.nfaulty >= 3
    assert "evaluations took longer than eval_timeout and count as NaN, the last one 1 s." in result.message
    assert result.fun < 1e-3 * bowl(START)


def test_a_timeout_that_is_never_reached_changes_nothing():
    settings = {"rng": 3, "ftarget": 1e-3}
    expected = pursuit.minimize(bowl, START, **settings)
    assert_same(pursuit.minimize(bowl, START, eval_timeout=60.0, **settings), expected)


def test_maxtime_ends_a_run_that_hangs(tmp_path):
    result = pursuit.minimize(hanging, START, args=(tmp_path, 9), workers=2, maxtime=1.0, **SETTINGS)
    assert result.status == Reason.MAXTIME
    assert 1 <= result.nfev < 200


def test_it_is_said_that_the_start_has_failed():
    with pytest.raises(ValueError, match="must be finite at x0") as caught:
        pursuit.minimize(crashing, START - 1.0, workers=2)
    assert caught.value.__notes__ == [
        "1 evaluation died with the process and counts as NaN, the last one SIGSEGV."
    ]


def test_a_crash_within_constraints_costs_a_point():
    within = {"type": "ineq", "fun": at_most_three}
    result = pursuit.minimize(
        crashing, np.full(6, 0.4), rng=1, maxfev=150, constraints=within, workers=2, sigma0=0.5, method="rp"
    )
    assert result.nfaulty > 0
    assert result.maxcv <= 1e-6
    assert "died with the process" in result.message


def at_most_three(x):
    return 3.0 - x.sum()


@pytest.mark.parametrize(
    ("error", "raised", "sentence"),
    [
        (OSError, OSError, "no licence"),
        (StopIteration, StopIteration, "no licence"),
        (UnsendableError, RuntimeError, "UnsendableError: this and that"),
    ],
)
def test_exceptions_arrive_and_say_where_they_were_raised(error, raised, sentence):
    with pytest.raises(raised, match=sentence) as caught:
        pursuit.minimize(raising, START, args=(error,), workers=2, **SETTINGS)
    assert any("In the worker process" in note and "in raising" in note for note in caught.value.__notes__)
    assert caught.value.pursuit_result.nfev >= 1


@pytest.mark.parametrize("arguments", [{"workers": map}, {"vectorized": True}])
def test_only_processes_of_ours_have_a_timeout(arguments):
    with pytest.raises(ValueError, match=r"eval_timeout, .* in processes that can be killed"):
        pursuit.minimize(bowl, START, eval_timeout=1.0, **arguments)


@pytest.mark.parametrize("wrong", [0, -1.0, np.inf, "1"])
def test_a_timeout_is_a_positive_number(wrong):
    with pytest.raises((TypeError, ValueError), match="eval_timeout must be"):
        pursuit.minimize(bowl, START, eval_timeout=wrong)


SCRIPT = """
    import multiprocessing, os
    import numpy as np
    import pursuit

    {broken}

    def f(x):
        return float(x @ x)

    if __name__ == "__main__":
        multiprocessing.set_start_method("spawn")
        print(pursuit.minimize(f, np.ones(3), rng=1, maxfev=30, workers=2).nfev)
"""


@pytest.mark.parametrize(
    ("broken", "output", "error"),
    [
        ("", "30\n", ""),
        ("assert __name__ == '__main__'", "", "RuntimeError: Worker processes end before they can evaluate"),
    ],
)
def test_processes_may_be_spawned(broken, output, error, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT.format(broken=broken)))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.stdout == output, done.stderr
    assert error in done.stderr


def test_no_process_is_left_when_the_caller_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, sys, time
            import numpy as np
            import pursuit

            def f(x):
                open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
                time.sleep(0.01)
                return float(x @ x)

            if __name__ == "__main__":
                pursuit.minimize(f, np.ones(3), rng=1, workers=2, batch=8)
            """
        )
    )
    folder = tmp_path / "workers"
    folder.mkdir()
    running = subprocess.Popen([sys.executable, script, folder])
    while len(list(folder.iterdir())) < 2 and running.poll() is None:
        time.sleep(0.05)
    running.kill()
    running.wait()
    workers = [int(path.name) for path in folder.iterdir()]
    assert len(workers) == 2
    until = time.monotonic() + 60.0
    while any(map(exists, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(exists, workers))
