"""Evaluations to f <= 1e-9, divided by n, of every scheme of a study on every problem.

``python -m benchmarks.acceleration.tables DIR`` reads the study in a folder and prints a table in Markdown;
``--out FILE`` writes it as well. Where a study compares variants of a scheme, which are named as in
``adaptive-sarp:damping-2``, it also draws how many more or fewer evaluations each takes than the scheme
itself, into a PNG file beside it.
"""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib.figure
import numpy as np

from benchmarks.reporting import made_by, publish, study_parser
from pursuit.experiments.common.formatting import power, spaced, table
from pursuit.experiments.common.plotting import print_style, save
from pursuit.experiments.study import read_store
from pursuit.experiments.study.figures.styles import SCHEME_STYLES
from pursuit.experiments.study.results import Results
from pursuit.experiments.study.stats import summarize

ProblemKey = tuple[str, float | None, int]
"""The name of a problem, L and n."""
Medians = dict[str, dict[ProblemKey, float]]
"""The median of evaluations divided by n, by scheme and problem."""
# The largest ratio that the figure shows.
_WIDEST = 16.0
_DOTS = SCHEME_STYLES["ep-cma-4"]


def medians(results: Results) -> Medians:
    """Return the medians of a study; infinite where most runs fail."""
    found: Medians = {}
    for entry in results.select():
        cell = entry.cell
        median = summarize(entry, "evaluations").median.value
        found.setdefault(cell.scheme, {})[cell.problem, cell.L, cell.n] = median / cell.n
    return found


def _name(key: ProblemKey) -> str:
    problem, condition, n = key
    return f"{problem} {n}" if condition is None else f"{problem} {power(condition)}, n={n}"


def reference_of(scheme: str) -> str:
    """Return the scheme with which a variant is compared; a scheme that is no variant, with itself."""
    return scheme.partition(":")[0]


def mean_ratio(found: Medians, scheme: str) -> float:
    """Return the geometric mean, over problems, of a scheme's evaluations divided by its reference's."""
    return math.exp(np.mean(np.log(_ratios(found, scheme))))


def _ratios(found: Medians, scheme: str) -> list[float]:
    reference = found[reference_of(scheme)]
    return [value / reference[key] for key, value in found[scheme].items() if key in reference]


def shown(value: float) -> str:
    return spaced(round(value)) if math.isfinite(value) else "fails"


def by_scheme(found: Medians) -> str:
    """Return a table with a row for each scheme: for many schemes on few problems."""
    keys = _problems(found)
    rows = []
    for scheme, row in found.items():
        cells = [shown(row[key]) if key in row else "" for key in keys]
        rows.append([scheme, *cells, f"{mean_ratio(found, scheme):.2f}"])
    return table(["", *(_name(key) for key in keys), "mean ratio"], rows)


def by_problem(found: Medians) -> str:
    """Return a table with a row for each problem: for few schemes on many problems."""
    rows = []
    for key in _problems(found):
        problem, condition, n = key
        cells = [shown(row[key]) if key in row else "" for row in found.values()]
        rows.append([problem, "" if condition is None else power(condition), str(n), *cells])
    return table(["problem", "L", "n", *found], rows)


def _problems(found: Medians) -> list[ProblemKey]:
    return list(dict.fromkeys(key for row in found.values() for key in row))


@print_style
def figure_of(found: Medians) -> matplotlib.figure.Figure:
    """Return a figure with a line for every variant: a dot for each problem and a bar for their mean."""
    variants = [scheme for scheme in found if scheme != reference_of(scheme)]
    figure = matplotlib.figure.Figure(figsize=(6.0, 0.16 * len(variants) + 0.8), layout="constrained")
    axes = figure.subplots()
    for height, scheme in enumerate(reversed(variants)):
        ratios = [min(ratio, _WIDEST) for ratio in _ratios(found, scheme)]
        axes.plot(ratios, [height] * len(ratios), "o", color=_DOTS.colour, alpha=0.6, markersize=3.0)
        axes.plot(min(mean_ratio(found, scheme), _WIDEST), height, "|k", markersize=9.0, markeredgewidth=1.0)
    axes.axvline(1.0, color="0.5", linewidth=0.6)
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.4, 1.1 * _WIDEST)
    axes.set_xticks([0.5, 1, 2, 4, 8, 16], ["1/2", "1", "2", "4", "8", "≥ 16"])
    axes.set_ylim(-0.8, len(variants) - 0.2)
    axes.set_yticks(range(len(variants)), list(reversed(variants)))
    axes.set_xlabel("evaluations, divided by those of the scheme as it is (|: their mean)")
    return figure


def report(results: Results, picture: Path | None) -> str:
    """Return the report on a study; where it compares variants, draw them into a file if one is given."""
    found = medians(results)
    compared = any(scheme != reference_of(scheme) for scheme in found)
    content = (
        f"# {results.title}\n\nEvaluations to f <= 1e-9, divided by n: medians of "
        f'{max(len(entry.runs) for entry in results.cells)} runs, and "fails" where most of them did not get '
        f"there.\n\n{by_scheme(found) if compared else by_problem(found)}\n\n"
    )
    if compared and picture:
        save(figure_of(found), picture.parent, picture.stem, ["png"])
        content += f"![The same as ratios]({picture.name})\n\n"
    codes = ", ".join(sorted({entry.code for entry in results.select()}))
    return f"{content}The runs were made by the code {codes}.\n\n{made_by('benchmarks.acceleration.tables')}"


def main() -> None:
    options = study_parser(__doc__).parse_args()
    with read_store(options.folder) as store:
        results = store.results()
    publish(report(results, options.out and options.out.with_suffix(".png")), options.out)


if __name__ == "__main__":
    main()
