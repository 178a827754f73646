"""What a study costs beyond its runs: the time to distribute them, and memory.

``python -m benchmarks.study`` prints a report in Markdown; ``--out FILE`` writes it as well.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import seconds
from benchmarks.pages.stamp import filled
from benchmarks.reporting import made_by, main
from pursuit.experiments.common.formatting import spaced, table
from pursuit.experiments.study import read_store, reproduce

MINUTE = Path(__file__).with_name("minute.toml")
WORKERS = 2
# A study of many short runs; what is kept of a run does not depend on its length.
MANY = """
title = "Many short runs"
schemes = ["rp"]
runs = {runs}
target = 1e-3
cap = 1e4

[[problems]]
problem = "exp"
n = 2
L = 10
"""
MEMORY_RUNS = (500, 4_000)
# The command, which prints at its end how much memory it took, without its workers.
MEASURED = """
import resource, sys
from pursuit.cli import main
status = main()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(status)
"""


def pursuit(
    *arguments: object, code: str = "import sys; from pursuit.cli import main; sys.exit(main())"
) -> str:
    """Run the command `pursuit` in a new process; return what it prints."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def effort(folder: Path, rounds: int) -> tuple[float, float, float]:
    """Return medians: of wall time, of the sum of the runs' times, and of the workers' time per run time."""
    reproduce(MINUTE, folder / "warm", runs=1, jobs=WORKERS)
    measured = []
    for number in range(rounds):
        out = folder / str(number)
        arguments = ("reproduce", MINUTE, "--out", out, "--jobs", WORKERS, "--no-report")
        wall = seconds(lambda arguments=arguments: pursuit(*arguments))  # type: ignore[misc]
        with read_store(out) as store:
            # A run that belongs to two cells was made once.
            runs = {(entry.code, run) for entry in store.results().cells for run in entry.runs}
        own = sum(run.seconds for _, run in runs)
        measured.append((wall, own, wall * WORKERS / own))
    wall, own, quotient = (statistics.median(column) for column in zip(*measured, strict=True))
    return wall, own, quotient


def memory(folder: Path, runs: int) -> int:
    """Return the peak of memory of the process that schedules a study of so many runs, in kB."""
    declaration = folder / f"{runs}.toml"
    declaration.write_text(MANY.format(runs=runs))
    arguments = ("reproduce", declaration, "--out", folder / str(runs), "--jobs", WORKERS, "--no-report")
    return int(pursuit(*arguments, code=MEASURED).splitlines()[-1])


def report(rounds: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wall, own, quotient = effort(folder / "effort", rounds)
        kilobytes = {runs: memory(folder, runs) for runs in MEMORY_RUNS}
    few, many = MEMORY_RUNS
    rows = [
        ["wall time * workers / time of the runs", f"{quotient:.2f}"],
        ["memory of the driver, many runs / few", f"{kilobytes[many] / kilobytes[few]:.2f}"],
    ]
    return filled(
        "study", table=table(["measured", "result"], rows), workers=WORKERS, wall=wall, own=own,
        rounds=rounds, few=spaced(few), many=spaced(many), of_few=kilobytes[few] / 1024,
        of_many=kilobytes[many] / 1024, made=made_by("benchmarks.study"),
    )  # fmt: skip


if __name__ == "__main__":
    main(__doc__, report)
