import hashlib
import re

import pytest

from experiments.study.small import CELLS, DECLARATION, RUNS, declared
from helpers import PAPER
from pursuit.experiments.common import StudyError
from pursuit.experiments.study.declaration import PRESETS, load_study, parse_study, parse_where
from pursuit.experiments.study.grid import entries_of
from pursuit.experiments.study.results import Cell, applies
from pursuit.methods.catalogue import resolved


def test_a_file_becomes_cells_with_their_runs(tmp_path):
    entries = entries_of(load_study(declared(tmp_path)))
    assert len(entries) == CELLS
    assert sum(entry.runs for entry in entries) == RUNS
    assert entries[0].cell == ("exp", 10.0, 4, "rp", "frozen")
    assert [entry.runs for entry in entries if entry.cell[:4] == ("exp", 100.0, 4, "rp")] == [2]
    assert not [entry for entry in entries if entry.cell[:4] == ("exp", 100.0, 6, "rp")]
    assert {entry.recipe.cap for entry in entries if entry.cell.n == 6} == {120_000}


@pytest.mark.parametrize(
    ("preset", "cells", "runs"),
    [
        ("quick", 4 * 10, 4 * 10 * 11),
        # exp 3 x 2, lin 1 x 2, two 2, rosenbrock 2; 11 runs of RP on lin with L = 1e6
        ("main", 12 * 10, 12 * 10 * 51 - 40),
        # 7 x 5 panels; RP on lin with L = 1e6 in five dimensions; two, n = 100, L = 1e6: nine schemes;
        # all that under three readings, but for EP-CMA-n in eight more panels under the first
        ("full", 3 * (35 * 10 - 1) - 8, 3 * ((35 * 10 - 10 - 5) * 51 + 5 * 11 + 9 * 11) - 8 * 51),
    ],
)
def test_the_presets_are_the_papers_panels(preset, cells, runs):
    study = load_study(preset)
    entries = entries_of(study)
    assert len(entries) == cells
    assert sum(entry.runs for entry in entries) == runs
    assert {entry.cell.scheme for entry in entries} == set(PAPER)
    assert {entry.recipe.cap for entry in entries} == {int(10**6.5 * n) for n in {e.cell.n for e in entries}}
    for figure in study.figures:
        assert any(applies(figure.where, entry.cell) for entry in entries)


def test_of_several_exceptions_the_last_one_decides_on_runs_and_on_the_cap(tmp_path):
    text = (
        DECLARATION
        + """
[[exceptions]]
where = { scheme = "rp" }
cap = 300

[[exceptions]]
where = { scheme = "rp", n = 6 }
runs = 1
"""
    )
    entries = entries_of(load_study(declared(tmp_path, text)))
    caps = {(entry.cell.scheme == "rp", entry.recipe.cap // entry.cell.n) for entry in entries}
    assert caps == {(True, 300), (False, 20_000)}
    of_rp = {entry.cell[:3]: entry.runs for entry in entries if entry.cell.scheme == "rp"}
    assert of_rp[("exp", 100.0, 4)] == 2
    assert of_rp[("exp", 100.0, 6)] == of_rp[("exp", 10.0, 6)] == 1
    assert of_rp[("exp", 10.0, 4)] == 3


def test_a_cap_has_to_allow_an_iteration_where_it_applies():
    exception = """
[[exceptions]]
where = { n = 6 }
cap = 0.2
"""
    study = parse_study(DECLARATION + exception, "own.toml", ".")
    assert {entry.recipe.cap for entry in entries_of(study) if entry.cell.n == 6} == {1}


def test_only_the_presets_use_another_reading_than_minimize(tmp_path):
    assert load_study(declared(tmp_path)).readings == ("frozen",)
    for method, needed in (("rp", {}), ("sarp", {"kappa": 9.0}), ("cma", {}), ("ep-cma-2", {})):
        cls, implied = resolved(method, 4)
        found, frozen, printed = (
            cls.create(4, **implied, **needed, **reading)
            for reading in ({}, {"reading": "frozen"}, {"reading": "printed"})
        )
        assert found == frozen
        assert (found == printed) == (method == "rp")
    assert {preset: load_study(preset).readings for preset in PRESETS} == {
        "quick": ("fitted",),
        "main": ("fitted",),
        "full": ("printed", "fitted", "frozen"),
        "rivals": ("fitted",),
    }


def test_title_and_runs_have_defaults_and_only_the_presets_judge_claims(tmp_path):
    text = DECLARATION.replace('title = "A small study"\n', "").replace("\nruns = 3\n", "\n", 1)
    study = load_study(declared(tmp_path, text))
    assert (study.title, study.runs, study.claims) == ("small", 11, False)
    assert all(load_study(preset).claims for preset in PRESETS)


def test_the_presets_are_those_of_the_command_line():
    assert PRESETS == ("quick", "main", "full", "rivals")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("runs = 3", "runs = 0", "the key runs must be a whole number of at least 1, but 0 was given"),
        ("runs = 3", "claims = 3", "the key claims must be true or false, but 3 was given"),
        ("target = 1e-6", "", "the key target is missing"),
        ("runs = 3", "runs = 3\nrun = 3", "the key run is unknown; allowed are title, problems, schemes,"),
        ("target = 1e-6", "target = nan", "the key target must be a finite number, but nan was given"),
        (
            '"sarp"',
            '"spar"',
            "the key schemes[1].method must be one of auto, differences, evolution, .* or module:name",
        ),
        ('"sarp"', '"rp"', "schemes must have different labels, but 'rp' occurs twice"),
        ('"sarp"', "3", "the key schemes[1] must be a method's name or a table with one, but 3 was given"),
        ('"sarp"', '{ name = "sarp" }', "the key schemes[1].method is missing"),
        (
            'problem = "exp"\nn',
            'problem = "exq"\nn',
            "the key problems[0].problem must be one of exp, lin, two,",
        ),
        ("n = [4, 6]", "n = [4, 4]", "the key problems[0].n must not name anything twice"),
        ("n = [4, 6]", "n = []", "the key problems[0].n must be a list that is not empty"),
        ("L = [10, 100]", "", "the key problems[0].L is missing: exp needs it"),
        ("n = 4\n", "n = 4\nL = 10\n", "the key problems[1].L is not allowed: rosenbrock has none"),
        (
            'scheme = "rp" }',
            'scheme = "pr" }',
            "the key exceptions[0].where names the scheme 'pr', but the study has",
        ),
        (
            'where = { problem = "exp" }',
            "where = { n = 5 }",
            "the key figures[0].where names the n 5, but the study has",
        ),
        (
            "where = { problem",
            "where = { task",
            "the key exceptions[0].where must be a table of problem, L, n,",
        ),
        (
            'scheme = "rp" }\nruns = 2',
            'scheme = "rp" }',
            "the key exceptions[0].runs is missing, and so is cap: an exception has at least one of them",
        ),
        (
            'scheme = "rp" }\nruns = 2',
            'scheme = "rp" }\ncap = 0.2',
            "the key exceptions[0].cap must allow an iteration in every dimension",
        ),
        (
            'rows = "n"',
            'rows = "m"',
            "the key figures[0].rows must be one of problem, L, n, but 'm' was given",
        ),
        ('rows = "n"', 'rows = "L"', "the key figures[0].columns must differ from rows"),
        ("cap = 20000", "cap = ", "is not valid TOML"),
    ],
)
def test_errors_name_the_file_the_key_and_what_is_allowed(tmp_path, old, new, message):
    text = DECLARATION.replace(old, new, 1)
    assert text != DECLARATION
    path = declared(tmp_path, text)
    expected = re.escape(message).replace(re.escape(".*"), ".*")
    with pytest.raises(StudyError, match=f"^{re.escape(str(path))}.*{expected}"):
        load_study(path)


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(
        StudyError, match=r"one of quick, main, full, rivals or a TOML file, but .*nowhere.toml"
    ):
        load_study(tmp_path / "nowhere.toml")


def test_a_selection_names_fields_and_values():
    assert parse_where("") == {}
    assert parse_where("n=20,40 scheme=rp") == {"n": (20, 40), "scheme": ("rp",)}
    for bad in ("m=3", "n", "n=x", "n=3,"):
        with pytest.raises(StudyError, match=re.escape(repr(bad))):
            parse_where(bad)


def test_a_problem_without_l_belongs_to_every_l():
    exp = Cell(problem="exp", L=1e6, n=20, scheme="rp", reading="fitted")
    assert not applies({"L": (1e4,)}, exp)
    assert applies({"L": (1e4,)}, exp._replace(problem="rosenbrock", L=None))


def test_a_selection_of_nothing_is_an_error():
    study = parse_study(DECLARATION, "small.toml", ".")
    with pytest.raises(StudyError, match="the selection names none"):
        entries_of(study, only={"n": (5,)})


def test_an_option_that_a_scheme_lacks_is_said_with_its_cell():
    study = parse_study(
        DECLARATION.replace('"sarp"', '{ method = "sarp", options = { c = 3 } }'), "s.toml", "."
    )
    with pytest.raises(
        StudyError, match=r"The cell exp L=10 n=4 sarp frozen cannot be run: .*'c' is not an option"
    ):
        entries_of(study)


def test_one_run_serves_cells_that_differ_in_name_only():
    entries = entries_of(
        load_study("quick"), readings=["printed", "fitted", "frozen"], only={"problem": ("exp",)}
    )
    identities = {entry.cell[3:]: entry.key.identity for entry in entries}
    for reading in ("printed", "fitted", "frozen"):
        assert identities["ep-cma-4", reading] == identities["ep-cma-sqrt", reading]
        assert identities["rp", reading] == identities["rp", "printed"]
        assert identities["sarp-exact", reading] == identities["sarp-exact", "printed"]
    assert identities["sarp", "fitted"] == identities["sarp", "frozen"] != identities["sarp", "printed"]
    assert len({identities["cma", reading] for reading in ("printed", "fitted", "frozen")}) == 3
    # rp, rp-exact, sarp-exact, two of sarp, three of cma and of ep-cma-1, -2, -4, -n
    assert len(set(identities.values())) == 3 + 2 + 3 * 5


def test_identities_never_change():
    """Seeds are made from them, so that a change of a letter would change every run."""
    entries = entries_of(load_study("quick"), only={"problem": ("exp", "rosenbrock")})
    identities = {(entry.cell.problem, entry.cell.scheme): entry.key.identity for entry in entries}
    scheme = "pursuit.schemes.random_pursuit:RandomPursuit"
    assert identities["exp", "rp"] == (
        f'{{"L": 10000.0, "n": 20, "problem": "exp", "reading": "printed", "scheme": "{scheme}"}}'
    )
    assert identities["exp", "rp-exact"] == (
        '{"L": 10000.0, "n": 20, "oracle": "exact", "problem": "exp", "reading": "printed", '
        f'"scheme": "{scheme}"}}'
    )
    assert identities["rosenbrock", "ep-cma-sqrt"] == (
        '{"L": null, "m": 4, "n": 20, "problem": "rosenbrock", "reading": "fitted", '
        '"scheme": "pursuit.schemes.ep_cma:EpCma"}'
    )
    everything = "\n".join(
        entry.key.identity for entry in entries_of(load_study("full"), readings=["fitted"])
    )
    assert hashlib.sha256(everything.encode()).hexdigest() == (
        "1442c0b664b41246f140d31223ecec8874210f4a2a6ad418fa54db309d233a65"
    )
