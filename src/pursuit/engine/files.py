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
    path = path.resolve()
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
