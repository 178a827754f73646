"""A minimiser for Qiskit's algorithms: ``VQE(estimator, ansatz, minimizer(maxfev=2000))``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pursuit.minimize import minimize

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


def minimizer(**settings: Any) -> Callable[..., OptimizeResult]:
    """Return a function that fulfils the protocol `qiskit_algorithms.optimizers.Minimizer`.

    Parameters
    ----------
    **settings
        What `pursuit.minimize` takes besides the function, the start and bounds.

    Returns
    -------
    callable
        ``function(fun, x0, jac, bounds)``, which returns SciPy's result with our fields; `jac` is not used.

    Examples
    --------
    >>> from pursuit.adapters.qiskit import minimizer
    >>> result = minimizer(rng=1)(lambda x: float(x @ x), [1.0, 2.0], None, [(None, None), (0.5, 3.0)])
    >>> result.x.round(6)
    array([0. , 0.5])
    """

    def minimize_for_qiskit(
        fun: Callable[..., Any], x0: Any, jac: Any = None, bounds: Any = None
    ) -> OptimizeResult:
        from scipy.optimize import OptimizeResult

        return OptimizeResult(minimize(fun, x0, bounds=bounds, **settings))

    return minimize_for_qiskit
