"""Runs are isolated, resumed, skipped for good reasons, and a crash is a row."""

import os
import time

import pytest
from benchmarks.problems.paper import Task
from benchmarks.processes import Failure, Job, run_job, run_jobs
from benchmarks.recording import ERROR, QUIT, REACHED, TIME
from benchmarks.runs import MISSING, SKIPPED, Table, Wanted, key_of, read_rows, run_missing
from benchmarks.solvers import Solver
from benchmarks.suites import peers
from benchmarks.suites.peers import PARTS, RunRow, named, plan_runs

from pursuit.engine.counting import CAP

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


def plan(tasks, seeds, maxtime=60.0, solvers=("auto",)):
    return list(plan_runs(tasks, Wanted(solvers, seeds, maxtime)))


def row_of(status, *, task=TASK, seed=1, evaluations=5, maxtime=60.0):
    row = plan([task], seed, maxtime)[-1]
    return row._replace(status=status, evaluations=evaluations, seconds=0.5, best=1e-3)


def run(rows, path, named=named):
    said = []
    run_missing(
        PARTS["evaluations"]._replace(named=named), rows, Table(path, RunRow), jobs=2, say=said.append
    )
    return read_rows(path, RunRow), said


def test_a_run_is_made_once_and_is_the_same_in_any_process(tmp_path):
    rows = plan([TASK], 2, 60.0)
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
    found, said = run(plan(tasks, 2, 60.0), path)
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
    rows = plan([TASK._replace(n=1000)], 1, 0.1)
    found, _ = run(rows, tmp_path / "a.csv")
    assert found[-1].status == status


@pytest.mark.parametrize("change", [{"status": TIME, "maxtime": 1.0}, {"version": "0"}])
def test_a_run_that_may_take_longer_now_or_is_outdated_is_made_again(change, tmp_path):
    path = tmp_path / "a.csv"
    Table(path, RunRow).add(row_of(REACHED)._replace(**change))
    found, _ = run(plan([TASK], 1, 60.0), path)
    assert [row.status for row in found] == [REACHED]
    assert found[0].evaluations > 5


def test_a_peer_that_is_not_installed_is_named(tmp_path, monkeypatch):
    absent = Solver("absent", "no_such_package", named("auto").solve)
    monkeypatch.setattr(peers, "named", lambda name: absent)
    found, _ = run(plan([TASK], 1), tmp_path / "a.csv", lambda name: absent)
    assert [(row.status, row.detail) for row in found] == [(MISSING, "no_such_package is not installed.")]


def test_a_solver_that_crashes_is_a_row_with_its_error(tmp_path):
    # The child cannot find a solver of this name.
    odd = named("auto")._replace(name="odd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(peers, "named", lambda name: odd)
        rows = plan([TASK], 1)
        found, _ = run(rows, tmp_path / "a.csv", lambda name: odd)
    assert found[0].status == ERROR
    assert "There is no solver 'odd'" in found[0].detail
