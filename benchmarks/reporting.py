"""What reports of times share: the line that says what made them, and their command line."""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from pursuit.compiling.cache import code_hash


def made_by(command: str) -> str:
    """Return the line that says what made a report, when, and with which versions."""
    return (
        f"Made by `python -m {command}` on {time.strftime('%Y-%m-%d')}: {platform.machine()}, Python "
        f"{platform.python_version()}, numba {numba.__version__}, numpy {np.__version__}, "
        f"code {code_hash()}.\n"
    )


def report_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a command line that says where to write a report."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report into a file as well")
    return parser


def publish(text: str, out: Path | None) -> None:
    """Print a report, and write it into a file if one is given."""
    print(text)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)


def main(description: str | None, report: Callable[[int], str]) -> None:
    """Make and publish a report whose only setting is the number of rounds."""
    parser = report_parser(description)
    parser.add_argument("--rounds", type=int, default=5, help="of timing; the shortest counts")
    options = parser.parse_args()
    publish(report(options.rounds), options.out)
