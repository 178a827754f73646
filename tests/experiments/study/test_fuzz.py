"""Whatever a declaration or a selection contains, it is a study or a sentence."""

import datetime
import json
import math

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pursuit.experiments.study import StudyError
from pursuit.experiments.study.declaration import Study, parse_study, parse_where
from pursuit.experiments.study.grid import entries_of

GOOD = {
    "title": "t",
    "schemes": ["rp", {"method": "cma", "label": "c", "options": {"c_c": 0.1}}],
    "readings": ["frozen"],
    "runs": 2,
    "target": 1e-3,
    "cap": 100.0,
    "problems": [{"problem": "exp", "label": "e", "n": [2, 3], "L": [10.0]}],
    "exceptions": [{"where": {"problem": "e", "n": 2, "L": 10.0, "scheme": "rp"}, "runs": 1}],
    "figures": [{"name": "f", "caption": "c", "rows": "n", "columns": "L", "where": {"problem": "e"}}],
}  # fmt: skip
# Stands for a number that Python does not write in decimal digits.
HUGE = "a number of 5001 hexadecimal digits"
SCALARS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
    st.integers(-(10**30), 10**30),
    st.sampled_from([0, 1, 2, 10**12, 2**63, 2**64, 10**400, HUGE]),
    st.floats(),
    st.booleans(),
    st.dates(),
    st.times(),
    st.sampled_from(["exp", "rp", "auto", "rosenbrock", "nowhere:thing", "math:pi", "os:getcwd", "ep-cma-0",
                     "ep-cma-99999999999999999999", "ep-cma-7", "frozen", "n", "e", ":", "a:b:c", "x" * 300]),
)  # fmt: skip
KEYS = st.sampled_from(["problem", "label", "n", "L", "method", "options", "where", "runs", "name", "x", ""])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


def toml(value):
    """Return a value as TOML writes it inline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return "nan" if math.isnan(value) else repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if value == HUGE:
        return "0x1" + "0" * 5000
    # JSON's escapes are among those of TOML, but for characters beyond the first plane.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def paths_in(value, path=()):
    """Yield the way to every value of a declaration."""
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths_in(value[key], (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def outcome(text, only=""):
    """Return a study with its cells, or the sentence that refuses it."""
    try:
        study = parse_study(text, "study.toml", ".")
        return study, entries_of(study, only=parse_where(only))
    except StudyError as error:
        return str(error), None


@given(st.sampled_from([path for path in paths_in(GOOD) if path]), VALUES)
@settings(max_examples=400, deadline=None)
@example(("cap",), 1e300)
@example(("cap",), 1e-5)
@example(("runs",), 10**12)
@example(("target",), HUGE)
@example(("problems", 0, "problem"), ["exp"])
@example(("problems", 0, "n", 0), 10**12)
@example(("schemes", 1, "options"), {"c_c": datetime.date(2014, 9, 13)})
@example(("schemes", 1, "options", "c_c"), 10**400)
@example(("schemes", 1, "options", "c_c"), [10**400] * 3)
@example(("schemes", 0), "ep-cma-99999999999999999999")
def test_a_declaration_with_anything_in_one_place_is_a_study_or_a_sentence(path, value):
    text = "".join(f"{key} = {toml(inner)}\n" for key, inner in replaced(GOOD, path, value).items())
    found, entries = outcome(text)
    if isinstance(found, Study):
        assert entries
        assert all(0 < entry.recipe.cap < 2**63 for entry in entries)
    else:
        assert found.endswith(".")
        assert len(found) < 1000


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
@example("x = " + "[" * 2000)
@example("x = " + "9" * 5000)
@example("title = 'x'\r")
def test_any_text_is_a_study_or_a_sentence(text):
    found, _ = outcome(text)
    assert isinstance(found, str)
    assert found.startswith("study.toml")


@given(
    st.lists(
        st.tuples(st.sampled_from(["n", "L", "problem", "scheme", "reading", "m", ""]), st.text(max_size=20)),
        max_size=4,
    ),
    st.sampled_from(["=", "", "==", " ="]),
)
@settings(max_examples=300, deadline=None)
@example([("n", "9" * 5000)], "=")
@example([("n", "20"), ("n", "40")], "=")
def test_any_selection_selects_cells_or_is_a_sentence(terms, equals):
    text = " ".join(f"{field}{equals}{values}" for field, values in terms)
    found, _ = outcome(DECLARED, text)
    if isinstance(found, str):
        assert found.endswith(".")
        assert len(found) < 1000


DECLARED = "".join(f"{key} = {toml(inner)}\n" for key, inner in GOOD.items())
