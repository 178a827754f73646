"""Pictures of runs, judged by the data of their lines."""

import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import pursuit

matplotlib.use("agg")
EXP = pursuit.problems.exp(6, 1e2)


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    yield
    plt.close("all")


def traced(fun, x0, **settings):
    return pursuit.minimize(fun, x0, rng=1, trace=True, **settings)


def kinks(x):
    """Rotate by 45 degrees in pairs, so that no kink lies along a coordinate."""
    return float(np.abs(x[::2] + x[1::2]).sum() + 3.0 * np.abs(x[::2] - x[1::2]).sum())


def test_a_run_is_drawn_as_the_best_value_so_far():
    result = traced(EXP, EXP.x0, method="cma", maxfev=300)
    ax = result.plot()
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), result.trace.nfev)
    np.testing.assert_array_equal(line.get_ydata(), np.minimum.accumulate(result.trace.fun))
    assert line.get_ydata()[-1] == result.fun
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_ylabel() == "best value so far"
    ax.figure.canvas.draw()


def test_a_second_panel_shows_the_step_size():
    result = traced(EXP, EXP.x0, method="cma", maxfev=300)
    values, steps = result.plot().figure.axes
    (line,) = steps.lines
    np.testing.assert_array_equal(line.get_xdata(), result.trace.nfev)
    np.testing.assert_array_equal(line.get_ydata(), result.trace.sigma)
    assert line.get_color() == values.lines[0].get_color()
    assert (steps.get_xscale(), steps.get_yscale()) == ("log", "log")
    assert (steps.get_xlabel(), steps.get_ylabel()) == ("evaluations", "step size")


def test_a_third_panel_shows_the_bounds_that_are_hit_where_there_are_bounds():
    runs = [traced(EXP, EXP.x0, method="differences", bounds=[(0.5, 2.0)] * 2 + [(None, None)] * 4)]
    assert runs[0].trace.at_bound[-1] == 2
    runs.append(traced(EXP, EXP.x0, method="cma", maxfev=300))
    alone, together = runs[0].plot().figure, pursuit.plot_runs(runs).figure
    for figure in (alone, together):
        labels = [panel.get_ylabel() for panel in figure.axes]
        assert labels == ["best value so far", "step size", "at a bound"]
        (line,) = figure.axes[2].lines
        np.testing.assert_array_equal(line.get_ydata(), runs[0].trace.at_bound)
        figure.canvas.draw()
    assert len(together.axes[1].lines) == 2
    assert len(pursuit.plot_runs(runs[1:]).figure.axes) == 2


def test_each_method_of_auto_has_its_colour():
    result = traced(kinks, np.linspace(-2.0, 3.0, 40), maxfev=6000)
    ax = result.plot()
    first, second = ax.lines
    until = result.stages[0].nfev
    assert (first.get_label(), second.get_label()) == ("differences", "evolution")
    assert first.get_color() != second.get_color()
    assert first.get_xdata()[-1] == second.get_xdata()[0] == until
    assert first.get_ydata()[-1] == second.get_ydata()[0]
    assert [line.get_color() for line in ax.figure.axes[1].lines] == [first.get_color(), second.get_color()]
    assert second.get_xdata()[-1] == result.nfev
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["differences", "evolution"]


def test_it_is_drawn_where_people_want_it():
    _, (left, right) = plt.subplots(1, 2)
    result = traced(EXP, EXP.x0, method="rp", maxfev=50)
    assert result.plot(right) is right
    assert not left.lines
    assert pursuit.plot_runs([result], ax=left) is left
    assert right.figure.axes == [left, right]
    assert right.get_xlabel() == "evaluations"


def test_runs_of_one_name_have_one_colour_and_one_entry_in_the_legend():
    runs = [
        run
        for method in ("rp", "cma")
        for run in pursuit.minimize_many(EXP, EXP.x0, [1, 2], method=method, maxfev=100, trace=True)
    ]
    ax = pursuit.plot_runs(runs)
    colours = [line.get_color() for line in ax.lines]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["rp", "cma"]
    named = pursuit.plot_runs(runs, labels=["a", "b", "c", "d"])
    assert len({line.get_color() for line in named.lines}) == 4


def test_a_dot_shows_where_a_run_has_changed_its_method():
    result = traced(kinks, np.linspace(-2.0, 3.0, 40), maxfev=6000)
    (line,) = pursuit.plot_runs(result).lines
    (place,) = line.get_markevery()
    assert line.get_xdata()[place] == result.stages[0].nfev


def assert_whole_and_inside(ax, runs):
    """Check that all of each line can be seen, that it ends at the result, and that no text is cut off."""
    canvas = ax.figure.canvas
    canvas.draw()
    for line, result in zip(ax.lines, runs, strict=True):
        heights = line.get_ydata()
        assert (line.get_xdata()[-1], heights[-1]) == (result.nfev, result.fun)
        assert np.isfinite(ax.transData.transform(np.column_stack([line.get_xdata(), heights]))).all()
        low, high = ax.get_ylim()
        assert (low <= heights).all()
        assert (heights <= high).all()
    width, height = canvas.get_width_height()
    for panel in ax.figure.axes:
        box = panel.yaxis.label.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= width
        assert 0 <= box.y0 < box.y1 <= height


@pytest.mark.parametrize(("scale", "shift"), [("symlog", 5.0), ("linear", 1e4)])
def test_negative_values_are_shown_as_they_are(scale, shift):
    runs = [traced(lambda x: 9.0 * EXP(x) - shift, EXP.x0, method="cma", maxfev=fev) for fev in (100, 500)]
    ax = pursuit.plot_runs(runs)
    assert (ax.get_ylabel(), ax.get_yscale()) == ("best value so far", scale)
    for line, result in zip(ax.lines, runs, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), np.minimum.accumulate(result.trace.fun))
    assert_whole_and_inside(ax, runs)


def test_values_that_span_little_have_a_linear_axis():
    result = traced(lambda x: 100.0 + np.tanh(x @ x), np.ones(3), maxfev=300)
    ax = result.plot()
    assert ax.get_yscale() == "linear"
    assert_whole_and_inside(ax, [result])


def test_estimates_are_drawn_where_values_are_noisy():
    noise = np.random.default_rng(1)
    result = traced(
        lambda x: x @ x + noise.normal(scale=0.1), np.full(5, 4.0), method="evolution", maxfev=2000
    )
    assert result.fun_is_estimate
    ax = result.plot(fmin=0.0)
    assert ax.get_ylabel() == "estimated value"
    np.testing.assert_array_equal(ax.lines[0].get_ydata()[:-1], result.trace.fun[:-1])
    assert_whole_and_inside(ax, [result])


def test_the_best_within_constraints_is_drawn_even_where_lower_values_violate_them():
    far = {"type": "ineq", "fun": lambda x: x @ x - 4.0}
    result = traced(lambda x: float(x @ x), np.ones(3), constraints=far)
    assert result.trace.fun.min() < 3.5 < result.fun
    assert_whole_and_inside(result.plot(), [result])


def test_a_known_minimum_is_subtracted():
    result = traced(lambda x: EXP(x) - 5.0, EXP.x0, method="cma", maxfev=500)
    ax = result.plot(fmin=-5.0)
    assert ax.get_ylabel() == "best value so far, less -5"
    assert ax.lines[0].get_ydata()[-1] == result.fun + 5.0
    with pytest.raises(ValueError, match=r"fmin must not be above the best value found, -4\.\d+, but 1 was"):
        result.plot(fmin=1)


@pytest.mark.parametrize("constant", [-2.0, 0.0, 3.0])
def test_values_that_are_all_the_same_can_be_drawn(constant):
    ax = traced(lambda x: constant, np.ones(2), method="rp", maxfev=20).plot()
    assert set(ax.lines[0].get_ydata()) == {constant}
    ax.figure.canvas.draw()


def test_zero_is_reached_without_a_shift():
    result = traced(lambda x: float(np.floor(abs(x)).sum()), np.full(3, 5.0), method="rp", ftarget=0.0)
    ax = result.plot()
    assert ax.get_ylabel() == "best value so far"
    assert ax.lines[0].get_ydata()[-1] == 0.0
    ax.figure.canvas.draw()


def test_what_cannot_be_drawn_is_refused_in_a_sentence(monkeypatch):
    result = traced(EXP, EXP.x0, method="rp", maxfev=20)
    untraced = pursuit.minimize(EXP, EXP.x0, method="rp", rng=1, maxfev=20)
    with pytest.raises(ValueError, match="only with its trace: pass trace=True to minimize"):
        untraced.plot()
    with pytest.raises(ValueError, match="at least one result to draw"):
        pursuit.plot_runs([])
    with pytest.raises(TypeError, match="Results of minimize can be drawn, but 3 was given"):
        pursuit.plot_runs([3])
    with pytest.raises(ValueError, match="a label for each of 1 results, but there are 2"):
        pursuit.plot_runs([result], labels=["a", "b"])
    with pytest.raises(TypeError, match="ax must be axes of Matplotlib, but 'here' was given"):
        result.plot("here")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")
    with pytest.raises(
        ImportError, match="A plot needs matplotlib, which is not installed: pip install matp"
    ):
        result.plot()


def test_the_library_imports_matplotlib_and_tables_only_when_they_are_used():
    code = "import sys, pursuit; print(sorted({'matplotlib', 'pandas', 'polars'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
