"""What a run was set up with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.methods.contract import Rounds
from pursuit.problems.boxes import Box
from pursuit.problems.scales import Scale


class Setting(NamedTuple):
    """What a run was set up with; it can only be resumed with the same."""

    method: str
    options: dict[str, Any]
    n: int
    sigma0: float | Vector
    box: Box | None
    limits: dict[str, Any]
    """When to stop, which may change when a run is resumed."""
    scale: Scale | None = None
    """The variables of the scheme, where `sigma0` is a vector that it does not take itself."""
    restarts: int = 0
    rounds: Rounds | None = None
    """How large rounds are, where that was not left to the method."""

    @property
    def first_step(self) -> float:
        """The first step size of the scheme."""
        return float(np.min(self.sigma0))
