"""Evaluations to f <= 1e-9, divided by n, of every scheme of a study on every problem.

``python -m benchmarks.acceleration.tables DIR`` reads the study in a folder and prints a table in Markdown;
``--out FILE`` writes it as well, and beside it a picture of how much more or less each scheme takes than the
one that heads its group: that before the colon in its name.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.reporting import made_by
from pursuit.experiments.common.formatting import power, spaced, table
from pursuit.experiments.study import read_store
from pursuit.experiments.study.results import Cell, Results
from pursuit.experiments.study.stats import summarize

# Problems are told apart by these.
Place = tuple[str, float | None, int]
Medians = dict[str, dict[Place, float]]


def medians(results: Results) -> Medians:
    """Return the median of evaluations divided by n, by scheme and place; infinite where most runs fail."""
    found: Medians = {}
    for entry in results.select():
        place = _place(entry.cell)
        found.setdefault(entry.cell.scheme, {})[place] = (
            summarize(entry, "evaluations").median.value / entry.cell.n
        )
    return found


def _place(cell: Cell) -> Place:
    return cell.problem, cell.L, cell.n


def _name(place: Place) -> str:
    problem, condition, n = place
    return f"{problem} {n}" if condition is None else f"{problem} {power(condition)}, n={n}"


def head_of(scheme: str) -> str:
    """Return the scheme with which one is compared."""
    return scheme.partition(":")[0]


def mean_ratio(found: Medians, scheme: str) -> float:
    """Return the geometric mean, over places, of what a scheme takes divided by what its head takes."""
    head = found[head_of(scheme)]
    ratios = [value / head[place] for place, value in found[scheme].items() if place in head]
    return math.exp(np.mean(np.log(ratios)))


def text(value: float) -> str:
    return spaced(round(value)) if math.isfinite(value) else "fails"


def by_scheme(found: Medians) -> str:
    """Return a table with a row for each scheme: for many schemes on few problems."""
    places = _places(found)
    rows = []
    for scheme, row in found.items():
        cells = [text(row[place]) if place in row else "" for place in places]
        rows.append([scheme, *cells, f"{mean_ratio(found, scheme):.2f}"])
    return table(["", *(_name(place) for place in places), "mean ratio"], rows)


def by_place(found: Medians) -> str:
    """Return a table with a row for each problem: for few schemes on many problems."""
    rows = []
    for place in _places(found):
        problem, condition, n = place
        cells = [text(row[place]) if place in row else "" for row in found.values()]
        rows.append([problem, "" if condition is None else power(condition), str(n), *cells])
    return table(["problem", "L", "n", *found], rows)


def _places(found: Medians) -> list[Place]:
    return list(dict.fromkeys(place for row in found.values() for place in row))


def draw(found: Medians, path: Path) -> None:
    """Draw, for every scheme that has a head, a dot for each problem and a bar for their mean."""
    shown = [scheme for scheme in found if scheme != head_of(scheme)]
    figure, axes = plt.subplots(figsize=(7.0, 0.2 * len(shown) + 1.2), layout="constrained")
    for height, scheme in enumerate(reversed(shown)):
        head = found[head_of(scheme)]
        ratios = [value / head[place] for place, value in found[scheme].items()]
        finite = [min(ratio, _WIDEST) for ratio in ratios]
        axes.plot(finite, [height] * len(finite), "o", color="#1f87c4", alpha=0.6, markersize=4)
        axes.plot(min(mean_ratio(found, scheme), _WIDEST), height, "|", color="#000000", markersize=11)
    axes.axvline(1.0, color="#777777", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.4, 1.1 * _WIDEST)
    axes.set_xticks([0.5, 1, 2, 4, 8, 16], ["1/2", "1", "2", "4", "8", "≥ 16"])
    axes.set_yticks(range(len(shown)), list(reversed(shown)), fontsize=8)
    axes.set_xlabel("evaluations, divided by those of the scheme as it is (|: their mean)")
    figure.savefig(path)
    plt.close(figure)


_WIDEST = 16.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("study", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, metavar="FILE")
    options = parser.parse_args()
    with read_store(options.study) as store:
        results = store.results()
    found = medians(results)
    compared = any(scheme != head_of(scheme) for scheme in found)
    content = (
        f"# {results.title}\n\nEvaluations to f <= 1e-9, divided by n: medians of "
        f'{max(len(entry.runs) for entry in results.cells)} runs, and "fails" where most of them did not get '
        f"there.\n\n{by_scheme(found) if compared else by_place(found)}\n\n"
    )
    if compared and options.out:
        picture = options.out.with_suffix(".svg")
        draw(found, picture)
        content += f"![The same as ratios]({picture.name})\n\n"
    codes = ", ".join(sorted({entry.code for entry in results.select()}))
    content += f"The runs were made by the code {codes}.\n\n"
    content += made_by("benchmarks.acceleration.tables")
    print(content)
    if options.out:
        options.out.write_text(content)


if __name__ == "__main__":
    main()
