"""What an attack counts, and when two results are the same."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """How often each outcome and each kind of violation was seen, with one example of each kind."""

    tried: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def count(self, outcome: str, *, violation: str = "") -> None:
        """Count an outcome; as a violation if there is an example of one."""
        if violation:
            self.violations[outcome] += 1
            self.examples.setdefault(outcome, violation)
        else:
            self.outcomes[outcome] += 1

    def merge(self, other: Tally) -> None:
        """Add what another process has counted at the same time."""
        self.tried += other.tried
        self.outcomes += other.outcomes
        self.violations += other.violations
        self.examples = other.examples | self.examples
        self.seconds = max(self.seconds, other.seconds)


def fingerprint(result: Any) -> dict[str, str]:
    """Return a result, bit for bit, as texts that can be compared and stored."""
    found = {name: float(result[name]).hex() for name in ("fun", "nit", "nfev", "nfaulty", "sigma")}
    for name, array in {"x": result.x, **result.trace._asdict()}.items():
        found[name] = hashlib.sha256(array.tobytes()).hexdigest()
    return {**found, "message": str(result.message)}


def differing(one: dict[str, str], other: dict[str, str]) -> str:
    """Return the names of the fields in which two fingerprints differ."""
    return ", ".join(name for name in one if one[name] != other[name])
