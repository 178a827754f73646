"""The suites of COCO through the command line, up to its own post-processing."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import filelock
import numpy as np
import pytest

from experiments.study.small import pursuit_command, run_pursuit, wait_for
from pursuit.cli import main
from pursuit.experiments.coco import data_profiles, run_suite
from pursuit.experiments.coco.profiles import TARGETS

HERE = Path(__file__).parent
SLICE = ["--suite", "bbob", "--dimensions", "2,3", "--functions", "1,3", "--instances", "1-3"]
BATCHES = ["f001_d0002", "f001_d0003", "f003_d0002", "f003_d0003"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder of a finished experiment, and the output of the command; all workers share it."""
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    folder, said = place / "coco" / "auto", place / "coco" / "said.json"
    with filelock.FileLock(place / "coco.lock"):
        if not said.exists():
            done = run_pursuit("coco", *SLICE, "--budget", 300, "--jobs", 2, "--out", folder)
            said.write_text(json.dumps({"stdout": done.stdout, "stderr": done.stderr}))
    return folder, json.loads(said.read_text())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return the data of an experiment that nobody interrupts."""
    folder = tmp_path_factory.mktemp("undisturbed")
    selection = {"dimensions": [2, 3], "functions": [1, 3], "instances": [1, 2, 3]}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(HERE)
        patch.setattr(sys, "path", sys.path[:])
        done = run_suite("bbob", "tiny_solvers:held_search", folder, budget=20, **selection)
    return contents(done.data)


def coco(folder, method="auto", *more, budget=300):
    return main(["coco", *SLICE, "--method", method, "--budget", str(budget), "--out", str(folder), *more])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(folder):
    """Return all files of a folder with their contents."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def spent(data):
    """Return the evaluations and the last precision of each problem, as the observer recorded them."""
    found = {}
    for path in data.rglob("*.info"):
        text = path.read_text()
        batch = tuple(int(re.search(rf"{name} = (\d+)", text)[1]) for name in ("funcId", "DIM"))
        for instance, evaluations, precision in re.findall(
            r", (\d+):(\d+)\|(\S+?)(?=,|$)", text, re.MULTILINE
        ):
            found[*batch, int(instance)] = int(evaluations), float(precision)
    return found


def records(data):
    """Return the evaluations of each problem and how far above the optimum the best value then was."""
    found = {}
    for path in data.rglob("*.dat"):
        function, dimension = map(int, re.search(r"_f(\d+)_DIM(\d+)", path.name).groups())
        for instance, part in enumerate(path.read_text().split("%")[1:], start=1):
            rows = [list(map(float, line.split()[:3])) for line in part.splitlines()[1:]]
            found[function, dimension, instance] = np.array(rows)
    return found


def test_a_suite_is_run_and_its_progress_printed(finished):
    folder, said = finished
    assert said["stdout"] == f"The data are in {folder}/auto: python -m cocopp {folder}/auto\n"
    lines = said["stderr"].splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d 4 of 4 batches to do, 2 at a time\.", lines[0])
    pattern = (
        r"\d\d:\d\d:\d\d f[13] in [23] dimensions: \d of 3 solved, \d+ runs, [\d ]+ evaluations\. "
        r"\d of 4 done after \d+ s\."
    )
    assert len(lines) == 5
    assert all(re.fullmatch(pattern, line) for line in lines[1:])
    assert names(folder / "auto") == BATCHES
    assert names(folder) == ["auto", "experiment.json", "lock"]


def test_the_budget_is_spent_and_nothing_beyond_it(finished):
    found = spent(finished[0] / "auto")
    assert sorted(found) == [(f, d, i) for f in (1, 3) for d in (2, 3) for i in (1, 2, 3)]
    for (_, dimension, _), (evaluations, precision) in found.items():
        if precision <= 1e-8:
            assert evaluations < 300 * dimension
        else:
            # What is left is too little for another run.
            assert 299 * dimension < evaluations <= 300 * dimension
    # The sphere is solved, and the other function is not.
    assert all((precision <= 1e-8) == (problem[0] == 1) for problem, (_, precision) in found.items())


def recorded_restarts(folder):
    restarts = {path.name: path.read_text().splitlines() for path in folder.rglob("*.rdat")}
    return {name: [line for line in lines if not line.startswith("%")] for name, lines in restarts.items()}


def test_restarts_are_made_and_recorded(finished, tmp_path, monkeypatch):
    """Of a solver that ends early; ours restart within a run."""
    monkeypatch.chdir(HERE)
    monkeypatch.setattr(sys, "path", sys.path[:])
    selection = {"dimensions": [2], "functions": [3], "instances": [1]}
    run_suite("bbob", "tiny_solvers:hill_climber", tmp_path / "climber", budget=100, **selection)
    assert recorded_restarts(tmp_path)["bbobexp_f3_DIM2.rdat"]
    assert not recorded_restarts(finished[0])["bbobexp_f1_DIM2.rdat"]


def test_large_problems_are_post_processed_as_they_are(tmp_path):
    selection = ["--suite", "bbob-largescale", "--dimensions", "20", "--functions", "1", "--instances", "1,2"]
    for method in ("rp", "tiny_solvers:random_search"):
        out = str(tmp_path / method[:4])
        assert main(["coco", *selection, "--method", method, "--budget", "50", "--out", out]) == 0
    data = [tmp_path / "rp" / "rp", tmp_path / "tiny" / "random_search"]
    done = subprocess.run(
        [sys.executable, "-m", "cocopp", "-o", tmp_path / "pages", *data],
        # It caches what it downloads, if there is a network.
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "ALL done" in done.stdout
    pages = "".join(path.read_text() for path in (tmp_path / "pages").rglob("*.html"))
    assert "random search" in pages
    assert list((tmp_path / "pages").rglob("pprldmany*.svg"))


def test_any_number_of_processes_gives_the_same_data(finished, tmp_path, capsys):
    assert coco(tmp_path / "one", "auto", "--jobs", "1") == 0
    assert contents(tmp_path / "one" / "auto") == contents(finished[0] / "auto")
    capsys.readouterr()
    # What is there already is not run again.
    assert coco(tmp_path / "one", "auto", "--jobs", "2") == 0
    assert re.fullmatch(r"\S+ 0 of 4 batches to do, 2 at a time\.\n", capsys.readouterr().err)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_experiment_continues_and_gives_the_same_data(
    number, undisturbed, tmp_path, monkeypatch
):
    # A batch is three problems: the first one will be complete, and the second one begun.
    monkeypatch.setenv("TINY_HOLD", "5")
    folder = tmp_path / "disturbed"
    command = pursuit_command("coco", *SLICE, "--method", "tiny_solvers:held_search", "--budget", 20)
    with subprocess.Popen(
        [*command, "--jobs", "1", "--out", folder], stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for(lambda: list(folder.glob("held_search/*")) and list(folder.glob("unfinished/*")), process)
        process.send_signal(number)
        said = process.communicate()[1]
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert said.endswith(
            "pursuit: interrupted. Finished runs are kept; run the same command to continue.\n"
        )
    before = {path: path.stat().st_mtime_ns for path in (folder / "held_search").rglob("*.dat")}
    assert 0 < len(before) < len(BATCHES)
    monkeypatch.delenv("TINY_HOLD")
    assert coco(folder, "tiny_solvers:held_search", budget=20) == 0
    assert contents(folder / "held_search") == undisturbed
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert not (folder / "unfinished").exists()


def test_another_experiment_is_kept_out_of_a_folder_and_more_of_the_same_is_let_in(
    finished, tmp_path, capsys
):
    assert coco(finished[0], budget=200) == 1
    assert capsys.readouterr().err == (
        f"pursuit: {finished[0]} holds an experiment with budget 300, which cannot be continued with 200: "
        "choose another folder with --out.\n"
    )
    assert coco(finished[0], "rp") == 1
    assert "with method auto, which cannot be continued with rp:" in capsys.readouterr().err
    with filelock.FileLock(finished[0] / "lock"):
        assert coco(finished[0]) == 1
    assert "Another process is working in" in capsys.readouterr().err
    run = ["coco", "--suite", "bbob", "--instances", "1", "--budget", "9", "--method", "rp"]
    for functions, said in (("1", "1 of 1"), ("1-3", "2 of 3")):
        assert main([*run, "--dimensions", "2", "--functions", functions, "--out", str(tmp_path)]) == 0
        assert f"{said} batches to do" in capsys.readouterr().err
    assert names(tmp_path / "rp") == ["f001_d0002", "f002_d0002", "f003_d0002"]


def test_a_solver_that_fails_ends_its_batch_alone(tmp_path, capsys):
    assert coco(tmp_path, "tiny_solvers:afraid_of_three", budget=1) == 1
    said = capsys.readouterr().err
    assert "Failed: f1 in 3 dimensions: RuntimeError: three is too many\n" in said
    assert names(tmp_path / "afraid_of_three") == ["f001_d0002", "f003_d0002"]
    assert not (tmp_path / "unfinished").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--suite", "bbob-biobj"],
            "A suite is one of bbob, bbob-largescale, bbob-noisy, bbob-boxed, bbob-constrained, but "
            "'bbob-biobj' was given.",
        ),
        (["--method", "best"], "A method is one of auto, differences, evolution, "),
        (["--method", "sarp"], "sarp needs to know the condition number kappa, which is unknown for the "),
        (
            ["--method", "rg"],
            "rg needs to know the largest curvature L, which is unknown for the problems of",
        ),
        (["--method", "nowhere:f"], "The method nowhere:f cannot be imported: No module named 'nowhere'."),
        (
            ["--method", "tiny_solvers:NONE"],
            "The method tiny_solvers:NONE does not exist: the module tiny_solvers has no function 'NONE'.",
        ),
        (["--dimensions", "7,20"], "The suite has the dimensions 20,40,80,160,320,640, but 7 was given."),
        (
            ["--functions", "20-26"],
            "The suite has the functions 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,",
        ),
        (["--instances", "0-3"], "The instances of bbob-largescale are numbered from 1, but 0 was given."),
        (["--out", "test_coco.py"], "Nothing can be written into the folder "),
    ],
)
def test_errors_are_sentences(arguments, sentence, capsys):
    assert main(["coco", *arguments]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"pursuit: {sentence}")
    assert said.count("\n") == 1
    assert not (HERE / "coco").exists()


@pytest.mark.parametrize("text", ["", "1-", "5-1", "1,,2", "all"])
def test_a_selection_is_made_of_numbers_and_ranges(text, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["coco", "--functions", text])
    assert f"must be numbers and ranges such as 1-5,8, but {text} was given" in capsys.readouterr().err


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cocoex", None)
    assert main(["coco"]) == 1
    assert capsys.readouterr().err == (
        "pursuit: cocoex is missing: python -m pip install '.[coco]' in a checkout, "
        "else pip install 'pursuit[coco]'.\n"
    )


def test_profiles_agree_with_the_data_and_are_drawn(finished, tmp_path, capsys):
    other = tmp_path / "other"
    assert coco(other, "tiny_solvers:hill_climber", budget=100) == 0
    capsys.readouterr()
    out = tmp_path / "figures" / "profiles.svg"
    assert main(["coco-profiles", str(finished[0]), str(other), "--out", str(out)]) == 0
    table = out.with_suffix(".csv")
    assert capsys.readouterr().out == f"The data profiles are in {out}, and as a table in {table}.\n"
    assert "<svg" in out.read_text()
    with table.open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["evaluations_per_dimension", "auto", "hill_climber"]
    assert rows[1][0] == "1"
    # The second one spent less.
    assert 299.0 < float(rows[-1][0]) <= 300.0
    assert rows[-1][2] == ""

    profiles = data_profiles([finished[0], other])
    for profile, data in zip(profiles, (finished[0] / "auto", other / "hill_climber"), strict=True):
        reached = []
        for (_, dimension, _), record in records(data).items():
            for target in TARGETS:
                hits = record[record[:, 2] <= target * (1.0 + 1e-9), 0]
                reached += [hits[0] / dimension] if hits.size else []
        np.testing.assert_array_equal(profile.reached, np.sort(reached))
        assert profile.share(np.inf) == len(reached) / (12 * TARGETS.size)
    assert 299.0 < profiles[0].spent <= 300.0
    assert 0.0 < profiles[0].share(5.0) < profiles[0].share(300.0) < 1.0


def test_profiles_of_some_problems_are_those_of_their_data(finished, tmp_path, capsys):
    parts = [
        data_profiles([finished[0]], functions=[function], dimensions=[dimension])[0]
        for function in (1, 3)
        for dimension in (2, 3)
    ]
    (whole,) = data_profiles([finished[0]])
    assert sorted(problem for part in parts for problem in part.problems) == list(whole.problems)
    np.testing.assert_array_equal(np.sort(np.concatenate([part.reached for part in parts])), whole.reached)
    out = str(tmp_path / "a.svg")
    assert main(["coco-profiles", str(finished[0]), "--functions", "3", "--out", out]) == 0
    assert "1 function" in Path(out).read_text()
    capsys.readouterr()
    assert main(["coco-profiles", str(finished[0]), "--dimensions", "40", "--out", out]) == 1
    assert capsys.readouterr().err == (
        f"pursuit: There are COCO data in {finished[0]}, but none for the functions and dimensions given.\n"
    )


def test_profiles_are_of_the_same_problems_and_have_different_names(finished, tmp_path, capsys):
    run_suite("bbob", "auto", tmp_path, budget=300, dimensions=[2], functions=[1], instances=[1], jobs=1)
    capsys.readouterr()
    for folders, out, sentence in (
        (
            [finished[0], tmp_path],
            "a.png",
            "All experiments must be on the same problems, but auto has f1 in 2 ",
        ),
        (
            [tmp_path / "none"],
            "a.png",
            f"There are no COCO data in {tmp_path}/none: run pursuit coco --out ",
        ),
        ([tmp_path], "a.txt", "A figure's file ends with one of .pdf, .svg, .png, but a.txt was given.\n"),
    ):
        assert main(["coco-profiles", *map(str, folders), "--out", str(tmp_path / out)]) == 1
        assert capsys.readouterr().err.startswith(f"pursuit: {sentence}")
    same = data_profiles([tmp_path, tmp_path / "auto"])
    assert [profile.name for profile in same] == [str(tmp_path), f"{tmp_path}/auto"]
