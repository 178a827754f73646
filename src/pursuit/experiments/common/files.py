"""Atomic writes, and folders in which one process works at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import filelock

from pursuit.engine.archive import replacing
from pursuit.experiments.common import StudyError


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


def remove_leftovers(*folders: Path) -> None:
    """Remove the temporary files that a killed process has left in folders where no other writes now."""
    for folder in folders:
        for part in folder.glob(".*.part"):
            with contextlib.suppress(OSError):
                part.unlink()


@contextlib.contextmanager
def locked(
    folder: Path, name: str = "lock", complaint: str = "Nothing can be written into the folder"
) -> Iterator[None]:
    """Keep other processes from working in a folder, which is created if necessary.

    Parameters
    ----------
    folder : Path
        The folder.
    name : str
        The name of the file that is locked: processes that lock different names do not exclude each other.
    complaint : str
        How the error begins if the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(folder / name, timeout=0, is_singleton=False)
        lock.acquire()
    except filelock.Timeout:
        raise StudyError(
            f"Another process is working in {folder}: wait for it, or choose another folder with --out."
        ) from None
    except (OSError, NotImplementedError) as error:
        # The latter where a file system has no locks.
        raise StudyError(f"{complaint} {folder}: {getattr(error, 'strerror', None) or error}.") from None
    try:
        yield
    finally:
        lock.release()
