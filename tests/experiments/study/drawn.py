"""Small results, and ways to find curves, markers and legends in their figures."""

import itertools

import numpy as np

from pursuit.experiments.study.figures import build_figure
from pursuit.experiments.study.results import Cell, CellResults, FigureSpec, Results, RunRecord, Trace

TARGET = 1e-9
START = 1e3


def spec(rows, columns, where=(), name="", caption=""):
    """Return a figure's specification."""
    return FigureSpec(name=name, caption=caption, rows=rows, columns=columns, where=dict(where))


ONE_PANEL = spec("problem", "n", name="one", caption="One panel.")


def straight(nit, end=TARGET):
    """Return the trace of a run whose value falls from START to `end` by equal factors."""
    nits = np.unique(np.r_[0, np.geomspace(1, nit, 30).astype(np.int64)])
    return Trace(nits, 1 + nits, START * (end / START) ** (nits / nit))


def study(traces, figures=(ONE_PANEL,), target=TARGET):
    """Return the results that have these traces: a list for each cell."""

    def finished(number, trace):
        reason = "target" if trace.fun.min() <= target * (1 + 1e-9) else "maxiter"
        return RunRecord(
            number=number,
            nit=int(trace.nit[-1]),
            nfev=int(trace.nfev[-1]),
            fun=float(trace.fun.min()),
            reason=reason,
            seconds=0.1,
        )

    cells = tuple(
        CellResults(
            cell=cell,
            target=target,
            cap=10**6,
            wanted=len(found),
            code="",
            runs=tuple(itertools.starmap(finished, enumerate(found))),
        )
        for cell, found in traces.items()
    )
    return Results(
        title="A study",
        cells=cells,
        figures=tuple(figures),
        trace=lambda cell, number: traces[cell][number],
        made={},
    )


def cell_of(scheme, problem="exp", L=1e4, n=20, reading="fitted"):
    return Cell(problem=problem, L=L, n=n, scheme=scheme, reading=reading)


def one_panel(traces, measure="iterations", **settings):
    figure = build_figure(study(traces, **settings), ONE_PANEL, "fitted", measure)
    (axes,) = panels_of(figure)
    return axes


def panels_of(figure):
    return [axes for axes in figure.axes if axes.axison]


def titles_of(figure):
    """Return the title of the panel in each place, row by row; None where there is none."""
    rows, columns = figure.axes[0].get_subplotspec().get_gridspec().get_geometry()
    titles = [axes.get_title() if axes.axison else None for axes in figure.axes]
    return [titles[columns * row : columns * (row + 1)] for row in range(rows)]


def curve_of(axes, scheme):
    return next((line for line in axes.lines if line.get_label() == scheme), None)


def marker_of(axes, scheme):
    return next((mark for mark in axes.containers if mark.get_label().startswith(f"{scheme},")), None)


def legend_of(figure):
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    (legend,) = legends
    return legend


def marker_places(axes):
    """Return where the markers are in the figure, in pixels, after the layout."""
    points = [mark.lines[0] for mark in axes.containers]
    return [point.get_transform().transform([point.get_xdata()[0], point.get_ydata()[0]]) for point in points]
