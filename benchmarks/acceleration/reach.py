"""Our targets for `adaptive-sarp`, most of them beside SARP, which knows the condition number.

``python -m benchmarks.acceleration.reach DIR`` reads the studies `reach`, `plain` and `thousand` in a folder,
runs a thousand random problems, measures time and memory, and prints a report in Markdown; ``--out FILE``
writes it as well.
"""

from __future__ import annotations

import math
from pathlib import Path

from benchmarks.acceleration.random_problems import COUNT, outcomes, reasons
from benchmarks.reporting import add_rounds, made_by, peak_vectors, publish, study_parser, verdict
from benchmarks.timing import iterating, seconds_each
from pursuit.experiments.common.formatting import power, spaced, table
from pursuit.experiments.study import read_store
from pursuit.experiments.study.results import Results
from pursuit.experiments.study.stats import summarize

DIMENSIONS = (100, 1_000, 10_000, 100_000, 1_000_000)
QUADRATICS = ("exp", "lin", "two")
CONDITIONS = (1e4, 1e6)
PROBLEMS = [(problem, L, n) for problem in QUADRATICS for L in CONDITIONS for n in (20, 100, 500)] + [
    ("rosenbrock", None, n) for n in (20, 100)
]
# The targets.
AUTO_TO_SARP = {"rosenbrock": 1.0}
AUTO_TO_SARP_QUADRATIC = 0.6
GROWTH = 2.0
THOUSAND = {"exp": 1.3e7, "rosenbrock": 4e6}
SECONDS_TO_SARP = 1.15


def median(results: Results, scheme: str, key: tuple[str, float | None, int], measure: str) -> float:
    """Return the median of a cell, or a lower bound of it if most of its runs were cut off."""
    problem, L, n = key
    (entry,) = results.select(problem=problem, L=L, n=n, scheme=scheme)
    estimate = summarize(entry, measure).median
    return estimate.value if math.isfinite(estimate.value) else estimate.low


def beside_sarp(reach: Results, plain: Results) -> str:
    """Return iterations beside SARP's and RP's, and evaluations."""
    rows = []
    for key in PROBLEMS:
        problem, L, n = key
        its = {scheme: median(reach, scheme, key, "iterations") for scheme in ("adaptive-sarp", "sarp")}
        bound = AUTO_TO_SARP.get(problem, AUTO_TO_SARP_QUADRATIC)
        rows.append([
            problem, "" if L is None else power(L), str(n),
            spaced(round(its["adaptive-sarp"] / n)), spaced(round(its["sarp"] / n)),
            verdict(its["adaptive-sarp"] / its["sarp"], bound),
            verdict(its["adaptive-sarp"] / median(plain, "rp", key, "iterations"), 1.0),
            spaced(round(median(reach, "adaptive-sarp", key, "evaluations") / n)),
        ])  # fmt: skip
    header = [
        "problem", "L", "n", "#ITS/n, adaptive-sarp", "SARP", "adaptive-sarp / SARP", "adaptive-sarp / RP",
        "#FES/n, adaptive-sarp",
    ]  # fmt: skip
    return table(header, rows)


def growth(reach: Results) -> str:
    """Return by what factor iterations divided by n differ between the dimensions."""
    rows = []
    for problem in QUADRATICS:
        for L in CONDITIONS:
            per_n = [median(reach, "adaptive-sarp", (problem, L, n), "iterations") / n for n in (20, 500)]
            rows.append([problem, power(L), verdict(max(per_n) / min(per_n), GROWTH)])
    return table(["problem", "L", "adaptive-sarp"], rows)


def thousand_variables(thousand: Results) -> str:
    rows = []
    for problem, bound in THOUSAND.items():
        L = 1e6 if problem == "exp" else None
        spent = median(thousand, "adaptive-sarp", (problem, L, 1000), "evaluations")
        rows.append([
            problem if L is None else f"{problem}, L = {power(L)}",
            f"{spent:.3g} ({'reaches' if spent <= bound else 'MISSES'} {bound:.2g})",
        ])  # fmt: skip
    return table(["problem", "adaptive-sarp"], rows)


def random_runs() -> str:
    """Return how the runs on random problems ended, and whether they kept their best point."""
    found = outcomes("adaptive-sarp")
    ended = ", ".join(f"{reason} {count}" for reason, count in reasons(found).items())
    elsewhere = [one for one in found if one.reason != "target"]
    kinds = ", ".join(sorted({one.kind for one in elsewhere})) or "none"
    least = f"{min(one.fun for one in elsewhere):.3g}" if elsewhere else ""
    row = [ended, str(sum(one.best_kept for one in found)), kinds, least]
    return table(["ended by", "best point kept", "off the target: kinds", "and their least value"], [row])


def cost(rounds: int) -> str:
    """Return time per iteration in units of SARP's."""
    rows = []
    for n in DIMENSIONS:
        runs = {method: iterating(method, n) for method in ("sarp", "adaptive-sarp")}
        times = seconds_each(runs, max(20, 20_000_000 // n), rounds)
        rows.append([spaced(n), verdict(times["adaptive-sarp"] / times["sarp"], SECONDS_TO_SARP)])
    return table(["n", "adaptive-sarp"], rows)


def memory(n: int = 1_000_000) -> str:
    """Return memory beyond the start; SARP's is the bound."""
    methods = ("sarp", "adaptive-sarp")
    vectors = {method: round(peak_vectors(iterating(method, n), n), 2) for method in methods}
    bound = vectors["sarp"]
    own = verdict(vectors["adaptive-sarp"], bound)
    return table(["method", "vectors"], [["sarp", f"{bound:.2f}"], ["adaptive-sarp", own]])


def report(folder: Path, rounds: int) -> str:
    studies = {}
    for name in ("reach", "plain", "thousand"):
        with read_store(folder / name) as store:
            studies[name] = store.results()
    cells = [entry for study in studies.values() for entry in study.select()]
    runs, codes = min(len(entry.runs) for entry in cells), sorted({entry.code for entry in cells})
    return f"""# `adaptive-sarp` beside SARP with the true condition number

Medians of {runs} runs to f <= 1e-9. #ITS are iterations, #FES evaluations. SARP has c = 3. A run of RP that
was cut off counts as what it had spent. The runs were made by the code {", ".join(codes)}.

{beside_sarp(studies["reach"], studies["plain"])}

The larger of #ITS/n at n = 20 and n = 500, divided by the smaller:

{growth(studies["reach"])}

Evaluations at n = 1000. The method has no axes, so that a rotation, which turns the start along, changes
nothing:

{thousand_variables(studies["thousand"])}

{spaced(COUNT)} random problems: exp, lin, two and rosenbrock, every n from 2 to 50, L up to 1e7, half of them
rotated, with random starts and first step sizes from 0.01 to 100. Rosenbrock's function has a second minimum
from n = 4 on, with values from 3.7 to 3.99.

{random_runs()}

Time per iteration in units of SARP's, on exp, L = 1e4:

{cost(rounds)}

Memory beyond the start in vectors of n doubles, n = 1 000 000:

{memory()}

{made_by("benchmarks.acceleration.reach")}"""


def main() -> None:
    parser = study_parser(__doc__)
    add_rounds(parser)
    options = parser.parse_args()
    publish(report(options.folder, options.rounds), options.out)


if __name__ == "__main__":
    main()
