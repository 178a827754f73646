"""Pictures of runs against evaluations: the best value so far, the step size, and how many bounds are hit.

They need Matplotlib.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import Vector, checked_number, shown
from pursuit.optional import optional_module
from pursuit.problems.structure import flat_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#888888")
"""Okabe and Ito's colours, which people with any kind of colour vision can distinguish, with grey instead of
their yellow, which is too light for a line."""
# The share of one line among many, and of an area behind a line.
_FAINT, _FAINTER = 0.7, 0.2
# Values that span less than this factor are drawn on a linear axis.
_DECADE = 10.0
# The most decades that are named on an axis around 0.
_MOST_TICKS = 9
# The size of a new figure, in inches: its width, and the heights of the large panel and of each small one.
_WIDTH, _LARGE, _SMALL = 6.4, 3.6, 1.2


class Curve(NamedTuple):
    """The course of a run, at selected evaluations."""

    nfev: NDArray[np.int64]
    best: Vector
    """The best value so far, or the latest where that is an estimate or where constraints come first."""
    is_estimate: bool
    """Whether its values are estimates."""
    method: NDArray[np.str_]
    """Which was at work."""
    sigma: Vector
    """The step size; NaN where it is 0, as at the end of a method that sees nothing left to win."""
    at_bound: NDArray[np.int64] | None
    """How many variables are at a bound; None if there are no bounds."""

    @property
    def changes(self) -> list[int]:
        """The places from which on another method was at work."""
        return [int(place) + 1 for place in np.flatnonzero(self.method[1:] != self.method[:-1])]


class Band(NamedTuple):
    """The best value so far of many runs: its median and its quartiles."""

    label: str
    nfev: NDArray[np.int64]
    low: Vector
    median: Vector
    high: Vector


class Height(NamedTuple):
    """How values become heights on a picture."""

    shift: float
    """What is subtracted from them."""
    scale: Mapping[str, Any]
    """That of the axis, as `set_yscale` takes it."""
    label: str

    def of(self, values: Vector) -> Vector:
        """Return the heights of values."""
        with np.errstate(over="ignore"):
            return values - self.shift


class Panels(NamedTuple):
    """Where the parts of a picture are drawn; None for those that are left out."""

    values: Axes
    steps: Axes | None
    bounds: Axes | None

    def draw(
        self, curve: Curve, part: slice, height: Height, *, label: str, dots: bool = False, **style: Any
    ) -> None:
        """Draw a part of a curve, perhaps with dots where the method has changed."""
        nfev = curve.nfev[part]
        self.values.plot(
            nfev,
            height.of(curve.best[part]),
            drawstyle="steps-post",
            label=label,
            marker="o" if dots else "",
            markersize=4.0,
            markevery=[place - 1 for place in curve.changes] if dots else [],
            **style,
        )
        if self.steps is not None:
            self.steps.plot(nfev, curve.sigma[part], drawstyle="steps-post", **style)
        if self.bounds is not None and curve.at_bound is not None:
            self.bounds.plot(nfev, curve.at_bound[part], drawstyle="steps-post", **style)


def plot_runs(
    results: Iterable[dict[str, Any]],
    *,
    labels: Sequence[str] | None = None,
    fmin: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the best value so far of several runs against evaluations.

    Under noise, if a method estimates values, its estimates are drawn instead: the best of noisy values would
    be the luckiest. The axis of values is logarithmic if they are positive and span more than a factor of
    ten, linear if they span little, and otherwise logarithmic but for an interval around 0.

    A panel below shows the step size, and one more how many variables are at a bound, if there are bounds.

    Parameters
    ----------
    results : iterable of Result
        Results of `minimize` or `minimize_many` with ``trace=True``.
    labels : sequence of str
        A name for each result; those of the same name have the same colour. By default the methods.
    fmin : float
        The smallest value that f can have, if you know it: then the picture shows values minus `fmin`.
    ax : matplotlib.axes.Axes
        Where to draw the values, and nothing else; by default all is drawn on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What the values were drawn on; its `figure` has the other panels. A dot on a line is where the run
        has changed its method.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import pursuit
    >>> problem = pursuit.problems.exp(10, 1e2)
    >>> settings = {"seeds": [1, 2], "ftarget": 1e-6, "trace": True}
    >>> runs = [
    ...     run
    ...     for method in ("rp", "cma")
    ...     for run in pursuit.minimize_many(problem, problem.x0, method=method, **settings)
    ... ]
    >>> ax = pursuit.plot_runs(runs)
    >>> [(len(panel.lines), panel.get_ylabel()) for panel in ax.figure.axes]
    [(4, 'best value so far'), (4, 'step size')]
    """
    runs = [results] if isinstance(results, dict) else list(results)
    if not runs:
        raise ValueError("There must be at least one result to draw, but there is none.")
    curves = [curve_of(result) for result in runs]
    names = _checked_labels(labels, runs)
    height = height_of_curves(curves, fmin)
    lines = [(curve, slice(None), name) for curve, name in zip(curves, names, strict=True)]
    axes = _draw(lines, height, ax, dots=True, alpha=1.0 if len(set(names)) == len(curves) else _FAINT)
    axes.legend()
    return axes


def plot_run(result: dict[str, Any], *, fmin: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw a run against evaluations, in a colour for each method at work."""
    curve = curve_of(result)
    height = height_of_curves([curve], fmin)
    lines = [(curve, part, str(curve.method[part.stop - 1])) for part in _parts(curve)]
    axes = _draw(lines, height, ax)
    axes.legend(title="\n".join(["method at work", *_bounds_hit(result)]))
    return axes


def _draw(lines: Sequence[tuple[Curve, slice, str]], height: Height, ax: Axes | None, **style: Any) -> Axes:
    """Draw parts of curves, in a colour for each name; return what the values were drawn on."""
    panels = _panels(ax, height, [curve for curve, _, _ in lines])
    names = [name for _, _, name in lines]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    for number, (curve, part, name) in enumerate(lines):
        # Matplotlib leaves out of a legend what begins with an underscore.
        label = "_again" if name in names[:number] else name
        panels.draw(curve, part, height, color=_colour(places[name]), label=label, **style)
    return panels.values


def _bounds_hit(result: dict[str, Any]) -> list[str]:
    """Return how many variables are at a bound, in words, if there are bounds."""
    mask = result.get("active_mask")
    if mask is None:
        return []
    mask = flat_of(mask)
    return [f"{np.count_nonzero(mask)} of {mask.size} variables at a bound"]


def plot_bands(bands: Sequence[Band], *, fmin: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw medians as lines and quartiles as areas, in a colour for each band."""
    height = height_of([values for band in bands for values in (band.low, band.median, band.high)], fmin)
    axes = prepared_axes(ax, height)
    for place, band in enumerate(bands):
        low, median, high = (height.of(values) for values in (band.low, band.median, band.high))
        colour = _colour(place)
        axes.fill_between(band.nfev, low, high, step="post", color=colour, alpha=_FAINTER, linewidth=0.0)
        axes.plot(band.nfev, median, drawstyle="steps-post", color=colour, label=band.label)
    axes.legend()
    return axes


def curve_of(result: Any) -> Curve:
    """Return the course of a result with a trace."""
    if not isinstance(result, dict):
        raise TypeError(f"Results of minimize can be drawn, but {shown(result)} was given.")
    trace = result.get("trace")
    if trace is None:
        raise ValueError("A result can be drawn only with its trace: pass trace=True to minimize.")
    is_estimate = bool(result.get("fun_is_estimate"))
    # The lowest of estimates is a lucky one, and the lowest value outside constraints is none that counts.
    best = trace.fun.copy() if is_estimate or "maxcv" in result else np.fmin.accumulate(trace.fun)
    best[-1] = result["fun"]
    return Curve(
        nfev=trace.nfev,
        best=best,
        is_estimate=is_estimate,
        method=trace.method,
        sigma=np.where(trace.sigma > 0.0, trace.sigma, np.nan),
        at_bound=trace.at_bound if "active_mask" in result else None,
    )


def height_of_curves(curves: Sequence[Curve], fmin: float | None) -> Height:
    """Return how the values of curves become heights."""
    is_estimate = any(curve.is_estimate for curve in curves)
    label = "best or estimated value" if is_estimate else "best value so far"
    if all(curve.is_estimate for curve in curves):
        label = "estimated value"
    return height_of([curve.best for curve in curves], fmin, label, may_be_below=is_estimate)


def height_of(
    values: Sequence[Vector],
    fmin: float | None,
    label: str = "best value so far",
    *,
    may_be_below: bool = False,
) -> Height:
    """Return how values become heights; estimates of values may be below the smallest of f."""
    every = np.concatenate(values)
    finite = every[np.isfinite(every)]
    if fmin is None:
        return Height(0.0, _scale_of(finite), label)
    shift = checked_number("fmin", fmin)
    lowest = float(finite.min()) if finite.size else shift
    if lowest < shift and not may_be_below:
        raise ValueError(
            f"fmin must not be above the best value found, {lowest!r}, but {shown(fmin)} was given."
        )
    return Height(shift, _scale_of(finite - shift), f"{label}, less {shift:.6g}" if shift else label)


def _scale_of(heights: Vector) -> dict[str, Any]:
    """Return the scale of an axis that shows all of these, and small ones beside large ones."""
    positive = heights[heights > 0.0]
    if positive.size == 0:
        return {"value": "linear"}
    lowest, highest = float(heights.min()), float(positive.max())
    if lowest > 0.0:
        return {"value": "log" if highest >= _DECADE * lowest else "linear"}
    threshold = -lowest if lowest < 0.0 else float(positive.min())
    if highest < _DECADE * threshold:
        return {"value": "linear"}
    return {"value": "symlog", "linthresh": threshold}


def _panels(ax: Axes | None, height: Height, curves: Sequence[Curve]) -> Panels:
    """Return where to draw: the axes given, or all panels that these curves need, on a new figure."""
    if ax is not None:
        return Panels(prepared_axes(ax, height), steps=None, bounds=None)
    has_bounds = any(curve.at_bound is not None for curve in curves)
    heights = [_LARGE, _SMALL, _SMALL] if has_bounds else [_LARGE, _SMALL]
    _, (values, steps, *others) = optional_module("matplotlib.pyplot", "A plot").subplots(
        len(heights), sharex=True, height_ratios=heights, figsize=(_WIDTH, sum(heights)), layout="constrained"
    )
    prepared_axes(values, height).set_xlabel("")
    _style(steps, "step size", {"value": "log"})
    for bounds in others:
        _style(bounds, "at a bound", {"value": "linear"})
        bounds.yaxis.get_major_locator().set_params(integer=True)
    [steps, *others][-1].set_xlabel("evaluations")
    return Panels(values, steps, *(others or [None]))


def prepared_axes(ax: Axes | None, height: Height) -> Axes:
    """Return axes with scales and labels, on a new figure if none are given."""
    if ax is None:
        _, ax = optional_module("matplotlib.pyplot", "A plot").subplots(layout="constrained")
    elif not hasattr(ax, "set_yscale"):
        raise TypeError(f"ax must be axes of Matplotlib, but {shown(ax)} was given.")
    assert ax is not None
    _style(ax, height.label, height.scale)
    ax.set_xlabel("evaluations")
    return ax


def _style(ax: Axes, label: str, scale: Mapping[str, Any]) -> None:
    ax.set_xscale("log")
    ax.set_yscale(**scale)
    if scale["value"] == "symlog":
        locator: Any = ax.yaxis.get_major_locator()
        locator.set_params(numticks=_MOST_TICKS)
    ax.set_ylabel(label)
    ax.grid(color="0.9")
    ax.set_axisbelow(True)


def _parts(curve: Curve) -> Iterator[slice]:
    """Yield the parts of a curve at which one method was at work; each begins where the last one ends."""
    edges = [0, *curve.changes, len(curve.nfev)]
    for start, stop in itertools.pairwise(edges):
        yield slice(max(start - 1, 0), stop)


def _checked_labels(labels: Any, runs: list[dict[str, Any]]) -> list[str]:
    if labels is None:
        return [str(result["method"]) for result in runs]
    names = [labels] if isinstance(labels, str) else [str(label) for label in labels]
    if len(names) != len(runs):
        raise ValueError(
            f"There must be a label for each of {len(runs)} results, but there are {len(names)}."
        )
    return names


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]
