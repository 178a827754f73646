"""The features of the library and of its peers: the table of `features.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pursuit.experiments.common.formatting import table

FILE = Path(__file__).with_name("features.toml")


def read() -> tuple[list[str], list[dict[str, Any]]]:
    """Return the names of the peers, and the features."""
    found = tomllib.loads(FILE.read_text())
    return found["peers"], found["feature"]


def feature_table() -> str:
    """Return the features of all, ours first."""
    peers, features = read()
    rows = [[one["name"], one["ours"], *(one[peer] for peer in peers)] for one in features]
    return table(["", "**pursuit**", *peers], rows)
