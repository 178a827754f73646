"""The result of a comparison of methods: a table, its rows, and a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pursuit.checks import Vector
from pursuit.reporting.plotting import Band, plot_bands
from pursuit.reporting.records import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ComparedRun(NamedTuple):
    """One run of a method."""

    method: str
    seed: int
    fun: float
    """The best value, or with `repeats` the mean of new values at `x`."""
    nfev: int
    """The evaluations made."""
    reached: float
    """The evaluations until the target was reached; infinite if it was not, or if there is none."""
    seconds: float
    progress_nfev: NDArray[np.int64]
    """Evaluations, up to the last."""
    progress_fun: Vector
    """The best value after each of these."""
    x: Vector
    """The point at which it ended."""
    is_estimate: bool
    """Whether the best value is an estimate by the method, and not a value seen."""


class Row(NamedTuple):
    """The results of the runs of a method.

    Medians and quartiles are values that occurred: of two in the middle, the smaller one.
    """

    method: str
    fun: float
    """The median of the best values."""
    fun_low: float
    fun_high: float
    """Their quartiles."""
    nfev: float
    """The median of the evaluations made."""
    success_share: float | None
    """The share of the runs that reached the target; None without a target."""
    nfev_to_target: float | None
    """The median of the evaluations to the target, infinite if fewer than half of the runs reached it; None
    without a target."""
    seconds: float
    """The median of the time of a run, in seconds."""


class Comparison:
    """A comparison of methods on a function; printing it shows a table.

    Attributes
    ----------
    rows : tuple of Row
        The results of each method, in the order of the methods. Each is a named tuple with
        `method`, `fun`, `fun_low`, `fun_high`, `nfev`, `success_share`, `nfev_to_target` and `seconds`.
    runs : tuple of ComparedRun
        All runs, with `method`, `seed`, `fun`, `nfev` and so on.
    maxfev : int
        The maximum number of evaluations of a run.
    ftarget : float or None
        The target.
    repeats : int
        How many new values at its last point each run is judged by; 0 if by its own best value.

    Examples
    --------
    >>> import pursuit
    >>> problem = pursuit.problems.exp(5, 1e2)
    >>> found = pursuit.compare(problem, problem.x0, ("cma", "rp"), seeds=2, maxfev=500)
    >>> len(found.runs), [row.method for row in found.rows]
    (4, ['cma', 'rp'])
    """

    def __init__(
        self, runs: Sequence[ComparedRun], *, maxfev: int, ftarget: float | None, repeats: int = 0
    ) -> None:
        self.runs: tuple[ComparedRun, ...] = tuple(runs)
        self.maxfev: int = maxfev
        self.ftarget: float | None = ftarget
        self.repeats: int = repeats
        self.rows: tuple[Row, ...] = tuple(
            _row(group, has_target=ftarget is not None) for group in self._groups()
        )

    def plot(self, ax: Axes | None = None, *, fmin: float | None = None) -> Axes:
        """Draw the best value so far against evaluations: the median of the runs, and their quartiles.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
            Where to draw; by default on a new figure.
        fmin : float
            The smallest value that f can have, as in `pursuit.plot_runs`.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on. After its end, a run counts with its best value.
        """
        return plot_bands([_band(group) for group in self._groups()], fmin=fmin, ax=ax)

    def __repr__(self) -> str:
        count = len(self._groups()[0])
        target = "" if self.ftarget is None else f", target {self.ftarget:g}"
        what = f"Means of {self.repeats} new values at the ends" if self.repeats else "Best values"
        title = f"{what} of {counted(count, 'run')} of each method, at most {self.maxfev} evaluations each"
        cells = [self._header(), *(self._cells(row, count) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in cells
        ]
        return "\n".join([title + target, "", *lines, *self._warning()])

    def _warning(self) -> list[str]:
        """Return a warning if the values of some methods look better than they are."""
        estimating = dict.fromkeys(run.method for run in self.runs if run.is_estimate)
        if self.repeats or len(estimating) in (0, len(self.rows)):
            return []
        return [
            "",
            f"Values are noisy. Those of {', '.join(estimating)} are estimates; those of others are the "
            "smallest seen,\nwhich luck makes too small: pass repeats=100 to compare new values.",
        ]

    def _header(self) -> list[str]:
        last = ["evaluations"] if self.ftarget is None else ["reached", "evaluations to it"]
        return ["method", "median", "quartiles", *last, "seconds"]

    def _cells(self, row: Row, count: int) -> list[str]:
        first = [row.method, f"{row.fun:.3g}", f"{row.fun_low:.3g} to {row.fun_high:.3g}"]
        if row.success_share is None or row.nfev_to_target is None:
            last = [f"{row.nfev:.0f}"]
        else:
            needed = "-" if math.isinf(row.nfev_to_target) else f"{row.nfev_to_target:.0f}"
            last = [f"{round(row.success_share * count)} of {count}", needed]
        return [*first, *last, f"{row.seconds:.2g}"]

    def _groups(self) -> list[list[ComparedRun]]:
        """Return the runs of each method."""
        groups: dict[str, list[ComparedRun]] = {}
        for run in self.runs:
            groups.setdefault(run.method, []).append(run)
        return list(groups.values())


def _row(runs: list[ComparedRun], *, has_target: bool) -> Row:
    low, median, high = _quartiles([run.fun for run in runs])
    reached = [run.reached for run in runs]
    return Row(
        method=runs[0].method,
        fun=float(median),
        fun_low=float(low),
        fun_high=float(high),
        nfev=_median([run.nfev for run in runs]),
        success_share=sum(map(math.isfinite, reached)) / len(runs) if has_target else None,
        nfev_to_target=_median(reached) if has_target else None,
        seconds=_median([run.seconds for run in runs]),
    )


def _band(runs: list[ComparedRun]) -> Band:
    """Return the quartiles of the best values so far, from where on all runs have one."""
    nfev = np.unique(np.concatenate([run.progress_nfev for run in runs]))
    nfev = nfev[nfev >= max(run.progress_nfev[0] for run in runs)]
    best = [run.progress_fun[np.searchsorted(run.progress_nfev, nfev, side="right") - 1] for run in runs]
    low, median, high = _quartiles(best)
    return Band(label=runs[0].method, nfev=nfev, low=low, median=median, high=high)


def _quartiles(values: ArrayLike) -> Vector:
    """Return the quartiles and the median between them, without averages: values may be infinite."""
    found: Vector = np.quantile(
        np.asarray(values, dtype=np.float64), [0.25, 0.5, 0.75], axis=0, method="inverted_cdf"
    )
    return found


def _median(values: ArrayLike) -> float:
    return float(_quartiles(values)[1])
