"""The course of a run: `History`, the trace of a result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.optional import optional_module


class _Columns(NamedTuple):
    """The columns of a history."""

    nit: NDArray[np.int64]
    nfev: NDArray[np.int64]
    fun: NDArray[np.float64]
    """The value of the latest iterate."""
    method: NDArray[np.str_]
    """Which was at work."""
    sigma: NDArray[np.float64]
    """The step size."""
    at_bound: NDArray[np.int64]
    """How many variables of the best point are at a bound; 0 without bounds. Each stage begins anew."""


class History(_Columns):
    """The course of a run at selected iterations, an array for each of these columns.

    Attributes
    ----------
    x : ndarray or None
        With ``trace="x"``: the best point so far, one per row; under noise, if the method estimates values,
        the point that it estimated to be the best. It is no column of the tuple, nor of a table.

    Examples
    --------
    >>> import pursuit
    >>> problem = pursuit.problems.exp(3, 1e2)
    >>> trace = pursuit.minimize(problem, problem.x0, method="rp", rng=1, maxfev=200, trace=True).trace
    >>> trace._fields
    ('nit', 'nfev', 'fun', 'method', 'sigma', 'at_bound')
    >>> trace.nfev[-1]
    np.int64(200)
    """

    x: NDArray[np.float64] | None = None

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with these columns."""
        return optional_module("pandas", "to_pandas").DataFrame(self._asdict())

    def to_polars(self) -> Any:
        """Return a `polars.DataFrame` with these columns."""
        return optional_module("polars", "to_polars").DataFrame(self._asdict())
