"""What a run's time includes."""

import pytest

from pursuit.experiments.study import grid, load_study
from pursuit.experiments.study.grid import entries_of, execute
from pursuit.minimize import minimize


def test_a_run_s_seconds_are_those_of_its_result_which_leave_out_compiling(monkeypatch):
    calls = []

    def timed(*arguments, **settings):
        result = minimize(*arguments, **settings)
        calls.append(result)
        result.time = 123.0
        return result

    monkeypatch.setattr(grid, "minimize", timed)
    (entry,) = entries_of(load_study("quick"), only={"problem": ("exp",), "scheme": ("rp",)})
    run, _ = execute(entry.recipe, 0, entry.key.code)
    assert run.seconds == 123.0
    assert run.success
    assert len(calls) == 1


def test_a_run_does_not_depend_on_what_was_compiled_before(monkeypatch):
    (entry,) = entries_of(load_study("quick"), only={"problem": ("exp",), "scheme": ("cma",)})
    first, again = (execute(entry.recipe, 1, entry.key.code)[0] for _ in range(2))
    assert first._replace(seconds=0.0) == again._replace(seconds=0.0)
    with pytest.raises(Exception, match="a worker has"):
        execute(entry.recipe, 1, "other")
