"""What a caller asks for, and the stages of a run that does it.

Most runs have one stage. `auto` may have two (`auto.py`), and each restart is one more (`restarts.py`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pursuit.engine.stopping import Reason
from pursuit.methods.contract import Rounds
from pursuit.problems.structure import Structure, structure_of

# Where a stage begins: at the start of the run; at the best point so far, with first steps that are a part of
# the way from the start to it; or at a new point, between the bounds of a variable that has both, and
# otherwise about a first step away from the best point.
AT_START, AT_BEST, AT_NEW_POINT = "the start", "the best point", "a new point"


class Stage(NamedTuple):
    """A stage of a run: what is to be done until nothing is left to gain that way, and what came of it.

    Attributes
    ----------
    method : str
        The method at work; for a class the text "module:name".
    options : dict
        Its options.
    start : str
        Where it begins: ``"the start"``, ``"the best point"`` or ``"a new point"``.
    most : int or None
        The most evaluations that it is given; None for as many as are left.
    why : str
        Why the stage before did not suffice: what comes after "because"; empty for the first.
    nit, nfev : int
        Once it has ended, like all that follows: its own iterations and evaluations.
    best_nfev : int
        After how many evaluations of the whole run it found its best point.
    fun : float
        The value of that point, or an estimate of it.
    has_gained : bool
        Whether that point is better than the start of the run.
    faulty : int
        How many of its values were NaN.
    reason : Reason
        Why it ended.
    sentence : str
        The same in words.
    noise, is_estimate, error
        What it found out about the function, as `noise`, `fun_is_estimate` and `fun_error` in a result.
    """

    method: str
    options: dict[str, Any]
    start: str = AT_START
    most: int | None = None
    why: str = ""
    nit: int = 0
    nfev: int = 0
    best_nfev: int = 0
    fun: float = math.inf
    has_gained: bool = False
    faulty: int = 0
    reason: Reason = Reason.RUNNING
    sentence: str = ""
    noise: float | None = None
    is_estimate: bool = False
    error: float | None = None


class Unknown(NamedTuple):
    """Stands for a function that the caller evaluates."""


class Task(NamedTuple):
    """What the caller asks for: every stage of a run is set up from it, once it is checked."""

    x0: Any
    """The start, a vector once it is checked."""
    method: str | type
    limits: dict[str, Any]
    """When to stop: `ftarget`, `xtol`, `ftol`, `maxiter` and `maxfev`."""
    sigma0: Any = 1.0
    bounds: Any = None
    options: Any = None
    restarts: Any = 0
    rounds: Rounds | None = None
    fun: Any = Unknown()
    """The function; unknown if the caller evaluates it."""
    args: Any = ()
    structure: Structure = Structure()
    """What points look like to the caller, if not like flat arrays."""

    @property
    def n(self) -> int:
        """The number of variables."""
        n: int = self.x0.size
        return n

    @property
    def has_target(self) -> bool:
        """Whether to stop at a target."""
        return self.limits.get("ftarget") is not None

    def flattened(self) -> Task:
        """Return the same on flat arrays, where the caller has parameters of another structure."""
        structure, x0 = structure_of(self.x0)
        return self._replace(
            x0=x0,
            structure=structure,
            fun=structure.function(self.fun),
            sigma0=structure.sizes(self.sigma0),
            bounds=structure.bounds(self.bounds),
        )
