"""Child processes that share what this one has imported and compiled, and that may crash or be killed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PR_SET_CHILD_SUBREAPER = 36
_POLL = 0.001


def fork(work: Callable[[], Any], log: Path) -> int:
    """Do some work in a child process that leads a group of its own; what it prints goes to `log`.

    An integer that the work returns is the exit status.
    """
    pid = os.fork()
    if pid:
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    status = 1
    try:
        os.setpgid(0, 0)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        returned = work()
        status = returned if isinstance(returned, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def wait(pid: int, seconds: float) -> int | None:
    """Return the exit status of a child, negative for a signal; None if it still runs after so long."""
    end = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            return None
        time.sleep(_POLL)


def kill(pid: int) -> None:
    """Kill a child, and wait for its end."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def adopt_orphans() -> None:
    """Become the parent of processes whose parents are killed, so that `ended` can wait for them."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def ended(group: int, seconds: float) -> bool:
    """Wait for the end of all processes of a group; return whether they ended in time, and kill the rest."""
    end, in_time = time.monotonic() + seconds, True
    with contextlib.suppress(ChildProcessError):
        while True:
            found, _ = os.waitpid(-group, os.WNOHANG)
            if not found and in_time and time.monotonic() > end:
                in_time = False
                os.killpg(group, signal.SIGKILL)
            time.sleep(_POLL)
    return in_time


def last_line(log: Path) -> str:
    """Return the last line that a child has printed."""
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "nothing was printed"
