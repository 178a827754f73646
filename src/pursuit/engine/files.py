"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces `path` when it has been written completely.

    So nobody ever reads half a file, and if writing fails the old file stays and the temporary one goes. A
    link is followed: the file that it points to is replaced. The name of the temporary file is always the
    same, so that the next attempt overwrites what a killed process has left.
    """
    path, part = _places(path)
    with contextlib.suppress(OSError):
        # What is left has the permissions of the process that left it.
        part.unlink()
    try:
        yield part
        _flush(part)
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def check_writable(path: Path) -> None:
    """Raise the `OSError` with which writing a file would fail, as far as that can be foreseen."""
    _, part = _places(path)
    part.touch()
    part.unlink()


def _places(path: Path) -> tuple[Path, Path]:
    """Return the file that a path leads to, and the temporary file beside it."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "It is a folder or a device, not a file", str(path))
    return path, path.with_name(f".{path.name}.part")


def _flush(path: Path) -> None:
    """Have the system write a file to the disk, so that a power failure cannot leave it empty."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
