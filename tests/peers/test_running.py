"""Runs are isolated, resumed, skipped for good reasons, and a crash is a row."""

import os
import time

import pytest
from benchmarks.peers import adapters, evaluations
from benchmarks.peers.adapters import LINEAR, Solver
from benchmarks.peers.counting import ERROR, QUIT, REACHED, TIME
from benchmarks.peers.evaluations import plan, run_missing
from benchmarks.peers.isolation import Failure, Job, run_job, run_jobs
from benchmarks.peers.problems import Task
from benchmarks.peers.records import MISSING, SKIPPED, RunRow, Table, key_of, read_rows

from pursuit.counting import CAP

TASK = Task("exp", 1e4, True, 10)


def fail():
    raise ValueError("no")


def die():
    os._exit(3)


def hang():
    time.sleep(1000)


def threads():
    return os.environ["OMP_NUM_THREADS"]


@pytest.mark.parametrize(
    ("function", "words"),
    [(fail, "ValueError: no"), (die, "The process died: exit status 3."), (hang, "killed after 2 s")],
)
def test_what_goes_wrong_in_a_process_is_reported(function, words):
    result = run_job(Job(function, (), 2.0 if function is hang else 60.0))
    assert isinstance(result, Failure)
    assert words in result.text


def test_processes_have_one_thread_and_the_environment_is_left_alone(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert run_job(Job(threads, (), 60.0, fresh=True)) == "1"
    assert os.environ["OMP_NUM_THREADS"] == "5"


def test_all_jobs_are_done():
    jobs = [Job(divmod, (number, 2), 60.0) for number in range(3)]
    assert {job.arguments[0]: result for job, result in run_jobs(jobs, 2)} == {
        0: (0, 0),
        1: (0, 1),
        2: (1, 0),
    }


def solver(name="auto"):
    return adapters.solver_named(name)


def row_of(status, *, task=TASK, seed=1, evaluations=5, maxtime=60.0):
    (row,) = [r for r in plan([solver()], [task], seeds=seed, time_cap=maxtime) if r.seed == seed]
    return row._replace(status=status, evaluations=evaluations, seconds=0.5, best=1e-3)


def run(rows, path):
    table = Table(path, RunRow)
    said = []
    run_missing(rows, table=table, at_once=2, say=said.append)
    return read_rows(path, RunRow), said


def test_a_run_is_made_once_and_is_the_same_in_any_process(tmp_path):
    rows = plan([solver()], [TASK], seeds=2, time_cap=60.0)
    found, said = run(rows, tmp_path / "a.csv")
    assert [row.status for row in found] == [REACHED, REACHED]
    assert said
    again, nothing = run(rows, tmp_path / "a.csv")
    assert (again, nothing) == (found, [])
    other, _ = run(rows, tmp_path / "b.csv")
    assert {key_of(r): (r.evaluations, r.best) for r in other} == {
        key_of(r): (r.evaluations, r.best) for r in found
    }


@pytest.mark.parametrize("end", [0, 20, 200])
def test_a_killed_command_resumes(end, tmp_path):
    path = tmp_path / "a.csv"
    table = Table(path, RunRow)
    for seed in (1, 2, 3):
        table.add(row_of(REACHED, seed=seed))
    whole = path.read_text()
    path.write_text(whole[: len(whole) - end] if end else whole)
    table = Table(path, RunRow)
    table.add(row_of(REACHED, seed=3))
    for seed in (1, 2, 3):
        if table.get(row_of(REACHED, seed=seed)) is None:
            table.add(row_of(REACHED, seed=seed))
    assert sorted(path.read_text().splitlines()) == sorted(whole.splitlines())


@pytest.mark.parametrize("status", [CAP, TIME])
def test_hopeless_runs_are_skipped_and_say_so(status, tmp_path):
    path = tmp_path / "a.csv"
    hundred = TASK._replace(n=100)
    Table(path, RunRow).add(row_of(status, task=hundred))
    tasks = [hundred, hundred._replace(L=1e6), hundred._replace(n=1000)]
    found, said = run(plan([solver()], tasks, seeds=2, time_cap=60.0), path)
    assert [(row.n, row.L, row.seed, row.status) for row in found] == [
        (100, 1e4, 1, status), (100, 1e6, 1, SKIPPED), (100, 1e4, 2, SKIPPED), (100, 1e6, 2, SKIPPED),
        (1000, 1e4, 1, SKIPPED), (1000, 1e4, 2, SKIPPED),
    ]  # fmt: skip
    assert all(row.evaluations == (50 if row.n == 1000 else 5) for row in found)
    assert not said


@pytest.mark.parametrize(("results", "status"), [((QUIT, QUIT), SKIPPED), ((QUIT, REACHED), TIME)])
def test_a_solver_that_quits_with_every_seed_is_not_run_in_more_variables(results, status, tmp_path):
    table = Table(tmp_path / "a.csv", RunRow)
    for seed, result in enumerate(results, 1):
        table.add(row_of(result, task=TASK._replace(n=100), seed=seed))
    # Too little time to reach the target.
    rows = plan([solver()], [TASK._replace(n=1000)], seeds=1, time_cap=0.1)
    found, _ = run(rows, tmp_path / "a.csv")
    assert found[-1].status == status


@pytest.mark.parametrize("change", [{"status": TIME, "maxtime": 1.0}, {"version": "0"}])
def test_a_run_that_may_take_longer_now_or_is_outdated_is_made_again(change, tmp_path):
    path = tmp_path / "a.csv"
    Table(path, RunRow).add(row_of(REACHED)._replace(**change))
    found, _ = run(plan([solver()], [TASK], seeds=1, time_cap=60.0), path)
    assert [row.status for row in found] == [REACHED]
    assert found[0].evaluations > 5


def test_a_peer_that_is_not_installed_is_named(tmp_path, monkeypatch):
    absent = Solver("absent", "no_such_package", LINEAR, solver().solve)
    monkeypatch.setattr(evaluations, "solver_named", lambda name: absent)
    found, _ = run(plan([absent], [TASK], seeds=1, time_cap=60.0), tmp_path / "a.csv")
    assert [(row.status, row.detail) for row in found] == [(MISSING, "no_such_package is not installed.")]


def test_a_solver_that_crashes_is_a_row_with_its_error(tmp_path):
    # The child cannot find a solver of this name.
    odd = solver()._replace(name="odd")
    rows = plan([odd], [TASK], seeds=1, time_cap=60.0)
    table = Table(tmp_path / "a.csv", RunRow)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluations, "solver_named", lambda name: odd)
        run_missing(rows, table=table, at_once=1, say=lambda line: None)
    (found,) = read_rows(tmp_path / "a.csv", RunRow)
    assert found.status == ERROR
    assert found.detail
