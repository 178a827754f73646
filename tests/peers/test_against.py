"""Two checkouts are timed by processes of their own, each with its own library."""

import pytest
from benchmarks import against


def test_one_table_has_both_checkouts_and_their_ratio(monkeypatch):
    monkeypatch.setattr(against, "DIMENSIONS", (100,))
    monkeypatch.setattr(against, "ITERATED", ("rp",))
    monkeypatch.setattr(against, "EVALUATED", ("rp",))
    header, _, *rows = against.compare(against.ROOT, against.ROOT, rounds=2, numbers=100_000).splitlines()
    assert header == "| one | method | n | before, µs | after, µs | after / before |"
    assert [row.split(" | ")[:3] for row in rows] == [
        ["| iteration", "rp", "100"],
        ["| evaluation", "rp", "100"],
    ]


def test_a_folder_without_the_library_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="should be in"):
        against.measured(tmp_path, 1000)
