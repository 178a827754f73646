"""The study files of the readings, and what is made of their runs."""

import csv
import gzip
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from benchmarks.readings import agreement, rates
from benchmarks.readings.__main__ import main
from benchmarks.readings.agreement import Agreement, Judged
from benchmarks.readings.measured import FOLDER, Label, Measurements, Place, Setting
from benchmarks.readings.rates import PathSetting

from pursuit.experiments.study import reproduce
from pursuit.experiments.study.declaration import load_study
from pursuit.experiments.study.grid import entries_of
from pursuit.experiments.study.results import Cell, CellResults, Results, RunRecord

STUDIES = {path.stem: load_study(path) for path in sorted(FOLDER.glob("*.toml"))}


def entry(scheme, nit, *, place=("lin", 1e4, 100), reading="frozen", cap=10**6, reason="target"):
    run = RunRecord(number=0, nit=nit, nfev=nit, fun=9e-10, reason=reason, seconds=0.1)
    cell = Cell(*place, scheme=scheme, reading=reading)
    return CellResults(cell=cell, target=1e-9, cap=cap, wanted=1, code="", runs=(run,))


def measured(*entries, trace=None):
    return Measurements([Results(title="", cells=entries, figures=(), trace=trace, made={})])


def test_every_setting_names_cells_that_are_declared():
    declared = {
        (scheme.label, reading)
        for study in STUDIES.values()
        for scheme in study.schemes
        for reading in (*study.readings, None)
    }
    groups = (agreement.constant_settings, agreement.damping_settings, agreement.structure_settings)
    for setting in (setting for group in groups for setting in group()):
        assert set(setting.schemes.values()) <= declared


@pytest.mark.parametrize("name", ["path", "path-test"])
def test_the_grid_of_rates_is_the_declared_one(name):
    labels = [scheme.label for scheme in STUDIES[name].schemes]
    assert labels == ["sarp", *(setting.label() for setting in rates.GRID)]


def test_a_setting_is_judged_by_its_own_cells():
    found = measured(entry("sarp@3", 5000), entry("ep-cma-1@0", 1000), entry("ep-cma-1@1:n", 9000))
    settings = [
        Setting(c_p, {"sarp": Label("sarp@3"), "ep-cma-1": Label(agreement.labelled("ep-cma-1", c_p))})
        for c_p in ("1/n", "0")
    ]
    judged = agreement.judged(found, settings)
    assert [(row.setting, row.holding) for row in judged] == [("0", 1), ("1/n", 0)]
    assert judged[0].claims[2] == Agreement(agreeing=1, decided=1, measured=1)
    assert str(judged[1].claims[2]) == "no (0 of 1)"
    text = agreement.agreement_table(judged)
    assert text.splitlines()[0] == "| setting | claims that hold | mean share | 2 |"
    assert text.splitlines()[2] == "| 0 | 1 | 1.00 | yes (1 of 1) |"


def test_a_claim_does_not_hold_by_what_is_undecided():
    """Where EP-CMA-1 ends at a cap that is too low, nothing is known of claim 3 on one of two problems."""
    cells = []
    for place, slow in ((("exp", 1e4, 100), 3000), (("two", 1e4, 20), 20000)):
        cells += [entry("sarp@3", 1000, place=place), entry("ep-cma-1@0", slow, place=place)]
        reason = "target" if slow == 3000 else "maxiter"
        cells.append(entry("ep-cma-1@1:n", min(slow, 5000), place=place, cap=5000, reason=reason))
    settings = [
        Setting(c_p, {"sarp": Label("sarp@3"), "ep-cma-1": Label(agreement.labelled("ep-cma-1", c_p))})
        for c_p in ("1/n", "0")
    ]
    whole, half = (row.claims[3] for row in agreement.judged(measured(*cells), settings))
    assert whole.holds
    assert not half.holds
    assert (str(whole), str(half)) == ("yes (2 of 2)", "in part (1 of 2, 1 undecided)")


def test_of_equal_cells_the_one_of_the_largest_cap_counts():
    place = Place("lin", 1e4, 100)
    found = measured(
        entry("rp", 10, cap=20), entry("rp", 30, cap=40, reading="fitted"), entry("rp", 5, cap=9)
    )
    assert found.get(Label("rp"), place).cap == 40
    assert found.get(Label("rp", "frozen"), place).cap == 20
    assert found.get(Label("sarp"), place) is None


def test_traces_are_those_of_the_cell_that_stands_in():
    source = entry("rp", 10, reading="fitted")
    found = measured(source, trace=lambda cell, number: (cell, number))
    study = found.study([Setting("any", {"rp": Label("rp")})], [Place("lin", 1e4, 100)])
    assert study.trace(study.cells[0].cell, 0) == (source.cell, 0)


def path_entries(places, lengths):
    for place in places:
        yield entry("sarp", 1000, place=place)
        for setting, nit in lengths.items():
            reason = "target" if nit else "maxiter"
            yield entry(setting.label(), nit or 8000, place=place, cap=8000, reason=reason)


def test_the_best_rates_are_chosen_on_the_scanned_problems_alone():
    good, bad = PathSetting("1/n", 0.4, "0"), PathSetting("2/(n+2)", 0.2, "0")
    scan = path_entries([("exp", 1e4, 20), ("lin", 1e4, 40)], {good: 500, bad: 0})
    test = path_entries([("exp", 1e5, 30)], {good: 4000, bad: 250})
    found = measured(*scan, *test)
    scanned = rates.quotients(found, scanned=True)
    chosen = rates.candidates(scanned)
    assert chosen["the best on average"] == chosen["the best where it is worst"] == good
    assert str(scanned[bad][Place("exp", 1e4, 20)]) == "> 8.00"
    others = rates.quotients(found, scanned=False)
    lines = rates.candidate_table(others, chosen, intervals=True).splitlines()
    assert "exp, L = 1e5, n = 30" in lines[2]
    assert "4.00 (4.00 to 4.00)" in lines[2]


def test_a_problem_that_sarp_does_not_solve_has_no_quotient():
    setting = PathSetting("1/n", 0.4, "0")
    place = ("exp", 1e4, 20)
    found = measured(entry("sarp", 10, place=place, reason="maxiter"), entry(setting.label(), 5, place=place))
    assert rates.quotients(found, scanned=True) == {}


def test_draws_what_is_not_measured_as_gaps():
    row = Judged("a setting", {number: Agreement(0, 0, 0) for number in range(1, 13)})
    assert len(agreement.agreement_figure([row]).axes[0].texts) == 0


# Small enough for a test: an easier target, two runs, and a few schemes in 20 or 30 dimensions.
TINY = {
    "sarp": "n=20 L=1e4 problem=lin scheme=rp,sarp@3,sarp-exact@2",
    "constants": "n=20 L=1e4 problem=lin scheme=cma@1:n,ep-cma-1@1:n,ep-cma-4@1:n",
    "structure": "n=20 L=1e4 problem=lin reading=fitted scheme=ep-cma-4@restart",
    "path": "n=20 problem=lin scheme=sarp,ep-cma-1@1:n&0.2&0,ep-cma-1@2:(n+2)&0.2&0",
    "path-test": "n=30 problem=stiff scheme=sarp,ep-cma-1@1:n&0.2&0,ep-cma-1@2:(n+2)&0.2&0",
}


def test_from_the_study_files_to_the_pages(tmp_path, monkeypatch):
    for name in ("variants.py", "problems.py"):
        shutil.copy(FOLDER / name, tmp_path)
    folders = []
    for name, only in TINY.items():
        text = (FOLDER / f"{name}.toml").read_text().replace("target = 1e-9", "target = 1e3")
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        folders.append(tmp_path / name)
        with ThreadPoolExecutor(1) as executor:
            assert reproduce(path, folders[-1], only=only, runs=2, executor=executor).failures == []
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["benchmarks.readings", *map(str, folders), "--out", str(out)])
    main()
    made = {path.name for path in out.iterdir()}
    figures = {"constants.png", "sarp.png", "structure.png", "path-20.png"}
    assert made == {"claims.md", "path.md", "claims.csv", "path.csv.gz", "runs.csv.gz", *figures}
    with gzip.open(out / "path.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    assert [(row["problem"], row["n"], row["c_c"]) for row in rows] == [
        ("lin", "20", "1/n"),
        ("lin", "20", "2/(n+2)"),
        ("stiff", "30", "1/n"),
        ("stiff", "30", "2/(n+2)"),
    ]
    assert "\n| restart |" in (out / "claims.md").read_text()
    with gzip.open(out / "runs.csv.gz", "rt") as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == 2 * sum(only.partition("scheme=")[2].count(",") + 1 for only in TINY.values())
    assert {run["reason"] for run in runs} == {"target"}


def test_the_files_can_be_run():
    """Every scheme can be created and every problem made, in its smallest dimension."""
    for study in STUDIES.values():
        assert study.runs == 11
        for problem in study.problems:
            entries = entries_of(study, only={"n": (problem.n[0],), "problem": (problem.label,)})
            assert entries
