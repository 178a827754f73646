"""Damaged stores: no flipped bit changes a result or raises anything but a sentence."""

import contextlib
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from experiments.study.small import declared
from pursuit.cli import main
from pursuit.experiments.study import StudyError, draw_report, read_store, reproduce
from pursuit.experiments.study.store import FILE

DECLARATION = """
title = "Something to damage"
schemes = ["rp", "cma"]
runs = 3
target = 1e-4
cap = 1e5

[[problems]]
problem = "exp"
n = [2, 3]
L = 10
"""
RUNS = 12


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return the path of a declaration; beside it is the folder ``intact`` of the finished study."""
    path = declared(tmp_path_factory.mktemp("damage"), DECLARATION)
    run(path, path.parent / "intact")
    return path


@pytest.fixture(scope="module")
def expected(study):
    return outcomes(study.parent / "intact")


def run(path, folder):
    with ThreadPoolExecutor(1) as executor:
        assert reproduce(path, folder, executor=executor).failures == []


def outcomes(folder):
    """Return the title, and all that is stored of each run but its time."""
    with read_store(folder) as store:
        results = store.results()
        found = {
            (entry.cell, run._replace(seconds=0.0)): [
                column.tolist() for column in results.trace(entry.cell, run.number)
            ]
            for entry in results.cells
            for run in entry.runs
        }
        wanted = [(entry.cell, entry.wanted, entry.target, entry.cap) for entry in results.cells]
        assert len(found) + len(set(store.damaged())) <= RUNS
    return (results.title, wanted, results.figures), found


def damaged_copy(study, folder, change):
    """Copy the finished study into a folder, with its bytes changed."""
    folder.mkdir(exist_ok=True)
    content = bytearray((study.parent / "intact" / FILE).read_bytes())
    change(content)
    (folder / FILE).write_bytes(content)
    return content


def check_damaged(study, expected, folder):
    """Read and continue a damaged study; return what happened: it is refused, mended or not affected."""
    declaration, runs = expected
    try:
        found, kept = outcomes(folder)
    except StudyError:
        before = (folder / FILE).read_bytes()
        with pytest.raises(StudyError):
            run(study, folder)
        assert (folder / FILE).read_bytes() == before
        return "refused"
    assert found == declaration
    assert kept.items() <= runs.items()
    if is_read_only(folder):
        with pytest.raises(StudyError, match="readonly"):
            run(study, folder)
        return "read-only"
    run(study, folder)
    assert outcomes(folder) == expected
    return "intact" if kept == runs else "mended"


def is_read_only(folder):
    """Return whether a flag in the header says that this version of SQLite may not write to the file."""
    return (folder / FILE).read_bytes()[18] > 2


def flip_bits(study, expected, folder, *, seed, flips):
    """Flip single bits, one at a time, and return how often what happened."""
    rng = np.random.default_rng(seed)
    size = (study.parent / "intact" / FILE).stat().st_size
    happened = {}
    for place in rng.integers(8 * size, size=flips).tolist():

        def flip(content, place=place):
            content[place // 8] ^= 1 << place % 8

        damaged_copy(study, folder, flip)
        what = check_damaged(study, expected, folder)
        happened[what] = happened.get(what, 0) + 1
    return happened


def test_no_flipped_bit_changes_a_result(study, expected, tmp_path, capfd):
    happened = flip_bits(study, expected, tmp_path, seed=15, flips=100)
    assert {"refused", "mended", "intact"} <= set(happened)


@pytest.mark.long
def test_no_flipped_bit_changes_a_result_in_the_long_run(study, expected, tmp_path, capfd):
    for seed in range(10):
        happened = flip_bits(study, expected, tmp_path, seed=seed, flips=200)
        assert set(happened) <= {"refused", "read-only", "mended", "intact"}


def damage_run(content):
    """Flip a bit in a trace: the compressed bytes begin after the reason."""
    content[content.index(b"target", content.index(b"RandomPursuit")) + 40] ^= 1


def test_a_damaged_run_is_named_set_aside_and_run_again(study, expected, tmp_path, capfd):
    damaged_copy(study, tmp_path, damage_run)
    with read_store(tmp_path) as store:
        (name,) = store.damaged()
        assert sum(len(entry.runs) for entry in store.results().cells) == RUNS - 1
    assert name.startswith("exp L=10 n=")
    assert main(["status", str(tmp_path)]) == 0
    said = capfd.readouterr()
    assert said.err == f"Damaged, and not used until the study is run again: {name}.\n"
    assert f"{RUNS - 1} of {RUNS} runs are done" in said.out
    draw_report(tmp_path)
    assert f"| runs | {RUNS - 1} of {RUNS} wanted |" in (tmp_path / "report.md").read_text()
    capfd.readouterr()
    run(study, tmp_path)
    said = capfd.readouterr().err
    assert f"A damaged run in {tmp_path / FILE} is set aside, to be run again: {name}." in said
    assert f"1 of {RUNS} runs to do" in said
    assert outcomes(tmp_path) == expected
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as connection:
        ((kept, content),) = connection.execute("SELECT name, content FROM damaged").fetchall()
    assert kept == name
    assert ("RandomPursuit" if " rp " in name else "Cma") in content


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE cells SET n = 5 WHERE n = 3",
        "UPDATE facts SET content = 'Another title' WHERE name = 'title'",
        "UPDATE cells SET wanted = 2",
        "DELETE FROM facts WHERE name = 'checksum'",
        "DROP TABLE damaged",
        "ALTER TABLE runs RENAME COLUMN nit TO nut",
    ],
)
def test_damaged_cells_facts_and_tables_are_a_sentence(study, tmp_path, change):
    shutil.copy(study.parent / "intact" / FILE, tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute(change)
        connection.commit()
    with pytest.raises(StudyError, match=r"study.sqlite is damaged or not a database: .*Nothing was changed"):
        outcomes(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        "nit = nit + 1",
        "fun = fun / 2",
        "reason = CAST(x'ff' AS TEXT)",
        "identity = CAST(x'ff' || identity AS TEXT)",
        "trace = x'00'",
        "number = 'first'",
        "cap = 1e300",
    ],
)
def test_whatever_a_run_holds_it_is_set_aside(study, expected, tmp_path, change):
    shutil.copy(study.parent / "intact" / FILE, tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute(f"UPDATE runs SET {change} WHERE number = 1")
        connection.commit()
    with read_store(tmp_path) as store:
        assert len(store.damaged()) == 4
    run(study, tmp_path)
    assert outcomes(tmp_path) == expected
