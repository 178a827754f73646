"""EP-CMA-m with its rules as options: the library's without any, and a transcription of each change."""

import itertools

import numpy as np
import pytest
from benchmarks.readings.variants import ORDERS, RATES, PathCma, RatedCma, entered, rate_of

import pursuit
from helpers import make_problem
from pursuit.compiling.vectors import SERIAL
from pursuit.methods import ask, create_scheme, tell
from pursuit.methods.line_searches import Step
from reference import problems as reference_problems
from reference.schemes import line_search

pytestmark = pytest.mark.interpreted
ITERATIONS = 600


def run(method, options, problem_name="exp", n=6, seed=3):
    problem = make_problem(problem_name, n, 1e4)
    return pursuit.minimize(
        problem, problem.x0, method=method, options=options, rng=seed, maxiter=ITERATIONS, trace=True
    )


def assert_same(one, other):
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.trace.fun, other.trace.fun)
    assert (one.nit, one.nfev, one.fun, one.sigma) == (other.nit, other.nfev, other.fun, other.sigma)


@pytest.mark.parametrize("reading", ["printed", "fitted", "frozen"])
@pytest.mark.parametrize("memory", [1, 2, 4, "sqrt", "n"])
@pytest.mark.parametrize("problem_name", ["exp", "lin", "two", "rosenbrock"])
def test_is_the_library_s_scheme_without_options(problem_name, memory, reading):
    ours = run(PathCma, {"m": memory, "reading": reading}, problem_name)
    assert_same(ours, run(f"ep-cma-{memory}", {"reading": reading}, problem_name))


def test_is_the_library_s_scheme_with_its_rates():
    rates = {"c_c": 0.3, "c_cov": 0.15, "c_p": 0.01}
    assert_same(run(PathCma, {"m": 3, **rates}), run("ep-cma-3", rates))


def test_a_rate_may_depend_on_n():
    assert_same(run(PathCma, {"m": 2, "c_p": "1/n"}), run("ep-cma-2", {"reading": "fitted"}))
    assert_same(run(RatedCma, {"c_p": "1/12"}), run("cma", {"reading": "printed"}))
    assert {name: rate_of(name, 4) for name in RATES} == pytest.approx(
        {
            "1/n^2": 1 / 16,
            "1/(12n)": 1 / 48,
            "1/(3n)": 1 / 12,
            "1/n": 1 / 4,
            "3/(2n)": 3 / 8,
            "1/12": 1 / 12,
            "2/(n+2)": 1 / 3,
            "4/(n+4)": 1 / 2,
            "1/sqrt(n)": 1 / 2,
        }
    )
    with pytest.raises(ValueError, match="must be one of"):
        rate_of("1/m", 4)


@pytest.mark.parametrize("options", [{"order": "last"}, {"failure": "wait"}, {"steps": 1}, {"clock": "days"}])
def test_refuses_what_it_does_not_know(options):
    with pytest.raises((TypeError, ValueError), match="must be one of"):
        PathCma.create(5, **options)


def paths_in_order(order, stored, path):
    """Return the paths as they enter C; `stored` has the oldest first."""
    return {
        "printed": [*stored, path],
        "newest-first": [*stored[::-1], path],
        "current-first": [path, *stored],
        "reversed": [path, *stored[::-1]],
    }[order]


def transcription(f, x, normals, *, m, options):
    """Return the values of an EP-CMA-m that stores, restarts, fails and counts as the options say."""
    n = len(x)
    c_c, c_cov, c_p = 2 / (n + 2), 2 / (6 + m) if m > 1 else 1 / 5, 1 / n
    count = m + options.get("stored", -1)
    stored, path, sigma, clock, q = [np.zeros(n)] * count, np.zeros(n), 1.0, 0, 0
    failures, rate = 0, 0.0
    values = []
    for z in normals:
        # The normals of the paths: of the stored ones, oldest first, and of the current one.
        weights = {}
        entering = paths_in_order(options.get("order", "printed"), list(range(count)), count)
        for place, row in enumerate(entering):
            weights[row] = np.sqrt(c_cov * (1 - c_cov) ** (count - place))
        rows = [*stored, path]
        u = (1 - c_cov) ** ((count + 1) / 2) * z[:n] + sum(
            weights[i] * z[n + i] * rows[i] for i in range(count + 1)
        )
        x, new_sigma, step = line_search(f, x, u, sigma, 0.27, False)
        success = step > 0.0
        clock += success or options.get("clock") != "successes"
        passed = (clock - q) * m
        due = options.get("keep", True) and (passed >= n**2 if options.get("prompt") else passed > n**2)

        def store():
            nonlocal stored, path
            stored = [*stored, path][1:]
            if options.get("restart"):
                path = np.zeros(n)

        if due and options.get("first"):
            store()
        rate = (11 * rate + success) / 12
        gain = np.sqrt(c_c * ((1 if options.get("gain") == "1-c_c" else 2) - c_c))
        failure = options.get("failure", "shrink")
        if success:
            added = {"new-sigma": sigma / new_sigma, "step": sigma}.get(options.get("steps"), 1.0) * u
            added = 0.0 * u if failure == "threshold" and rate >= 0.44 else added
            path = (1 - c_c) * path + gain * added
        else:
            failures += 1
            if failure == "reset":
                path = 0 * path
            elif failure == "shrink" or (failure == "once-per-n" and failures % n == 0):
                path = (1 - c_p) * path
        if options.get("steps") == "sigma-units":
            path = path * sigma / new_sigma
        if due and not options.get("first"):
            store()
        q = clock if due else q
        sigma = new_sigma
        values.append(f(x))
    return np.array(values)


CHANGES = [
    *({"order": order} for order in ORDERS),
    {"keep": False},
    {"stored": 0},
    {"restart": True},
    {"first": True},
    {"first": True, "restart": True},
    {"clock": "successes"},
    {"prompt": True},
    *({"failure": failure} for failure in ("once-per-n", "reset", "threshold")),
    *({"steps": steps} for steps in ("new-sigma", "step", "sigma-units")),
    {"gain": "1-c_c"},
    {"order": "reversed", "restart": True, "stored": 0, "clock": "successes"},
]


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("options", CHANGES, ids=str)
def test_follows_a_transcription_of_each_change(options, m):
    n = 6
    f, x0 = reference_problems.make("exp", n, 1e4)
    paths = m + 1 + options.get("stored", -1)
    normals = np.random.default_rng(3).standard_normal((ITERATIONS, n + paths))
    values = transcription(f, x0, normals, m=m, options=options)
    result = run(PathCma, {"m": m, "reading": "fitted", **options})
    np.testing.assert_allclose(result.trace.fun[1:], values[result.trace.nit[1:] - 1], rtol=1e-8)


def paths_of(scheme, state, normals, successes):
    """Yield the step and the paths of each iteration of a scheme whose steps succeed as they are told to."""
    arrays, numbers = state
    for row, success in zip(normals, successes, strict=True):
        line = ask(SERIAL, scheme, arrays, numbers, row)
        length = line.sigma if success else 0.0
        numbers = tell(SERIAL, scheme, arrays, numbers, line, Step(length, 1.0, line.sigma, 1.0))
        yield line.direction.copy(), arrays.paths.copy()


@pytest.mark.parametrize("n", [2, 3, 5])
def test_with_n_squared_paths_is_cma_limited_to_so_many_updates(n):
    """As the paper says of m = n^2, if a path is stored at each success, before its update, and c_p = 0."""
    m = n * n
    scheme = PathCma.create(n, m=m, clock="successes", prompt=True, first=True, c_p=0.0)
    cma = create_scheme("cma", n, {"c_p": 0.0}, None)
    assert (scheme.c_c, scheme.scheme.c_cov) == (cma.c_c, cma.c_cov)
    rng = np.random.default_rng(5)
    successes = rng.random(6 * m) < 0.4
    normals = rng.standard_normal((successes.size, scheme.needs(n).normals))
    first = scheme.init(np.zeros(n), 1.0, 1.0)
    # CMA's matrix without its older updates, made from the same steps as the paths.
    c, path, updates, compared = cma.c_cov, np.zeros(n), [], 0
    for success, (step, rows) in zip(successes, paths_of(scheme, first, normals, successes), strict=True):
        if success:
            path = (1 - cma.c_c) * path + np.sqrt(cma.c_c * (2 - cma.c_c)) * step
            updates.append(path)
        limited = np.eye(n)
        for p in updates[-m:]:
            limited = (1 - c) * limited + c * np.outer(p, p)
        ours = scheme.scheme.rest**2 * np.eye(n) + (first.arrays.weights**2 * rows.T) @ rows
        if len(updates) >= m:
            np.testing.assert_allclose(ours, limited, rtol=1e-12, atol=1e-14)
            compared += 1
    assert compared > m


def test_every_change_of_structure_changes_the_course():
    """So that no option is without effect."""
    finals = [run(PathCma, {"m": 3, "reading": "fitted", **options}).fun for options in CHANGES]
    assert len(set(finals)) == len(finals)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_every_path_enters_once(rows):
    for order, other in itertools.combinations(ORDERS, 2):
        assert sorted(entered(order, rows)) == list(range(rows))
        assert rows < 5 or (entered(order, rows) != entered(other, rows)).any()
