"""A few hundred calls made at random; `python -m fuzz.many` makes as many as one likes."""

import pytest
from hypothesis import given, settings

from fuzz.calls import calls, check


@given(call=calls)
@settings(max_examples=60)
def test_every_call_keeps_its_promises(call):
    check(call)


@pytest.mark.long
@given(call=calls)
@settings(max_examples=500)
def test_each_of_many_calls_keeps_its_promises(call):
    check(call)
