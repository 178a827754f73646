"""Arguments that other libraries call by other names: an error says which one of ours is meant."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
# Our arguments, each with names that people give instead; the first that a function has is meant.
_SAME = {
    "seeds": ("seed", "nruns", "n_runs"),
    "rng": ("seed", "random_state", "random_seed", "rngs"),
    "fun": ("f", "func", "function", "objective", "objective_function"),
    "x0": ("x", "start", "initial", "initial_guess", "init"),
    "maxfev": ("maxfun", "maxevals", "max_evals", "maxeval", "max_nfev", "max_fev", "maxfevals", "budget"),
    "maxiter": ("max_iter", "maxit", "niter", "n_iter", "iterations", "max_iterations"),
    "maxtime": ("timeout", "max_time", "time_limit", "maxsec"),
    "ftarget": ("target", "fmin", "f_min", "ftarg", "stopval", "f_target"),
    "xtol and ftol": ("tol", "tolerance", "eps", "gtol"),
    "xtol": ("xatol", "x_tol", "xtol_rel", "tolx"),
    "ftol": ("fatol", "f_tol", "ftol_rel", "tolfun"),
    "sigma0": ("sigma", "step", "step_size", "initial_step", "rhobeg", "initial_tr_radius"),
    "bounds": ("box", "limits", "lb", "ub", "lower", "upper"),
    "constraints": ("constraint", "cons"),
    "workers": ("n_jobs", "njobs", "jobs", "parallel", "processes", "num_workers", "n_workers"),
    "progress=True": ("verbose", "disp", "iprint"),
    "trace=True": ("history", "return_all", "retall"),
    "restarts": ("n_restarts", "nrestarts", "restart"),
    "batch": ("popsize", "population_size", "batch_size"),
    "options={{'{name}': ...}}": ("kappa", "damping", "line_search", "reading"),
    "callback": ("callbacks",),
    "methods": ("method",),
    "method": ("methods", "solver", "algorithm"),
}
# What has no counterpart.
_MISSING = {
    **dict.fromkeys(
        ("jac", "grad", "gradient", "fprime", "hess", "hessp", "hessian"),
        "derivatives are not used: leave it out",
    ),
    **dict.fromkeys(("maximize", "maximise"), "to maximise f, minimise -f"),
    "minimize": "f is always minimised: leave it out",
}


def with_known_arguments(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make the error for an unknown argument say which known one may be meant.

    Examples
    --------
    >>> from pursuit.engine.arguments import with_known_arguments
    >>> @with_known_arguments
    ... def solve(fun, rng=None):
    ...     pass
    >>> solve(abs, seed=1)
    Traceback (most recent call last):
    ...
    TypeError: solve takes no argument 'seed': use rng.
    """
    names = tuple(name for name in inspect.signature(function).parameters if name != "self")
    public = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name in kwargs:
            if name not in names:
                raise TypeError(f"{public} takes no argument '{name}'{_advice(name, names)}.")
        return function(*args, **kwargs)

    return checked


def _advice(name: str, names: tuple[str, ...]) -> str:
    """Return what to do instead, after a colon; empty if nothing is known."""
    plain = name.lower()
    if plain in _MISSING:
        return f": {_MISSING[plain]}"
    for ours, others in _SAME.items():
        if plain in others and ours.partition("=")[0].split()[0] in names:
            return f": use {ours.format(name=name)}"
    close = difflib.get_close_matches(plain, names, 1, 0.75)
    return f": perhaps {close[0]} is meant" if close else f": it takes {', '.join(names)}"
