"""What ``pursuit --help`` says about each command: a line, a description, and examples."""

from __future__ import annotations

from typing import NamedTuple


class CommandText(NamedTuple):
    """What the help says about a command."""

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
        "run a study, or what is left of it, and write its report",
        "Run the paper's study, or one that you declare in a TOML file, and write a report for the browser. "
        "Every run is stored when it ends, so after an interruption the same command continues.",
        (
            "pursuit reproduce",
            "pursuit reproduce --preset full --jobs 8",
            'pursuit reproduce --only "problem=exp n=20" --runs 3',
            "pursuit reproduce mine.toml --out mine",
        ),
    ),
    "report": CommandText(
        "rewrite the report of a stored study",
        "Rewrite the figures, the tables and the report of a stored study, without running anything. A "
        "folder that has the tables of a report alone, and not the study, gets report.md and figures from "
        "these.",
        ("pursuit report reproduced/quick", "pursuit report reproduced/quick --against evaluations"),
    ),
    "status": CommandText(
        "show how many runs of a study are done",
        "Show how many runs of each cell of a study are done, and how long they took. The study may still be "
        "running.",
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
        "run a method on a COCO suite, or on what is left of it",
        "Run a method, one of ours or any function, on a COCO suite, and write data for COCO's own "
        "post-processing. After an interruption the same command continues.",
        (
            "pursuit coco --suite bbob --method auto --dimensions 2,5 --functions 1-5",
            "pursuit coco --method mine:solve --budget 100",
        ),
    ),
    "coco-profiles": CommandText(
        "draw data profiles of methods on a suite",
        "Draw data profiles of several methods on a suite: the share of targets that each reached, "
        "against the evaluations spent.",
        ("pursuit coco-profiles coco/bbob-auto coco/bbob-cma --out profiles.svg",),
    ),
    "warmup": CommandText(
        "compile methods now, not in their first run",
        "Compile what methods need to minimise a Python function, and say how long it took. Compiled code is "
        "kept on disk: run this while an image is built, or before a demonstration.",
        ("pursuit warmup", "pursuit warmup sarp cma", "pursuit warmup all"),
    ),
}
