"""Every Python block of the documentation and of the README runs, page by page, as a reader would run it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = {
    path.name: "\n".join(BLOCK.findall(path.read_text()))
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}


@pytest.mark.parametrize("page", [name for name, code in PAGES.items() if code])
def test_the_code_of_a_page_runs(page, tmp_path):
    script = tmp_path / "page.py"
    script.write_text(PAGES[page])
    done = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
