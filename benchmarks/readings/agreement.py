"""How well each way to read the paper agrees with the twelve claims about its data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.figure

from benchmarks.readings.declare import DAMPINGS, FAILURE_RATES, STRUCTURES, changes, labelled
from benchmarks.readings.measured import Label, Measurements, Setting
from pursuit.experiments.common.formatting import table
from pursuit.experiments.common.plotting import print_style
from pursuit.experiments.study.claims import CLAIMS, judge
from pursuit.experiments.study.evidence import EP_CMA

OF_DATA = CLAIMS[:12]
"""The claims that a way to read the paper can agree with; the others are its discussion."""

# c_p of `fitted` as `constants.toml` names it, and c of SARP with adaptive and with exact steps.
_FITTED_RATE = "1/n"
_DAMPING, _EXACT_DAMPING = 3.0, 2.0


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


def sarp_labels(damping: float, exact_damping: float) -> dict[str, Label]:
    """Return Random Pursuit and SARP with these constants."""
    return {
        "rp": Label("rp"),
        "rp-exact": Label("rp-exact"),
        "sarp": Label(labelled("sarp", f"{damping:g}")),
        "sarp-exact": Label(labelled("sarp-exact", f"{exact_damping:g}")),
    }


def constant_settings() -> list[Setting]:
    """Return every c_p with every c."""
    return [
        Setting(
            f"c_p = {c_p}, c = {c:g}",
            sarp_labels(c, _EXACT_DAMPING) | {s: Label(labelled(s, c_p)) for s in ("cma", *EP_CMA)},
        )
        for c_p in FAILURE_RATES
        for c in DAMPINGS
    ]


def damping_settings() -> list[Setting]:
    """Return every c of adaptive steps with every c of exact ones."""
    return [
        Setting(f"c = {c:g}, exact {exact:g}", sarp_labels(c, exact)) for c in DAMPINGS for exact in DAMPINGS
    ]


def structure_settings() -> list[Setting]:
    """Return every structure with the constants of `fitted`, which agree best; the library's own first."""
    base = sarp_labels(_DAMPING, _EXACT_DAMPING) | {
        s: Label(labelled(s, _FITTED_RATE)) for s in ("cma", *EP_CMA)
    }
    settings = [Setting("as it is", base)]
    for name in STRUCTURES:
        changed = {s: Label(labelled(s, name), "fitted") for s in EP_CMA if changes(name, s)}
        settings.append(Setting(name.replace(":", "/").replace("&", ", "), base | changed))
    return settings


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
