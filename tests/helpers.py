"""What several tests need."""

import pursuit


def make_problem(name, n, L=1e4):
    """Return one of the paper's problems by name."""
    family = getattr(pursuit.problems, name)
    return family(n) if name == "rosenbrock" else family(n, L)
