"""Atomic writes and locked folders."""

import pytest

from pursuit.experiments.common.errors import StudyError
from pursuit.experiments.common.files import locked, replacing, write_file


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
