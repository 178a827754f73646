"""Every trajectory is the same, bit for bit, as when it was written down, or whoever drives it."""

import csv
from pathlib import Path

import pytest

from golden.cases import ALIKE, RECORDED, SEEDS, SOME, UNRECORDED, Case, Row, cases_of, row_of

FILE = Path(__file__).with_name("trajectories.csv")


def recorded():
    with FILE.open(newline="") as file:
        return {
            Case(row["method"], row["problem"], row["driver"], int(row["seed"])): Row(
                int(row["nit"]), int(row["nfev"]), row["fun"], row["digest"]
            )
            for row in csv.DictReader(file)
        }


@pytest.mark.parametrize(
    "seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.long) for seed in SEEDS[1:])]
)
@pytest.mark.parametrize("method", RECORDED)
def test_trajectories_are_as_recorded(method, seed):
    expected = {case: row for case, row in recorded().items() if (case.method, case.seed) == (method, seed)}
    assert expected == {case: row_of(case) for case in cases_of(method) if case.seed == seed}


@pytest.mark.parametrize("problem", SOME)
@pytest.mark.parametrize("method", UNRECORDED)
def test_what_depends_on_the_processor_does_not_depend_on_the_driver(method, problem):
    for seed in SEEDS:
        rows = {row_of(Case(method, problem, driver.__name__, seed)) for driver in ALIKE}
        assert len(rows) == 1
