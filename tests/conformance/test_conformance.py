"""What every scheme keeps to, on every problem, ours and a user's own alike."""

import numpy as np
import pytest

import pursuit
from conformance.own import Bowl, Narrowing
from helpers import options_of_problem, run_scheme
from pursuit.engine.counters import Limits
from pursuit.methods import create_scheme

SCHEMES = {
    **{name: (name, {}) for name in pursuit.list_methods()},
    "rp-bracketing": ("rp", {"line_search": "bracketing"}),
    "sarp-bracketing": ("sarp", {"line_search": "bracketing"}),
    "own": (Narrowing, {"offspring": 3}),
}
PROBLEMS = {
    "exp": pursuit.problems.exp(20, 1e4),
    "lin": pursuit.problems.lin(21, 1e4),
    "two": pursuit.problems.two(3, 1e4),
    "rosenbrock": pursuit.problems.rosenbrock(9),
    "rotated exp": pursuit.problems.rotated(pursuit.problems.exp(10, 1e4), 1),
    "own": Bowl(6),
}
every_scheme = pytest.mark.parametrize("name", SCHEMES)
every_problem = pytest.mark.parametrize("problem_name", PROBLEMS)


def minimize(fun, name, problem, **arguments):
    """Minimise with what some methods want to know of the problem given, so that black boxes run as well."""
    method, options = SCHEMES[name]
    options = {**options, **options_of_problem(name, problem)}
    return pursuit.minimize(fun, problem.x0, method=method, options=options, **arguments)


# Programs are never compiled, and `auto` chooses between two of them.
PROGRAMS = ("auto", "differences", "evolution")
# A problem's own minimiser along a line is compiled for each problem and scheme, which takes seconds; of
# others, only values are.
SLOW = {(name, problem) for name in ("sarp-exact", "arp", "acdm") for problem in PROBLEMS} - {
    ("sarp-exact", "lin"), ("sarp-exact", "rosenbrock"), ("arp", "lin"), ("acdm", "lin"),
    ("acdm", "rotated exp"),
}  # fmt: skip
# What the Python loop calls is compiled for each problem as well: for two it is, and for others interpreted.
NEED_PROBLEM = ("rp-exact", "sarp-exact", "arp", "acdm")
# One worker of pytest compiles a method for all problems, so that what they share is compiled once.
COMPILED = [
    pytest.param(
        name,
        problem,
        marks=[pytest.mark.xdist_group(name), *([pytest.mark.long] if (name, problem) in SLOW else [])],
    )
    for name in SCHEMES
    if name not in PROGRAMS
    for problem in PROBLEMS
    if "exact" in name or name in ("arp", "acdm", "rp", "cma", "own") or problem not in ("rotated exp", "own")
]


@pytest.mark.parametrize(("name", "problem_name"), COMPILED)
def test_python_loop_and_compiled_loop_give_the_same_bits(name, problem_name, monkeypatch):
    problem = PROBLEMS[problem_name]
    method, options = SCHEMES[name]

    def outcome(*, whole):
        return run_scheme(
            create_scheme(method, problem.n, options, problem),
            problem,
            rng=np.random.default_rng(7),
            limits=Limits(target=1e-9, iterations=3000, evaluations=10**9, patience=10**9),
            whole=whole,
        )

    compiled = outcome(whole=True)
    if name in NEED_PROBLEM and problem_name not in ("exp", "own"):
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    python = outcome(whole=False)
    np.testing.assert_array_equal(compiled.x, python.x)
    for column, other in zip(compiled.trace, python.trace, strict=True):
        np.testing.assert_array_equal(column, other)
    assert compiled._replace(x=None, trace=None) == python._replace(x=None, trace=None)


@every_problem
@every_scheme
def test_returns_the_best_of_all_evaluated_points(name, problem_name):
    problem = PROBLEMS[problem_name]
    seen = []

    def watched(x):
        seen.append((problem(x), x.copy()))
        return seen[-1][0]

    result = minimize(watched, name, problem, rng=3, maxiter=200)
    best, where = min(seen, key=lambda pair: pair[0])
    assert result.nfev == len(seen)
    assert result.fun == best
    np.testing.assert_array_equal(result.x, where)


@every_scheme
def test_an_objective_that_scribbles_on_its_argument_does_no_harm(name):
    problem = PROBLEMS["exp"]

    def scribbler(x):
        value = problem(x)
        x[:] = np.nan
        return value

    clean, scribbled = (minimize(f, name, problem, rng=3, maxiter=200) for f in (problem.__call__, scribbler))
    np.testing.assert_array_equal(clean.x, scribbled.x)


@every_scheme
def test_never_spends_more_than_maxfev(name):
    problem = PROBLEMS["rosenbrock"]
    for maxfev in range(1, 15):
        for fun in (problem, lambda x: problem(x)):
            result = minimize(fun, name, problem, rng=5, maxfev=maxfev)
            assert maxfev - SCHEME_POINTS.get(name, 1) < result.nfev <= maxfev
            assert result.message == "The evaluation limit maxfev was reached."


SCHEME_POINTS = {
    "auto": 9, "adaptive-sarp": 3, "evolution": 9, "differences": 9, "sarp": 2, "sarp-bracketing": 2,
    "sarp-exact": 2, "arp": 2, "acdm": 2, "own": 3,
}  # fmt: skip


@every_scheme
def test_same_seed_same_run_and_other_seed_other_run(name):
    problem = PROBLEMS["exp"]
    one, same, other = (
        minimize(problem, name, problem, rng=rng, maxiter=100)
        for rng in (1, np.random.default_rng(1), np.random.default_rng(2))
    )
    np.testing.assert_array_equal(one.x, same.x)
    assert not np.array_equal(one.x, other.x)


@every_scheme
def test_solves_a_well_conditioned_problem(name):
    problem = pursuit.problems.exp(5, 10.0)
    result = minimize(problem, name, problem, rng=1, ftarget=1e-9, maxiter=100_000)
    assert result.success
    assert result.fun <= 1e-9
    np.testing.assert_allclose(result.x, problem.minimizer, atol=1e-4)


@every_scheme
def test_leaves_the_start_alone(name):
    problem = PROBLEMS["exp"]
    x0 = problem.x0
    method, options = SCHEMES[name]
    pursuit.minimize(problem, x0, method=method, options=options, rng=1, maxiter=50)
    np.testing.assert_array_equal(x0, problem.x0)
