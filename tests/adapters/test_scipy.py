"""As a method of scipy.optimize.minimize, beside one of SciPy's own."""

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import Bounds, OptimizeResult, rosen, rosen_der, rosen_hess

import pursuit
from pursuit.methods import EpCma

X0 = np.zeros(4)


def minimize(method="cma", **arguments):
    options = {"rng": 1, "ftarget": 1e-9, **arguments.pop("options", {})}
    return scipy.optimize.minimize(
        rosen, X0, method=pursuit.scipy_method(method), options=options, **arguments
    )


def test_finds_what_a_method_of_scipy_finds():
    ours, theirs = (
        minimize(),
        scipy.optimize.minimize(rosen, X0, method="Nelder-Mead", options={"maxiter": 5000}),
    )
    assert isinstance(ours, OptimizeResult)
    assert ours.success
    assert set(theirs) - {"final_simplex"} <= set(ours)
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-3)


@pytest.mark.parametrize("method", ["rp", "sarp", "cma", "ep-cma-4", "rp-exact", EpCma])
def test_gives_the_run_of_minimize(method):
    options = {"kappa": 3600.0, "damping": 4.0} if method == "sarp" else {}
    ours = pursuit.minimize(rosen, X0, method=method, rng=1, sigma0=0.5, maxfev=500, options=options)
    through = minimize(method, options={"ftarget": None, "sigma0": 0.5, "maxfev": 500, **options})
    np.testing.assert_array_equal(ours.x, through.x)
    assert through.nfev == ours.nfev <= 500


def test_options_may_also_be_nested():
    flat = minimize("sarp", options={"maxiter": 100, "kappa": 50.0})
    nested = minimize("sarp", options={"maxiter": 100, "options": {"kappa": 50.0}})
    np.testing.assert_array_equal(flat.x, nested.x)


@pytest.mark.parametrize("bounds", [Bounds(-1.0, 0.5), [(-1.0, 0.5)] * 4, [(None, 0.5)] * 4])
def test_bounds_are_kept(bounds):
    result = minimize(bounds=bounds, options={"ftarget": None, "maxfev": 3000})
    theirs = scipy.optimize.minimize(rosen, X0, method="L-BFGS-B", bounds=bounds)
    assert (result.x <= 0.5).all()
    assert result.fun == pytest.approx(theirs.fun, rel=1e-3)


def test_args_reach_the_function():
    def shifted(x, shift):
        return rosen(x - shift)

    result = scipy.optimize.minimize(
        shifted, X0, args=(1.0,), method=pursuit.scipy_method("cma"), options={"rng": 1, "ftarget": 1e-9}
    )
    np.testing.assert_allclose(result.x, 2.0, atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"jac": rosen_der}, "does not use gradient information"),
        ({"hess": rosen_hess}, "does not use Hessian information"),
        ({"hessp": lambda x, p: p}, "does not use Hessian-vector product information"),
    ],
)
def test_what_cannot_be_honoured_is_warned_about_as_in_scipy(arguments, words):
    with pytest.warns(RuntimeWarning, match=words):
        minimize(**arguments)


def test_callbacks_follow_scipy_s_convention():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.fun)
        if intermediate_result.fun < 0.1:
            raise StopIteration

    result = minimize(callback=callback)
    assert seen[-1] == result.fun < 0.1
    assert not result.success


@pytest.mark.parametrize(
    ("method", "error", "words"),
    [
        (3, TypeError, "method must be a name or a scheme's class, but 3 was given"),
        ("newton", ValueError, "method must be one of auto, .* but 'newton' was given"),
        (dict, TypeError, "dict lacks an implementation of ask"),
    ],
)
def test_what_is_no_method_is_named_at_once(method, error, words):
    with pytest.raises(error, match=words):
        pursuit.scipy_method(method)


def test_options_that_are_no_mapping_are_named():
    with pytest.raises(TypeError, match=r"options must be a mapping .* but \[1, 2\] was given"):
        minimize(options={"options": [1, 2]})


@pytest.mark.parametrize(
    "options", [{"disp": True}, {"disp": True, "progress": True}, {"disp": 1, "progress": False}]
)
def test_disp_is_scipy_s_word_for_progress(options):
    assert minimize(options=options).success


def test_an_unknown_option_is_named():
    with pytest.raises(ValueError, match="'xatol' is not an option of the method cma"):
        minimize(options={"xatol": 1e-3})
