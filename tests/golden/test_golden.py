"""Every trajectory is the same, bit for bit, as when it was written down."""

import csv
from pathlib import Path

import pytest

from golden.cases import METHODS, Case, Row, cases_of, row_of

FILE = Path(__file__).with_name("trajectories.csv")
# Their rules are still being chosen.
UNRECORDED = ("auto", "differences")


def recorded():
    with FILE.open(newline="") as file:
        return {
            Case(row["method"], row["problem"], row["driver"], int(row["seed"])): Row(
                int(row["nit"]), int(row["nfev"]), row["fun"], row["digest"]
            )
            for row in csv.DictReader(file)
        }


@pytest.mark.parametrize("method", [method for method in METHODS if method not in UNRECORDED])
def test_trajectories_are_as_recorded(method):
    expected = {case: row for case, row in recorded().items() if case.method == method}
    assert expected == {case: row_of(case) for case in cases_of(method)}
