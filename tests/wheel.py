"""Check the wheel that is installed beside this Python, with its dependencies alone: `make test-wheel`."""

import re
import subprocess
import sys
from importlib.metadata import files, metadata, version
from pathlib import Path

ROOT = Path(__file__).parents[1]


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

    assert ROOT not in Path(pursuit.__file__).parents, "the checkout was imported, not the wheel"
    assert metadata("pursuit")["License-Expression"] == "BSD-3-Clause"
    (first, *_) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    done = run(sys.executable, "-W", "error", "-c", first)
    assert done.returncode == 0, done.stderr
    assert re.match(r"fun +\d\S+\nsuccess +True\n", done.stdout), done.stdout
    command = Path(sys.executable).with_name("pursuit")
    assert run(command, "--version").stdout == f"pursuit {version('pursuit')}\n"
    missing = run(command, "reproduce")
    assert missing.returncode == 1
    assert missing.stderr.endswith("else pip install 'pursuit[study]'.\n"), missing.stderr


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    check_files()
    check_without_extras()
    print(f"The wheel of pursuit {version('pursuit')} works with Python {sys.version.split()[0]}.")
