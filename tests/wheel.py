"""Check the wheel beside this Python, installed without extras and so without Numba: `make test-wheel`."""

import re
import subprocess
import sys
from importlib.metadata import files, metadata, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
# All ways to run, of the default and of methods that Numba would compile.
EVERY_WAY = """
from pathlib import Path

import numpy as np
import pursuit


def sphere(x):
    return float(np.sum((x - 0.5) ** 2))


def told(optimizer):
    while not optimizer.stop():
        X = optimizer.ask()
        optimizer.tell(X, [sphere(x) for x in X])
    return optimizer.result


def every_way(method, options):
    settings = {"method": method, "options": options, "rng": 1}
    below = {"type": "ineq", "fun": lambda x: 1.0 - np.sum(x)}
    within = pursuit.minimize(sphere, np.zeros(4), constraints=below, maxfev=3000, **settings)
    assert abs(within.fun - 0.25) < 1e-2 and within.maxcv < 1e-3, within
    settings["ftarget"] = 1e-6
    alone = pursuit.minimize(sphere, np.zeros(4), **settings)
    yield alone
    yield told(pursuit.Optimizer(np.zeros(4), **settings))
    yield pursuit.minimize(sphere, np.zeros(4), bounds=[(-1.0, 0.5)] * 4, **settings)
    yield pursuit.minimize(sphere, np.zeros(4), sigma0=np.full(4, 0.3), **settings)
    yield pursuit.minimize(sphere, np.zeros(4), workers=2, **settings)
    yield pursuit.minimize_many(sphere, np.zeros(4), seeds=2, workers=1, **settings).median
    yield pursuit.minimize(pursuit.problems.exp(4, 10.0), np.ones(4), **settings)
    part = pursuit.minimize(sphere, np.zeros(4), checkpoint="run.npz", maxfev=alone.nfev // 2, **settings)
    assert part.nfev < alone.nfev
    whole = pursuit.minimize(sphere, np.zeros(4), checkpoint="run.npz", **settings)
    assert (whole.nfev, whole.fun) == (alone.nfev, alone.fun)


if __name__ == "__main__":
    for method in ("auto", "rp", "sarp", "cma", "ep-cma-4"):
        for result in every_way(method, {"kappa": 2.0} if method == "sarp" else {}):
            assert result.success and result.fun <= 1e-6, (method, result)
        Path("run.npz").unlink()
"""


def check_files():
    """The wheel has all files of the package, those that are not Python among them, and no others."""
    sources = [ROOT / "src" / "pursuit_command.py", *(ROOT / "src" / "pursuit").rglob("*")]
    expected = {
        path.relative_to(ROOT / "src").as_posix()
        for path in sources
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {"pursuit/py.typed", "pursuit/experiments/study/presets/quick.toml"} <= expected
    found = {str(file) for file in files("pursuit") if file.suffix != ".pyc"}
    own = {name for name in found if not name.startswith((f"pursuit-{version('pursuit')}.dist-info/", ".."))}
    assert own == expected, own ^ expected


def check_without_extras():
    """The README's first example runs, and a command that needs an extra says how to install it."""
    import pursuit

    assert find_spec("numba") is None
    assert ROOT not in Path(pursuit.__file__).parents, "the checkout was imported, not the wheel"
    assert metadata("pursuit")["License-Expression"] == "BSD-3-Clause"
    (first, *_) = examples_of(ROOT / "README.md")
    done = run(sys.executable, "-W", "error", "-c", first)
    assert done.returncode == 0, done.stderr
    assert re.match(r"fun +\d\S+\nsuccess +True\n", done.stdout), done.stdout
    command = Path(sys.executable).with_name("pursuit")
    assert run(command, "--version").stdout == f"pursuit {version('pursuit')}\n"
    missing = run(command, "reproduce")
    assert missing.returncode == 1
    assert missing.stderr.endswith("else pip install 'pursuit[study]'.\n"), missing.stderr


def check_without_numba():
    """Everything runs interpreted: all ways to run a method, and methods of one's own."""
    for code in (EVERY_WAY, "\n".join(examples_of(ROOT / "docs" / "extending.md"))):
        with TemporaryDirectory() as folder:
            script = Path(folder) / "script.py"
            script.write_text(code)
            done = run(sys.executable, "-W", "error", script, folder=folder)
        assert done.returncode == 0, done.stderr


def examples_of(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)


def run(*command, folder=None):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    check_files()
    check_without_extras()
    check_without_numba()
    print(f"The wheel of pursuit {version('pursuit')} works with Python {sys.version.split()[0]}.")
