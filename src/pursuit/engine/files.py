"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the path of a temporary file that replaces `path` when it has been written completely.

    So nobody ever reads half a file, and where writing fails the old file stays and the temporary one goes. A
    link is followed, and stays one. A temporary file that a killed process has left is overwritten.
    """
    path, part = path.resolve(), _part_of(path)
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def check_writable(path: Path) -> None:
    """Raise the `OSError` that writing a file would end with, as far as that can be known before."""
    part = _part_of(path)
    part.touch()
    part.unlink()


def _part_of(path: Path) -> Path:
    path = path.resolve()
    return path.with_name(f".{path.name}.part")
