"""What people see of a run: in a terminal, in a notebook, in a log file, and from the logger."""

import json
import os
import re
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="needs a terminal of POSIX")
# One process compiles for all of them.
pytestmark = pytest.mark.xdist_group("progress")

RUN = """
import logging, sys, time, pursuit
problem = pursuit.problems.exp(5, 100.0)
def slow(x):
    time.sleep(0.01)
    return problem(x)
"""
DURATION = r"(\d+\.\d s|\d+:\d\d:\d\d)"
LINE = (
    r"f \d\.\d{6}e[-+]\d\d  \d+ evaluations( \(\d+(\.\d+)?/s\))?  "
    rf"{DURATION}(, at most {DURATION} left)?(  rp(  sigma \d\.\de[-+]\d\d)?)?"
)


def in_a_terminal(code, cache, columns=100):
    """Run code with a terminal as standard error; return what it shows there, piece by piece."""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", RUN + code],
        stderr=theirs,
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "COLUMNS": str(columns)},
    )
    os.close(theirs)
    # Nothing can be read from a terminal that nobody has written to.
    os.set_blocking(ours, False)
    try:
        shown = os.read(ours, 100_000).decode()
    except OSError:
        shown = ""
    os.close(ours)
    return done.stdout, [part.strip() for part in re.split(r"[\r\n]+", shown) if part.strip()]


FIRST = "pursuit.minimize(slow, problem.x0, method='rp', rng=1, maxfev=3); print('done')"


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A cache, and what the run said that compiled there all that the tests run."""
    folder = tmp_path_factory.mktemp("warm")
    return folder, in_a_terminal(FIRST, folder)


@pytest.fixture
def warm(first):
    """The cache in which all is compiled that the tests run."""
    return first[0]


def test_who_waits_at_a_terminal_is_told_what_for_and_only_once(first):
    folder, said = first
    assert said == (b"done\n", ["compiling (once per method) ..."])
    assert in_a_terminal(FIRST, folder) == (b"done\n", [])


def test_a_terminal_shows_a_line(warm):
    code = "pursuit.minimize(slow, problem.x0, method='rp', rng=1, maxfev=100, progress=True)"
    _, lines = in_a_terminal(code, warm)
    assert len(lines) >= 3
    assert all(re.fullmatch(LINE, line) for line in lines)
    assert all(" left  rp  sigma " in line for line in lines[1:-1])
    assert "  100 evaluations (" in lines[-1]
    assert " left" not in lines[-1]


def test_a_narrow_terminal_shows_whole_parts_of_the_line(warm):
    code = "pursuit.minimize(slow, problem.x0, method='rp', rng=1, maxfev=100, progress=True)"
    _, wide = in_a_terminal(code, warm, 80)
    assert len(wide) >= 3
    assert all(re.fullmatch(LINE, line) and len(line) < 80 for line in wide)
    assert all(" left" in line for line in wide[1:-1])
    _, narrow = in_a_terminal(code, warm, 40)
    assert all(
        re.fullmatch(r"f \d\.\d{6}e[-+]\d\d  \d+ evaluations( \(.*/s\))?(  \S+ s)?", line) for line in narrow
    )


def test_a_log_file_gets_lines_and_the_logger_the_same(warm):
    code = """
logging.basicConfig(level="INFO", stream=sys.stdout, format="%(name)s %(levelname)s %(message)s")
pursuit.minimize(slow, problem.x0, method="rp", rng=1, maxtime=5.3, progress=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", RUN + code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(warm)},
    )
    first, last = done.stderr.splitlines()
    assert re.fullmatch("pursuit: " + LINE, first)
    assert re.fullmatch("pursuit: " + LINE, last)
    assert first.count("/s)") == last.count("/s)") == 1
    assert " left  rp  sigma " in first
    assert done.stdout.replace("pursuit INFO ", "pursuit: ") == done.stderr


def test_a_run_within_constraints_is_shown_too(warm):
    code = """
within = {"type": "ineq", "fun": lambda x: x[0] - 0.5}
pursuit.minimize(slow, problem.x0, method="rp", constraints=within, rng=1, maxfev=60, progress=True)
"""
    _, lines = in_a_terminal(code, warm)
    assert any(re.fullmatch(LINE, line) for line in lines)


@pytest.mark.long
def test_nothing_is_said_that_nobody_asked_for(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RUN + "pursuit.minimize(slow, problem.x0, method='rp', rng=1, maxfev=30)"],
        capture_output=True,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_a_notebook_shows_one_line_that_is_replaced(tmp_path):
    code = RUN + (
        "result = pursuit.minimize(slow, problem.x0, method='rp', rng=1, maxfev=150, progress=True)\nresult"
    )
    outputs, updates = run_in_a_kernel(code, tmp_path)
    compiled, line = (output for output in outputs if output["output_type"] == "display_data")
    assert re.fullmatch(r"compiled in \d+\.\d s", compiled["data"]["text/plain"])
    assert re.fullmatch(LINE, line["data"]["text/plain"])
    assert "  150 evaluations (" in line["data"]["text/plain"]
    assert "compiling (once per method) ..." in updates
    assert sum(bool(re.fullmatch(LINE, text)) for text in updates) >= 3
    (value,) = (output for output in outputs if output["output_type"] == "execute_result")
    assert value["data"]["text/plain"].startswith("fun      ")
    assert len(outputs) == 3


def run_in_a_kernel(code, cache):
    """Execute a cell in a kernel of Jupyter; return its outputs as a notebook keeps them, and all texts."""
    # It warns of what other packages do.
    script = """
import sys, warnings
warnings.simplefilter("ignore")
import json
import nbformat
from nbclient import NotebookClient

class Watching(NotebookClient):
    texts = []
    def process_message(self, message, *rest):
        text = message["content"].get("data", {}).get("text/plain")
        if message["msg_type"] in ("display_data", "update_display_data"):
            self.texts.append(text)
        return super().process_message(message, *rest)

notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(sys.stdin.read())])
client = Watching(notebook, kernel_name="python3", timeout=300)
client.execute()
print(json.dumps([notebook.cells[0].outputs, client.texts]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=code,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "IPYTHONDIR": str(cache / "ipython")},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
