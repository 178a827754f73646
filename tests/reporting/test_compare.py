"""Methods compared on a function, ours and those of others."""

import math

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.optimize

import pursuit

matplotlib.use("agg")
EXP = pursuit.problems.exp(5, 1e2)


def sphere(x):
    return float(x @ x)


def shifted(x):
    return sphere(x - 0.3)


def powell(fun, x0, *, maxfev, seed, sigma0):
    scipy.optimize.minimize(fun, x0, method="Powell", options={"maxfev": maxfev})


def greedy(fun, x0, *, maxfev, seed, sigma0):
    """Search at random for ever, and let nothing but the end of the run stop it."""
    rng = np.random.default_rng(seed)
    best, x = math.inf, x0
    while True:
        try:
            trial = x + 0.1 * sigma0 * rng.standard_normal(x.size)
            value = fun(trial)
        except Exception:
            continue
        if value < best:
            best, x = value, trial


def failing(fun, x0, *, maxfev, seed, sigma0):
    fun(x0)
    raise ArithmeticError("no further")


def lazy(fun, x0, *, maxfev, seed, sigma0):
    pass


def test_own_runs_are_those_of_minimize():
    found = pursuit.compare(EXP, EXP.x0, ("rp", "cma"), seeds=[3, 7], maxfev=2000, ftarget=1e-6)
    assert [(run.method, run.seed) for run in found.runs] == [("rp", 3), ("rp", 7), ("cma", 3), ("cma", 7)]
    for run in found.runs:
        single = pursuit.minimize(EXP, EXP.x0, method=run.method, rng=run.seed, maxfev=2000, ftarget=1e-6)
        assert (run.fun, run.nfev) == (single.fun, single.nfev)
        assert run.reached == (single.nfev if single.success else math.inf)
        assert run.progress_fun[-1] == run.fun


def test_rows_are_medians_and_quartiles_that_occurred():
    found = pursuit.compare(EXP, EXP.x0, ("rp",), seeds=5, maxfev=300)
    (row,) = found.rows
    values = sorted(run.fun for run in found.runs)
    assert (row.fun_low, row.fun, row.fun_high) == (values[1], values[2], values[3])
    assert (row.method, row.nfev) == ("rp", 300)
    assert row.success_share is None
    assert row.nfev_to_target is None
    assert row.seconds > 0.0


NOISE, REPEATS = 0.1, 400


class Noisy:
    """A sphere under noise."""

    def __init__(self):
        self.rng = np.random.default_rng(5)

    def __call__(self, x):
        return sphere(x) + NOISE * self.rng.standard_normal()


def centre(fun, x0, *, maxfev, seed, sigma0):
    """Evaluate the start alone, and recommend another point."""
    for _ in range(maxfev):
        fun(x0)
    return np.zeros(x0.size)


def test_noisy_values_are_compared_by_new_ones_on_request_and_not_without_a_word():
    methods = ("differences", greedy, centre)
    settings = {"seeds": 2, "maxfev": 300}
    found = pursuit.compare(Noisy(), np.ones(4), methods, **settings)
    assert "Those of differences are estimates; those of others are the smallest seen" in str(found)
    assert all(run.fun < sphere(run.x) - NOISE for run in found.runs if run.method == "greedy")
    again = pursuit.compare(Noisy(), np.ones(4), methods, **settings, repeats=REPEATS)
    assert str(again).startswith("Means of 400 new values at the ends of 2 runs of each method")
    assert "noisy" not in str(again)
    for run in again.runs:
        assert run.fun == pytest.approx(sphere(run.x), abs=5.0 * NOISE / math.sqrt(REPEATS))
        assert run.nfev <= 300
    assert all(not run.x.any() for run in again.runs if run.method == "centre")


def test_runs_that_miss_the_target_count_as_infinite():
    found = pursuit.compare(EXP, EXP.x0, ("rp", "cma"), seeds=3, maxfev=100, ftarget=1e-6)
    assert [row.success_share for row in found.rows] == [0.0, 0.0]
    assert [row.nfev_to_target for row in found.rows] == [math.inf, math.inf]
    assert str(found).splitlines()[3].split()[-5:-1] == ["0", "of", "3", "-"]


def test_the_optimiser_of_somebody_else_is_counted_and_ends_at_the_target_or_the_limit():
    found = pursuit.compare(shifted, np.zeros(4), (powell, greedy), seeds=2, maxfev=500, ftarget=1e-3)
    solved, *_ = runs = found.runs
    assert [run.method for run in runs] == ["powell", "powell", "greedy", "greedy"]
    assert solved.fun <= 1e-3
    assert solved.reached == solved.nfev < 500
    limited = pursuit.compare(shifted, np.zeros(4), (greedy,), seeds=2, maxfev=50)
    assert [run.nfev for run in limited.runs] == [50, 50]
    assert limited.runs[0].fun != limited.runs[1].fun
    for run in limited.runs:
        assert (np.diff(run.progress_fun) <= 0.0).all()
        assert (run.progress_nfev[-1], run.progress_fun[-1]) == (50, run.fun)


def test_the_function_may_write_into_its_argument():
    def writing(x):
        x -= 0.3
        return sphere(x)

    found = pursuit.compare(writing, np.zeros(3), (powell, "rp"), seeds=1, ftarget=1e-6)
    assert [row.success_share for row in found.rows] == [1.0, 1.0]


def test_bounds_hold_for_all():
    seen, bounds = [], [(0.0, 1.0)] * 3

    def recorded(x):
        seen.append(x.copy())
        return sphere(x + 1.0)

    def told(fun, x0, *, maxfev, seed, sigma0, bounds):
        given.append(bounds)
        assert fun(np.full(3, -1.0)) == math.inf
        fun(x0)

    given = []
    found = pursuit.compare(recorded, np.full(3, 0.5), (told, "rp"), seeds=1, maxfev=100, bounds=bounds)
    assert given == [bounds]
    assert min(x.min() for x in seen) >= 0.0
    assert max(x.max() for x in seen) <= 1.0
    assert found.runs[0].nfev == 2


@pytest.mark.parametrize("fun", [sphere, EXP], ids=["python", "compiled"])
def test_processes_change_nothing(fun):
    settings = {"methods": ("rp", powell), "seeds": 2, "maxfev": 300}
    alone = pursuit.compare(fun, np.ones(5), **settings)
    shared = pursuit.compare(fun, np.ones(5), workers=2, **settings)
    for one, other in zip(alone.runs, shared.runs, strict=True):
        assert (one.method, one.seed, one.fun, one.nfev) == (other.method, other.seed, other.fun, other.nfev)


def test_the_table_names_what_it_shows():
    found = pursuit.compare(sphere, np.ones(3), {"first": "rp", "second": powell}, seeds=2, ftarget=1e-3)
    title, blank, header, *lines = repr(found).splitlines()
    assert title == "Best values of 2 runs of each method, at most 3000 evaluations each, target 0.001"
    assert not blank
    assert header.split("  ")[0] == "method"
    for word in ("median", "quartiles", "reached", "evaluations to it", "seconds"):
        assert word in header
    assert [line.split()[0] for line in lines] == ["first", "second"]
    assert all(" 2 of 2 " in line for line in lines)
    assert len({len(line) for line in (header, *lines)}) == 1
    without = str(pursuit.compare(sphere, np.ones(3), ("rp",), seeds=1, maxfev=50))
    assert without.startswith("Best values of 1 run of each method, at most 50 evaluations each\n")
    assert "reached" not in without


def test_the_picture_shows_medians_of_the_best_so_far():
    found = pursuit.compare(sphere, np.ones(3), ("rp", greedy), seeds=3, maxfev=200)
    ax = found.plot()
    assert [line.get_label() for line in ax.lines] == ["rp", "greedy"]
    for line, row in zip(ax.lines, found.rows, strict=True):
        assert line.get_ydata()[-1] == row.fun
        assert line.get_xdata()[-1] == 200
        assert (np.diff(line.get_ydata()) <= 0.0).all()
    assert len(ax.collections) == 2
    ax.figure.canvas.draw()
    plt.close("all")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"methods": "auto"},
            "methods must be a sequence of methods, such as ('auto', 'cma'), but 'auto' was",
        ),
        ({"methods": ()}, "methods must hold at least one method, but it is empty."),
        (
            {"methods": (3,)},
            "A method is a name, a scheme's class, or a function that calls another optimiser",
        ),
        (
            {"methods": ("rp", "rp")},
            "There must be one method of each name, but there are several named 'rp'",
        ),
        ({"methods": ("rq",)}, "method must be one of auto, "),
        ({"seeds": ()}, "seeds must hold at least one seed, but it is empty."),
        ({"seeds": [-1]}, "A seed must be at least 0, but -1 was given."),
        ({"seeds": 0}, "seeds must be at least 1, but 0 was given."),
        ({"maxfev": 0}, "maxfev must be at least 1, but 0 was given."),
        ({"repeats": -1}, "repeats must be at least 0, but -1 was given."),
        ({"ftarget": "low"}, "ftarget must be a number, but 'low' was given."),
        ({"workers": 0}, "workers must be positive, or -1 for one per core, but 0 was given."),
        ({"methods": (powell,), "sigma0": -1.0}, "sigma0 must be "),
        ({"methods": (powell,), "bounds": [(2.0, 3.0)] * 3}, "x0 must lie within the bounds"),
        ({"methods": (lambda fun, x0, **_: None, "rp"), "workers": 2}, "With several workers the method "),
    ],
)
def test_errors_are_sentences(settings, sentence):
    with pytest.raises((TypeError, ValueError)) as caught:
        pursuit.compare(sphere, np.ones(3), **({"methods": ("rp",), "maxfev": 50} | settings))
    assert str(caught.value).startswith(sentence)


def test_an_exception_says_in_which_run_it_was():
    with pytest.raises(ArithmeticError, match="no further") as caught:
        pursuit.compare(sphere, np.ones(3), ("rp", failing), seeds=[5], maxfev=50)
    assert caught.value.__notes__ == ["This ended the run of the method failing with the seed 5."]
    with pytest.raises(RuntimeError, match="The method ended before it had found a finite value"):
        pursuit.compare(sphere, np.ones(3), (lazy,), seeds=1)
