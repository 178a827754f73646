"""Methods that use BLAS and LAPACK do what they did when short runs of them were written down."""

import pytest

from golden.cases import UNRECORDED
from golden.programs import MOST_DIFFERING, differing


@pytest.mark.parametrize("method", UNRECORDED)
def test_short_runs_are_as_recorded(method):
    found, share = differing(method)
    assert share <= MOST_DIFFERING, f"{method} differs; golden.programs records it anew:\n{found}"
