"""What the terms of sums are seen to read."""

import pytest

from pursuit.compiling.vectors import reads_own_entries_only


def later(i, x):
    i = i + 1
    return x[i]


def other(i, x):
    i = 0
    return x[i]


def attribute(i, x, y):
    return x[y.i]


def inner(i, x):
    return helper(x, i)


def helper(x, i):
    return x[i + 1]


@pytest.mark.parametrize(
    ("term", "own"),
    [
        (lambda i, x: x[i], True),
        (lambda i, a, x, u: a[i] * x[i] * u[i], True),
        (lambda i, x: 2.0 * x[i] + 1.0, True),
        (lambda i, x: 2.0 * x[i] + i, False),
        (lambda i, x: x[i + 1], False),
        (lambda i, x: x[0] * x[i], False),
        (lambda i, x: x[x[i]], False),
        (lambda i, x: x[: i + 1], False),
        (later, False),
        (other, False),
        (attribute, False),
        (inner, False),
    ],
)
def test_only_what_surely_reads_own_entries_counts_as_such(term, own):
    assert reads_own_entries_only(term) is own
