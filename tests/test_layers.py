"""Imports point one way: from what people call down to what everything is made of."""

import ast
from pathlib import Path

import pursuit

SOURCE = Path(pursuit.__file__).parent
# A module may import only from layers above it in this list, or from its own.
LAYERS = [
    {"dispatch", "checks", "compilation", "interrupts"},
    {"vectors"},
    {"problems"},
    {"bounds", "oracles"},
    {"objective", "schemes"},
    {"queries", "stopping"},
    {"tally"},
    {"session"},
    {"run"},
    {"checkpoint", "result", "watching"},
    {"api", "optimizer"},
    {"integrations"},
    {""},
    {"study.errors", "study.markdown"},
    {"study.results"},
    {"study.declaration"},
    {"study.grid"},
    {"study.execute", "study.crews", "study.store"},
    {"study.conduct"},
    {"study.display"},
    {"study.stats"},
    {"study.claims", "study.figures"},
    {"study.report", "study.export"},
    {"study.reproduction"},
    {"study"},
    {"integrations.coco"},
    {"cli"},
]


def layer_of(module):
    """Return the number of the layer of a module, given by its dotted name inside the package."""
    while not any(module in layer for layer in LAYERS):
        module = module.rpartition(".")[0]
    return next(number for number, layer in enumerate(LAYERS) if module in layer)


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "pursuit":
            if node.module == "pursuit":
                yield from (alias.name for alias in node.names)
            else:
                yield node.module.removeprefix("pursuit.")
        if isinstance(node, ast.Import):
            for alias in node.names:
                assert not alias.name.startswith("pursuit"), f"{path}: import names from {alias.name}"


def test_every_import_points_down():
    for path in SOURCE.rglob("*.py"):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").rstrip(".")
        for imported in imports_of(path):
            assert layer_of(imported) <= layer_of(module), f"{module} imports {imported}"
