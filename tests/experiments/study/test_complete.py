"""A report of runs of which some traces are left."""

import pytest
from benchmarks.complete import completed

from experiments.study.made_up import made_up_results
from pursuit.experiments.study import StudyError
from pursuit.experiments.study.report.analysis import analyse
from pursuit.experiments.study.report.tables import read_tables, write_tables
from pursuit.experiments.study.stats import distributions_of, targets_of

# One process makes what these tests look at.
pytestmark = pytest.mark.xdist_group("complete")


def part(results, *, without=(), **wanted):
    return results._replace(cells=tuple(e for e in results.select(**wanted) if e.cell not in without))


@pytest.fixture(scope="module")
def results():
    return made_up_results(places=[("exp", 1e4)], figures=[])


@pytest.fixture(scope="module")
def earlier(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_tables(analyse(results), folder)
    # Without what came of traces, as if they had not been kept.
    for name in ("curves", "distributions"):
        (folder / f"{name}.csv").unlink()
    return read_tables(folder)


def test_a_reading_whose_traces_are_all_there_has_curves_and_all_targets(results, earlier):
    found = completed(part(results, reading="fitted"), earlier, [])
    assert [len(entry.runs) for entry in found.cells] == [len(entry.runs) for entry in earlier.cells]
    assert {cell.reading for cell in found.kept.curves} == {"fitted"}
    assert [targets_of(found, reading).size for reading in ("printed", "fitted")] == [1, 56]
    drawn = distributions_of(results, "fitted", 5, "iterations")
    assert [one.scheme for one in distributions_of(found, "fitted", 5, "iterations")] == [
        one.scheme for one in drawn
    ]
    assert found.kept.remark == ""
    assert [name for name in found.made if name.startswith("run")] == ["runs under printed"]


def test_one_run_of_another_device_serves_where_a_cell_has_no_traces(results, earlier):
    lost = results.select(reading="fitted")[0]
    raw = part(results, reading="fitted", without=[lost.cell])
    assert completed(raw, earlier, []).kept.curves == {}
    spare = results._replace(cells=(lost._replace(runs=lost.runs[:1]),))
    found = completed(raw, earlier, [spare])
    assert lost.cell in found.kept.curves
    assert str(lost.cell) in found.made["run 0 on a CPU"]
    assert "the one named under" in found.kept.remark
    # The numbers are still those of all runs.
    assert len(next(entry for entry in found.cells if entry.cell == lost.cell).runs) == 3


def test_runs_that_differ_from_those_of_the_report_are_refused(results, earlier):
    first, *others = results.select(reading="fitted")
    changed = first._replace(runs=(first.runs[0]._replace(nit=7), *first.runs[1:]))
    with pytest.raises(StudyError, match="Run 0 of exp L=1e4 n=5 rp fitted is not that of the earlier"):
        completed(results._replace(cells=(changed, *others)), earlier, [])
