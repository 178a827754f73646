"""SciPy: `scipy.optimize.minimize(f, x0, method=pursuit.scipy_method("sarp"), ...)`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from scipy.optimize import OptimizeResult

from pursuit.methods.catalogue import DEFAULT_METHOD, method_text
from pursuit.minimize import minimize

_PASSED_BY_SCIPY = {"fun", "x0", "args", "method", "bounds", "callback"}
_OURS = frozenset(inspect.signature(minimize).parameters) - _PASSED_BY_SCIPY


def scipy_method(method: str | type = DEFAULT_METHOD) -> Callable[..., OptimizeResult]:
    """Return a method for `scipy.optimize.minimize`.

    Its `options` may carry any parameter of `pursuit.minimize` (``rng``, ``sigma0``, ``ftarget`` ...) and any
    option of the method. Derivatives and constraints are not used, and a warning says so.

    Parameters
    ----------
    method : str or type
        A name out of `pursuit.methods()`, any ``ep-cma-<m>``, or a scheme's class.

    Examples
    --------
    >>> import scipy.optimize
    >>> import pursuit
    >>> result = scipy.optimize.minimize(
    ...     scipy.optimize.rosen,
    ...     [0.0] * 5,
    ...     method=pursuit.scipy_method("cma"),
    ...     options={"rng": 1, "ftarget": 1e-9},
    ... )
    >>> result.success
    True
    """
    label = method_text(method)

    def minimize_for_scipy(
        fun: Callable[..., Any],
        x0: Any,
        args: Any = (),
        *,
        jac: Any = None,
        hess: Any = None,
        hessp: Any = None,
        bounds: Any = None,
        constraints: Any = (),
        callback: Any = None,
        **options: Any,
    ) -> OptimizeResult:
        for given, complaint in (
            (jac is not None and jac is not False, "does not use gradient information (jac)"),
            (hess is not None, "does not use Hessian information (hess)"),
            (hessp is not None, "does not use Hessian-vector product information (hessp)"),
            (_any(constraints), "cannot handle constraints"),
            (options.pop("tol", None) is not None, "does not use tol, but ftarget among its options"),
        ):
            if given:
                warnings.warn(f"Method pursuit {label} {complaint}.", RuntimeWarning, stacklevel=3)
        ours = {name: options.pop(name) for name in _OURS & options.keys()}
        ours["progress"] = ours.get("progress", False) or options.pop("disp", False)
        ours["options"] = {**(ours.get("options") or {}), **options}
        return minimize(fun, x0, args, method, bounds=bounds, callback=callback, **ours)

    return minimize_for_scipy


def _any(constraints: Any) -> bool:
    return constraints is not None and not (isinstance(constraints, list | tuple) and len(constraints) == 0)
