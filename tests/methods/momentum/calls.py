"""What several tests of `momentum` share."""

import numpy as np

import pursuit


def assert_same(one, other):
    """Assert that two results are the same, bit for bit."""
    np.testing.assert_array_equal(one.x, other.x)
    for field in ("fun", "fun_is_estimate", "nit", "nfev", "nfaulty", "sigma", "status", "message"):
        assert one[field] == other[field]
    for column, twin in zip(one.trace, other.trace, strict=True):
        np.testing.assert_array_equal(column, twin)


def momentum(fun, x0, **arguments):
    """Minimise with `momentum`."""
    return pursuit.minimize(fun, x0, method="momentum", **arguments)
