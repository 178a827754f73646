"""The page `docs/comparison.md`, generated from the features and the measurements."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers.features import feature_table
from benchmarks.peers.leaders import leaders_table
from benchmarks.peers.measurements import Measurements, load, summaries_of
from benchmarks.peers.report import (
    FILE,
    comparison_table,
    made_with,
    memory_table,
    overhead_table,
    suite_table,
)
from benchmarks.peers.summary import absent, losses
from pursuit.experiments.common.files import write_file

PAGE = Path("docs/comparison.md")


def write(folder: Path) -> Path:
    """Write the page from the measurements of a folder."""
    write_file(PAGE, text(folder))
    return PAGE


def text(folder: Path) -> str:
    """Return the page."""
    measured = load(folder)
    return f"""# Comparison with other libraries

How many evaluations, how much time and how much memory this and other libraries need, and what they can do.
[Methods](methods.md) says what to use for your problem.

{_leaders(measured)}## Features

Each feature of ours is proven by a test.

{feature_table()}

{_measured(measured, folder)}

This page is written by `python -m benchmarks.peers --page`, from `benchmarks/peers/features.toml` and from
what `make bench-peers` has measured.
"""


def _leaders(measured: Measurements) -> str:
    if measured.is_empty:
        return ""
    return f"""## Who is ahead where

The default, `auto`, beside the best of the others. "Open" means that a limit of time or evaluations stopped
another method before it had spent as much as ours. The paper's problems are
[exp, lin, two](api-problems.md) and Rosenbrock's function; rotated, no axis is special.

{leaders_table(measured)}

"""


def _measured(measured: Measurements, folder: Path) -> str:
    if measured.is_empty:
        return "Nothing has been measured yet: `make bench-peers` takes a few hours."
    parts = [
        (True, "Where another library is ahead of the best of ours", losses(measured)),
        (
            bool(measured.evaluations),
            "Evaluations to the target",
            f"{_pictures(folder, 'evaluations-*')}\n\n{comparison_table(summaries_of(measured.evaluations))}",
        ),
        (
            bool(measured.hard),
            "Where values are noisy or rounded, or f has kinks",
            comparison_table(summaries_of(measured.hard)),
        ),
        (
            bool(measured.overhead),
            "Overhead",
            f"{_pictures(folder, 'overhead')}\n\n{overhead_table(measured)}",
        ),
        (bool(measured.memory), "Memory", memory_table(measured)),
        (
            bool(measured.suite),
            "Data profiles over a suite of COCO",
            f"{_pictures(folder, 'profiles-all')}\n\n{suite_table(measured)}",
        ),
    ]
    shown = "\n\n".join(f"## {title}\n\n{text}" for there, title, text in parts if there)
    return f"""All numbers, with how they were measured, are in [the report]({_link(folder / FILE)}).
{absent(measured)}

{shown}

{made_with(measured)}"""


def _pictures(folder: Path, stem: str) -> str:
    """Return links to the figures whose names match."""
    found = sorted(folder.glob(f"{stem}.png"), key=lambda path: (len(path.name), path.name))
    return "\n\n".join(f"![{path.stem}]({_link(path)})" for path in found)


def _link(path: Path) -> str:
    return path.relative_to(PAGE.parent).as_posix()
