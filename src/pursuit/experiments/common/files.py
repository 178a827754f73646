"""Atomic writes, and folders in which one process works at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import filelock

from pursuit.experiments.common.errors import StudyError


def write_file(path: Path, content: str | bytes) -> None:
    r"""Write a file atomically, and create its folder if necessary.

    Text is encoded as UTF-8, and its line ends stay as they are on every platform.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pursuit.experiments.common.files import write_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "tables", "a.csv"), "n,nit\n20,51\n")
    ...     Path(folder, "tables", "a.csv").read_text()
    'n,nit\n20,51\n'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the path of a temporary file that replaces `path` when it has been written completely.

    So nobody ever reads half a file, and where writing fails the old file stays and the temporary one goes.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from working in a folder, which is created if necessary."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(folder / "lock", timeout=0, is_singleton=False)
        lock.acquire()
    except filelock.Timeout:
        raise StudyError(
            f"Another process is working in {folder}: wait for it, or choose another folder with --out."
        ) from None
    except OSError as error:
        raise StudyError(f"Nothing can be written into the folder {folder}: {error.strerror}.") from None
    try:
        yield
    finally:
        lock.release()
