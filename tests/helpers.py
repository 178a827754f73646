"""What several tests need."""

import pursuit
from pursuit.engine.driving import Interrupts, drive
from pursuit.engine.evaluation import Here
from pursuit.engine.run import Run
from pursuit.engine.setup import Setup
from pursuit.methods.line_searches import ExactStep
from pursuit.methods.stages import Task

PAPER = (
    "rp", "rp-exact", "sarp", "sarp-exact", "cma",
    "ep-cma-1", "ep-cma-2", "ep-cma-4", "ep-cma-sqrt", "ep-cma-n",
)  # fmt: skip
RIVALS = ("sep-cma", "cr-fm-nes", "r1-nes", "lm-cma", "l-cma", "spsa", "rg", "ars", "arp", "acdm")


def make_problem(name, n, L=1e4):
    """Return one of the paper's problems by name."""
    family = getattr(pursuit.problems, name)
    return family(n) if name == "rosenbrock" else family(n, L)


def options_for(method, kappa):
    """Return what some methods have to know: the condition number, or the curvatures 1 and kappa."""
    known = {name: {"m": 1.0, "L": kappa} for name in ("ars", "arp", "acdm")}
    known |= {"spsa": {"L": kappa}, "rg": {"L": kappa}}
    return {"kappa": kappa} if method.startswith("sarp") else known.get(method, {})


def options_of_problem(method, problem):
    """Return the same for a problem that is to be a black box."""
    names = options_for(method, 1.0)
    known = {"kappa": problem.L / problem.m, "m": problem.m, "L": problem.L}
    return {name: known[name] for name in names}


def run_scheme(scheme, problem, *, rng, limits, whole):
    """Run a scheme on a problem in one of the two drivers, with limits that `minimize` would not take.

    The Python loop treats the problem as a black box, unless its exact line minimiser is wanted.
    """
    x0 = problem.x0
    known = whole or isinstance(getattr(scheme, "line_search", None), ExactStep)
    objective = problem if known else problem.__call__
    setup = Setup(Task(x0, "rp", {}), None, scheme, objective, limits)
    run = Run(setup, setup.first_snapshot(x0, problem(x0), rng), rng, here=whole)
    outcome = run.outcome(drive(run, Here(problem), interrupts=Interrupts()))
    return outcome._replace(trace=outcome.trace())
