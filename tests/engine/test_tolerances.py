"""`xtol` and `ftol`: a run ends where nothing is left to win, and not before."""

import math

import numpy as np
import pytest
import scipy.optimize

import pursuit
from conformance.own import Narrowing
from helpers import make_problem, options_for
from pursuit.engine.stopping import XTOL, Reason
from pursuit.methods import list_methods

KAPPA = 100.0
SPECTRUM = np.geomspace(1.0, KAPPA, 30)


# Their differences leave a bias, or gains that fall make them slow in the end.
COARSE = ("spsa", "rg", "ars")
# They look around before they end, and say in their own words why they do.
PROGRAMS = ("auto", "differences", "evolution")
above_zero = pursuit.problems.exp(30, KAPPA)


def above_one(x):
    return 1.0 + above_zero(x)


def run(fun, method, **limits):
    options = options_for(method, kappa=KAPPA)
    return pursuit.minimize(fun, np.ones(30), method=method, rng=1, options=options, **limits)


@pytest.mark.parametrize("method", [method for method in list_methods() if method not in COARSE])
def test_a_run_ends_soon_after_all_digits_of_x_are_found(method):
    """It took the default method 235 432 evaluations; 1e-8 is reached after a twentieth of them."""
    result = run(above_zero, method)
    assert result.status == (Reason.CONVERGED if method in PROGRAMS else Reason.XTOL)
    assert result.success == (method in PROGRAMS)
    assert result.message.startswith("Converged: ")
    # Its cloud is as wide as xtol in each variable.
    assert result.fun < (30 * 1e-8**2 if method == "evolution" else 1e-16)
    assert result.nfev < 5 * run(above_zero, method, ftarget=1e-8).nfev


# Without an exact line minimiser a bracketing search stands in, whose values never all agree.
EXACT = ("rp-exact", "sarp-exact", "arp", "acdm")


@pytest.mark.parametrize("method", [method for method in list_methods() if method not in (*EXACT, *COARSE)])
def test_a_run_ends_soon_after_all_digits_of_f_are_found(method):
    result = run(above_one, method)
    assert result.status == (Reason.CONVERGED if method in PROGRAMS else Reason.FTOL)
    assert result.success == (method in PROGRAMS)
    if method not in PROGRAMS:
        assert result.message == "Converged: the latest values differ by no more than ftol."
    assert result.fun - 1.0 < 1e-13
    assert result.nfev < 5 * run(above_one, method, ftarget=1.0 + 1e-8).nfev


def assert_not_cut(method, name, n, L, most):
    """Assert that a run reaches 1e-9 with a hundred times the default tolerance as well."""
    problem = make_problem(name, n, L)
    arguments = {"method": method, "rng": 3, "ftarget": 1e-9, "maxfev": most}
    free = pursuit.minimize(problem, problem.x0, xtol=0.0, ftol=0.0, **arguments)
    assert free.status == Reason.TARGET
    result = pursuit.minimize(problem, problem.x0, xtol=100.0 * XTOL, **arguments)
    assert (result.status, result.nfev) == (Reason.TARGET, free.nfev)


# These are slow where others are not; the first two never reach the end of the valley.
SLOW = {"spsa": 10.0, "rg": 100.0, "r1-nes": 100.0}
PROGRESS = [
    (method, name)
    for name in ("exp", "lin", "two", "rosenbrock")
    for method in list_methods()
    if name != "rosenbrock" or method not in ("spsa", "rg")
]


@pytest.mark.parametrize(("method", "name"), PROGRESS)
def test_slow_progress_is_not_cut(method, name):
    assert_not_cut(method, name, 20, SLOW.get(method, 1e4), most=5_000_000)


# Their evaluations grow like L.
LINEAR = ("rp", "rp-exact", "ep-cma-1", "ep-cma-2", "lm-cma", "l-cma")


@pytest.mark.long
@pytest.mark.parametrize("method", [method for method in list_methods() if method not in SLOW])
@pytest.mark.parametrize("name", ["exp", "lin", "two"])
def test_very_slow_progress_is_not_cut(method, name):
    assert_not_cut(method, name, 20, 1e5 if method in LINEAR else 1e6, most=100_000_000)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("method", ["auto", "evolution", "adaptive-sarp", "rp", "cma", "ep-cma-4"])
def test_plateaus_are_not_mistaken_for_the_end(method, offset):
    """On a staircase most trials have the very value of the best point, for thousands of evaluations."""

    def stairs(x):
        return offset + math.floor(0.5 * float(SPECTRUM @ (x * x)))

    free = run(stairs, method, xtol=0.0, ftol=0.0, maxfev=30_000)
    result = run(stairs, method, maxfev=30_000)
    assert result.fun == free.fun


def test_a_wild_start_does_not_end_a_run():
    """Neither the value nor the step size of the start says what is worth while later."""

    def penalised(x):
        return 1e30 if x[0] > 3.0 else float(np.square(x - 1.0).sum())

    result = pursuit.minimize(penalised, np.full(5, 4.0), method="rp", rng=1, sigma0=1e3)
    assert result.fun < 1e-16
    result = pursuit.minimize(lambda x: float(np.square(x - 1.0).sum()), np.zeros(5), rng=1, sigma0=1e40)
    assert result.fun < 1e-16


def test_tolerances_end_a_run_earlier_the_larger_they_are():
    runs = [run(above_zero, "adaptive-sarp", xtol=xtol).nfev for xtol in (1e-2, 1e-6, 1e-10)]
    assert runs == sorted(set(runs))
    runs = [run(above_one, "adaptive-sarp", ftol=ftol).nfev for ftol in (1e-3, 1e-8, 1e-13)]
    assert runs == sorted(set(runs))


def test_zero_switches_tolerances_off():
    result = run(above_zero, "rp", xtol=0.0, ftol=0.0, maxfev=200_000)
    assert result.status == Reason.MAXFEV
    # This one takes steps to the minimum itself, from where no step leads on.
    result = run(above_zero, "differences", xtol=0.0, ftol=0.0, maxfev=200_000)
    assert result.status not in (Reason.XTOL, Reason.FTOL)


@pytest.mark.parametrize("name", ["xtol", "ftol"])
@pytest.mark.parametrize("value", [-1e-3, math.nan, math.inf, "1", None])
def test_wrong_tolerances_are_refused(name, value):
    with pytest.raises((TypeError, ValueError), match=f"{name} must be"):
        pursuit.minimize(above_zero, np.ones(30), **{name: value})


def test_a_stalled_run_says_for_how_long():
    result = pursuit.minimize(lambda x: float(np.ceil(np.abs(x)).sum()), np.full(5, 0.5), method="rp", rng=1)
    idle = result.nfev - 1
    assert result.message == f"Stalled: no improvement in the last {idle} evaluations."


def test_a_run_that_stalls_soon_does_not_count_a_single_evaluation(monkeypatch):
    needs = Narrowing.needs
    monkeypatch.setattr(Narrowing, "needs", lambda self, n: needs(self, n)._replace(patience=1))
    up = pursuit.minimize(
        lambda x: float(np.abs(x - 0.5).sum()),
        np.full(5, 0.5),
        method=Narrowing,
        rng=1,
        options={"offspring": 1},
    )
    assert (up.nfev, up.message) == (2, "Stalled: no further improvement.")


def test_scipys_tol_sets_both():
    method = pursuit.scipy_method("rp")
    theirs = scipy.optimize.minimize(above_one, np.ones(30), method=method, tol=1e-3, options={"rng": 1})
    ours = run(above_one, "rp", xtol=1e-3, ftol=1e-3)
    assert (theirs.nfev, theirs.fun) == (ours.nfev, ours.fun)
    assert ours.nfev < run(above_one, "rp").nfev


def test_ask_and_tell_stops_where_minimize_does():
    result = run(above_zero, "cma", xtol=1e-2)
    optimizer = pursuit.Optimizer(np.ones(30), "cma", rng=1, xtol=1e-2)
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [above_zero(x) for x in X])
    assert optimizer.stop() == {"xtol": result.message}
    assert optimizer.result.nfev == result.nfev
