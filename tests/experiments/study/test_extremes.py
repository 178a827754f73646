"""Numbers at the ends of what a float can hold, through a study and its report."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from experiments.study.small import declared
from pursuit.experiments.study import StudyError, draw_report, load_study, reproduce
from pursuit.experiments.study.grid import entries_of

DECLARATION = """
title = "Extremes"
schemes = ["rp"]
runs = 2
target = {target}
cap = 20
"""
PROBLEM = '[[problems]]\nproblem = "{}"\nn = 2\n'
MODULE = """
class Flat:
    value = 1e308

    def __init__(self, n):
        self.n, self.x0 = n, [1.0] * n

    def __call__(self, x):
        return self.value


class Low(Flat):
    value = -1e308


class Falling(Flat):
    def __call__(self, x):
        return 1e308 * min(1.0, float(x @ x) / self.n)


class Bottomless(Flat):
    def __call__(self, x):
        return -float("inf") if x[0] < 0.9 else 3.0


class Stopping(Flat):
    def __call__(self, x):
        raise ArithmeticError


class Longer(Flat):
    def __init__(self, n):
        self.n, self.x0 = n, [1.0] * (n + 1)
"""
NAMES = ("Flat", "Low", "Falling", "Bottomless")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write the module, and return a function that declares a study of some of its problems."""
    (tmp_path / "extremes.py").write_text(MODULE)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def declare(target, *names):
        problems = "".join(PROBLEM.format(f"extremes:{name}") for name in names)
        return declared(tmp_path, DECLARATION.format(target=target) + problems)

    yield declare
    sys.modules.pop("extremes", None)


@pytest.mark.parametrize("target", [1e-100, 0.0, -1e100, 1e100])
def test_extreme_values_are_stored_and_reported(target, own, tmp_path):
    with ThreadPoolExecutor(1) as executor:
        assert reproduce(own(target, *NAMES), tmp_path / "out", executor=executor).failures == []
    draw_report(tmp_path / "out")
    assert "| runs | 8 of 8 wanted |" in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.parametrize("target", ["5e-324", "-5e-324", "1.7e308", "-1e101"])
def test_targets_that_cannot_be_drawn_are_refused(target, own):
    with pytest.raises(StudyError, match=r"target must be 0 or a number between 1e-100 and 1e\+100 in size"):
        load_study(own(target, "Flat"))


def test_a_start_of_another_size_is_refused(own):
    with pytest.raises(StudyError, match="the problem's x0 has 3 variables, but n is 2"):
        entries_of(load_study(own(1e-9, "Longer")))


def test_an_exception_without_a_message_is_named(own, tmp_path):
    with ThreadPoolExecutor(1) as executor:
        done = reproduce(own(1e-9, "Stopping"), tmp_path / "out", executor=executor)
    (failure,) = done.failures
    assert str(failure).endswith(": ArithmeticError. The rest of its runs are left out.")
