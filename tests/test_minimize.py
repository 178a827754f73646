"""What people pass in: everything wrong is refused in a sentence, before anything is evaluated."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

import pursuit
from helpers import PAPER, RIVALS
from pursuit.methods import EpCma, ask, tell

EXP = pursuit.problems.exp(4, 100.0)


class Unfinished(NamedTuple):
    """A scheme without what makes one."""


ask.register(Unfinished)(lambda team, scheme, state, normals: None)
tell.register(Unfinished)(lambda team, scheme, state, query, answer: None)


def never(x):
    raise AssertionError("the objective was called")


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"x0": [1.0, np.nan]}, ValueError, r"x0 must be finite, but x0\[1\] is nan"),
        ({"x0": [np.inf, 1.0]}, ValueError, r"x0 must be finite, but x0\[0\] is inf"),
        ({"x0": []}, ValueError, r"x0 must have one dimension and at least one entry, but its shape is \(0,\)"),
        ({"x0": [[1.0, 2.0]]}, ValueError, r"its shape is \(1, 2\)"),
        ({"seed": 1}, TypeError, "minimize takes no argument 'seed': use rng"),
        ({"tol": 1e-6}, TypeError, "minimize takes no argument 'tol': use xtol and ftol"),
        ({"maxfun": 9}, TypeError, "minimize takes no argument 'maxfun': use maxfev"),
        ({"maxevals": 9}, TypeError, "minimize takes no argument 'maxevals': use maxfev"),
        ({"maximize": True}, TypeError, "minimize takes no argument 'maximize': to maximise f, minimise -f"),
        ({"jac": never}, TypeError, "minimize takes no argument 'jac': derivatives are not used: leave it out"),
        ({"n_jobs": 2}, TypeError, "minimize takes no argument 'n_jobs': use workers"),
        ({"verbose": 1}, TypeError, "minimize takes no argument 'verbose': use progress=True"),
        ({"cons": []}, TypeError, "minimize takes no argument 'cons': use constraints"),
        ({"kappa": 9.0}, TypeError, r"minimize takes no argument 'kappa': use options=\{'kappa': ...\}"),
        ({"max_fevs": 9}, TypeError, "minimize takes no argument 'max_fevs': perhaps maxfev is meant"),
        ({"colour": 9}, TypeError, "minimize takes no argument 'colour': it takes fun, x0, args, method, bounds,"),
        ({"constraints": lambda x: 1.0 - x[0]}, TypeError, "constraints must be NonlinearConstraint, LinearConstraint or dictionaries"),
        ({"x0": "start"}, TypeError, "x0 must be a sequence of real numbers, but 'start' was given"),
        ({"x0": [1j, 2.0]}, TypeError, "x0 must be a sequence of real numbers"),
        ({"sigma0": 0.0}, ValueError, "sigma0 must be finite and at least 1e-200 and below 1e\\+100, but 0.0 was given"),
        ({"sigma0": -1}, ValueError, "sigma0 must be finite and at least 1e-200 and below 1e\\+100, but -1 was given"),
        ({"sigma0": np.nan}, ValueError, "sigma0 must be finite and at least 1e-200"),
        ({"sigma0": "large"}, TypeError, "sigma0 must be a number, but 'large' was given"),
        ({"fun": 7}, TypeError, "fun must be callable, but 7 was given"),
        ({"method": "newton"}, ValueError, "method must be one of auto, .* but 'newton' was given"),
        ({"method": "ep-cma-x"}, ValueError, "method must be one of"),
        ({"method": "ep-cma-0"}, ValueError, "m must be at least 1, but 0 was given"),
        ({"method": 3}, TypeError, "method must be a name or a scheme's class, but 3 was given"),
        ({"method": dict}, TypeError, "dict lacks an implementation of ask and an implementation of tell"),
        ({"options": {"p": 0.0}}, ValueError, "p must be finite and above 0 and below 1, but 0.0"),
        ({"options": {"p": 1.0}}, ValueError, "p must be finite and above 0 and below 1, but 1.0"),
        ({"options": {"reading": "loose"}}, ValueError, "reading must be one of printed, fitted, frozen, but 'loose'"),
        ({"options": {"speed": 9}}, ValueError, "'speed' is not an option of the method rp: its options are line_search, p"),
        ({"options": {"line_search": "magic"}}, ValueError, "line_search must be one of adaptive, exact, bracketing"),
        ({"options": {"tolerance": 0}}, ValueError, "tolerance must be finite and above 0 and below 1, but 0"),
        ({"method": "rp-exact", "options": {"line_search": "exact"}}, ValueError, "'line_search' is not an option of .* rp-exact"),
        ({"method": "ep-cma-4", "options": {"m": 5}}, ValueError, "'m' is not an option of the method ep-cma-4"),
        ({"method": "ep-cma-4", "options": {"c_cov": 1.0}}, ValueError, "c_cov must be finite and at least 0"),
        ({"method": "cma", "options": {"c_p": -0.1}}, ValueError, "c_p must be finite and at least 0 and below 1"),
        ({"method": "cma", "options": {"c_c": "a"}}, TypeError, "c_c must be a number, but 'a'"),
        ({"method": "sarp"}, ValueError, "SARP needs the condition number .* but it was given none of them"),
        ({"method": "sarp", "options": {"m": 1.0}}, ValueError, "but it was given m=1.0"),
        ({"method": "sarp", "options": {"kappa": 2.0, "L": 3.0}}, ValueError, "but it was given kappa=2.0 and L=3.0"),
        ({"method": "sarp", "options": {"kappa": 0.5}}, ValueError, "kappa must be finite and at least 1, but 0.5"),
        ({"method": "sarp", "options": {"m": 2.0, "L": 1.0}}, ValueError, "L must be finite and at least 2, but 1.0"),
        ({"method": "sarp", "options": {"m": 0.0, "L": 1.0}}, ValueError, "m must be finite and above 0, but 0.0"),
        ({"method": "sarp", "options": {"kappa": 9, "damping": 0}}, ValueError, "damping must be finite and above 0"),
        ({"method": "rg"}, ValueError, "rg needs the largest curvature of the problem as the option L"),
        ({"method": "ars", "options": {"L": 1.0, "m": 2.0}}, ValueError, "m must be at most L, but m=2 and L=1"),
        ({"method": "spsa", "options": {"c": 0.0}}, ValueError, "c must be finite and above 0, but 0.0"),
        (
            {"method": "sep-cma", "options": {"c": 0.1}},
            ValueError,
            "'c' is not an option of the method sep-cma: its options are popsize, c_sigma, c_c, c_cov",
        ),
        ({"method": "sep-cma", "options": {"popsize": 1}}, ValueError, "popsize must be at least 2, but 1"),
        ({"method": "lm-cma", "options": {"version": "2015"}}, ValueError, "version must be one of 2014, 2017, but '2015'"),
        ({"method": "lm-cma", "options": {"c_1": 0.0}}, ValueError, "c_1 must be finite and above 0 and below 1"),
        ({"method": "l-cma", "options": {"m": 0}}, ValueError, "m must be at least 1, but 0"),
        ({"method": "lm-cma", "options": {"m": 10**15}}, ValueError, "lm-cma with m=10+ paths .* GiB of memory"),
        ({"maxiter": 0}, ValueError, "maxiter must be at least 1, but 0 was given"),
        ({"maxiter": 10.5}, TypeError, "maxiter must be an integer, but 10.5 was given"),
        ({"maxiter": "10"}, TypeError, "maxiter must be an integer, but '10' was given"),
        ({"maxtime": "1"}, TypeError, "maxtime must be a number, but '1' was given"),
        ({"sigma0": "1"}, TypeError, "sigma0 must be a number, but '1' was given"),
        ({"sigma0": 10**400}, ValueError, "sigma0 must be finite .* but an integer of 1329 bits was given"),
        ({"ftarget": -(10**400)}, ValueError, "ftarget must be finite, but an integer of 1329 bits was given"),
        ({"x0": [10**400, 1.0]}, ValueError, r"x0 must be finite, but x0\[0\] is inf"),
        ({"x0": np.ma.masked_array([1.0, 2.0], [True, False])}, TypeError, "x0 must be a sequence of real numbers"),
        ({"x0": np.array([1, 2], dtype="timedelta64[ns]")}, TypeError, "x0 must be a sequence of real numbers"),
        ({"x0": ["1", "2"]}, TypeError, r"x0 must be a sequence of real numbers, but \['1', '2'\] was given"),
        ({"x0": [True, 2.0]}, TypeError, "x0 must be a sequence of real numbers"),
        ({"options": [1, 2]}, TypeError, r"options must be a mapping .* but \[1, 2\] was given"),
        ({"options": {"p": 10**400}}, ValueError, "p must be finite .* but an integer of 1329 bits was given"),
        ({"options": {"p": "0.3"}}, TypeError, "p must be a number, but '0.3' was given"),
        ({"options": {"line_search": np.array(["exact", "adaptive"])}}, ValueError, "line_search must be one of"),
        ({"method": "ep-cma-99999999999999999999"}, ValueError, r"EP-CMA with m=99999999999999999999 paths .* would take 2\.24e\+12 GiB of memory"),
        ({"method": "ep-cma-" + 5000 * "9", "options": {"kappa": 2}}, ValueError, r"'kappa' is not an option of the method ep-cma-9+\.\.\.: its options"),
        ({"method": "ep-cma-" + 5000 * "9"}, ValueError, "EP-CMA with m=an integer of 333 bits paths .* GiB of memory"),
        ({"method": EpCma, "options": {"m": 10**400}}, ValueError, "EP-CMA with m=an integer of 1329 bits paths .* GiB of memory"),
        ({"method": "sarp", "options": {"kappa": 1e300, "damping": 1e300}}, ValueError, "kappa times damping and kappa divided by damping must be finite"),
        ({"method": Unfinished}, TypeError, "Unfinished lacks a method create and a method init"),
        ({"maxiter": True}, TypeError, "maxiter must be an integer, but True was given"),
        ({"maxfev": -5}, ValueError, "maxfev must be at least 1, but -5 was given"),
        ({"maxtime": 0}, ValueError, "maxtime must be finite and above 0, but 0 was given"),
        ({"ftarget": "low"}, TypeError, "ftarget must be a number, but 'low' was given"),
        ({"method": "cma", "options": {"c_c": 10**400}}, ValueError, "c_c must be finite .* but an integer of 1329 bits was given"),
        ({"trace": 7}, TypeError, 'trace must be True, False or "x", but 7 was given'),
        ({"trace": "y"}, ValueError, "trace must be True, False or \"x\", but 'y' was given"),
        ({"progress": "yes"}, TypeError, "progress must be True or False, but 'yes' was given"),
        ({"checkpoint_check": None}, TypeError, "checkpoint_check must be True or False, but None was given"),
        ({"workers": 10**6}, ValueError, "workers must be at most .*, as each is a process of its own, but 1000000 was given"),
        ({"workers": 10**400}, ValueError, "workers must be at most .* but an integer of 1329 bits was given"),
        ({"workers": np.array([1, 2])}, TypeError, r"workers must be an integer, but array\(\[1, 2\]\) was given"),
        ({"fun": EXP, "x0": [1.0]}, ValueError, "x0 must have the problem's 4 entries, but it has 1"),
        ({"fun": EXP, "x0": EXP.x0, "args": (1,)}, ValueError, "A problem takes no further arguments"),
    ],
)  # fmt: skip
def test_bad_input_is_named_before_anything_is_evaluated(change, error, words):
    arguments = {"fun": never, "x0": [1.0, 2.0], "method": "rp", "rng": 1, "maxiter": 10, **change}
    with pytest.raises(error, match=words) as caught:
        pursuit.minimize(**arguments)
    assert str(caught.value).count("\n") == 0
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "x0", [[1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3], dtype=np.float32), np.arange(1, 7)[::2] / 1]
)
def test_any_sequence_of_numbers_is_a_start(x0):
    result = pursuit.minimize(lambda x: float(x @ x), x0, method="rp", rng=1, maxiter=20, sigma0=1)
    assert result.x.dtype == np.float64
    assert result.fun < float(np.dot(x0, x0))


def test_a_read_only_start_is_fine():
    x0 = np.ones(3)
    x0.setflags(write=False)
    assert pursuit.minimize(lambda x: float(x @ x), x0, method="rp", rng=1, maxiter=20).fun < 3.0


def test_one_variable_is_enough():
    result = pursuit.minimize(lambda x: float(x[0] ** 2), [5.0], rng=1, ftarget=1e-9)
    assert result.success


@pytest.mark.parametrize("method", ["auto", "rp"])
def test_a_number_is_a_start_of_one_variable(method):
    shapes = set()

    def parabola(x):
        shapes.add(x.shape)
        return (x - 1.0) ** 2

    result = pursuit.minimize(parabola, 3.0, method=method, rng=1, ftarget=1e-9)
    assert result.success
    assert result.x == pytest.approx([1.0], abs=1e-4)
    assert shapes == {(1,)}
    assert pursuit.minimize_many(parabola, 3.0, 2, method=method, rng=1, ftarget=1e-9, workers=1)[0].success
    np.testing.assert_array_equal(pursuit.Optimizer(3.0, method).ask(), [[3.0]])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: pursuit.minimize_many(never, [1.0], seed=3),
            "minimize_many takes no argument 'seed': use seeds",
        ),
        (
            lambda: pursuit.compare(never, [1.0], method="rp"),
            "compare takes no argument 'method': use methods",
        ),
        (lambda: pursuit.compare(never, [1.0], budget=9), "compare takes no argument 'budget': use maxfev"),
        (lambda: pursuit.Optimizer([1.0], seed=3), "Optimizer takes no argument 'seed': use rng"),
        (
            lambda: pursuit.Optimizer([1.0], disp=True),
            "Optimizer takes no argument 'disp': it takes x0, method, rng,",
        ),
    ],
)
def test_other_names_of_arguments_are_known_everywhere(call, words):
    with pytest.raises(TypeError, match=words) as caught:
        call()
    assert str(caught.value).endswith(".")


def test_args_reach_the_objective():
    def objective(x, a, b):
        return float(x @ x) * a + b

    result = pursuit.minimize(objective, [1.0, 1.0], (2.0, 3.0), rng=1, ftarget=3.001)
    assert result.fun <= 3.001


def test_result_has_scipy_s_fields_and_ours():
    result = pursuit.minimize(EXP, EXP.x0, method="sarp", rng=1, ftarget=1e-9)
    theirs = OptimizeResult(result)
    assert (theirs.x is result.x, theirs.fun, theirs.message) == (True, result["fun"], result.message)
    expected = {
        "x", "fun", "fun_is_estimate", "fun_error", "noise", "nit", "nfev", "success", "status", "message", "method",
            "sigma", "nfaulty", "time", "stages",
    }  # fmt: skip
    assert set(result) == expected
    assert result.method == "sarp"
    assert isinstance(result.nit, int)
    assert isinstance(result.fun, float)


def test_methods_are_ours_and_the_paper_s_ten_and_those_of_others():
    assert pursuit.list_methods() == ("auto", "differences", "evolution", "adaptive-sarp", *PAPER, *RIVALS)


def test_methods_take_curvatures_from_the_problem_or_from_options():
    both = {"L": EXP.L, "m": EXP.m}
    known = {"spsa": {"L": EXP.L}, "rg": {"L": EXP.L}, "ars": both, "arp": both, "acdm": both}
    for method, options in known.items():
        told = pursuit.minimize(EXP, EXP.x0, method=method, rng=1, maxiter=50)
        given = pursuit.minimize(EXP, EXP.x0, method=method, rng=1, maxiter=50, options=options)
        np.testing.assert_array_equal(told.x, given.x)


def test_sarp_takes_the_condition_number_from_the_problem_or_from_options():
    runs = [
        pursuit.minimize(EXP, EXP.x0, method="sarp", rng=1, maxiter=100, options=options)
        for options in ({}, {"kappa": 100.0}, {"m": 2.0, "L": 200.0})
    ]
    for run in runs[1:]:
        np.testing.assert_array_equal(runs[0].x, run.x)


def test_a_scheme_s_class_is_a_method():
    by_class = pursuit.minimize(EXP, EXP.x0, method=EpCma, rng=1, maxiter=50, options={"m": 4})
    by_name = pursuit.minimize(EXP, EXP.x0, method="ep-cma-4", rng=1, maxiter=50)
    np.testing.assert_array_equal(by_class.x, by_name.x)
    assert by_class.method == "EpCma"


def test_sarp_takes_any_condition_number_that_a_float_holds():
    """A patience of more iterations than an integer holds ended in an error from inside Numba."""
    result = pursuit.minimize(EXP, EXP.x0, method="sarp", rng=1, maxiter=50, options={"kappa": 1e300})
    assert result.nit == 50


@pytest.mark.parametrize(("m", "top"), [(0.0, 1.0), (np.nan, 1.0), (1.0, np.inf), (-1.0, 1.0)])
def test_a_problem_that_does_not_know_its_condition_number_is_named(m, top):
    problem = Steep(2, m, top)
    with pytest.raises(ValueError, match=r"The [mL] of the problem must be finite"):
        pursuit.minimize(problem, np.ones(2), method="sarp", rng=1, maxiter=5)


class Steep(NamedTuple):
    n: int
    m: float
    L: float

    def __call__(self, x):
        return pursuit.problems.evaluate(self, x)


@pursuit.problems.value.register(Steep)
def _value(team, steep, x):
    return x[0] * x[0]


def test_numpy_s_global_state_is_untouched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002 (it is what must not change)
    pursuit.minimize(EXP, EXP.x0, method="rp", maxiter=50)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
