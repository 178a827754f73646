"""How well each way to read the paper agrees with the twelve claims about its data.

A label such as ``ep-cma-4@1:n`` is that of a scheme, ``@`` and its setting, with colons for division signs
and ``&`` for commas, which labels must not have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib.figure

from benchmarks.readings.measured import FOLDER, Label, Measurements, Setting
from benchmarks.runs import write_table
from pursuit.experiments.common.formatting import table
from pursuit.experiments.common.plotting import print_style, save
from pursuit.experiments.study.claims import CLAIMS, judge
from pursuit.experiments.study.declaration import load_study
from pursuit.experiments.study.evidence import EP_CMA

OF_DATA = CLAIMS[:12]
"""The claims that a way to read the paper can agree with; the others are its discussion."""
_FAILURE_RATES = ("0", "1/n^2", "1/(12n)", "1/n", "1/12", "2/(n+2)")
# c of SARP: Fig. 2 has 2, and theta' in the paper's eq. (4) is that of 1.
_DAMPINGS = (1.0, 2.0, 2.25, 2.5, 3.0, 4.0)
# c_p of `fitted`, and c of SARP with adaptive and with exact steps.
_FITTED_RATE, _DAMPING, _EXACT_DAMPING = "1/n", 3.0, 2.0


class Agreement(NamedTuple):
    """A claim under a setting: how many of its measurements agree, and how many are decided."""

    agreeing: int
    decided: int
    measured: int
    """How many the studies can measure: those that are compared with the paper under some setting."""

    @property
    def share(self) -> float:
        """The share of measurements that agree; those that are not decided do not agree."""
        return self.agreeing / self.measured if self.measured else math.nan

    @property
    def holds(self) -> bool:
        """Whether every measurement is decided and agrees."""
        return 0 < self.measured == self.agreeing

    def __str__(self) -> str:
        if not self.decided:
            return "—"
        verdict = "yes" if self.holds else "in part" if self.agreeing else "no"
        undecided = self.measured - self.decided
        return (
            f"{verdict} ({self.agreeing} of {self.measured}{f', {undecided} undecided' if undecided else ''})"
        )


class Judged(NamedTuple):
    """A setting and its agreement with each claim, by number."""

    setting: str
    claims: dict[int, Agreement]

    @property
    def holding(self) -> int:
        """How many claims hold."""
        return sum(claim.holds for claim in self.claims.values())

    @property
    def share(self) -> float:
        """The mean share of measurements that agree, over the claims that were measured."""
        shares = [claim.share for claim in self.claims.values() if claim.measured]
        return sum(shares) / len(shares) if shares else math.nan


def labelled(scheme: str, setting: str) -> str:
    """Return the label of a scheme with a setting."""
    return f"{scheme}@{setting.replace('/', ':')}"


def _labels(damping: float, exact_damping: float = _EXACT_DAMPING, c_p: str = "") -> dict[str, Label]:
    """Return Random Pursuit and SARP with these constants, and CMA and EP-CMA-m if there is a c_p."""
    found = {
        "rp": Label("rp"),
        "rp-exact": Label("rp-exact"),
        "sarp": Label(f"sarp@{damping:g}"),
        "sarp-exact": Label(f"sarp-exact@{exact_damping:g}"),
    }
    return found | {scheme: Label(labelled(scheme, c_p)) for scheme in ("cma", *EP_CMA) if c_p}


def constant_settings() -> list[Setting]:
    """Return every c_p with every c."""
    return [
        Setting(f"c_p = {c_p}, c = {c:g}", _labels(c, c_p=c_p)) for c_p in _FAILURE_RATES for c in _DAMPINGS
    ]


def damping_settings() -> list[Setting]:
    """Return every c of adaptive steps with every c of exact ones."""
    return [
        Setting(f"c = {c:g}, exact {exact:g}", _labels(c, exact)) for c in _DAMPINGS for exact in _DAMPINGS
    ]


def structure_settings() -> list[Setting]:
    """Return every structure with the constants of `fitted`, which agree best; the library's own first."""
    changed: dict[str, dict[str, Label]] = {"as it is": {}}
    for scheme in load_study(FOLDER / "structure.toml").schemes:
        method, _, name = scheme.label.partition("@")
        name = name.replace(":", "/").replace("&", ", ")
        changed.setdefault(name, {})[method] = Label(scheme.label, "fitted")
    base = _labels(_DAMPING, c_p=_FITTED_RATE)
    return [Setting(name, base | schemes) for name, schemes in changed.items()]


_GROUPS = {
    "constants": ("c_p of CMA and EP-CMA-m, and c of SARP", constant_settings),
    "sarp": ("c of SARP with adaptive and with exact steps", damping_settings),
    "structure": ("Other rules for evolution paths", structure_settings),
}


def page(measurements: Measurements, out: Path) -> list[str]:
    """Return the parts of the page on the claims, and draw its figures."""
    parts = [
        "# Which reading agrees with the paper's claims",
        "A claim has several measurements, each of which agrees with the paper, does not, or is not decided. "
        "Numbers in brackets: the measurements that agree, and all that are decided under some setting. A "
        "claim holds if all of these agree. Settings are in the order of the claims that hold, and then of "
        "the mean share of measurements that agree.",
        "\n".join(f"{claim.number}. {claim.sentence}" for claim in OF_DATA),
    ]
    everything: list[Judged] = []
    for name, (title, settings) in _GROUPS.items():
        rows = judged(measurements, settings())
        if any(claim.measured for row in rows for claim in row.claims.values()):
            everything += rows
            save(agreement_figure(rows), out, name, ["png"])
            parts += [f"## {title}", f"![Settings and claims]({name}.png)", agreement_table(rows)]
    header = ["setting", "claim", *Agreement._fields]
    lines = [[row.setting, n, *claim] for row in everything for n, claim in sorted(row.claims.items())]
    write_table(out / "claims.csv", header, lines)
    return parts


def judged(measurements: Measurements, settings: Sequence[Setting]) -> list[Judged]:
    """Return the settings, the best first, judged where what distinguishes them was measured."""
    places = [
        place
        for place in measurements.places("")
        if any(measurements.get(label, place) for label in _own_labels(settings))
    ]
    judgements = judge(measurements.study(settings, places), OF_DATA)
    # What the studies can measure: what is compared with the paper under some setting.
    measured: dict[int, set[int]] = {}
    for judgement in judgements:
        compared = {i for i, found in enumerate(judgement.measurements) if found.holds is not None}
        measured.setdefault(judgement.number, set()).update(compared)
    found: dict[str, dict[int, Agreement]] = {}
    for judgement in judgements:
        outcomes = [judgement.measurements[i].outcome for i in measured[judgement.number]]
        decided = sum(outcome in ("agrees", "disagrees", "diverges") for outcome in outcomes)
        agreement = Agreement(outcomes.count("agrees"), decided, len(outcomes))
        found.setdefault(judgement.reading, {})[judgement.number] = agreement
    ranked = [Judged(name, claims) for name, claims in found.items()]
    return sorted(ranked, key=lambda one: (-one.holding, -one.share))


def _own_labels(settings: Sequence[Setting]) -> set[Label]:
    """Return what these settings are about: schemes of a reading, or else schemes that have a setting."""
    labels = {label for setting in settings for label in setting.schemes.values()}
    return {one for one in labels if one.reading} or {one for one in labels if "@" in one.scheme}


def agreement_table(rows: Sequence[Judged]) -> str:
    """Return a table of settings and claims, without claims that none of them decides."""
    numbers = [claim.number for claim in OF_DATA if any(row.claims[claim.number].measured for row in rows)]
    return table(
        ["setting", "claims that hold", "mean share", *map(str, numbers)],
        [
            [row.setting, str(row.holding), f"{row.share:.2f}", *(str(row.claims[n]) for n in numbers)]
            for row in rows
        ],
    )


@print_style
def agreement_figure(rows: Sequence[Judged]) -> matplotlib.figure.Figure:
    """Return a chart of settings and claims, the share of measurements that agree as a colour."""
    numbers = [claim.number for claim in OF_DATA]
    figure = matplotlib.figure.Figure(figsize=(6.5, 0.15 * len(rows) + 0.8), layout="constrained")
    axes = figure.subplots()
    shares = [[row.claims[number].share for number in numbers] for row in rows]
    image = axes.imshow(shares, aspect="auto", cmap="cividis", vmin=0.0, vmax=1.0)
    for height, row in enumerate(rows):
        for place, number in enumerate(numbers):
            claim = row.claims[number]
            if claim.measured:
                colour = "black" if claim.share > 0.5 else "white"
                text = f"{claim.agreeing}/{claim.measured}"
                axes.text(place, height, text, ha="center", va="center", color=colour, fontsize=5.0)
    axes.set_xticks(range(len(numbers)), [str(number) for number in numbers])
    axes.set_yticks(range(len(rows)), [f"{row.setting}  ({row.holding})" for row in rows])
    axes.grid(visible=False)
    axes.set_xlabel("claim (in brackets: how many of them hold)")
    label = "share of measurements that agree"
    figure.colorbar(image, ax=axes, label=label, location="top", aspect=40, shrink=0.6, pad=0.01)
    return figure
