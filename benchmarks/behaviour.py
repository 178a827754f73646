"""What a method does, as a hash: of its trajectories that `tests/golden` has recorded, not of its source.

A variable that is renamed changes nothing of it, and a rule that is changed, all: then the tests ask to
record the trajectories anew, and all measurements of the method are older than its behaviour.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from pursuit.compiling.cache import code_hash

_GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
_FILES = ("trajectories.csv", "programs.csv")
# The default runs these two as its stages.
_STAGES = {"auto": ("auto", "differences", "evolution")}


def behaviour(method: str) -> str:
    """Return a hash of what a method does, or of all code where no trajectory of it is recorded."""
    return recorded().get(method) or code_hash()[:8]


@functools.cache
def recorded() -> dict[str, str]:
    """Return the hashes of all methods with recorded trajectories."""
    lines: dict[str, list[str]] = {}
    for file in _FILES:
        for line in (_GOLDEN / file).read_text().splitlines()[1:]:
            lines.setdefault(line.partition(",")[0], []).append(line)
    texts = {
        name: "\n".join(line for one in _STAGES.get(name, (name,)) for line in lines[one]) for name in lines
    }
    return {name: hashlib.sha256(text.encode()).hexdigest()[:8] for name, text in texts.items()}
