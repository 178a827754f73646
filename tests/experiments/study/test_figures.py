"""Figures: they show what the runs did, and follow from the results alone."""

import itertools
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pytest

import pursuit
from experiments.study.drawn import (
    ONE_PANEL,
    START,
    TARGET,
    cell_of,
    curve_of,
    legend_of,
    marker_of,
    marker_places,
    one_panel,
    panels_of,
    spec,
    straight,
    study,
    titles_of,
)
from pursuit.experiments.study.declaration import load_study
from pursuit.experiments.study.figures import build_distributions, build_figure, draw_figures
from pursuit.experiments.study.figures.layout import SCHEME_STYLES
from pursuit.experiments.study.results import Trace


def test_every_figure_is_written_in_every_format(tmp_path):
    traces = {
        cell_of(scheme, reading=reading): [straight(500)]
        for scheme in ("rp", "sarp")
        for reading in ("printed", "fitted")
    }
    drawn = draw_figures(study(traces), tmp_path / "new" / "folder")
    assert [(figure.name, figure.reading) for figure in drawn] == [
        ("one", "printed"), ("ecdf", "printed"), ("one", "fitted"), ("ecdf", "fitted"),
    ]  # fmt: skip
    for figure in drawn:
        pdf, svg, png = figure.paths
        stem = f"{figure.name}-{figure.reading}"
        assert [path.name for path in figure.paths] == [f"{stem}.pdf", f"{stem}.svg", f"{stem}.png"]
        assert pdf.read_bytes().startswith(b"%PDF-")
        assert pdf.read_bytes().rstrip().endswith(b"%%EOF")
        assert b"/Type3" not in pdf.read_bytes().replace(b" ", b"")
        assert ElementTree.parse(svg).getroot().tag == "{http://www.w3.org/2000/svg}svg"
        assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_files_follow_from_the_results_alone(tmp_path):
    results = study({cell_of("rp"): [straight(500), straight(700)]})
    slower = results._replace(
        cells=tuple(
            entry._replace(runs=tuple(run._replace(seconds=9.0) for run in entry.runs))
            for entry in results.cells
        )
    )
    one = draw_figures(results, tmp_path / "one")
    with mpl.rc_context({"lines.linewidth": 5.0, "font.size": 20.0, "savefig.dpi": 50}):
        other = draw_figures(slower, tmp_path / "other")
        assert (mpl.rcParams["font.size"], mpl.rcParams["savefig.dpi"]) == (20.0, 50.0)
    for path, same in zip(
        *([p for figure in drawn for p in figure.paths] for drawn in (one, other)), strict=True
    ):
        assert path.read_bytes() == same.read_bytes(), path.name


def test_a_curve_is_the_trace_of_the_median_run():
    runs = [straight(300), straight(100), straight(200)]
    axes = one_panel({cell_of("rp"): runs})
    curve = curve_of(axes, "rp")
    # Logarithmic axes have no 0.
    assert list(curve.get_xdata()) == [1, *runs[2].nit[1:]]
    assert list(curve.get_ydata()) == list(np.maximum(runs[2].fun, TARGET))
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_title() == "exp, L = 1e4, n = 20"


def test_a_curve_ends_at_the_target():
    axes = one_panel({cell_of("rp"): [straight(100, end=1e-13)]})
    assert curve_of(axes, "rp").get_ydata().min() == TARGET


def test_a_marker_shows_mean_and_standard_deviation():
    axes = one_panel({cell_of("rp"): [straight(nit) for nit in (300, 100, 200)]})
    point, _, (bar,) = marker_of(axes, "rp").lines
    assert point.get_xdata()[0] == 200.0
    assert bar.get_segments()[0][:, 0] == pytest.approx([100.0, 300.0])


def test_a_scheme_that_never_arrives_ends_where_it_ends():
    axes = one_panel({cell_of("rp"): [straight(100, end=1e-2)], cell_of("sarp"): [straight(50)]})
    assert marker_of(axes, "rp") is None
    assert marker_of(axes, "sarp") is not None
    assert curve_of(axes, "rp").get_xdata()[-1] == 100
    assert curve_of(axes, "rp").get_ydata()[-1] == pytest.approx(1e-2)


def test_a_marker_counts_only_the_runs_that_arrived():
    runs = [straight(100), straight(300), *([straight(900, end=1e-2)] * 2)]
    axes = one_panel({cell_of("rp"): runs})
    assert marker_of(axes, "rp").lines[0].get_xdata()[0] == 200
    assert [text.get_text() for text in axes.texts] == ["2 of 4"]


def test_the_mean_of_a_few_runs_is_not_drawn():
    runs = [straight(100), *([straight(900, end=1e-2)] * 2)]
    axes = one_panel({cell_of("rp"): runs, cell_of("sarp"): [straight(50)]})
    assert curve_of(axes, "rp").get_xdata()[-1] == 900
    assert marker_of(axes, "rp") is None
    assert not any(text.get_text() for text in axes.texts)


def test_a_figure_leaves_out_the_schemes_that_it_says():
    """As the paper does with exact line search, from its Fig. 4 on."""
    results = study({cell_of(scheme): [straight(100)] for scheme in ("rp", "rp-exact")})
    figure = build_figure(results, ONE_PANEL._replace(without=("rp-exact",)), "fitted")
    assert [line.get_label() for line in panels_of(figure)[0].lines if line.get_label() in SCHEME_STYLES] == [
        "rp"
    ]
    assert [text.get_text() for text in legend_of(figure).get_texts()] == ["rp"]


def test_the_presets_leave_out_what_the_paper_omits():
    exact = ("rp-exact", "sarp-exact")
    for preset in ("main", "full"):
        figures = {figure.name: figure.without for figure in load_study(preset).figures}
        assert figures.pop("figure-3") == ()
        assert set(figures.values()) == {exact}


def test_markers_do_not_cover_each_other():
    axes = one_panel({cell_of(scheme): [straight(100)] for scheme in ("rp", "sarp", "cma")})
    axes.get_figure().draw_without_rendering()
    heights = sorted(place[1] for place in marker_places(axes))
    assert np.diff(heights).min() > 3.0 * axes.get_figure().dpi / 72.0


def test_no_marker_is_where_a_value_could_be():
    """The strip below the target is no part of the axis: it has no labels, and another colour."""
    axes = one_panel({cell_of(scheme): [straight(100)] for scheme in ("rp", "sarp", "cma")})
    axes.get_figure().draw_without_rendering()
    (strip,) = axes.patches
    lowest = axes.transData.transform((100.0, TARGET))[1]
    assert strip.get_window_extent().y1 == pytest.approx(lowest)
    assert all(place[1] < lowest - 2.0 * axes.get_figure().dpi / 72.0 for place in marker_places(axes))
    assert min(axes.get_yticks()) >= TARGET


def test_markers_far_apart_are_all_on_one_line():
    nits = {"rp": 100, "sarp": 1000, "cma": 10000}
    axes = one_panel({cell_of(scheme): [straight(nit)] for scheme, nit in nits.items()})
    axes.get_figure().draw_without_rendering()
    assert np.ptp([place[1] for place in marker_places(axes)]) < 0.01


def test_ten_markers_in_one_place_stay_inside_the_panel():
    traces = {cell_of(scheme, n=n): [straight(100)] for scheme in SCHEME_STYLES for n in range(2, 7)}
    figure = build_figure(study(traces), spec("n", "problem"), "fitted")
    assert len(panels_of(figure)) == 5
    figure.draw_without_rendering()
    for axes in panels_of(figure):
        bottom = min(place[1] for place in marker_places(axes))
        assert bottom > axes.get_window_extent().y0 + 2.0 * figure.dpi / 72.0


def test_what_diverges_leaves_the_panel_and_does_not_stretch_it():
    nits = np.arange(1, 50)
    diverging = Trace(nits, nits, np.r_[START * 10.0 ** np.arange(48), np.inf])
    axes = one_panel({cell_of("sarp"): [diverging], cell_of("rp"): [straight(100)]})
    assert axes.get_ylim()[1] == pytest.approx(10 * START)
    assert axes.get_ylim()[0] < TARGET


def test_all_panels_share_their_axes():
    traces = {
        cell_of("rp", L=1e4, n=20): [straight(100)],
        cell_of("rp", L=1e6, n=20): [straight(10**5)],
        cell_of("rp", L=1e4, n=40): [straight(1000)],
    }
    figure = build_figure(study(traces), spec("n", "L"), "fitted")
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels_of(figure)}) == 1
    figure.draw_without_rendering()
    left, right = (figure.axes[place].get_window_extent() for place in (0, 1))
    below = figure.axes[2].get_window_extent()
    assert (left.y0, left.height) == pytest.approx((right.y0, right.height))
    assert (left.x0, left.width) == pytest.approx((below.x0, below.width))


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (
            spec("n", "L", {"problem": ("exp",)}),
            [
                ["exp, L = 1e4, n = 20", "exp, L = 1e6, n = 20"],
                ["exp, L = 1e4, n = 80", None],
            ],
        ),
        (
            spec("n", "problem", {"problem": ("rosenbrock", "two"), "L": (1e4,)}),
            [["rosenbrock, n = 20", "two, L = 1e4, n = 20"], ["rosenbrock, n = 80", None]],
        ),
        (
            spec("problem", "L", {"n": (20,)}),
            [
                ["two, L = 1e4, n = 20", None],
                ["exp, L = 1e4, n = 20", "exp, L = 1e6, n = 20"],
                ["rosenbrock, n = 20", None],
            ],
        ),
        (
            spec("L", "problem", {"problem": ("exp",), "L": (1e4,)}),
            [["exp, L = 1e4, n = 20", "exp, L = 1e4, n = 80"]],
        ),
    ],
)
def test_panels_go_where_the_figure_says(figure, expected):
    panels = [
        ("two", 1e4, 20), ("exp", 1e6, 20), ("exp", 1e4, 80), ("exp", 1e4, 20),
        ("rosenbrock", None, 80), ("rosenbrock", None, 20),
    ]  # fmt: skip
    traces = {cell_of("rp", *panel): [straight(100)] for panel in panels}
    assert titles_of(build_figure(study(traces), figure, "fitted")) == expected


def test_cells_without_runs_are_left_out(tmp_path):
    figures = [spec("n", "L", {"problem": (name,)}, name=name) for name in ("exp", "lin")]
    traces = {cell_of("rp"): [straight(100)], cell_of("sarp"): [], cell_of("rp", problem="lin"): []}
    results = study(traces, figures)
    assert build_figure(results, figures[1], "fitted") is None
    assert [figure.name for figure in draw_figures(results, tmp_path, formats=["svg"])] == ["exp", "ecdf"]
    axes = build_figure(results, figures[0], "fitted").axes[0]
    assert curve_of(axes, "rp") is not None
    assert curve_of(axes, "sarp") is None


def test_a_study_without_any_runs_has_no_figures(tmp_path):
    assert draw_figures(study({cell_of("rp"): []}), tmp_path) == []


def test_without_declared_figures_each_problem_has_one(tmp_path):
    traces = {cell_of("rp", problem=problem): [straight(100)] for problem in ("exp", "lin")}
    drawn = draw_figures(study(traces, figures=()), tmp_path, formats=["svg"])
    assert [figure.name for figure in drawn] == ["exp", "lin", "ecdf"]


def test_a_scheme_looks_the_same_in_every_figure():
    schemes = [*SCHEME_STYLES, "mine", "yours"]
    results = study({cell_of(scheme, n=n): [straight(100)] for scheme in schemes for n in (20, 40)})
    results = results._replace(
        cells=tuple(entry for entry in results.cells if entry.cell.n == 20 or entry.cell.scheme != "mine")
    )
    styles = set()
    for n in (20, 40):
        figure = build_figure(results, spec("n", "L", {"n": (n,)}), "fitted")
        styles |= {
            (line.get_label(), line.get_color(), line.get_linestyle())
            for line in [*figure.axes[0].lines, *legend_of(figure).get_lines()]
            if line.get_label() in schemes
        }
    curves = build_distributions(results, "fitted").axes[0].lines
    styles |= {(line.get_label(), line.get_color(), line.get_linestyle()) for line in curves}
    assert sorted(name for name, *_ in styles) == sorted(schemes)


def test_sarp_has_two_evaluations_in_each_iteration():
    problem = pursuit.problems.exp(4, 10.0)
    traces = {
        cell_of(scheme, L=10.0, n=4): [
            pursuit.minimize(problem, problem.x0, method=scheme, rng=1, ftarget=TARGET, trace=True).trace
        ]
        for scheme in ("rp", "sarp")
    }
    iterations, evaluations = (one_panel(traces, measure) for measure in ("iterations", "evaluations"))
    assert iterations.get_xlabel() == "iterations (#ITS)"
    assert evaluations.get_xlabel() == "function evaluations"
    for scheme, each in (("rp", 1), ("sarp", 2)):
        its = np.r_[0, curve_of(iterations, scheme).get_xdata()[1:]]
        assert curve_of(evaluations, scheme).get_xdata() == pytest.approx(1 + each * its)
        mean = marker_of(iterations, scheme).lines[0].get_xdata()[0]
        assert marker_of(evaluations, scheme).lines[0].get_xdata()[0] == 1 + each * mean


def test_two_columns_fit_the_paper_and_can_be_read():
    traces = {
        cell_of(scheme, L=L, n=n): [straight(10**7)]
        for scheme in SCHEME_STYLES
        for L in (1e4, 1e6)
        for n in (20, 80)
    }
    results = study(traces)
    for figure in (
        build_figure(results, spec("n", "L"), "fitted"),
        build_distributions(results, "fitted"),
    ):
        # The text of the paper is 122 mm wide.
        assert figure.get_size_inches()[0] * 25.4 <= 122
        figure.draw_without_rendering()
        texts = [text for text in figure.findobj(mpl.text.Text) if text.get_text() and text.get_visible()]
        assert min(text.get_fontsize() for text in texts) >= 7.0
        whole = figure.get_window_extent()
        for axes in panels_of(figure):
            labels = [label for label in axes.get_xticklabels() if label.get_visible()]
            boxes = [label.get_window_extent() for label in labels]
            assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))
        legend = legend_of(figure).get_window_extent()
        assert whole.x0 <= legend.x0 < legend.x1 <= whole.x1
        assert whole.y0 <= legend.y0 < min(axes.get_window_extent().y0 for axes in panels_of(figure))
        assert [text.get_text() for text in legend_of(figure).get_texts()] == list(SCHEME_STYLES)


def test_captions_say_what_is_shown(tmp_path):
    traces = {
        cell_of("rp"): [straight(100)],
        cell_of("sarp"): [straight(100)] * 3,
        cell_of("sarp", problem="lin"): [straight(100)] * 3,
    }
    one, ecdf = draw_figures(study(traces), tmp_path, "evaluations", ["svg"])
    assert one.caption.startswith("One panel. Function values against evaluations: ")
    (same, _) = draw_figures(study(traces), tmp_path, "iterations", ["svg"])
    assert same.caption.startswith("One panel. Function values against iterations: ")
    assert "1e-9" in one.caption
    assert "1 to 3" in one.caption
    assert one.caption.endswith("Reading: fitted.")
    assert "Not run on all of these problems: rp." in ecdf.caption


def test_a_target_that_has_no_logarithm_gets_a_linear_axis():
    nits = np.array([0, 10, 100])
    axes = one_panel({cell_of("rp"): [Trace(nits, nits, np.array([5.0, 1.0, -3.0]))]}, target=-2.0)
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[0] < -2.0
    assert axes.get_ylim()[1] == 5.0
    assert list(curve_of(axes, "rp").get_ydata()) == [5.0, 1.0, -2.0]


def test_a_run_that_starts_at_the_target_is_no_trouble(tmp_path):
    trace = Trace(np.array([0]), np.array([1]), np.array([1e-10]))
    results = study({cell_of("rp"): [trace]})
    assert len(draw_figures(results, tmp_path, formats=["svg"])) == 2


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"measure": "seconds"}, "measure must be one of iterations, evaluations, but 'seconds' was given."),
        ({"formats": ["gif"]}, "format must be one of pdf, svg, png, but 'gif' was given."),
    ],
)
def test_wrong_settings_are_refused(setting, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        draw_figures(study({cell_of("rp"): [straight(100)]}), tmp_path, **setting)
