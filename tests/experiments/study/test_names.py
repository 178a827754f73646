"""Names and texts that people may give: shown as they are, or refused in a sentence."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from experiments.study.made_up import made_up_results
from experiments.study.small import declared
from pursuit.experiments.common.formatting import escaped, file_name
from pursuit.experiments.study import StudyError, draw_report, load_study, reproduce
from pursuit.experiments.study.figures import build_figure
from pursuit.experiments.study.report.document import write_report
from pursuit.experiments.study.results import FigureSpec

DECLARATION = """
title = {title}
schemes = [{{ method = "rp", label = {label} }}]
runs = 2
target = 1e-2
cap = 1e5

[[problems]]
problem = "exp"
label = {label}
n = [2, 3]
L = 10
"""
ODD = [
    "[red]:smile:", "$", "$x^$", "$$\\frac", "<b>&amp;", "a|b|", "`rm`_*x*", "_name_", "🎉👩\u200d🔬",
    "é" * 200, "🎉" * 200, "..", "#", "[x](y)", "%{y}", "{task}", "\"'",
]  # fmt: skip


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_odd_labels_and_titles_are_shown_and_spoil_nothing(tmp_path, monkeypatch, capsys):
    """All of them in one study, whose cells share their runs."""
    labels = [name.replace("\\", "") for name in ODD]
    title = " ".join(ODD)[:200]
    schemes = ", ".join(f'{{ method = "rp", label = {quoted(label)} }}' for label in labels)
    text = f"title = {quoted(title)}\nschemes = [{schemes}]\nruns = 2\ntarget = 1e-2\ncap = 1e5\n"
    for label in ("$x^$", "<b>&amp;", "🎉" * 200):
        text += f'[[problems]]\nproblem = "exp"\nlabel = {quoted(label)}\nn = 2\nL = 10\n'
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    with ThreadPoolExecutor(1) as executor:
        done = reproduce(declared(tmp_path, text), tmp_path / "out", executor=executor)
    assert done.failures == []
    assert "[red]:smile:" in capsys.readouterr().err
    draw_report(tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text()
    assert text.startswith(f"# {escaped(title)}\n")
    for label in labels:
        in_table = escaped(label).replace("|", "\\|")
        assert f"\n| {in_table} | " in text
    pictures = re.findall(r"\]\((figures/[^)]*)\)", text)
    # One for each problem, and the distributions.
    assert len(set(pictures)) == 4
    for picture in pictures:
        assert (tmp_path / "out" / picture).stat().st_size > 1000


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("title", "a\\nb", "must be a text in one line, without control characters"),
        ("title", "a\\u202eb", "must be a text in one line, without control characters"),
        ("title", "x" * 10_000, "must be a text of at most 200 characters"),
        ("label", "x" * 10_000, "must be a text of at most 200 characters"),
        ("label", "a\\u0000b", "must be a text in one line, without control characters"),
        ("label", "a\\nb", "must be a text in one line, without control characters"),
        ("label", "a b", "must be a text without spaces, commas, equals signs and slashes"),
        ("label", "../b", "must be a text without spaces, commas, equals signs and slashes"),
    ],
)
def test_what_cannot_be_shown_is_refused(key, text, message, tmp_path):
    texts = {"title": '"title"', "label": '"label"'} | {key: f'"{text}"'}
    with pytest.raises(StudyError, match=message) as caught:
        load_study(declared(tmp_path, DECLARATION.format(**texts)))
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("names", [("ecdf",), ("ECDF",), ("Same", "same")])
def test_figures_never_overwrite_each_other(names, tmp_path):
    text = DECLARATION.format(title='"t"', label='"label"')
    for name in names:
        text += f'[[figures]]\nname = "{name}"\ncaption = "c"\nrows = "n"\ncolumns = "L"\n'
    with pytest.raises(StudyError, match=f"the name '{names[-1]}' of a figure is taken; choose another"):
        load_study(declared(tmp_path, text))


def test_a_dollar_sign_is_drawn_as_it_is():
    spec = FigureSpec(name="f", caption="", rows="n", columns="L", where={})
    results = made_up_results(places=[("$x^$", 1e4)])
    figure = build_figure(results, spec, "fitted")
    figure.draw_without_rendering()
    assert figure.axes[0].get_title().startswith("$x^$, L = 1e4")
    assert not figure.axes[0].title.get_parse_math()


def test_names_of_files_are_simple_short_and_different():
    assert file_name("appendix-exp") == "appendix-exp"
    made = [file_name(name) for name in ("a/b", "a:b", "a b", "x" * 200, "x" * 201, "../..", "🎉")]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch(r"[\w.-]{1,60}", name) for name in made)


def test_the_report_of_an_odd_figure_finds_its_files(tmp_path):
    spec = FigureSpec(name="a<b>$(c)", caption="*Not* `code`", rows="n", columns="L", where={})
    write_report(made_up_results(figures=[spec], places=[("exp", 1e4)], readings=["fitted"]), tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "\\*Not\\* \\`code\\`" in text
    for picture in re.findall(r"\]\((figures/[^)]*)\)", text):
        assert (tmp_path / picture).is_file()
