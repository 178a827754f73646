"""Results as JSON, and back."""

import json
import math

import numpy as np
import pytest

import pursuit
from pursuit.result import Result

pytestmark = pytest.mark.interpreted


def f(x):
    return float(np.sum((x - 1.0) ** 2))


def check_same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        if name == "trace":
            for first, second in zip([*one.trace, one.trace.x], [*other.trace, other.trace.x], strict=True):
                np.testing.assert_array_equal(first, second)
                assert getattr(first, "dtype", None) == getattr(second, "dtype", None)
        elif name == "seed":
            assert np.random.default_rng(one.seed).random() == np.random.default_rng(other.seed).random()
        else:
            np.testing.assert_equal(one[name], other[name])
            assert isinstance(other[name], type(one[name]))


def there_and_back(result, **settings):
    text = json.dumps(result.to_dict(), allow_nan=False)
    return Result.from_dict(json.loads(text), **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"trace": "x", "bounds": [(1.5, 3.0)] * 3},
        {"method": "rp", "restarts": 1, "xtol": 0.1, "maxfev": 500, "trace": True},
        {"fun": lambda x: f(x) + 0.1 * np.random.default_rng(1).standard_normal()},
        {"constraints": {"type": "ineq", "fun": lambda x: x[0]}, "maxfev": 300, "trace": True},
        {"fun": lambda x: (f(x), {"some": [1, 2.5, None, "text"]})},
        {"fun": lambda x: f(x) if x[0] < 2.5 else math.inf, "x0": np.zeros(3), "trace": True},
    ],
    ids=["plain", "bounds", "restarts", "noise", "constraints", "extra", "infinite"],
)
def test_a_result_comes_back_as_it_was(settings):
    result = pursuit.minimize(**{"fun": f, "x0": np.full(3, 2.0), "rng": 1, **settings})
    check_same(there_and_back(result), result)
    assert repr(there_and_back(result)) == repr(result)


def test_results_of_many_runs_keep_their_seeds():
    for result in pursuit.minimize_many(f, np.zeros(2), 2, rng=1, workers=1, maxfev=20):
        check_same(there_and_back(result), result)


def test_structures_and_what_hessian_adds():
    start = {"a": 2.0, "b": np.zeros((2, 2))}
    result = pursuit.minimize(lambda p: f(np.hstack([p["a"], p["b"].ravel()])), start, rng=1, trace="x")
    back = there_and_back(result, x0=start)
    np.testing.assert_equal(back.x, result.x)
    np.testing.assert_equal(back.trace.x, result.trace.x)
    flat = there_and_back(result)
    assert flat.x.tolist() == [result.x["a"], *result.x["b"].ravel()]
    fitted = pursuit.minimize(f, np.zeros(2), rng=1)
    fitted.hessian(f)
    check_same(there_and_back(fitted), fitted)


def test_what_json_does_not_take_is_left_out():
    result = pursuit.minimize(lambda x: (f(x), {1, 2}), np.zeros(2), rng=1)
    assert result.extra == {1, 2}
    assert "extra" not in there_and_back(result)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (7, "The data of a result must be a dictionary, but 7 was given."),
        ({"x": "a"}, "but its x is 'a'."),
        ({"stages": [{"method": "rp"}]}, "but its stages is"),
        ({"trace": []}, r"but its trace is \[\]."),
    ],
)
def test_other_data_is_refused(data, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        Result.from_dict(data)
