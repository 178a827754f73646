"""An algorithm for optimagic: ``om.minimize(fun, params, algorithm=Pursuit(n_cores=4))``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import optimagic as om
from numpy.typing import NDArray
from optimagic.optimization.algorithm import Algorithm, InternalOptimizeResult
from optimagic.typing import AggregationLevel

from pursuit.minimize import minimize


@om.mark.minimizer(
    name="pursuit",
    solver_type=AggregationLevel.SCALAR,
    is_available=True,
    is_global=False,
    needs_jac=False,
    needs_hess=False,
    needs_bounds=False,
    supports_parallelism=True,
    supports_bounds=True,
    supports_infinite_bounds=True,
    supports_linear_constraints=False,
    supports_nonlinear_constraints=False,
)
@dataclass(frozen=True)
class Pursuit(Algorithm):
    """`pursuit.minimize` as an algorithm of optimagic."""

    method: str = "auto"
    stopping_maxfun: int | None = None
    seed: int | None = None
    n_cores: int = 1
    batch_size: int | None = None
    """The points of a round, by default eight for each core."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Anything else that `pursuit.minimize` takes."""

    def _solve_internal_problem(self, problem: Any, x0: NDArray[Any]) -> InternalOptimizeResult:
        def evaluate(_: Any, points: Any) -> Any:
            return problem.batch_fun(list(points), n_cores=self.n_cores)

        bounds = problem.bounds
        pairs = None
        if bounds.lower is not None or bounds.upper is not None:
            sides = ([None] * x0.size if side is None else side for side in (bounds.lower, bounds.upper))
            pairs = list(zip(*sides, strict=True))
        alone = self.n_cores == 1
        result = minimize(
            problem.fun,
            x0,
            method=self.method,
            bounds=pairs,
            rng=self.seed,
            maxfev=self.stopping_maxfun,
            workers=1 if alone else evaluate,
            batch=self.batch_size if alone else self.batch_size or 8 * self.n_cores,
            **self.settings,
        )
        return InternalOptimizeResult(
            x=result.x,
            fun=float(result.fun),
            success=bool(result.success),
            message=result.message,
            n_fun_evals=int(result.nfev),
            n_iterations=int(result.nit),
            info={"noise": result.noise, "fun_error": result.fun_error, "method": result.method},
        )
