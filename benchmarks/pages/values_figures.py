"""The figures on sets of problems: data profiles without noise, and with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.pages import data_profiles
from benchmarks.pages.profiles import (
    TABLE_BUDGETS,
    cases_of,
    profiles_of,
    share_by_evaluations,
    solvers_of,
)
from benchmarks.suites.values import BUDGETS, NOISY_PRECISIONS, PRECISIONS, SPSA, Row


def titles(rows: Sequence[Row], group: str) -> dict[str, str]:
    """Return the titles of the figures on the rows of a set, by the names of their files."""
    kinds = {"smooth": "without", "noisy": "with"}
    there = {"noisy" if row.noisy else "smooth" for row in rows}
    return {
        f"{group}-{kind}.png": f"Problems solved, {word} noise"
        for kind, word in kinds.items()
        if kind in there
    }


def draw(rows: Sequence[Row], folder: Path, group: str) -> None:
    """Draw the profiles of a set."""
    for file in titles(rows, group):
        noisy, name = file.endswith("-noisy.png"), file.removesuffix(".png")
        some = [row for row in rows if row.noisy == noisy]
        if noisy:
            span = (TABLE_BUDGETS[0] / 1.3, float(TABLE_BUDGETS[-1]))
            data_profiles.draw(_noisy(some), span, folder, name, TABLE_BUDGETS)
        else:
            data_profiles.draw(_smooth(some), (BUDGETS[0], BUDGETS[-1]), folder, name)


def _smooth(rows: Sequence[Row]) -> data_profiles.Curves:
    found = {name: cases_of(rows, name) for name in solvers_of(rows) if not name.startswith(SPSA)}
    return {
        name: {tau: partial(share_by_evaluations, cases, precision=tau) for tau in PRECISIONS}
        for name, cases in found.items()
    }


def _noisy(rows: Sequence[Row]) -> data_profiles.Curves:
    return {
        one.solver: {
            tau: (lambda budget, tau=tau, one=one: one.shares[int(budget), tau])  # type: ignore[misc]
            for tau in NOISY_PRECISIONS
        }
        for one in profiles_of(rows, NOISY_PRECISIONS)
    }
