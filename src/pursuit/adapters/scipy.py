"""SciPy: `scipy.optimize.minimize(f, x0, method=pursuit.scipy_method("sarp"), ...)`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pursuit.checks import checked_options
from pursuit.methods.catalogue import DEFAULT_METHOD, method_text, resolved
from pursuit.minimize import minimize

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

_PASSED_BY_SCIPY = {"fun", "x0", "args", "method", "bounds", "callback"}
# What SciPy passes on and these methods do not use.
_UNUSED = {
    "jac": "does not use gradient information (jac)",
    "hess": "does not use Hessian information (hess)",
    "hessp": "does not use Hessian-vector product information (hessp)",
}
_OURS = frozenset(inspect.signature(minimize).parameters) - _PASSED_BY_SCIPY


def scipy_method(method: str | type = DEFAULT_METHOD) -> Callable[..., OptimizeResult]:
    """Return a method for `scipy.optimize.minimize`, which returns SciPy's `OptimizeResult` with our fields.

    Its `options` may carry any parameter of `pursuit.minimize` (``rng``, ``sigma0``, ``ftarget`` ...) and any
    option of the method; `tol` sets ``xtol`` and ``ftol``. Derivatives are not used, and a warning says so.

    Parameters
    ----------
    method : str or type
        A name from `pursuit.list_methods()`, any ``ep-cma-<m>``, or a scheme's class.

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
    resolved(method, n=1)  # raises an error for anything that is not a method
    label = method_text(method)

    def minimize_for_scipy(
        fun: Callable[..., Any],
        x0: Any,
        args: Any = (),
        *,
        bounds: Any = None,
        callback: Any = None,
        **options: Any,
    ) -> OptimizeResult:
        for name, complaint in _UNUSED.items():
            if _is_given(options.pop(name, None)):
                warnings.warn(f"Method pursuit {label} {complaint}.", RuntimeWarning, stacklevel=3)
        tol = options.pop("tol", None)
        ours = {} if tol is None else {"xtol": tol, "ftol": tol}
        ours |= {name: options.pop(name) for name in _OURS & options.keys()}
        ours.setdefault("progress", bool(options.pop("disp", False)))
        ours["options"] = {**checked_options(ours.get("options")), **options}
        # It is loaded already, since SciPy calls this.
        from scipy.optimize import OptimizeResult

        return OptimizeResult(minimize(fun, x0, args, method, bounds=bounds, callback=callback, **ours))

    return minimize_for_scipy


def _is_given(argument: Any) -> bool:
    """Say whether an argument differs from what SciPy passes on by default."""
    return not (
        argument is None or argument is False or (isinstance(argument, list | tuple) and not argument)
    )
