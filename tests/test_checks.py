"""What is a number, a count, a point, a seed; everything else is refused in a sentence."""

import datetime
import decimal
import math
import sys
from fractions import Fraction

import numpy as np
import pytest

from fuzz.arguments import NO_COUNTS, NO_NUMBERS, NO_POINTS, Rude
from fuzz.promises import check_sentence
from pursuit import checks
from pursuit.problems.objective import as_value, checked_values


def refused(function, *arguments, **keywords):
    """Return the sentence with which a call is refused."""
    with pytest.raises((TypeError, ValueError)) as caught:
        function(*arguments, **keywords)
    check_sentence(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "number",
    [2, 2.0, np.float32(2), np.int8(2), np.array(2), np.array(2.0), Fraction(4, 2), decimal.Decimal(2),
    np.longdouble(2),
     np.array(Fraction(2), dtype=object)],
)  # fmt: skip
def test_a_number_is_whatever_is_one(number):
    assert checks.checked_number("sigma0", number, above=0.0) == 2.0
    assert checks.checked_count("maxfev", number, at_least=1) == 2
    assert type(checks.checked_number("sigma0", number)) is float
    assert type(checks.checked_count("maxfev", number, at_least=1)) is int


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: type(value).__name__)
def test_what_is_no_number_is_refused(value):
    assert "sigma0 must be" in refused(checks.checked_number, "sigma0", value)


@pytest.mark.parametrize("value", NO_COUNTS, ids=lambda value: type(value).__name__)
def test_what_is_no_count_is_refused(value):
    assert "maxfev must be" in refused(checks.checked_count, "maxfev", value, at_least=1)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (10**400, "sigma0 must be finite, but an integer of 1329 bits was given."),
        (-(10**5000), "sigma0 must be finite, but an integer of 16610 bits was given."),
        (Fraction(10**400, 3), "sigma0 must be finite, but Fraction(10000"),
        (Fraction(10**5000, 3), "sigma0 must be finite, but an object of the class Fraction was given."),
        ("1", "sigma0 must be a number, but '1' was given."),
        (Rude(), "sigma0 must be a number, but an object of the class Rude was given."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_sentences_are_short_whatever_is_given(value, words):
    assert refused(checks.checked_number, "sigma0", value).startswith(words)


def test_a_count_may_be_a_float_without_a_fraction():
    assert checks.checked_count("maxfev", 1e4, at_least=1) == 10_000
    assert refused(checks.checked_count, "maxfev", 1e4 + 0.5, at_least=1) == (
        "maxfev must be an integer, but 10000.5 was given."
    )


@pytest.mark.parametrize("limit", [None, 2**62, 2**63, 2**64, 10**400, 1e300])
def test_a_limit_beyond_all_counting_is_none(limit):
    assert checks.checked_limit("maxfev", limit, 2**62) == 2**62


@pytest.mark.parametrize(
    "point",
    [
        [1, 2.0],
        (Fraction(1), decimal.Decimal(2)),
        np.array([1, 2], dtype=np.uint8),
        np.array([Fraction(1), 2.0]),
        np.ma.masked_array([1.0, 2.0], False),
        [np.float32(1), np.array(2.0)],
        range(1, 3),
    ],
    ids=str,
)
def test_a_point_may_hold_any_real_numbers(point):
    found = checks.checked_point("x0", point)
    assert type(found) is np.ndarray
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [1.0, 2.0])


@pytest.mark.parametrize("number", [3, 3.0, np.float64(3.0), np.array(3.0), Fraction(3)], ids=str)
def test_a_number_is_a_point_of_one_variable(number):
    np.testing.assert_array_equal(checks.checked_point("x0", number), [3.0])


@pytest.mark.parametrize("value", NO_POINTS, ids=lambda value: type(value).__name__)
def test_what_is_no_point_is_refused(value):
    assert refused(checks.checked_point, "x0", value).startswith("x0 must")


@pytest.mark.parametrize(
    "entries",
    [
        [1j, 2.0],
        np.array([1j, 2.0]),
        np.ma.masked_array([1.0, 2.0], [True, False]),
        [np.ma.masked, 2.0],
        ["1", "2"],
        np.array(["1", "2"]),
        [b"1", 2.0],
        np.array([1, 2], dtype="datetime64[ns]"),
        np.array([1, 2], dtype="timedelta64[ns]"),
        [np.timedelta64(1, "ns"), 2.0],
        [datetime.date(2020, 1, 1), 2.0],
        [True, 2.0],
        np.array([True, False]),
        [None, 2.0],
        np.array([None, 2.0]),
    ],
    ids=str,
)
def test_numpy_would_take_these_for_numbers(entries):
    assert "x0 must be a sequence of real numbers" in refused(checks.checked_point, "x0", entries)


@pytest.mark.parametrize(
    "seed", [-1, "a", "1", b"1", ["1"], ["a", "b"], [[1], ["2"]], 1.5, [-1], {}, object(), Rude()]
)
def test_what_is_no_seed_is_refused(seed):
    assert refused(checks.checked_generator, seed).startswith("rng must be None, a non-negative integer")


def test_a_generator_is_taken_as_it_is_and_a_seed_as_numpy_does():
    generator = np.random.default_rng(1)
    assert checks.checked_generator(generator) is generator
    assert checks.checked_generator(7).random() == np.random.default_rng(7).random()
    assert checks.checked_generator([1, 2]).random() == np.random.default_rng([1, 2]).random()


@pytest.mark.parametrize("options", [[1, 2], "p", 3, False, [], [("p", 0.5)], Rude()])
def test_options_are_a_mapping(options):
    assert refused(checks.checked_options, options).startswith("options must be a mapping from names")
    assert checks.checked_options(None) == {}


@pytest.mark.parametrize("callback", [int, 3, "f", lambda: None, lambda a, b: None, object()])
def test_a_callback_takes_one_argument(callback):
    assert refused(checks.takes_intermediate_result, callback).startswith("callback must")


@pytest.mark.parametrize(
    ("callback", "wanted"),
    [
        (lambda intermediate_result: None, True),
        (lambda *, intermediate_result: None, True),
        (lambda xk: None, False),
        (lambda xk, more=1: None, False),
        (lambda *args: None, False),
        ([].append, False),
        (max, False),
    ],
)
def test_the_name_of_its_parameter_says_what_a_callback_wants(callback, wanted):
    assert checks.takes_intermediate_result(callback) is wanted


def test_memory_that_no_machine_has_is_refused_with_how_much_it_would_take():
    words = "A matrix would take 9.31e+381 GiB of memory, but this machine has"
    assert refused(checks.checked_memory, "A matrix", 125 * 10**388).startswith(words)
    checks.checked_memory("A number", 1)


def test_where_the_system_does_not_say_how_much_memory_there_is_no_machine_is_too_small(monkeypatch):
    monkeypatch.delattr("os.sysconf")
    checks.checked_memory("A matrix", sys.maxsize // 8)
    refused(checks.checked_memory, "A matrix", sys.maxsize)


@pytest.mark.parametrize("flag", [0, 1, None, "yes", [], np.array([True, False])])
def test_a_flag_is_true_or_false(flag):
    assert refused(checks.checked_flag, "trace", flag).startswith("trace must be True or False, but")
    assert checks.checked_flag("trace", np.True_) is True


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (None, "None (did you forget return?)."),
        ("7", "the text '7'."),
        (1j, "the complex number 1j."),
        (np.complex64(1j), "the complex number np.complex64(1j)."),
        (np.zeros(2), "an array of shape (2,) and type float64."),
        (np.ma.masked, "a masked array."),
        (True, "True."),
        ([[1.0], [2.0, 3.0]], "[[1.0], [2.0, 3.0]]."),
        (np.datetime64("2020"), "np.datetime64('2020')."),
    ],
)
def test_what_an_objective_returned_is_named(result, words):
    assert refused(as_value, result) == f"The objective must return a real number, but it returned {words}"


@pytest.mark.parametrize("result", [10**400, Fraction(10**5000)], ids=["int", "Fraction"])
def test_a_value_too_large_for_a_float_is_infinite(result):
    assert as_value(result) == math.inf
    assert as_value(-result) == -math.inf


@pytest.mark.parametrize(
    "values", [[1.0, 2], np.array([1, 2]), ([1.0], [2.0]), np.array([[1.0], [2.0]]), [[1.0, 2.0]]]
)
def test_values_may_come_in_any_shape(values):
    assert checked_values(values, 2) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[1.0], [2.0, 3.0]], "F must hold real numbers, but F[1] is [2.0, 3.0]."),
        ([1.0, None], "F must hold real numbers, but F[1] is None (did you forget return?)."),
        ([1.0], "F must hold one value for each of 2 points, but it holds 1."),
        (3.0, "F must hold one value for each of 2 points, but it holds 1."),
        ([1.0, np.ma.masked], "F must hold real numbers, but [1.0, masked] was given."),
        (["1", "2"], "F must hold real numbers, but F[0] is the text '1'."),
        (
            np.array([1j, 2]),
            "F must hold real numbers, but an array of shape (2,) and type complex128 was given.",
        ),
        (Rude(), "F must hold real numbers, but an object of the class Rude was given."),
    ],
)
def test_wrong_values_are_named(values, words):
    assert refused(checked_values, values, 2) == words
