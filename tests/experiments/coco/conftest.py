"""Tests of COCO's suites are run where the module with solvers is."""

import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _among_solvers(monkeypatch):
    """Go where the module with solvers is, and forget that afterwards."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(Path(__file__).parent)
