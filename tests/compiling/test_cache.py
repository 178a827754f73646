"""The cache of compiled code: found again, never stale, never in the way."""

import os
import subprocess
import sys
import textwrap

import pytest

OWN = """
from typing import NamedTuple
import numpy as np
import pursuit
from pursuit.problems import evaluate, value

class Own(NamedTuple):
    n: int
    def __call__(self, x):
        return evaluate(self, x)

@value.register(Own)
def _value(team, own, x):
    return FACTOR * np.sum(x * x)
"""

RUN = """
from own import Own
import numpy as np, pursuit
from pursuit.compiling.cache import compiled
from pursuit.problems.contract import sources_of
from pursuit.methods import RandomPursuit, ask, tell
from pursuit.engine.iteration import iterate
result = pursuit.minimize(Own(3), np.ones(3), method="rp", rng=1, maxiter=1)
loop = compiled(iterate, ask.source_of(RandomPursuit), tell.source_of(RandomPursuit), *sources_of(Own(3)))
print(Own(3)(np.ones(3)), sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values()))
"""


def python(code, folder, cache):
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(folder)}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


def write_own(folder, factor):
    (folder / "own.py").write_text(OWN.replace("FACTOR", factor))


def test_a_second_process_finds_what_the_first_compiled_and_an_edited_source_is_noticed(tmp_path):
    cache = tmp_path / "cache"
    write_own(tmp_path, "1.0")
    assert python(RUN, tmp_path, cache) == ["3.0", "0", "1"]
    assert python(RUN, tmp_path, cache) == ["3.0", "1", "0"]
    write_own(tmp_path, "2.0")
    assert python(RUN, tmp_path, cache) == ["6.0", "0", "1"]


@pytest.mark.skipif(os.name != "posix", reason="folders that cannot be made are made differently elsewhere")
def test_a_copy_under_another_name_is_compiled_anew(tmp_path):
    """What is kept refers to classes by their modules, which the process of the copy cannot import."""
    for name in ("own", "copied"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(OWN.replace("FACTOR", "1.0"))
        assert python(RUN.replace("from own", f"from {name}"), folder, tmp_path / "cache") == [
            "3.0",
            "0",
            "1",
        ]


def test_works_without_a_folder_to_write_to(tmp_path):
    write_own(tmp_path, "1.0")
    assert python(RUN, tmp_path, "/dev/null")[0] == "3.0"


def test_importing_compiles_and_writes_nothing(tmp_path):
    cache = tmp_path / "cache"
    code = """
    import numba.core.compiler, sys
    def refuse(*args, **kwargs):
        raise AssertionError("something was compiled")
    numba.core.compiler.compile_extra = refuse
    import pursuit
    pursuit.problems.exp(3, 10.0)
    print("fine", "matplotlib" in sys.modules)
    """
    assert python(code, tmp_path, cache) == ["fine", "False"]
    assert not cache.exists()


def test_numba_s_own_setting_is_left_as_it_was(tmp_path):
    code = """
    import numba, numpy as np
    numba.config.CACHE_DIR = "somewhere"
    import pursuit
    pursuit.minimize(lambda x: float(x @ x), np.ones(3), method="rp", rng=1, maxiter=5)
    print(numba.config.CACHE_DIR)
    """
    assert python(code, tmp_path, tmp_path) == ["somewhere"]
    assert (tmp_path / "somewhere" / "pursuit").is_dir()
