"""Imports point one way: from what people call down to what everything is made of."""

import ast
import graphlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pursuit

SOURCE = Path(pursuit.__file__).parent
# Imported only inside functions, by what is asked to use a GPU: without this folder all else works.
APART = "gpu."
# From the ground up. A module may import from its own layer and from those before it.
LAYERS = (
    ("checks", "optional", "engine.counting", "engine.stopping", "reporting.__init__", "torch"),
    ("compiling",),
    ("problems",),
    ("methods",),
    ("engine", "reporting.progress"),
    ("gpu",),
    (
        "result",
        "reporting.records",
        "reporting.curvature",
        "reporting.plotting",
        "engine.running",
    ),
    ("constraints",),
    ("minimize", "many", "optimizer", "reporting", "adapters.scipy", "adapters.__init__"),
    ("adapters",),
    ("__init__",),
    ("experiments.common",),
    ("experiments.study",),
    ("experiments.coco",),
    ("experiments.__init__", "cli"),
)


def modules_in(source):
    """Return the path of every module below a folder, by its dotted name."""
    return {".".join(path.relative_to(source).with_suffix("").parts): path for path in source.rglob("*.py")}


def layer_of(module):
    """Return the number of a module's layer."""
    found = [
        (len(entry), number)
        for number, layer in enumerate(LAYERS)
        for entry in layer
        if module == entry or module.startswith(f"{entry}.")
    ]
    assert found, f"{module} is in no layer"
    return max(found)[1]


def imports_of(module, path, modules):
    """Yield the modules of the package that one imports, inside of functions too."""
    tree = ast.parse(path.read_text())
    at_once = {node for node in tree.body if isinstance(node, ast.ImportFrom)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                assert alias.name.split(".")[0] != "pursuit", f"{module}: import names from {alias.name}"
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            package, _, name = node.module.partition(".")
            if package == "pursuit":
                for alias in node.names:
                    found = resolved(f"{name}.{alias.name}".lstrip("."), modules)
                    if found.startswith(APART) and node in at_once:
                        assert module.startswith(APART), f"{module} imports {found} before it is used"
                    yield found


def resolved(name, modules):
    """Return the module that "module.name" is imported from."""
    parents = [name, name.rpartition(".")[0]]
    candidates = [candidate for parent in parents for candidate in (parent, f"{parent}.__init__".lstrip("."))]
    return next(candidate for candidate in candidates if candidate in modules)


def check(source):
    """Fail for an import that points up, for a cycle, and for a module without a layer."""
    modules = modules_in(source)
    graph = {module: set(imports_of(module, path, modules)) for module, path in modules.items()}
    layers = {module: layer_of(module) for module in modules}
    for module, imported in graph.items():
        for other in imported:
            assert layers[other] <= layers[module], f"{module} imports {other}"
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        raise AssertionError(f"modules import each other: {' -> '.join(error.args[1])}") from None


def test_every_import_points_down():
    check(SOURCE)


WITHOUT_A_GPU = """
import pursuit, pursuit.experiments.study, pursuit.experiments.coco
runs = pursuit.minimize_many(lambda x: float(x @ x), [1.0, 2.0], seeds=2, method="rp", maxfev=50, workers=1)
print(pursuit.__file__, runs.nfev)
"""


def test_the_room_for_gpus_can_be_left_out(tmp_path):
    shutil.copytree(SOURCE, tmp_path / "pursuit", ignore=shutil.ignore_patterns("gpu", "__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", WITHOUT_A_GPU]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == f"{tmp_path / 'pursuit' / '__init__.py'} [50 50]\n", done.stderr


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"attic/boxes": ""}, "attic.boxes is in no layer"),
        (
            {"engine/run": "from .counters import Counters", "engine/counters": ""},
            "engine.run has a relative import",
        ),
        ({"engine/run": "import pursuit.methods"}, "engine.run: import names from pursuit.methods"),
        (
            {"methods/rp": "from pursuit.engine.run import Run", "engine/run": ""},
            "methods.rp imports engine.run",
        ),
        (
            {"many": "from pursuit.gpu.batch import Batch", "gpu/batch": ""},
            "many imports gpu.batch before it is used",
        ),
        (
            {
                "engine/run": "def f():\n    from pursuit.engine.counters import Counters",
                "engine/counters": "from pursuit.engine import run",
            },
            "modules import each other: engine.",
        ),
    ],
)
def test_a_violation_is_found(tmp_path, files, words):
    for name, text in files.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    with pytest.raises(AssertionError, match=words):
        check(tmp_path)
