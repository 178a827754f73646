"""The command line, as people use it."""

import csv
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pursuit
from experiments.study.small import RUNS, declared, pursuit_command, run_pursuit
from pursuit.cli import argument_parser, main
from pursuit.experiments.study import reproduce
from pursuit.experiments.study.store import FILE

COMMANDS = ("reproduce", "report", "status", "export", "coco", "coco-profiles", "warmup")
SELECTION = ["--only", "n=4 L=10 scheme=rp,cma", "--runs", "2", "--jobs", "1"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder of a study with one finished run."""
    folder = tmp_path_factory.mktemp("finished")
    with ThreadPoolExecutor(1) as executor:
        reproduce(declared(folder), folder / "out", only="n=4 L=10 scheme=rp", runs=1, executor=executor)
    return folder / "out"


def test_reproduce_runs_reports_and_prints_the_paths(tmp_path):
    path = declared(tmp_path)
    done = run_pursuit("reproduce", path, "--out", tmp_path / "out", *SELECTION)
    assert done.stdout == (
        f"The report is in {tmp_path}/out/report.html, and as Markdown in {tmp_path}/out/report.md.\n"
    )
    lines = done.stderr.splitlines()
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d 8 of 8 runs to do, 1 at a time\. Methods are compiled first; .*", lines[0]
    )
    assert len(lines) == 1 + 4
    pattern = (
        r"\d\d:\d\d:\d\d exp L=10 n=4 (rp|cma) frozen: 2 runs, \S+ s each\. \d of 8 done, \d:\d\d:\d\d left\."
    )
    assert sum(bool(re.fullmatch(pattern, line)) for line in lines[1:]) == 2
    for name in ("report.html", "report.md", "tables/runs.csv", "tables/summary.csv"):
        assert (tmp_path / "out" / name).stat().st_size > 0
    # It is not the paper's study.
    assert not (tmp_path / "out" / "tables" / "claims.csv").exists()


def test_without_a_compiler_a_study_has_the_same_runs_and_says_how_to_make_it_faster(tmp_path, monkeypatch):
    path = declared(tmp_path)
    run_pursuit("reproduce", path, "--out", tmp_path / "compiled", "--no-report", *SELECTION)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    done = run_pursuit("reproduce", path, "--out", tmp_path / "interpreted", "--no-report", *SELECTION)
    sentence = "Methods are interpreted; compiled by Numba they run up to a hundred times faster: "
    assert [sentence in line for line in done.stderr.splitlines()] == [True] + [False] * 4
    tables = []
    for name in ("compiled", "interpreted"):
        run_pursuit("export", tmp_path / name, "--to", tmp_path / f"{name}.csv")
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            tables.append([{**row, "seconds": ""} for row in csv.DictReader(file)])
    assert tables[0] == tables[1] != []


def test_status_export_and_report_of_a_folder(tmp_path, capsys):
    path = declared(tmp_path)
    reproduce(path, tmp_path / "out", only="n=4 L=10 scheme=rp,cma", runs=2, jobs=1)
    assert main(["status", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^exp L=10 n=4 rp +2 of +2 runs  \S+ s each$", said, re.MULTILINE)
    assert "8 of 8 runs are done." in said
    assert "Made with: date 20" in said
    assert main(["export", str(tmp_path / "out"), "--to", str(tmp_path / "runs.csv")]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/runs.csv\n{tmp_path}/runs-traces.csv\n"
    assert main(["report", str(tmp_path / "out"), "--against", "evaluations"]) == 0
    assert "evaluations" in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["status", "nowhere"], "pursuit: There is no study in nowhere: the file study.sqlite is missing."),
        (
            ["reproduce", "nothing.toml"],
            "pursuit: A study is one of quick, main, full, rivals or a TOML file, but ",
        ),
        (["reproduce", "--only", "n=3"], "pursuit: No cell of the study 'quick' is left to run: "),
        (["reproduce", "--only", "n3"], "pursuit: A selection is made of FIELD=VALUE,VALUE"),
        (["reproduce", "--only", "n=20 n=40"], "pursuit: A selection is made of FIELD=VALUE,VALUE"),
        (
            ["reproduce", "--dask", "nonsense"],
            "pursuit: The address of a Dask scheduler is tcp://HOST:PORT",
        ),
    ],
)
def test_errors_are_sentences_and_not_tracebacks(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert said.err.startswith(sentence)
    assert said.err.count("\n") == 1
    assert not (tmp_path / "reproduced" / "quick" / FILE).exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["reproduce", "--jobs", "0"], "must be a whole number of at least 1, but 0 was given"),
        (
            ["coco", "--instances", "1-99999999999"],
            "must be numbers and ranges such as 1-5,8, but 1-99999999999",
        ),
        (["reproduce", "--jobs", "9" * 5000], "invalid _positive value"),
        (["reproduce", "--runs", "few"], "must be a whole number of at least 1, but few was given"),
        (["reproduce", "--preset", "huge"], "invalid choice: 'huge'"),
        (["reproduce", "--preset", "full", "own.toml"], "not allowed with argument"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_wrong_arguments_are_refused(arguments, complaint, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert complaint in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize(
    "delays",
    [(0.1, 0.5, 2.0), pytest.param((0.05, 0.2, 0.3, 0.8, 1.2, 3.0), marks=pytest.mark.long)],
    ids=["few", "many"],
)
def test_ctrl_c_while_the_library_is_imported_prints_no_traceback(delays, group, tmp_path):
    """Once the command has taken over: before that Python prints what it wants."""
    code = """
import signal, sys, pursuit_command
take_over = signal.signal
signal.signal = lambda *arguments: (take_over(*arguments), print(flush=True))
sys.exit(pursuit_command.main())
"""
    for delay in delays:
        command = [sys.executable, "-c", code, "reproduce", "--jobs", "2", "--out", str(tmp_path / "out")]
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        running.stdout.readline()
        time.sleep(delay)
        (os.killpg if group else os.kill)(running.pid, signal.SIGINT)
        _, said = running.communicate()
        assert running.returncode in (-signal.SIGINT, 130)
        assert "Traceback" not in said
        assert said.endswith("run the same command to continue.\n") == (running.returncode == 130)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_a_sentence(finished):
    with Path("/dev/full").open("w") as full:
        command = pursuit_command("status", finished)
        failed = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (failed.returncode, failed.stderr) == (
        1,
        "pursuit: reading or writing failed: No space left on device.\n",
    )


def test_a_reader_that_has_enough_is_no_error(finished):
    reading, writing = os.pipe()
    os.close(reading)
    command = pursuit_command("status", finished)
    with os.fdopen(writing, "w") as closed:
        failed = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert (failed.returncode, failed.stderr) == (1, "")


def test_a_name_that_is_no_text_is_exported_to(finished, tmp_path):
    name = os.fsdecode(b"bad\xff.csv")
    done = run_pursuit("export", finished, "--to", tmp_path / name)
    assert done.stdout.splitlines()[0] == f"{tmp_path}/bad\\udcff.csv"
    assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize("name", ["folder.csv", "nowhere/runs.csv", "x" * 300 + ".csv", "loop.csv/x.csv"])
def test_where_nothing_can_be_exported_to_is_a_sentence(name, finished, tmp_path, capsys):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    assert main(["export", str(finished), "--to", str(tmp_path / name)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"pursuit: {tmp_path / name} cannot be written: ")
    assert said.count("\n") == 1
    assert list(tmp_path.glob(".*")) == []


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "plotly", None)
    assert main(["status", "anywhere"]) == 1
    assert capsys.readouterr().err == (
        "pursuit: plotly is missing: python -m pip install '.[study]' in a checkout, "
        "else pip install 'pursuit[study]'.\n"
    )
    monkeypatch.setitem(sys.modules, "cocoex", None)
    assert main(["coco"]) == 1
    assert capsys.readouterr().err.startswith(
        "pursuit: plotly, cocoex are missing: python -m pip install '.[study,coco]' in a checkout, "
    )


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"pursuit {pursuit.__version__}\n"


def help_of(capsys, *arguments):
    with pytest.raises(SystemExit, match="0"):
        main([*arguments, "--help"])
    return capsys.readouterr().out


def test_help_names_every_command_and_where_to_read_on(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "500")
    said = help_of(capsys)
    for name in COMMANDS:
        assert re.search(rf"^ +{name}\s+[a-z].{{20,}}[a-z]$", said, re.MULTILINE)
    assert "`pursuit COMMAND --help`" in said


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_describes_it_and_ends_with_examples_that_are_understood(
    name, monkeypatch, capsys
):
    monkeypatch.setenv("COLUMNS", "500")
    said = help_of(capsys, name)
    assert re.search(r"^[A-Z][^\n]{40,}\.$", said, re.MULTILINE)
    examples = said.partition("\nexamples:\n")[2].splitlines()
    assert examples
    for example in examples:
        command, *arguments = shlex.split(example)
        assert (command, arguments[0]) == ("pursuit", name)
        # Nothing is run: only the arguments are read.
        assert argument_parser().parse_args(arguments).needed is not None


def test_methods_are_compiled_ahead_and_kept(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = pursuit_command("warmup", "rp", "rp")

    def said():
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert re.fullmatch(r"rp: compiled in \d+\.\d s\.\n", said())
    assert said() == "rp: compiled before.\n"
    # What was compiled serves any function and any number of variables.
    script = (
        "import logging, sys, numpy, pursuit; logging.basicConfig(level='INFO', stream=sys.stdout);"
        "pursuit.minimize(lambda x: float(abs(x).sum()), numpy.ones(17), method='rp', rng=1, maxfev=500)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert "Compiling" not in done.stdout


def test_a_method_that_does_not_exist_is_not_compiled(capsys):
    assert main(["warmup", "rq"]) == 1
    assert capsys.readouterr().err.startswith("pursuit: method must be one of auto, differences, evolution, ")


def test_a_terminal_shows_a_bar_for_every_scheme(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    reproduce(declared(tmp_path), tmp_path / "out", jobs=1)
    shown = re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", capsys.readouterr().err)
    assert re.search(rf"all runs .* {RUNS}/{RUNS}", shown)
    for scheme in ("rp", "sarp", "cma", "ep-cma-2"):
        assert re.search(rf"{scheme} .* (\d+)/\1", shown)
