"""What a run's time includes."""

import time

import pytest

from pursuit.experiments.study import load_study, worker
from pursuit.experiments.study.grid import entries_of
from pursuit.experiments.study.worker import RunTask, execute
from pursuit.minimize import minimize


def test_compilation_is_not_part_of_a_runs_time(monkeypatch):
    """By a clock that shows 100 s for what is compiled, and 1 s for every run."""
    clock = [0.0]

    def slow_at_first(*arguments, **settings):
        clock[0] += 100.0 if clock[0] == 0.0 else 1.0
        return minimize(*arguments, **settings)

    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(worker, "minimize", slow_at_first)
    (entry,) = entries_of(load_study("quick"), only={"problem": ("exp",), "scheme": ("rp",)})
    worker._compile.cache_clear()
    runs = [execute(RunTask(entry.recipe, number, entry.code))[0] for number in range(2)]
    assert [run.seconds for run in runs] == [1.0, 1.0]
    assert all(run.success for run in runs)


def test_a_run_does_not_depend_on_what_was_compiled_before(monkeypatch):
    (entry,) = entries_of(load_study("quick"), only={"problem": ("exp",), "scheme": ("cma",)})
    first, again = (execute(RunTask(entry.recipe, 1, entry.code))[0] for _ in range(2))
    assert first._replace(seconds=0.0) == again._replace(seconds=0.0)
    with pytest.raises(Exception, match="a worker has"):
        execute(RunTask(entry.recipe, 1, "other"))
