"""Every function is plain Python, and what is interpreted takes the steps that compiled code takes."""

import importlib
import inspect
import os
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import pursuit
from golden.cases import RECORDED, Case, row_of
from golden.test_golden import recorded
from pursuit.compiling import jit
from pursuit.compiling.vectors import SERIAL
from pursuit.methods import Sarp, Step
from pursuit.methods.contract import ask, tell
from pursuit.methods.line_searches import AdaptiveStep, Line, begin_search, continue_search
from pursuit.methods.nesterov import smoothed, weights_of
from pursuit.methods.rivals.lm_cma import random_signs
from pursuit.methods.rivals.populations import surplus_of, total
from pursuit.problems import line_minimizer


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert not jit.has_compiler()


# A power of a user's own function is a product in compiled code, and rounded otherwise by Python.
CASES = [
    *(Case(method, "lin", "asked_and_told", 1) for method in RECORDED),
    *(Case(method, "rosenbrock", "compiled", 2) for method in RECORDED),
    *(
        Case(method, "rotated-exp", "python", 3)
        for method in ("rp-exact", "sarp-bracketing", "cma", "ep-cma-3")
    ),
    *(Case(method, "lin", "compiled_in_bounds", 2) for method in ("sarp", "adaptive-sarp", "own")),
    *(Case(method, "lin", "interrupted_and_resumed", 2) for method in ("sarp", "cr-fm-nes", "acdm")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_without_a_compiler_trajectories_are_those_recorded(case, interpreted):
    assert row_of(case) == recorded()[case]


CODE = """
import sys
import pursuit

class Stop(Exception):
    pass

def trace(frame, event, argument):
    seen.add(frame.f_code.co_name)

problem, seen = pursuit.problems.lin(7, 1e3), set()
sys.setprofile(trace)
run = pursuit.minimize(problem, problem.x0, method="sarp", rng=1, maxiter=50)
runs = pursuit.minimize_many(problem, problem.x0, seeds=2, rng=3, method="sarp", maxiter=50)
optimizer = pursuit.Optimizer(problem.x0, "ep-cma-2", rng=1)
for _ in range(20):
    X = optimizer.ask()
    optimizer.tell(X, [problem(x) for x in X])
sys.setprofile(None)
print("numba" in sys.modules, {"iterate", "advance", "_tell", "_drift"} <= seen)
print(float(run.fun), runs.fun.tolist(), float(optimizer.result.fun))
"""


def test_a_debugger_enters_runs_that_need_no_numba():
    problem = pursuit.problems.lin(7, 1e3)
    run = pursuit.minimize(problem, problem.x0, method="sarp", rng=1, maxiter=50)
    runs = pursuit.minimize_many(problem, problem.x0, seeds=2, rng=3, method="sarp", maxiter=50)
    optimizer = pursuit.Optimizer(problem.x0, "ep-cma-2", rng=1)
    for _ in range(20):
        X = optimizer.ask()
        optimizer.tell(X, [problem(x) for x in X])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True)
    values = f"{float(run.fun)} {runs.fun.tolist()} {float(optimizer.result.fun)}"
    assert done.stdout == f"False True\n{values}\n", done.stderr


def functions_of(package):
    """Return all functions that modules of a package define."""
    found = []
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        names = vars(importlib.import_module(module.name))
        found += [entry for entry in names.values() if getattr(entry, "__module__", "") == module.name]
    return [entry for entry in found if callable(entry) and not inspect.isclass(entry)]


@pytest.mark.parametrize("name", ["compiling", "engine", "methods", "problems"])
def test_all_functions_are_python_s_own(name):
    """No function is hidden behind an object of a compiler, which a debugger could not enter."""
    functions = functions_of(importlib.import_module(f"pursuit.{name}"))
    assert len(functions) > 30
    assert {type(inspect.unwrap(function)) for function in functions} == {type(functions_of)}


def calls():
    """Inner functions, and what they return."""
    line = Line(np.zeros(2), np.ones(2), 1.0, 0.5)
    search = AdaptiveStep.create(0.27)
    state = begin_search(search, line, np.nan)
    scheme = Sarp.create(2, kappa=4.0)
    first = scheme.init(np.ones(2), 1.0, 0.5)
    query = ask(SERIAL, scheme, *first, np.ones(2))
    step = Step(0.5, 0.25, 0.6, 1.0)
    return [
        (total(SERIAL, 3, np.array([2.0, 0.5, 1.0])), 3.5),
        (surplus_of(3.0), 1.0),
        (smoothed(1.0, -2.0), 1.1),
        (sorted(set(random_signs(0.3, 70).tolist())), [-1.0, 1.0]),
        (continue_search(search, state, np.array([0.5, 9.0])).step.length, 0.5),
        (query.origin.tolist(), [1.0, 1.0]),
        (tell(SERIAL, scheme, *first, query, step).f, 0.25),
        (first.arrays.x.tolist(), [1.5, 1.5]),
        (weights_of(1.0, 1.0, 1.0).keep, 1.0),
        (line_minimizer(SERIAL, pursuit.problems.rosenbrock(2), np.zeros(2), np.ones(2)), 1.0),
    ]


def test_inner_functions_can_be_called():
    for found, expected in calls():
        assert found == expected
