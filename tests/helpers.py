"""What several tests need."""

import pursuit
from pursuit.run import drive, start


def make_problem(name, n, L=1e4):
    """Return one of the paper's problems by name."""
    family = getattr(pursuit.problems, name)
    return family(n) if name == "rosenbrock" else family(n, L)


def run_scheme(scheme, problem, *, rng, limits, whole):
    """Run a scheme on a problem in one of the two drivers, with limits that `minimize` would not take."""
    run, whole = start(scheme, problem, problem.x0, sigma0=1.0, rng=rng, limits=limits, whole=whole)
    outcome = run.outcome(drive(run, problem, whole=whole))
    return outcome._replace(trace=outcome.trace())
