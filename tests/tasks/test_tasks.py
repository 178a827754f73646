"""Tasks follow from their seeds, gaps are those to minima, and runs are resumed and summed up."""

import csv
from pathlib import Path

import numpy as np
import pytest
from benchmarks.tasks import __main__ as command
from benchmarks.tasks import control, fits, geometry, learning, page, policies, quantum, signals
from benchmarks.tasks.running import Job, Plan, Recorder, Row, Spent, missing, one_run, read_rows, run_missing
from benchmarks.tasks.suite import SUITE
from benchmarks.tasks.tools import PEERS, scaled

BY_NAME = {task.name: task for task in SUITE}
EVERY = pytest.mark.parametrize("task", SUITE, ids=[task.name for task in SUITE])
VALLEY = Job("valley", 30, "Nelder-Mead", seed=1, maxtime=60.0)


@EVERY
def test_a_task_follows_from_its_seed(task):
    first, again, other = (task.make(seed) for seed in (1, 1, 2))
    values = [case.fun(case.x0, np.random.default_rng(7)) for case in (first, again, other)]
    assert np.isfinite(values).all()
    assert values[0] == values[1]
    assert first.gap(first.x0) == again.gap(again.x0)
    assert (first.x0 == again.x0).all()
    # What differs is the start, or the data.
    assert first.gap(first.x0) != other.gap(other.x0)


@EVERY
def test_starts_are_within_bounds_and_no_point_is_below_the_minimum(task):
    case, rng = task.make(3), np.random.default_rng(3)
    assert (case.lower <= case.x0).all()
    assert (case.x0 <= case.upper).all()
    assert case.gap(case.x0) > task.enough
    for _ in range(20):
        x = np.clip(case.x0 + case.sigma0 * rng.standard_normal(case.x0.size), case.lower, case.upper)
        assert case.gap(x) >= 0.0


@pytest.mark.parametrize("name", ["vqe", "valley", "epidemic", "pendulum"])
def test_the_gap_is_that_of_the_expected_value(name):
    case, rng = BY_NAME[name].make(1), np.random.default_rng(5)
    here, there = case.x0, case.x0 + 0.5 * case.sigma0
    means, errors = [], []
    for x in (here, there):
        values = np.array([case.fun(x, rng) for _ in range(400)])
        means.append(values.mean())
        errors.append(values.std() / np.sqrt(values.size))
    # For the pendulum the gap is itself a mean, of 200 episodes.
    allowed = 5.0 * np.hypot(*errors) * (2.0 if name == "pendulum" else 1.0)
    assert means[0] - means[1] == pytest.approx(case.gap(here) - case.gap(there), abs=allowed)


def test_known_minima():
    # Hoare and Pal, Advances in Physics 20, 1971.
    atoms = geometry.molecule(1)
    assert geometry.lennard_jones(atoms.x0) - atoms.gap(atoms.x0) == pytest.approx(-44.326801, abs=1e-6)
    # Haftka and Gürdal, Elements of Structural Optimization, 1992, in pounds.
    areas = np.array([30.52, 0.1, 23.20, 15.22, 0.1, 0.551, 7.457, 21.04, 21.53, 0.1])
    assert 1e3 * geometry.weight(areas) == pytest.approx(5060.8, abs=1.0)
    assert geometry.overload(areas) == pytest.approx(0.0, abs=1e-3)
    assert fits.drug_misfit(fits.DRUG) == 0.0


def test_the_denoised_signal_is_stationary():
    rng = np.random.default_rng(1)
    data = rng.standard_normal(50)
    best = signals.denoised(data)
    lowest = signals.objective(best, data)
    for _ in range(20):
        assert signals.objective(best + 1e-3 * rng.standard_normal(50), data) > lowest


def test_the_energy_of_a_circuit_without_turns_is_that_of_spins_along_z():
    assert quantum.energy(np.zeros(30)) == pytest.approx(-5.0)
    assert np.linalg.norm(quantum.state(np.arange(30.0))) == pytest.approx(1.0)


def test_a_policy_that_leans_against_the_pole_balances_it_and_a_pendulum_at_rest_stays_up():
    states = np.full((4, 3), 0.02)
    balancing = policies.balanced(lambda s: s[2] + 0.5 * s[3] + 0.02 * s[0] + 0.05 * s[1], states)
    assert balancing.tolist() == [policies.CART_STEPS] * 3
    assert policies.balanced(lambda s: np.ones(3), states).max() < 20
    assert policies.swung(lambda s: np.zeros(2), np.zeros((2, 2))).tolist() == [0.0, 0.0]


def test_gains_of_zero_leave_the_loops_where_they_are():
    still = 0.05 * (np.arange(200) % 100 * 0.05).sum() * 2.5
    assert control.cost(np.zeros(12)) == pytest.approx(still)


def test_a_sensible_network_learns_and_one_that_learns_nothing_loses_log_ten():
    assert learning.mean_loss(np.array([-1.0, -1.0, 0.0, -4.0, -1.0])) < 1.0
    assert learning.mean_loss(np.array([-4.0, 0.0, -2.0, -6.0, -3.0])) == pytest.approx(
        np.log(10.0), rel=0.01
    )


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("drug", "auto"),
        ("drug", "Nelder-Mead"),
        ("drug", "SLSQP"),
        ("drug", "L-BFGS-B"),
        ("drug", "L-BFGS-B central"),
        ("epidemic", "auto"),
        ("epidemic", "Nelder-Mead"),
        ("epidemic", "SPSA 0.2"),
        ("epidemic", "ARS"),
    ],
)
def test_runs_end_at_better_points_are_counted_and_can_be_repeated(name, solver):
    row = one_run(Job(name, 300, solver, seed=1, maxtime=60.0))
    assert float(row.gap) < float(row.start)
    assert 0 < int(row.evaluations) <= 300
    assert bool(row.version) == (solver == "auto")
    assert row == one_run(Job(name, 300, solver, seed=1, maxtime=60.0))._replace(seconds=row.seconds)


@pytest.mark.parametrize("name", [name for name in PEERS if name not in ("ARS", "SLSQP", "COBYLA")])
def test_every_peer_keeps_to_its_budget(name):
    pytest.importorskip("cma", reason="it is in the extra `peers`")
    pytest.importorskip("nlopt", reason="it is in the extra `peers`")
    pytest.importorskip("optuna", reason="it is in the extra `peers`")
    row = one_run(Job("valley", 60, name, seed=1, maxtime=60.0))
    assert "Error" not in row.message
    assert 0 < int(row.evaluations) <= 60


def test_constraints_and_values_of_a_point_are_one_evaluation():
    for solver in ("COBYLA", "SLSQP"):
        row = one_run(Job("truss", 200, solver, seed=1, maxtime=60.0))
        assert "Error" not in row.message
        assert 0 < int(row.evaluations) <= 200
        assert float(row.gap) < float(row.start)
    record = Recorder(BY_NAME["truss"].make(1), np.random.default_rng(1), 2, 60.0)
    x = record.case.x0
    assert record.fun(x) == geometry.weight(x)
    assert record.constraint(x) == geometry.overload(x)
    assert record.nfev == 1
    record.constraint(x + 1.0)
    with pytest.raises(Spent):
        record.fun(x + 2.0)
    # The thicker truss is heavier, and bears the load.
    assert record.best.tolist() == (x if geometry.overload(x) <= 0.0 else x + 1.0).tolist()


def test_others_get_variables_in_units_of_their_first_steps():
    case = BY_NAME["drug"].make(1)
    units = scaled(case)
    assert units.x0.tolist() == pytest.approx([5.0] * 6)
    assert units.gap(units.x0) == pytest.approx(case.gap(case.x0))


def test_stored_runs_are_not_made_again_but_cut_lines_are(tmp_path):
    plan = Plan([BY_NAME["valley"]], ["Nelder-Mead"], seeds=2)
    run_missing(plan, tmp_path, say=lambda line: None)
    rows = read_rows(tmp_path)
    assert [key[2:] for key in rows] == [("Nelder-Mead", "1"), ("Nelder-Mead", "2")]
    assert missing(plan, tmp_path) == []
    path = tmp_path / "runs.csv"
    path.write_text(path.read_text()[:-40])
    assert [job.seed for job in missing(plan, tmp_path)] == [2]
    run_missing(plan, tmp_path, say=lambda line: None)
    assert [row._replace(seconds="") for row in read_rows(tmp_path).values()] == [
        row._replace(seconds="") for row in rows.values()
    ]
    assert len(missing(plan._replace(seeds=3), tmp_path)) == 1
    assert len(missing(plan._replace(again=True), tmp_path)) == 2


def test_runs_of_another_version_of_ours_are_outdated(tmp_path):
    rows = [one_run(VALLEY._replace(solver="auto", budget=150))._replace(version="other")]
    with (tmp_path / "runs.csv").open("w", newline="") as file:
        csv.writer(file).writerows([Row._fields, *rows])
    plan = Plan([BY_NAME["valley"]], ["auto"], seeds=1)
    assert len(missing(plan, tmp_path)) == 1
    assert missing(plan._replace(keep=True), tmp_path) == []
    with pytest.raises(ValueError, match="There is no solver 'nothing'; there are pycma,"):
        missing(plan._replace(solvers=["nothing"]), tmp_path)


def test_the_command_runs_and_writes_the_page(tmp_path, monkeypatch, capsys):
    pytest.importorskip("optuna", reason="the page names its version")
    monkeypatch.chdir(tmp_path)
    chosen = ["--tasks", "valley", "--solvers", "auto", "Nelder-Mead", "--seeds", "1", "--quick"]
    monkeypatch.setattr("sys.argv", ["tasks", "run", *chosen])
    command.main()
    assert "valley 15 auto 1: gap" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["tasks", "page", "--folder", "reproduced/tasks"])
    command.main()
    # Quick runs have other budgets than those on the page.
    assert "There are no runs of `auto` yet." in Path("reproduced/tasks/tasks.md").read_text()


def test_the_page_compares_medians_and_counts_wrong_successes(tmp_path):
    pytest.importorskip("optuna", reason="the page names its version")
    task = BY_NAME["valley"]
    found = {"pycma": (0.3, 0.2, 0.9), "BOBYQA": (0.5, 0.1, 0.6), "auto": (0.6, 0.03, 0.45)}
    rows = [
        Row(
            task.name,
            "150",
            name,
            str(seed),
            "",
            "150",
            "2",
            str(gap),
            "0.01",
            success=str(gap > 0.4),
            seconds="1",
        )
        for name, gaps in found.items()
        for seed, gap in enumerate(gaps)
    ]
    with (tmp_path / "runs.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    text = page.write(tmp_path).read_text()
    assert "| pycma | 0.3 / 0.9 | 0.45 / 0.6 | 1.5 | no | 2 of 3 |" in text
    assert "| BOBYQA | 0.5 / 0.6 | 150 | 2, 2 | 3 |" in text
    assert "`auto` is within 1.2 of the best tool's median gap on 0 of 1 tasks" in text
    assert page.is_wrong(task, rows[0]._replace(gap="0.06", success="True"))
    assert not page.is_wrong(task, rows[0]._replace(gap="0.04", success="True"))
    assert not page.is_wrong(task, rows[0]._replace(gap="0.06", success=""))
