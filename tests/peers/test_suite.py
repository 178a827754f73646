"""The suite is run for ours and for peers alike, and the shares are read back."""

import csv
import os

import pytest
from benchmarks.suites import coco as suite
from benchmarks.suites import peers
from benchmarks.suites.peers import SOLVERS, named

TINY = suite.Extent(budget=30, dimensions=(20,), functions=(1, 10), instances=(1,))
COMPARED = [named(name) for name in suite.COMPARED]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_every_solver_has_a_name_that_the_command_understands(solver):
    assert solver.identifier.isidentifier()
    assert getattr(peers, solver.identifier) is solver.solve


def test_an_unknown_name_is_none():
    with pytest.raises(AttributeError, match="no attribute 'pypop8'"):
        peers.pypop8  # noqa: B018


def test_the_groups_are_all_functions_of_the_suite():
    parts = [set(functions) for group, functions in suite.GROUPS.items() if group != "all"]
    assert sorted(function for part in parts for function in part) == [*range(1, 25), *range(101, 131)]


@pytest.mark.parametrize(
    "solvers",
    [
        COMPARED[:2],
        pytest.param(
            COMPARED,
            marks=pytest.mark.skipif(
                not all(solver.installed for solver in COMPARED), reason="a peer is not installed"
            ),
        ),
    ],
    ids=["ours", "all"],
)
def test_shares_are_drawn_and_read_back(solvers, tmp_path):
    said = []
    suite.run_and_draw(
        solvers, TINY, data=tmp_path / "data", folder=tmp_path, jobs=os.cpu_count() or 1, say=said.append
    )
    assert said == [f"bbob-largescale with {solver.name}" for solver in solvers]
    extent, versions, shares = suite.read(tmp_path)
    assert extent == TINY
    assert versions == {solver.name: solver.version for solver in solvers}
    assert list(shares) == ["all", "separable", "ill-conditioned"]
    assert all(0.0 <= share <= 1.0 for found in shares.values() for share in found.values())
    for solver in solvers:
        assert f"| {solver.name} | " in suite.shares_table(shares)
    assert "not run" not in suite.shares_table(shares) or len(solvers) < len(COMPARED)
    for found in shares.values():
        assert sorted(found) == sorted(solver.name for solver in solvers)
    assert sorted(suite.figures(tmp_path)) == [
        "profiles-all.png", "profiles-ill-conditioned.png", "profiles-separable.png",
    ]  # fmt: skip


def columns_of(path):
    """Return the columns of a table of profiles by their names."""
    with path.open(newline="") as file:
        return {name: cells for name, *cells in zip(*csv.reader(file), strict=True)}


def test_profiles_that_are_stored_stay_beside_new_ones(tmp_path):
    """A table has shares at some budgets: what is read back and drawn again has the same ones."""

    def run(solver, extent=TINY):
        suite.run_and_draw(
            [named(solver)], extent, data=tmp_path / "data", folder=tmp_path, jobs=1, say=[].append
        )
        return columns_of(tmp_path / "profiles-all.csv")

    budget, alone = "evaluations_per_dimension", run("rp")
    beside = run("ep-cma-4")
    assert list(beside) == [budget, "ep-cma-4", "rp"]
    assert beside["rp"] == alone["rp"]
    assert beside[budget] == alone[budget]
    # Its own profile replaces one that is stored.
    assert run("rp") == beside
    # Of other problems, nothing is left.
    assert list(run("rp", TINY._replace(functions=(1,)))) == [budget, "rp"]
