"""How large the house is: lines of code, words of documentation, and what results take.

``python -m benchmarks.count`` counts what git would keep. A line of code is one that is neither blank, nor a
comment, nor part of a docstring. Words are separated by white space, as `wc -w` counts them: code on pages is
included.
"""

from __future__ import annotations

import ast
import io
import subprocess
import tokenize
from pathlib import Path

_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
# Written by the benchmarks from their tables.
_GENERATED = Path("docs/comparison.md")


def main() -> None:
    """Print the counts."""
    for folder in ("src", "benchmarks", "tests"):
        modules = _kept(folder, "*.py")
        lines = sum(lines_of_code(path.read_text(encoding="utf-8")) for path in modules)
        print(f"{folder:15} {lines:6} lines of code in {len(modules)} modules")
    pages = [Path("README.md"), *(path for path in _kept("docs", "*.md") if path.parent == Path("docs"))]
    words = {page: len(page.read_text(encoding="utf-8").split()) for page in pages}
    generated = words.pop(_GENERATED)
    print(f"{'pages':15} {sum(words.values()):6} words, and {generated} in {_GENERATED}")
    results = _kept("docs/results", "*")
    size = sum(path.stat().st_size for path in results) / 1e6
    print(f"{'docs/results':15} {size:6.2f} MB in {len(results)} files")


def lines_of_code(source: str) -> int:
    r"""Return how many lines hold code.

    Examples
    --------
    >>> lines_of_code('"What it does."\n\n# why\nx = (1,\n     2)\n')
    2
    """
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        # A string that is a statement: a docstring, or the description of a field below it.
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            documented.update(range(node.lineno, (node.end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def _kept(folder: str, pattern: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    paths = [Path(line) for line in listed.stdout.splitlines()]
    return [path for path in paths if path.match(pattern) and path.exists()]


if __name__ == "__main__":
    main()
