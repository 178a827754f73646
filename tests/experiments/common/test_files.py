"""Atomic writes and locked folders."""

import os

import pytest

from pursuit.experiments.common import StudyError
from pursuit.experiments.common.files import locked, remove_leftovers, replacing, write_file


def test_a_file_is_written_with_its_folder_and_nothing_else(tmp_path):
    path = tmp_path / "new" / "a.txt"
    write_file(path, "1 ≤ 2\r\n")
    assert path.read_bytes() == "1 ≤ 2\r\n".encode()
    write_file(path, b"\x00")
    assert path.read_bytes() == b"\x00"
    assert list(path.parent.iterdir()) == [path]


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "a.txt"
    write_file(path, "old")

    def write_half():
        with replacing(path) as part:
            part.write_text("ne")
            assert path.read_text() == "old"
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed_and_the_mode_follows_the_umask(tmp_path):
    target, link = tmp_path / "there" / "a.txt", tmp_path / "a.txt"
    target.parent.mkdir()
    link.symlink_to(target)
    left = target.with_name(".a.txt.part")
    left.write_text("what a killed process has left, which is longer")
    left.chmod(0o600)
    before = os.umask(0o027)
    try:
        write_file(link, "new")
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert list(target.parent.iterdir()) == [target]


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(OSError, match="a folder or a device"):
        write_file(tmp_path, "new")


def test_only_leftovers_are_removed(tmp_path):
    for name in (".a.csv.part", "b.part", ".c", "d.csv"):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path, tmp_path / "nowhere")
    assert {path.name for path in tmp_path.iterdir()} == {"b.part", ".c", "d.csv"}


def test_one_at_a_time_works_in_a_folder(tmp_path):
    folder = tmp_path / "new"
    with (
        locked(folder),
        pytest.raises(StudyError, match=r"Another process is working in .*new"),
        locked(folder),
    ):
        pass
    with locked(folder):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(StudyError, match="Nothing can be written into the folder"), locked(tmp_path / "file"):
        pass
