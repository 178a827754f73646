"""Rules of `differences` can be left out one by one, and are there again afterwards."""

import numpy as np
import pytest
from benchmarks.rules import RULES

import pursuit


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_minimum_is_found_without_a_rule_and_the_rule_is_there_again(rule):
    before = getattr(rule.module, rule.attribute)
    with rule.left_out():
        assert getattr(rule.module, rule.attribute) is rule.instead
        result = pursuit.minimize(
            lambda x: float(np.arange(1.0, 6.0) @ (x - 0.3) ** 2), np.zeros(5), method="differences", rng=1
        )
    assert getattr(rule.module, rule.attribute) is before
    assert result.fun < 1e-8
