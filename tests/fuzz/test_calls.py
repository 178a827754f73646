"""A few hundred calls made at random; `python -m fuzz.many` makes as many as one likes."""

from hypothesis import given, settings

from fuzz.calls import calls, check


@given(call=calls)
@settings(max_examples=250)
def test_every_call_keeps_its_promises(call):
    check(call)
