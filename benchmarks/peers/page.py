"""The page `docs/comparison.md`, made of the features and of what was measured, and never typed."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers.features import feature_table
from benchmarks.peers.measured import Measured, load, outcomes
from benchmarks.peers.report import FILE, duel_table, made_with, memory_table, overhead_table, suite_table
from benchmarks.peers.summary import absent, losses, reach

PAGE = Path("docs/comparison.md")


def write(folder: Path) -> Path:
    """Write the page from what a folder holds."""
    PAGE.write_text(text(folder))
    return PAGE


def text(folder: Path) -> str:
    """Return the page."""
    return f"""# Side by side with what people use today

Made by `python -m benchmarks.peers --page`, from the features in `benchmarks/peers/features.toml` and
from what `make bench-peers` has measured. To know which method is for your problem, see [Which
method](choosing.md).

## Features

Each that is ours is proven by a test.

{feature_table()}

## Measured

{_measured(load(folder), folder)}
"""


def _measured(measured: Measured, folder: Path) -> str:
    if measured.is_empty:
        return "Nothing is stored yet. `make bench-peers` measures, and takes a few hours."
    parts = [
        (True, "What was to be reached", reach(measured)),
        (True, "Where a peer is ahead of the best of ours", losses(measured)),
        (
            bool(measured.evaluations),
            "Evaluations to the target, ours beside the best peers'",
            f"{_pictures(folder, 'evaluations-*')}\n\n{duel_table(outcomes(measured.evaluations))}",
        ),
        (
            bool(measured.hard),
            "Where values are noisy or rounded, or f has kinks",
            duel_table(outcomes(measured.hard)),
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
    shown = "\n\n".join(f"### {title}\n\n{text}" for there, title, text in parts if there)
    return f"""All numbers, with how they were measured, are in [the report]({_link(folder / FILE)}).
{absent(measured)}

{shown}

{made_with(measured)}"""


def _pictures(folder: Path, stem: str) -> str:
    """Return the figures whose names are like this."""
    found = sorted(folder.glob(f"{stem}.png"), key=lambda path: (len(path.name), path.name))
    return "\n\n".join(f"![{path.stem}]({_link(path)})" for path in found)


def _link(path: Path) -> str:
    return path.relative_to(PAGE.parent).as_posix()
