"""The store, by way of small studies: what is kept, what is refused, and what faults do to it."""

import contextlib
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pursuit
from experiments.study.small import DECLARATION, RUNS, declared, run_pursuit
from pursuit.experiments.study import StudyError, export, load_study, read_store, reproduce
from pursuit.experiments.study.grid import entries_of, make_problem, seed_of
from pursuit.experiments.study.store import FILE, open_store


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return the folder of a finished small study."""
    folder = tmp_path_factory.mktemp("stored")
    with ThreadPoolExecutor(2) as executor:
        assert reproduce(declared(folder), folder / "out", executor=executor).failures == []
    return folder / "out"


def contents(folder):
    with read_store(folder) as store:
        return store.results()


def test_every_run_is_there_and_equals_minimize_with_its_seed(stored):
    with read_store(stored) as store:
        results = store.results()
        assert sum(len(entry.runs) for entry in results.cells) == RUNS
        entry = results.select(problem="rosenbrock", scheme="ep-cma-2")[0]
        trace = results.trace(entry.cell, 1)
    declared_entry = next(
        e for e in entries_of(load_study(stored.parent / "small.toml")) if e.cell == entry.cell
    )
    problem = make_problem(declared_entry.recipe)
    alone = pursuit.minimize(
        problem, problem.x0, method="ep-cma-2", rng=seed_of(declared_entry.key.identity, 1), ftarget=1e-6,
        options={"reading": "frozen"}, trace=True,
    )  # fmt: skip
    run = entry.runs[1]
    assert (run.nit, run.nfev, run.fun, run.success) == (alone.nit, alone.nfev, alone.fun, True)
    for ours, theirs in zip(trace, alone.trace[:3], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_running_again_runs_nothing(stored, capfd):
    before = (stored / FILE).read_bytes()
    with ThreadPoolExecutor(1) as executor:
        reproduce(stored.parent / "small.toml", stored, executor=executor)
    assert "to do" not in capfd.readouterr().err
    with read_store(stored) as store:
        assert all(len(entry.runs) == entry.wanted for entry in store.results().cells)
        assert store.unused() == 0
    assert len(before) == (stored / FILE).stat().st_size


@pytest.mark.parametrize(
    ("old", "new", "unused"),
    [
        ("target = 1e-6", "target = 1e-5", RUNS),
        ("cap = 20000", "cap = 20001", RUNS),
        ('"ep-cma-2"', '{ method = "ep-cma-2", options = { c_c = 0.1 } }', 15),
        ("runs = 3", "runs = 2", 0),
    ],
)
def test_other_options_targets_and_caps_are_noticed(stored, tmp_path, capfd, old, new, unused):
    copy = tmp_path / "out"
    copy.mkdir()
    (copy / FILE).write_bytes((stored / FILE).read_bytes())
    text = DECLARATION.replace(old, new)
    with ThreadPoolExecutor(2) as executor:
        reproduce(declared(tmp_path, text), copy, executor=executor)
    said = capfd.readouterr().err
    assert (f"{unused} runs" in said and "made with other code" in said) == bool(unused)
    with read_store(copy) as store:
        assert store.unused() == unused
        assert all(len(entry.runs) == entry.wanted for entry in store.results().cells)


@pytest.mark.interpreted
def test_changed_code_of_ones_own_is_noticed_and_run_again(tmp_path, monkeypatch, capfd):
    """Own schemes and problems work by module:name, from a file beside the declaration."""
    own = Path(__file__).parents[2] / "conformance" / "own.py"
    module = tmp_path / "own_beside.py"
    module.write_text(own.read_text())
    path = declared(tmp_path, OWN)
    first = run_pursuit("reproduce", path, "--out", tmp_path / "out", "--jobs", 1, "--no-report")
    assert "2 of 2 runs to do" in first.stderr
    monkeypatch.setattr(sys, "path", list(sys.path))
    with ThreadPoolExecutor(1) as executor:
        reproduce(path, tmp_path / "out", executor=executor)
    sys.modules.pop("own_beside")
    assert "to do" not in capfd.readouterr().err
    module.write_text(own.read_text().replace("1.5 * numbers.sigma", "1.6 * numbers.sigma"))
    changed = run_pursuit("reproduce", path, "--out", tmp_path / "out", "--jobs", 1, "--no-report")
    assert "2 runs in" in changed.stderr
    assert "2 of 2 runs to do" in changed.stderr
    (entry,) = contents(tmp_path / "out").cells
    assert entry.cell == ("bowl", None, 3, "narrowing", "frozen")
    assert all(run.success for run in entry.runs)


OWN = """
title = "My scheme on my problem"
schemes = [{ method = "own_beside:Narrowing", label = "narrowing", options = { offspring = 3 } }]
runs = 2
target = 1e-6
cap = 1e5

[[problems]]
problem = "own_beside:Bowl"
label = "bowl"
n = 3
"""


def test_a_folder_collects_what_was_asked_for_in_it(tmp_path):
    path = declared(tmp_path)
    with ThreadPoolExecutor(1) as executor:
        reproduce(path, tmp_path / "out", only="n=4 scheme=cma L=10", runs=1, executor=executor)
        reproduce(
            path, tmp_path / "out", only="n=6 scheme=cma L=10", runs=1, reading="all", executor=executor
        )
    cells = [str(entry.cell) for entry in contents(tmp_path / "out").cells]
    assert cells == [
        "exp L=10 n=4 cma frozen",
        "exp L=10 n=6 cma fitted",
        "exp L=10 n=6 cma frozen",
        "exp L=10 n=6 cma printed",
        "rosenbrock n=4 cma frozen",
    ]


def test_runs_and_traces_are_exported(stored, tmp_path):
    with read_store(stored) as store:
        results = store.results()
        for name in ("runs.csv", "runs.parquet"):
            export(results, tmp_path / name)
        first = results.cells[0]
        trace = results.trace(first.cell, 2)
        with pytest.raises(StudyError, match=r"must end in .csv or .parquet, but .*runs.txt"):
            export(results, tmp_path / "runs.txt")
    for read, ending in ((pl.read_csv, "csv"), (pl.read_parquet, "parquet")):
        runs, traces = read(tmp_path / f"runs.{ending}"), read(tmp_path / f"runs-traces.{ending}")
        assert runs.height == RUNS
        assert runs.columns[:8] == ["problem", "L", "n", "scheme", "reading", "run", "nit", "nfev"]
        assert runs["nit"][:3].to_list() == [run.nit for run in first.runs]
        of_run = traces.filter(
            pl.col("problem") == "exp", pl.col("L") == 10.0, pl.col("n") == 4, pl.col("scheme") == "rp",
            pl.col("run") == 2,
        )  # fmt: skip
        assert of_run["nit"].to_list() == trace.nit.tolist()
        assert of_run["fun"].to_list() == trace.fun.tolist()


def test_a_truncated_file_is_refused_and_left_alone(stored, tmp_path):
    whole = (stored / FILE).read_bytes()
    for size in (100, len(whole) // 2):
        (tmp_path / FILE).write_bytes(whole[:size])
        for opened in (open_store, read_store):
            with (
                pytest.raises(StudyError, match=r"study.sqlite is damaged or not a database"),
                opened(tmp_path),
            ):
                pass
        assert (tmp_path / FILE).read_bytes() == whole[:size]


def test_a_foreign_file_is_refused_and_left_alone(tmp_path):
    (tmp_path / FILE).write_text("the diary of somebody else " * 100)
    with pytest.raises(StudyError, match="damaged or not a database"), open_store(tmp_path):
        pass
    assert (tmp_path / FILE).read_text() == "the diary of somebody else " * 100


def test_a_foreign_database_and_a_later_format_are_refused_and_left_alone(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("CREATE TABLE songs (name TEXT)")
        connection.commit()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StudyError, match="is a database, but not one of a study"), open_store(tmp_path):
        pass
    assert (tmp_path / FILE).read_bytes() == before
    (tmp_path / FILE).unlink()
    with open_store(tmp_path):
        pass
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.commit()
    with pytest.raises(StudyError, match="has version 99 of the format"), read_store(tmp_path):
        pass


def test_reading_an_empty_file_leaves_it_to_the_writer(tmp_path):
    """A driver may have made the file and not yet its tables."""
    (tmp_path / FILE).touch()
    with pytest.raises(StudyError, match=r"There is no study in .* yet"), read_store(tmp_path):
        pass
    assert (tmp_path / FILE).read_bytes() == b""
    with open_store(tmp_path):
        pass
    with read_store(tmp_path) as store:
        assert store.results().cells == ()


def test_a_folder_without_a_study_is_said_to_have_none(tmp_path):
    with (
        pytest.raises(StudyError, match=r"There is no study in .*: the file study.sqlite is missing"),
        read_store(tmp_path),
    ):
        pass


def test_cells_whose_names_look_the_same_are_all_kept(tmp_path):
    text = DECLARATION.replace("L = [10, 100]", "L = [10000.001, 10000.002]").replace("L = 100, ", "")
    with ThreadPoolExecutor(1) as executor:
        reproduce(
            declared(tmp_path, text), tmp_path / "out", only="n=4 scheme=cma", runs=1, executor=executor
        )
    assert [entry.cell.L for entry in contents(tmp_path / "out").cells] == [10000.001, 10000.002, None]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"jobs": 0}, "jobs must be at least 1, but 0 was given"),
        ({"runs": -1}, "runs must be at least 1, but -1 was given"),
        ({"reading": "loose"}, "reading must be one of printed, fitted, frozen, all, but 'loose' was given"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_written(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        reproduce(declared(tmp_path), tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()
