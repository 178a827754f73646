"""Faults: killed drivers and workers, full disks, read-only folders, and a second process in a folder."""

import functools
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from rich.console import Console

from experiments.study.small import declared, pursuit_command, run_pursuit, wait_for
from pursuit.experiments.common import executors
from pursuit.experiments.common.executors import dask_cluster, processes
from pursuit.experiments.common.files import locked
from pursuit.experiments.study import StudyError, draw_report, load_study, read_store, reproduce
from pursuit.experiments.study.grid import entries_of
from pursuit.experiments.study.scheduler import Progress, execute_missing
from pursuit.experiments.study.store import FILE, open_store

DECLARATION = """
title = "Something to go wrong"
schemes = ["rp", "cma"]
runs = 12
target = 1e-9
cap = 1e6

[[problems]]
problem = "exp"
n = [6]
L = 1e4
"""
# With this problem a study can be interrupted in the middle, however fast the machine is: where HOLD is set,
# a process finishes one run of it, and waits for ever in the next.
HELD = """
[[problems]]
problem = "held:Held"
n = 4
"""
HELD_MODULE = """
import os
import signal


class Held:
    begun = 0

    def __init__(self, n):
        self.n, self.x0 = n, [1.0] * n

    def __call__(self, x):
        if "HOLD" in os.environ and (x == self.x0).all():
            Held.begun += 1
            if Held.begun > 1:
                signal.pause()
        return float((x**2).sum())
"""
HOLDING = {**os.environ, "HOLD": "yes"}
# The superuser may write everywhere, unless this is taken from it.
WITHOUT_PRIVILEGE = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []


# One process makes what these tests look at.
pytestmark = pytest.mark.xdist_group("faults")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return the declaration's path."""
    return declared(tmp_path_factory.mktemp("faults"), DECLARATION)


@pytest.fixture(scope="module")
def undisturbed(study):
    """Return the folder of a study without faults, with its report."""
    folder = study.parent / "undisturbed"
    with ThreadPoolExecutor(2) as executor:
        reproduce(study, folder, executor=executor)
    draw_report(folder)
    return folder


@pytest.fixture(scope="module")
def held_study(tmp_path_factory):
    """Return the path of a declaration with a problem whose runs can be held in processes of their own."""
    folder = tmp_path_factory.mktemp("held")
    (folder / "held.py").write_text(HELD_MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))
        yield declared(folder, DECLARATION + HELD)
    sys.modules.pop("held", None)


def outcomes(folder):
    """Return all that is stored of each run but its time, and its trace."""
    found = {}
    with read_store(folder) as store:
        results = store.results()
        for entry in results.cells:
            for run in entry.runs:
                trace = results.trace(entry.cell, run.number)
                found[entry.cell, run._replace(seconds=0.0)] = [column.tolist() for column in trace]
    return found


def made_files(folder):
    """Return tables and figures, by name."""
    return {
        path.relative_to(folder): path.read_bytes()
        for part in ("tables", "figures")
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
    }


def finished_runs(folder):
    try:
        with read_store(folder) as store:
            return sum(len(entry.runs) for entry in store.results().cells)
    except StudyError as error:
        if "There is no study" in str(error):
            return 0
        raise


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks for child processes in /proc")
def test_a_study_killed_again_and_again_equals_an_undisturbed_one(held_study, tmp_path):
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    command = ["reproduce", held_study, "--jobs", 2, "--no-report", "--out"]
    for _ in range(2):
        before = finished_runs(killed)
        running = subprocess.Popen(pursuit_command(*command, killed), stderr=subprocess.DEVNULL, env=HOLDING)
        wait_for(lambda before=before: finished_runs(killed) > before, running)
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        running.send_signal(signal.SIGKILL)
        running.wait()
        # Workers do not outlive their driver.
        wait_for(lambda children=children: not any(Path(f"/proc/{child}").exists() for child in children))
    assert before > 0
    run_pursuit(*command, killed)
    with ThreadPoolExecutor(2) as executor:
        reproduce(held_study, undisturbed, executor=executor)
    for folder in (killed, undisturbed):
        draw_report(folder)
    assert outcomes(killed) == outcomes(undisturbed)
    ours, theirs = made_files(killed), made_files(undisturbed)
    assert len(theirs) > 5
    assert ours == theirs


def test_ctrl_c_keeps_what_is_finished(held_study, tmp_path):
    command = pursuit_command("reproduce", held_study, "--out", tmp_path, "--jobs", 2)
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=HOLDING)
    wait_for(lambda: finished_runs(tmp_path) > 0, running)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said.endswith("pursuit: interrupted. Finished runs are kept; run the same command to continue.\n")
    assert finished_runs(tmp_path) > 0


def test_a_second_process_is_refused(study, tmp_path):
    with open_store(tmp_path):
        refused = run_pursuit("reproduce", study, "--out", tmp_path, check=False)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"pursuit: Another process is working in {tmp_path}")


def test_a_full_disk_loses_nothing(study, undisturbed, tmp_path):
    """The limit on a file's size makes writing fail as a full disk would, in the middle."""
    code = """
        import resource, sys
        from pursuit.cli import main
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        sys.exit(main())
    """
    arguments = ["reproduce", str(study), "--out", str(tmp_path), "--jobs", "1", "--no-report"]
    failed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments], capture_output=True, text=True
    )
    assert failed.returncode == 1
    assert f"{tmp_path / FILE} cannot be read or written:" in failed.stderr
    assert "Traceback" not in failed.stderr
    kept = outcomes(tmp_path)
    assert 0 < len(kept) < 24
    with ThreadPoolExecutor(2) as executor:
        reproduce(study, tmp_path, executor=executor)
    assert outcomes(tmp_path) == outcomes(undisturbed)
    assert kept.items() <= outcomes(tmp_path).items()


@pytest.mark.parametrize(
    ("limit", "arguments", "sentence"),
    [
        (
            2_000,
            ["report", "{folder}"],
            "The report cannot be written into {folder}: File too large.\n",
        ),
        (
            500,
            ["export", "{folder}", "--to", "{folder}/x.csv"],
            "{folder}/x.csv cannot be written: ",
        ),
        (500, ["export", "{folder}", "--to", "{folder}/x.parquet"], "{folder}/x.parquet cannot be written: "),
    ],
)
def test_a_full_disk_leaves_no_part_of_a_file(limit, arguments, sentence, undisturbed, tmp_path, capfd):
    shutil.copy(undisturbed / FILE, tmp_path)
    code = """
        import resource, sys
        from pursuit.cli import main
        from pursuit.experiments.study import export, report
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
        sys.exit(main())
    """
    failed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code).format(limit=limit)]
        + [text.format(folder=tmp_path) for text in arguments],
        capture_output=True,
        text=True,
    )
    assert failed.returncode == 1
    assert failed.stderr.startswith("pursuit: " + sentence.format(folder=tmp_path))
    assert failed.stderr.count("\n") == 1
    files = [
        path for path in tmp_path.rglob("*") if path.is_file() and path.name not in (FILE, ".report.lock")
    ]
    assert [path.name for path in files] == []


def test_what_a_killed_process_left_is_gone_after_the_next_start(study, undisturbed, tmp_path):
    shutil.copy(undisturbed / FILE, tmp_path)
    left = [tmp_path / ".report.md.part", tmp_path / "figures" / ".old-frozen.png.part"]

    def leave():
        (tmp_path / "figures").mkdir(exist_ok=True)
        for path in left:
            path.write_text("half a")
        return left

    for start in (lambda: draw_report(tmp_path), lambda: reproduce(study, tmp_path, jobs=1)):
        assert all(path.exists() for path in leave())
        start()
        assert not any(path.exists() for path in left)


def test_one_report_is_written_at_a_time(study, undisturbed, tmp_path):
    shutil.copy(undisturbed / FILE, tmp_path)
    with locked(tmp_path, ".report.lock"):
        with pytest.raises(StudyError, match="Another process is working in"):
            draw_report(tmp_path)
        # A study may be continued meanwhile.
        assert reproduce(study, tmp_path, jobs=1).failures == []


def test_a_read_only_folder_can_be_read_and_not_written(study, undisturbed, tmp_path):
    folder = tmp_path / "fixed"
    folder.mkdir()
    shutil.copy(undisturbed / FILE, folder)
    (folder / FILE).chmod(0o444)
    folder.chmod(0o555)

    code = f"""
        from pursuit.cli import main
        assert main(["reproduce", "{study}", "--out", "{folder}"]) == 1
        assert main(["status", "{folder}"]) == 0
        assert main(["report", "{folder}"]) == 1
    """
    done = subprocess.run(
        [*WITHOUT_PRIVILEGE, sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "24 of 24 runs are done" in done.stdout
    refused, not_written = done.stderr.splitlines()
    assert f"Nothing can be written into the folder {folder}" in refused
    assert f"The report cannot be written into {folder}: Permission denied." in not_written


class Killer(Progress):
    """Kills a worker after the second run, and keeps what is said."""

    def __init__(self, workers):
        super().__init__(Console(quiet=True))
        self.workers = workers
        self.runs = 0
        self.said = []

    def finished(self, group):
        self.runs += 1
        if self.runs == 2:
            os.kill(self.workers()[0], signal.SIGKILL)

    def noticed(self, sentence):
        self.said.append(sentence)


def test_a_killed_worker_costs_a_retry(study, undisturbed, tmp_path):
    others = multiprocessing.active_children()
    killer = Killer(lambda: [child.pid for child in multiprocessing.active_children() if child not in others])
    entries = entries_of(load_study(study))
    with open_store(tmp_path) as store:
        store.declare(load_study(study), entries, {})
        assert execute_missing(entries, store, functools.partial(processes, 2), killer) == []
    assert any(
        re.fullmatch(r"A worker died; [1-4] runs are repeated\.", sentence) for sentence in killer.said
    )
    assert outcomes(tmp_path) == outcomes(undisturbed)


def test_a_killed_worker_of_a_dask_cluster_costs_a_retry(study, undisturbed, tmp_path):
    distributed = pytest.importorskip("distributed")
    entries = entries_of(load_study(study))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        killer = Killer(lambda: [nanny.pid for nanny in cluster.workers.values()])
        with open_store(tmp_path) as store:
            store.declare(load_study(study), entries, {})
            pool = functools.partial(dask_cluster, cluster.scheduler_address, 1)
            assert execute_missing(entries, store, pool, killer) == []
    assert killer.runs == 24
    assert outcomes(tmp_path) == outcomes(undisturbed)


OWN = """
title = "Trouble"
schemes = ["rp"]
runs = 3
target = 1e-6
cap = 1e4

[[problems]]
problem = "trouble:{}"
n = 3
"""
TROUBLE = """
import os


class Raising:
    n, x0 = 3, [1.0, 1.0, 1.0]

    def __init__(self, n):
        pass

    def __call__(self, x):
        raise ArithmeticError("no value here")


class Deadly(Raising):
    def __call__(self, x):
        os._exit(1)
"""


@pytest.fixture
def trouble(tmp_path, monkeypatch):
    """Return a function that declares a study of one of the problems above."""
    (tmp_path / "trouble.py").write_text(TROUBLE)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield lambda name: declared(tmp_path, OWN.format(name))
    sys.modules.pop("trouble", None)


def test_a_run_that_raises_is_named_and_the_other_cells_are_run(trouble, tmp_path):
    text = trouble("Raising").read_text() + '[[problems]]\nproblem = "exp"\nn = 3\nL = 10\n'
    with ThreadPoolExecutor(1) as executor:
        done = reproduce(declared(tmp_path, text), tmp_path / "out", executor=executor)
    assert [str(failure) for failure in done.failures] == [
        "Raising n=3 rp frozen, run 0: ArithmeticError: no value here. The rest of its runs are left out."
    ]
    with read_store(tmp_path / "out") as store:
        assert [(entry.cell.problem, len(entry.runs)) for entry in store.results().cells] == [
            ("Raising", 0),
            ("exp", 3),
        ]


def test_workers_that_die_of_every_run_end_the_study(trouble, tmp_path):
    with pytest.raises(StudyError, match="Workers died 4 times in a row without finishing a run"):
        reproduce(trouble("Deadly"), tmp_path / "out", jobs=1)


@pytest.mark.parametrize(
    "address", ["nonsense", "", "tcp://", "tcp://host", "tcp://host:99999", "http://host:80"]
)
def test_what_is_no_address_of_a_dask_scheduler_is_refused_at_once(address, study, tmp_path):
    pytest.importorskip("distributed")
    with pytest.raises(StudyError, match=f"address of a Dask scheduler is .*, but '{address}' was given"):
        reproduce(study, tmp_path / "out", executor=address)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("address", ["inproc://nowhere", "tls://127.0.0.1:9"])
def test_a_dask_scheduler_that_cannot_be_reached_is_a_sentence(address, study, tmp_path):
    pytest.importorskip("distributed")
    with pytest.raises(StudyError, match=f"There is no Dask scheduler at {address}"):
        reproduce(study, tmp_path, executor=address)


def test_a_dask_scheduler_that_does_not_answer_is_reported(study, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "_DASK_TIMEOUT", "1s")
    with pytest.raises(StudyError, match="There is no Dask scheduler at tcp"):
        reproduce(study, tmp_path, executor="tcp://127.0.0.1:9")
