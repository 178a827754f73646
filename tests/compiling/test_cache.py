"""The cache of compiled code: found again, never stale, never in the way."""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numba
import pytest

import pursuit
from pursuit.compiling import cache as caching
from pursuit.compiling.cache import code_hash

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
import numpy as np
from numba.core.event import install_recorder
with install_recorder("numba:compile") as recorder:
    value = Own(3)(np.ones(3))
print(value, "compiled" if recorder.buffer else "found")
"""


# Each piece of code has a process of its own. It is forked from one that has imported what takes a second.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["numba.extending", "pursuit.minimize", "pursuit.many"])
WITHIN = """
import os, sys, numba
os.environ["XDG_CACHE_HOME"] = {cache!r}
os.environ.pop("NUMBA_CACHE_DIR", None)
numba.config.reload_config()
os.chdir({folder!r})
sys.path.insert(0, {folder!r})
sys.stdout = open({said!r}, "w")
"""


def python(code, folder, cache):
    """Run code in a process that works in a folder and has a cache, and return the words that it prints."""
    with tempfile.TemporaryDirectory() as files:
        script, said = Path(files, "script.py"), Path(files, "said")
        within = WITHIN.format(cache=str(cache), folder=str(folder), said=str(said))
        script.write_text(within + textwrap.dedent(code) + "\nsys.stdout.close()\n")
        process = FORKS.Process(target=runpy.run_path, args=(str(script),))
        process.start()
        process.join()
        assert process.exitcode == 0
        return said.read_text().split()


SPREAD = {
    "own.py": OWN.replace("import pursuit\n", "import pursuit\nimport helper, numbers_\n").replace(
        "FACTOR * np.sum(x * x)", "helper.scaled(np.sum(x * x)) + numbers_.OFFSET"
    ),
    "helper.py": """
import numba
from numbers_ import SCALE

@numba.njit
def scaled(x):
    return 1.0 * SCALE * x
""",
    "numbers_.py": """
SCALE = 1.0
OFFSET = 0.0
""",
}
# A problem rotated by nothing, within bounds that it does not notice.
WRAPPED = """
from own import Own
import numpy as np
from pursuit.problems.boxes import make_box
from pursuit.problems.transform import Rotated
from pursuit.problems.transform import Transform, Transformed
rotated = Rotated(Own(3), np.eye(3), np.empty(3), np.empty(3))
box = make_box(np.full(3, -9.0), np.full(3, 9.0), 1.0)
print(Transformed.of(rotated, Transform.of(None, box))(np.ones(3)))
"""
MINIMIZED = """
from own import Own
import numpy as np, pursuit
result = pursuit.minimize(
    Own(3), np.ones(3), method="rp", rng=1, maxiter=1, sigma0=1e-200, bounds=[(-9, 9)] * 3
)
print(result.fun)
"""


def write(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)


def write_own(folder, factor):
    (folder / "own.py").write_text(OWN.replace("FACTOR", factor))


def test_a_second_process_finds_what_the_first_compiled_and_an_edited_source_is_noticed(tmp_path):
    cache = tmp_path / "cache"
    write_own(tmp_path, "1.0")
    assert python(RUN, tmp_path, cache) == ["3.0", "compiled"]
    assert python(RUN, tmp_path, cache) == ["3.0", "found"]
    write_own(tmp_path, "2.0")
    assert python(RUN, tmp_path, cache) == ["6.0", "compiled"]


MARKED = """
from pursuit.compiling.jit import compilable

@compilable
def scaled(x):
    return 1.0 * x
"""


def test_helpers_that_stay_plain_python_are_kept_and_noticed_too(tmp_path):
    own = OWN.replace("import pursuit\n", "import pursuit\nfrom helper import scaled\n")
    write(
        tmp_path,
        {"own.py": own.replace("FACTOR * np.sum(x * x)", "scaled(np.sum(x * x))"), "helper.py": MARKED},
    )
    assert python(RUN, tmp_path, tmp_path / "cache") == ["3.0", "compiled"]
    assert python(RUN, tmp_path, tmp_path / "cache") == ["3.0", "found"]
    write(tmp_path, {"helper.py": MARKED.replace("1.0", "2.0")})
    assert python(RUN, tmp_path, tmp_path / "cache") == ["6.0", "compiled"]


EDITED_MEANWHILE = """
from pathlib import Path
import numpy as np, own
file = Path(own.__file__)
file.write_text(file.read_text().replace("1.0", "2.0"))
print(own.Own(3)(np.ones(3)))
"""


def test_a_source_that_is_edited_before_its_old_code_is_compiled_is_noticed(tmp_path):
    """As in a notebook, where a module is imported, edited, and only then used."""
    write_own(tmp_path, "1.0")
    assert python(EDITED_MEANWHILE, tmp_path, tmp_path / "cache") == ["3.0"]
    assert python(RUN, tmp_path, tmp_path / "cache") == ["6.0", "compiled"]
    assert python(RUN, tmp_path, tmp_path / "cache") == ["6.0", "found"]


def test_a_problem_of_a_script_is_compiled_in_each_process(tmp_path):
    script = OWN.replace("FACTOR", "1.0") + "print(Own(3)(np.ones(3)))"
    (tmp_path / "script.py").write_text(script)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        command = [sys.executable, tmp_path / "script.py"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("3.0\n", "")


LOGGED = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s:%(message)s;")
import numpy as np
from own import Own
Own(3)(np.ones(3))
"""
COMPILING = "pursuit:Compiling value_at, which is not in the cache on disk.;"


def test_compiling_is_announced_where_nothing_is_found(tmp_path):
    write_own(tmp_path, "1.0")
    assert " ".join(python(LOGGED, tmp_path, tmp_path / "cache")) == COMPILING
    assert python(LOGGED, tmp_path, tmp_path / "cache") == []
    assert " ".join(python(LOGGED, tmp_path, "/dev/null")) == COMPILING


@pytest.mark.skipif(os.name != "posix", reason="folders that cannot be made are made differently elsewhere")
def test_a_copy_under_another_name_is_compiled_anew(tmp_path):
    """What is kept refers to classes by their modules, which the process of the copy cannot import."""
    for name in ("own", "copied"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(OWN.replace("FACTOR", "1.0"))
        assert python(RUN.replace("from own", f"from {name}"), folder, tmp_path / "cache") == [
            "3.0",
            "compiled",
        ]


def test_works_without_a_folder_to_write_to(tmp_path):
    write_own(tmp_path, "1.0")
    assert python(RUN, tmp_path, "/dev/null")[0] == "3.0"


def test_importing_compiles_and_writes_nothing(tmp_path):
    code = """
import numba.core.compiler, sys
def refuse(*args, **kwargs):
    raise AssertionError("something was compiled")
numba.core.compiler.compile_extra = refuse
import pursuit
pursuit.problems.exp(3, 10.0)
print("fine", "matplotlib" in sys.modules)
"""
    cache = tmp_path / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "fine False\n", done.stderr
    assert not cache.exists()


def test_numba_s_own_setting_is_left_as_it_was(tmp_path):
    code = """
    import numba, numpy as np
    numba.config.CACHE_DIR = "somewhere"
    import pursuit
    pursuit.problems.exp(3, 10.0)(np.ones(3))
    print(numba.config.CACHE_DIR)
    """
    assert python(code, tmp_path, tmp_path) == ["somewhere"]
    assert (tmp_path / "somewhere" / "pursuit").is_dir()


@pytest.mark.long
def test_threads_that_compile_at_once_leave_it_as_it_was_too(tmp_path):
    """They used to write compiled code into the working folder now and then."""
    code = """
    import numba, numpy as np, pursuit
    problem = pursuit.problems.exp(3, 10.0)
    for method in ("rp", "cma"):
        pursuit.minimize_many(problem, problem.x0, seeds=8, method=method, maxiter=5, workers=8)
    print(repr(numba.config.CACHE_DIR))
    """
    (tmp_path / "empty").mkdir()
    assert python(code, tmp_path / "empty", tmp_path / "cache") == ["''"]
    assert not list((tmp_path / "empty").iterdir())


def test_whatever_a_loop_reaches_is_noticed_when_it_changes(tmp_path):
    write(tmp_path, SPREAD)
    assert python(WRAPPED, tmp_path, tmp_path / "cache") == ["3.0"]
    for file, old, new in [
        ("own.py", "helper.scaled(np.sum(x * x))", "helper.scaled(2.0 * np.sum(x * x))"),
        ("helper.py", "1.0 * SCALE", "2.0 * SCALE"),
        ("numbers_.py", "SCALE = 1.0", "SCALE = 2.0"),
        ("numbers_.py", "OFFSET = 0.0", "OFFSET = 3.0"),
    ]:
        write(tmp_path, SPREAD)
        write(tmp_path, {file: SPREAD[file].replace(old, new)})
        assert python(WRAPPED, tmp_path, tmp_path / "cache") == ["6.0"], f"{new} in {file}"


@pytest.mark.long
def test_a_compiled_loop_within_bounds_is_not_stale(tmp_path):
    write_own(tmp_path, "1.0")
    assert python(MINIMIZED, tmp_path, tmp_path / "cache") == ["3.0"]
    write_own(tmp_path, "2.0")
    assert python(MINIMIZED, tmp_path, tmp_path / "cache") == ["6.0"]


LIBRARY = """
import numpy as np, pursuit
from pursuit.problems.boxes import make_box
from pursuit.problems.transform import Transform, Transformed
problem = pursuit.problems.exp(3, 100.0)
box = make_box(np.full(3, -9.0), np.full(3, 9.0), 1.0)
print(Transformed.of(problem, Transform.of(None, box))(np.ones(3)))
"""


def test_a_problem_of_one_s_own_does_not_spoil_the_cache_for_others(tmp_path):
    """What is kept names the module of the problem, which other processes cannot import."""
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path, SPREAD)
    python(WRAPPED, tmp_path, tmp_path / "cache")
    assert python(LIBRARY, tmp_path / "elsewhere", tmp_path / "cache") == ["55.5"]


def test_files_that_cannot_be_read_are_compiled_anew(tmp_path):
    expected = python(LIBRARY, tmp_path, tmp_path / "cache")
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept
    for number, path in enumerate(kept):
        damaged = [b"", b"no pickle", b"cno_such_module\nname\n."][number % 3]
        path.write_bytes(damaged)
    assert python(LIBRARY, tmp_path, tmp_path / "cache") == expected
    assert all(path.stat().st_size > 100 for path in kept)


def test_code_of_versions_long_unused_is_deleted(tmp_path):
    folder = tmp_path / "cache" / "pursuit"
    for age in range(5):
        version = folder / f"version {age}"
        version.mkdir(parents=True)
        (version / "file").write_text("compiled")
        os.utime(version, (1e9 - age, 1e9 - age))
    python(LIBRARY, tmp_path, tmp_path / "cache")
    assert {path.name for path in folder.iterdir()} == {
        "version 0",
        "version 1",
        *(path.name for path in folder.iterdir() if "version" not in path.name),
    }
    assert len(list(folder.iterdir())) == 3


UNTRACEABLE = """
import numba
from numba.extending import overload
def halved(x):
    pass
@overload(halved)
def _halved(x):
    return lambda x: 0.5 * x
"""


def test_what_cannot_be_traced_is_not_kept(tmp_path):
    """Nobody can see from `halved` which code stands for it."""
    own = OWN.replace("import pursuit\n", "import pursuit\nfrom half import halved\n")
    write(tmp_path, {"own.py": own.replace("FACTOR * np.sum(x * x)", "halved(np.sum(x * x))")})
    write(tmp_path, {"half.py": UNTRACEABLE})
    for _ in range(2):
        assert python(RUN, tmp_path, tmp_path / "cache") == ["1.5", "compiled"]


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/pursuit"),
        ("linux", {}, "~/.cache/pursuit"),
        ("darwin", {"XDG_CACHE_HOME": "/caches"}, "~/Library/Caches/pursuit"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/pursuit/cache"),
        ("win32", {}, "~/pursuit/cache"),
    ],
)
def test_every_platform_has_its_own_folder(monkeypatch, platform, variables, expected):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, setting in variables.items():
        monkeypatch.setenv(name, setting)
    assert caching._user_cache() == Path(expected).expanduser()


PACKAGE = Path(pursuit.__file__).parent


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("__init__.py", False),
        ("result.py", False),
        ("minimize.py", False),
        ("cli/__init__.py", False),
        ("experiments/study/report/document.py", False),
        ("methods/paper/sarp.py", True),
        ("problems/boxes.py", True),
        ("engine/counters.py", True),
        ("gpu/loop.py", True),
        ("compiling/vectors.py", True),
    ],
)
def test_a_run_s_key_depends_on_what_fixes_its_trajectory(tmp_path, monkeypatch, file, counts):
    """A new version number or a changed message must not orphan stored runs."""
    before = code_hash()
    for folder in ("compiling", "engine", "gpu", "methods", "problems"):
        for path in (PACKAGE / folder).rglob("*.py"):
            copied = tmp_path / path.relative_to(PACKAGE)
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(path.read_bytes())
    changed = tmp_path / file
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_bytes((PACKAGE / file).read_bytes() + b"# changed")
    monkeypatch.setattr(caching, "_PACKAGE", tmp_path)
    caching._package_hash.cache_clear()
    try:
        assert (code_hash() != before) == counts
    finally:
        caching._package_hash.cache_clear()
