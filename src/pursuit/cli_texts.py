"""What ``pursuit --help`` says of each command: a line, a description, and examples."""

from __future__ import annotations

from typing import NamedTuple


class CommandText(NamedTuple):
    """What is said of a command."""

    line: str
    """For the list of all commands."""
    description: str
    examples: tuple[str, ...]

    @property
    def epilog(self) -> str:
        """The examples, for the end of a command's help."""
        return "\n  ".join(["examples:", *self.examples])


TEXTS = {
    "reproduce": CommandText(
        "run a study, or the rest of it, and report",
        "Run the paper's study, or one that you have declared in a TOML file, and write a report for the "
        "browser. Every run is stored when it ends, so the same command continues what was interrupted.",
        (
            "pursuit reproduce",
            "pursuit reproduce --preset full --jobs 8",
            'pursuit reproduce --only "problem=exp n=20" --runs 3',
            "pursuit reproduce mine.toml --out mine",
        ),
    ),
    "report": CommandText(
        "write the report of a stored study again",
        "Write figures, tables and the report of a stored study again, without running anything.",
        ("pursuit report reproduced/quick", "pursuit report reproduced/quick --against evaluations"),
    ),
    "status": CommandText(
        "show how many runs of a study are done",
        "Show for each cell of a study, which may be running, how many runs are done and how long they took.",
        ("pursuit status reproduced/quick",),
    ),
    "export": CommandText(
        "write runs and traces for other programs",
        "Write the runs of a study and their traces to two files, as CSV or Parquet.",
        (
            "pursuit export reproduced/quick --to runs.csv",
            "pursuit export reproduced/quick --to runs.parquet",
        ),
    ),
    "coco": CommandText(
        "run a method on a suite of COCO, or the rest of it",
        "Run a method, ours or any function, on a suite of COCO, and write data for COCO's own "
        "post-processing. The same command continues what was interrupted.",
        (
            "pursuit coco --suite bbob --method auto --dimensions 2,5 --functions 1-5",
            "pursuit coco --method mine:solve --budget 100",
        ),
    ),
    "coco-profiles": CommandText(
        "draw data profiles of methods on a suite",
        "Draw from the data of several methods on a suite which share of the targets each of them reached "
        "within how many evaluations.",
        ("pursuit coco-profiles coco/bbob-auto coco/bbob-cma --out profiles.svg",),
    ),
    "warmup": CommandText(
        "compile methods now instead of in their first run",
        "Compile what methods need to minimise a Python function, and say how long it took. Compiled code is "
        "kept on disk: build it into an image, or before a demonstration.",
        ("pursuit warmup", "pursuit warmup momentum cma", "pursuit warmup all"),
    ),
}
