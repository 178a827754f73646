"""Runs on a GPU."""

import numba
import numpy as np
import pytest
from scipy.stats import mannwhitneyu

import pursuit
from conformance.own import Bowl, Narrowing
from devices import REASON
from pursuit.engine.setup import set_up
from pursuit.engine.stopping import Reason
from pursuit.methods.stages import Task

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]
RUNS = 101
# The probability with which a right program fails one of the comparisons; seeds are fixed, so it does not.
ERROR = 1e-4


@numba.njit
def ellipsoid(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += (i + 1.0) * x[i] * x[i]
    return total


def batch_of(fun, x0, method="rp", *, runs=RUNS, lanes=None, bounds=None, options=None, **limits):
    from pursuit.gpu.batch import Batch

    setup, start = set_up(Task(x0, method, limits, bounds=bounds, options=options, fun=fun))
    seeds = np.random.SeedSequence(7).spawn(runs)
    starts = np.tile(start, (runs, 1))
    return Batch(setup, setup.limits, starts, [float(fun(np.array(x0)))] * runs, seeds, lanes=lanes)


def run(*batches, **options):
    from pursuit.gpu.schedule import run_batches

    run_batches(batches, **options)


P = pursuit.problems
ROTATED = P.rotated(P.exp(20, 100.0), 1)
CASES = {
    "rp": (P.exp(20, 100.0), "rp", {}),
    "rp-exact on rosenbrock": (P.rosenbrock(20), "rp-exact", {}),
    "sarp": (P.exp(20, 1e3), "sarp", {}),
    "arp": (P.exp(20, 1e3), "arp", {}),
    "acdm": (ROTATED, "acdm", {}),
    "rg": (P.exp(20, 10.0), "rg", {"target": 1e-6}),
    "ars": (P.exp(20, 1e2), "ars", {"target": 1e-6}),
    "spsa": (P.exp(5, 2.0), "spsa", {"target": 1e-3}),
    "acdm by differences": (P.exp(20, 1e2), "acdm", {"options": {"line_search": "difference"}}),
    "cma": (P.exp(20, 1e3), "cma", {}),
    "ep-cma-4": (P.lin(20, 1e3), "ep-cma-4", {}),
    "ep-cma-n": (P.two(20, 1e2), "ep-cma-n", {}),
    "adaptive-sarp": (P.exp(20, 1e4), "adaptive-sarp", {}),
    "rotated": (ROTATED, "rp", {}),
    "rotated, exact": (ROTATED, "sarp-exact", {}),
    "bounded": (P.exp(20, 100.0), "rp", {"bounds": [(-5, 5)] * 19 + [(0.5, 5)], "target": 12.5 + 1e-6}),
    "bracketing": (P.exp(20, 100.0), "rp", {"options": {"line_search": "bracketing"}}),
    "a jitted function": (ellipsoid, "rp", {}),
    "an own problem": (Bowl(5), "adaptive-sarp", {}),
    "an own scheme": (P.exp(5, 10.0), Narrowing, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_gpu_needs_as_many_evaluations_as_a_cpu(name):
    fun, method, options = CASES[name]
    x0 = np.ones(20) if fun is ellipsoid else fun.x0
    target = options.pop("target", 1e-9)
    batch = batch_of(fun, x0, method, ftarget=target, maxiter=10**7, **options)
    run(batch)
    outcomes = [batch.outcome(k) for k in range(RUNS)]
    assert {outcome.reason for outcome in outcomes} == {Reason.TARGET}
    for outcome in outcomes[:5]:
        assert abs(fun(outcome.x.copy()) - outcome.fun) <= 1e-9 * abs(outcome.fun)
        trace = outcome.trace()
        assert (trace.nit[-1], trace.nfev[-1]) == (outcome.nit, outcome.nfev)
        assert trace.sigma[-1] == outcome.sigma
        assert set(trace.at_bound) <= ({0, 1} if name == "bounded" else {0})
    results = [
        pursuit.minimize(fun, x0, method=method, rng=k, ftarget=target, maxiter=10**7, **options)
        for k in range(RUNS)
    ]
    counts = [outcome.nfev for outcome in outcomes], [result.nfev for result in results]
    assert mannwhitneyu(*counts).pvalue > ERROR


@pytest.mark.parametrize(
    ("method", "lanes"), [("sarp", 8), ("cma", 64), ("adaptive-sarp", 16), ("ep-cma-4", 128), ("ep-cma-4", 1)]
)
def test_a_run_depends_neither_on_legs_nor_on_being_resumed(method, lanes):
    from pursuit.gpu.batch import Batch

    def new():
        return batch_of(P.exp(20, 1e3), np.ones(20), method, runs=20, lanes=lanes, maxiter=20_000)

    def interrupt(batch, ended):
        raise InterruptedError

    whole, in_legs, cut = new(), new(), new()
    run(whole)
    run(in_legs, leg=0.002)
    with pytest.raises(InterruptedError):
        run(cut, leg=0.002, landed=interrupt)
    resumed = Batch.resumed(cut.setup, cut.limits, cut.memory(), lanes=lanes)
    run(resumed)
    assert whole.running.size == resumed.running.size == 0
    np.testing.assert_array_equal(in_legs.words, whole.words)
    np.testing.assert_array_equal(resumed.words, whole.words)


def test_a_run_does_not_depend_on_the_runs_beside_it():
    few, many = (
        batch_of(P.exp(20, 1e3), np.ones(20), "adaptive-sarp", runs=runs, maxiter=5_000) for runs in (3, 50)
    )
    run(few, many)
    np.testing.assert_array_equal(few.words, many.words[:3])


@pytest.mark.parametrize("method", ["rp", "sarp", "adaptive-sarp"])
@pytest.mark.parametrize("most", [1, 2, 3, 776, 777])
def test_evaluations_end_where_they_shall(method, most):
    batch = batch_of(P.exp(20, 100.0), np.ones(20), method, runs=5, maxfev=most)
    run(batch)
    for k in range(5):
        outcome = batch.outcome(k)
        assert outcome.reason == Reason.MAXFEV
        assert most - 2 <= outcome.nfev <= most
        assert P.exp(20, 100.0)(outcome.x) == pytest.approx(outcome.fun, rel=1e-12)


def test_runs_that_end_are_reported_once_and_an_exception_goes_through():
    batch, seen = batch_of(P.exp(20, 100.0), np.ones(20), ftarget=1e-9), []
    run(batch, leg=0.005, landed=lambda landed, ended: seen.extend(ended))
    assert sorted(seen) == list(range(RUNS))

    def fail(landed, ended):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(batch_of(P.exp(20, 100.0), np.ones(20)), leg=0.005, landed=fail)


@pytest.mark.parametrize("method", ["rp", "sarp", "adaptive-sarp"])
def test_all_threads_of_the_gpu_do_what_a_cpu_does_on_one_vector(method):
    n = 10_000
    problem = P.lin(n, 10.0)
    batch = batch_of(problem, problem.x0, method, runs=1, maxiter=2_000)
    run(batch)
    outcome = batch.outcome(0)
    values = [
        pursuit.minimize(problem, problem.x0, method=method, rng=k, maxiter=2_000).fun for k in range(11)
    ]
    # One of twelve that are alike is the least or the greatest now and then, but never far outside.
    spread = max(values) - min(values)
    assert min(values) - 2.0 * spread < outcome.fun < max(values) + 2.0 * spread
    assert problem(outcome.x) == pytest.approx(outcome.fun, rel=1e-10)


def test_values_that_are_no_numbers_count_as_infinite():
    @numba.njit
    def hole(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] * x[i]
        return total if x[0] < 2.0 else np.nan

    batch = batch_of(hole, np.ones(5), runs=20, ftarget=1e-9)
    run(batch)
    outcomes = [batch.outcome(k) for k in range(20)]
    assert {outcome.reason for outcome in outcomes} == {Reason.TARGET}
    assert sum(outcome.faulty for outcome in outcomes) > 0
