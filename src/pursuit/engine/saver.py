"""Writing checkpoints during a run."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from pursuit.engine.checkpoint import check_options, save
from pursuit.engine.files import check_writable
from pursuit.engine.setting import Setting
from pursuit.engine.staged import StagedRun


class Saver:
    """Writes the checkpoints of a run; that they can be written is checked before the run begins."""

    def __init__(self, path: str | os.PathLike[str], setting: Setting) -> None:
        self._path = Path(path)
        check_options(setting)
        try:
            check_writable(self._path)
        except OSError as error:
            sentence = f"The checkpoint cannot be written, so the run was not started: {error.strerror}"
            raise type(error)(error.errno, sentence, str(path)) from None

    def __call__(self, run: StagedRun) -> None:
        """Write a checkpoint; if that fails, warn, since the run is worth more than its checkpoint."""
        try:
            save(self._path, run.setup.setting, run.memory())
        except OSError as error:
            warnings.warn(
                f"The checkpoint {self._path} could not be written: {error.strerror or error}. The run "
                "continues and tries again later; what was written before is still there.",
                RuntimeWarning,
                stacklevel=2,
            )
