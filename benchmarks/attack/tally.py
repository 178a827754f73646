"""What an attack counts, and when two results are the same."""

from __future__ import annotations

import hashlib
import struct
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

    def count(self, outcome: str, times: int = 1) -> None:
        """Count an outcome."""
        self.outcomes[outcome] += times

    def violate(self, kind: str, example: str) -> None:
        """Count a violation; the first example of its kind is kept."""
        self.violations[kind] += 1
        self.examples.setdefault(kind, example)

    def merge(self, other: Tally) -> None:
        """Add what another process has counted at the same time."""
        self.tried += other.tried
        self.outcomes += other.outcomes
        self.violations += other.violations
        self.examples = other.examples | self.examples
        self.seconds = max(self.seconds, other.seconds)


def fingerprint(result: Any) -> dict[str, str]:
    """Return a result, bit for bit, as texts that can be compared and stored."""
    arrays = {"x": result.x, **result.trace._asdict()} if "trace" in result else {"x": result.x}
    numbers = {name: result[name] for name in ("fun", "nit", "nfev", "nfaulty", "sigma", "status")}
    return {name: struct.pack("<d", number).hex() for name, number in numbers.items()} | {
        name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()
    }


def differing(one: dict[str, str], other: dict[str, str]) -> str:
    """Return the names of the fields in which two fingerprints differ."""
    return ", ".join(name for name in one | other if one.get(name) != other.get(name))
