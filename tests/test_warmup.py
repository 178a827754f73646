"""Methods that are compiled before their first run."""

import pytest

import pursuit


@pytest.mark.parametrize("method", ["sarp", "rg", "ars", "arp"])
def test_methods_that_want_to_know_curvatures_are_compiled_as_well(method):
    """`rg` and `ars` were refused, for want of L."""
    assert list(pursuit.warmup(method)) == [method]
