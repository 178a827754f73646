"""Rounds of many points: how many there are, and that their number is all that makes a difference."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

import pursuit

N = 30
START = np.linspace(-1.0, 2.0, N)
TURN = np.linalg.qr(np.random.default_rng(1).standard_normal((N, N)))[0]
SPECTRUM = np.geomspace(1.0, 100.0, N)


def bowl(x):
    return float(SPECTRUM @ (TURN @ x) ** 2)


def valley(x):
    """Rosenbrock's function, rotated: steps fail now and then."""
    z = 1.0 + TURN @ (x - 1.0)
    return float(np.sum(100.0 * (z[1:] - z[:-1] ** 2) ** 2 + (1.0 - z[:-1]) ** 2))


class Watched:
    """Evaluates rounds, and remembers their sizes and all points."""

    def __init__(self, f=bowl):
        self.f, self.sizes, self.points = f, [], []

    def __call__(self, function, rows):
        self.sizes.append(len(rows))
        self.points += [row.tobytes() for row in rows]
        return [self.f(row) for row in rows]


def watched(batch, method="auto", f=bowl, start=START, **arguments):
    apply = Watched(f)
    arguments = {"maxfev": 1500, "rng": 4, **arguments}
    result = pursuit.minimize(f, start, method=method, workers=apply, batch=batch, **arguments)
    assert result.nfev == sum(apply.sizes)
    return result, apply


@pytest.mark.parametrize("method", ["auto", "differences", "evolution", "rp"])
@pytest.mark.parametrize("batch", [1, 2, 7, 30, 100])
def test_no_round_is_larger_than_wanted(method, batch):
    _, apply = watched(batch, method)
    assert max(apply.sizes) <= batch
    if method != "rp":
        assert max(apply.sizes) > 0.8 * min(batch, N)


@pytest.mark.parametrize("f", [bowl, valley])
def test_rounds_of_differences_are_nearly_full_and_cost_next_to_no_evaluations(f):
    """In all, over a few starts: how long a run along a curved valley takes is a matter of luck."""

    def spent(batch):
        evaluations = rounds = 0
        for seed in range(4):
            start = START + 0.3 * np.random.default_rng(seed).standard_normal(N)
            goal = {"method": "differences", "f": f, "ftarget": 1e-8, "maxfev": 40_000, "start": start}
            result, watcher = watched(batch, **goal)
            assert result.success
            evaluations, rounds = evaluations + len(watcher.points), rounds + len(watcher.sizes)
        return evaluations, rounds

    evaluations, most = spent(1)
    for batch in (2, 7, 30, 64):
        together, rounds = spent(batch)
        if batch < N:
            assert together <= 1.2 * evaluations
            assert rounds <= 1.5 * together / batch
            assert rounds < most
        # A sweep has N points, so that larger rounds gain nothing, and cost nothing.
        assert rounds <= most
        most = rounds


@pytest.mark.parametrize("bounds", [None, [(-1.5, 3.0)] * N], ids=["free", "bounded"])
def test_from_a_few_points_on_the_batch_only_divides_what_differences_evaluates(bounds):
    """Four points of a line are evaluated at once; smaller batches begin with other points."""
    start = {"method": "differences", "bounds": bounds, "ftarget": 1e-6}
    _, four = watched(4, **start)
    for batch in (7, 64, 200):
        _, many = watched(batch, **start)
        shorter = min(len(four.points), len(many.points))
        assert many.points[:shorter] == four.points[:shorter]
        # The last round may have further points beside the one that reaches the target.
        assert len(many.points) - len(four.points) < batch


def test_evolution_divides_a_round_without_a_difference():
    """With N variables a round has 14 points or more."""
    _, own = watched(None, "evolution")
    usual = 14
    assert max(own.sizes) < 2 * usual
    for batch in (1, 8, usual):
        _, parts = watched(batch, "evolution")
        assert parts.points == own.points
        assert max(parts.sizes) == batch


def test_rounds_of_evolution_are_as_large_as_the_batch_up_to_four_times_their_size():
    for batch, most in ((40, 40), (56, 56), (200, 2 * 56)):
        _, many = watched(batch, "evolution")
        large = [size for size in many.sizes if size > 4]
        assert large[0] == min(batch, 56)
        assert max(large) <= most


@pytest.mark.parametrize("method", ["differences", "evolution"])
@pytest.mark.parametrize("maxfev", [2, 31, 100, 257])
def test_the_last_round_is_smaller(method, maxfev):
    result, apply = watched(25, method, maxfev=maxfev)
    assert sum(apply.sizes) == maxfev
    assert result.fun == min(bowl(np.frombuffer(point)) for point in apply.points)


@pytest.mark.parametrize("method", ["auto", "differences", "evolution"])
def test_with_the_same_batch_nobody_makes_a_difference(method):
    expected, _ = watched(9, method)
    with ThreadPoolExecutor(5) as threads:
        for workers in (1, threads, map):
            found = pursuit.minimize(bowl, START, method=method, rng=4, maxfev=1500, batch=9, workers=workers)
            np.testing.assert_array_equal(found.x, expected.x)
            assert (found.nfev, found.nit) == (expected.nfev, expected.nit)
    optimizer = pursuit.Optimizer(START, method, rng=4, maxfev=1500, batch=9)
    while not optimizer.stop():
        points = optimizer.ask()
        assert len(points) <= 9
        optimizer.tell(points, [bowl(x) for x in points])
    np.testing.assert_array_equal(optimizer.result.x, expected.x)


def test_by_default_each_worker_gets_several_points():
    sizes = []

    class Counting(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            sizes.append(1)
            return super().submit(fn, *args, **kwargs)

    for workers, most in ((2, 16), (5, 40)):
        with Counting(workers) as threads:
            sizes.clear()
            result = pursuit.minimize(bowl, START, method="differences", workers=threads, rng=1, maxfev=200)
        assert len(sizes) == result.nfev
        same = pursuit.minimize(bowl, START, method="differences", batch=most, rng=1, maxfev=200)
        np.testing.assert_array_equal(result.x, same.x)


@pytest.mark.parametrize("method", ["differences", "evolution"])
def test_no_worker_waits_for_the_end_of_a_round_and_the_run_is_the_same(method):
    """The twentieth evaluation lasts until more points than a round has were begun; without that it fails."""
    start, weights = np.full(60, 2.0), np.linspace(1.0, 20.0, 60)
    begun, many = [], threading.Event()

    def wide(x):
        return float(weights @ x**2)

    def waiting(x):
        begun.append(x)
        if len(begun) > 36:
            many.set()
        if len(begun) == 20 and not many.wait(60.0):
            raise TimeoutError("No further point was begun.")
        return wide(x)

    settings = {"method": method, "rng": 1, "options": {"popsize": 50} if method == "evolution" else {}}
    with ThreadPoolExecutor(4) as threads:
        found = pursuit.minimize(waiting, start, workers=threads, maxfev=300, **settings)
        again = pursuit.minimize(wide, start, workers=threads, ftarget=1.0, **settings)
        twice = pursuit.minimize(wide, start, workers=threads, ftarget=1.0, **settings)
    alone = pursuit.minimize(wide, start, batch=32, maxfev=300, **settings)
    np.testing.assert_array_equal(found.x, alone.x)
    assert (found.nfev, found.nit) == (alone.nfev, alone.nit) == (len(begun), alone.nit)
    # Where points end that are not counted any more makes no difference either.
    assert (again.nfev, again.fun) == (twice.nfev, twice.fun)


@numba.njit
def jitted(x):
    """A bowl, which raises an error in a corner."""
    if x[0] > 2.5:
        raise ValueError("x[0] is above 2.5.")
    total = 0.0
    for i in range(x.size):
        total += (i + 1) * x[i] * x[i]
    return total


@pytest.mark.parametrize("method", ["auto", "differences", "evolution", "rp"])
def test_processes_evaluate_a_jitted_function_and_change_nothing(method):
    runs = [
        pursuit.minimize(
            jitted, START, method=method, rng=2, maxfev=300, workers=workers, batch=12, trace=True
        )
        for workers in (1, 2)
    ]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.x, runs[0].x)
        np.testing.assert_array_equal(run.trace.fun, runs[0].trace.fun)
        assert (run.nfev, run.nit) == (runs[0].nfev, runs[0].nit)


def test_an_exception_elsewhere_goes_through_with_what_was_found():
    for workers in (1, 3):
        with pytest.raises(ValueError, match=r"x\[0\] is above 2.5") as error:
            pursuit.minimize(
                jitted, np.full(N, 2.0), method="evolution", rng=1, workers=workers, batch=9, sigma0=1e3
            )
        assert np.isfinite(error.value.pursuit_result.fun)


def test_a_checkpoint_keeps_its_rounds(tmp_path):
    path = tmp_path / "run.npz"
    arguments = {"method": "evolution", "rng": 3, "checkpoint": path}
    whole = pursuit.minimize(bowl, START, method="evolution", rng=3, maxfev=800, batch=30)
    pursuit.minimize(bowl, START, maxfev=300, batch=30, **arguments)
    with pytest.raises(ValueError, match="holds a run with batch=30, which cannot be resumed with batch=9"):
        pursuit.minimize(bowl, START, maxfev=800, batch=9, **arguments)
    # With or without workers, it goes on as it has begun.
    with ThreadPoolExecutor(3) as threads:
        resumed = pursuit.minimize(bowl, START, maxfev=500, workers=threads, **arguments)
    resumed = pursuit.minimize(bowl, START, maxfev=800, **arguments)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert (resumed.fun, resumed.nfev) == (whole.fun, whole.nfev)
    loaded = pursuit.Optimizer.load(path, maxfev=2000)
    sizes = set()
    for _ in range(6):
        points = loaded.ask()
        sizes.add(len(points))
        loaded.tell(points, [bowl(x) for x in points])
    assert max(sizes) == 30


@pytest.mark.parametrize("method", ["differences", "evolution"])
def test_a_round_that_a_limit_has_cut_is_completed_without_evaluating_anything_twice(method, tmp_path):
    """In several steps, of which some add nothing."""
    seen = []

    def counted(x):
        seen.append(x.tobytes())
        return bowl(x)

    arguments = {"method": method, "rng": 8, "batch": 25, "checkpoint_check": False}
    whole = pursuit.minimize(counted, START, maxfev=400, **arguments)
    points = seen.copy()
    seen.clear()
    for maxfev in (7, 7, 13, 110, 111, 111, 399, 400):
        resumed = pursuit.minimize(
            counted, START, maxfev=maxfev, checkpoint=tmp_path / "run.npz", **arguments
        )
        assert resumed.nfev == maxfev
    assert seen == points
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert resumed.fun == whole.fun


@pytest.mark.parametrize("batch", [0, -3, 2.5, "many", float("nan")])
def test_a_wrong_batch_is_refused(batch):
    with pytest.raises((ValueError, TypeError), match="batch"):
        pursuit.minimize(bowl, START, batch=batch)


def test_a_round_that_no_memory_can_hold_is_refused():
    with pytest.raises(ValueError, match="A round of 1000000000000 points of n=30 variables would take"):
        pursuit.minimize(bowl, START, batch=10**12)
