"""The command makes what is asked for, resumes, writes pages, and refuses what it does not know."""

import sys

import pytest
from benchmarks import __main__ as command
from benchmarks.runs import read_rows
from benchmarks.suites.values import FILE, Row


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["benchmarks", *map(str, words)])
    command.main()


def test_a_part_is_run_and_resumed_and_its_pages_are_written(tmp_path, monkeypatch, capsys):
    words = ["run", "values", "--out", tmp_path, "--only", "group=choosing", "n<=6", "--jobs", 1]
    words += ["--solvers", "L-BFGS-B", "auto", "--seeds", 1]
    run(monkeypatch, *words)
    rows = read_rows(tmp_path / FILE, Row)
    assert {(row.problem, row.solver) for row in rows} == {
        (problem, solver)
        for problem in ("decaying exponentials", "trigonometric")
        for solver in ("L-BFGS-B", "auto")
    }
    assert "(4 of 4" in capsys.readouterr().out
    run(monkeypatch, *words)
    assert capsys.readouterr().out == ""
    assert read_rows(tmp_path / FILE, Row) == rows
    run(monkeypatch, "page", "values", "--out", tmp_path)
    assert "| auto | 2 | " in (tmp_path / "choosing.md").read_text()
    assert (tmp_path / "figures" / "choosing-smooth.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["values", "--solvers", "none"], "There is no solver 'none'"),
        (["values", "--only", "size=3"], "'size=3' must be FIELD=VALUE,..."),
        (["peers", "--parts", "speed"], "There is no part 'speed'; there are overhead, memory, "),
    ],
)
def test_what_is_not_known_is_refused(words, complaint, tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run(monkeypatch, "run", *words, "--out", tmp_path)
    assert complaint in capsys.readouterr().err
