"""The study files of this folder: ``python -m benchmarks.readings.declare`` writes them anew.

A TOML file cannot say "all of these with all of those", so this program writes them; a test checks that they
are what it writes. A label such as ``ep-cma-4@1:n`` is that of a scheme, ``@`` and its setting. Colons stand
for division signs and ``&`` for commas, which labels must not have.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pursuit.experiments.study.evidence import EP_CMA

FOLDER = Path(__file__).parent

FAILURE_RATES = ("0", "1/n^2", "1/(12n)", "1/n", "1/12", "2/(n+2)")
"""c_p for `constants.toml`."""
DAMPINGS = (1.0, 2.0, 2.25, 2.5, 3.0, 4.0)
"""c of SARP: Fig. 2 has 2, and theta' in the paper's eq. (4) is that of 1."""

STRUCTURES: dict[str, dict[str, Any]] = {
    "newest-first": {"order": "newest-first"},
    "current-first": {"order": "current-first"},
    "reversed": {"order": "reversed"},
    "never-stored": {"keep": False},
    "m-stored": {"stored": 0},
    "restart": {"restart": True},
    "stored-first": {"first": True},
    "successes": {"clock": "successes"},
    "once-per-n": {"failure": "once-per-n"},
    "reset": {"failure": "reset"},
    "threshold": {"failure": "threshold"},
    "new-sigma": {"steps": "new-sigma"},
    "step": {"steps": "step"},
    "sigma-units": {"steps": "sigma-units"},
    "gain-1-c_c": {"gain": "1-c_c"},
    "c_c-1:n": {"c_c": "1/n"},
    "c_c-3:(2n)": {"c_c": "3/(2n)"},
    "c_c-4:(n+4)": {"c_c": "4/(n+4)"},
    "restart&stored-first": {"restart": True, "first": True},
    "restart&m-stored": {"restart": True, "stored": 0},
    "restart&successes": {"restart": True, "clock": "successes"},
    "m-stored&successes": {"stored": 0, "clock": "successes"},
    "m-stored&c_c-1:n": {"stored": 0, "c_c": "1/n"},
    "reversed&c_c-1:n": {"order": "reversed", "c_c": "1/n"},
    "c_c-1:n&c_p-1:(12n)": {"c_c": "1/n", "c_p": "1/(12n)"},
    "c_c-3:(2n)&c_p-1:(12n)": {"c_c": "3/(2n)", "c_p": "1/(12n)"},
}
"""The changes of structure, by name; the last few are combinations."""
_WITHOUT_STORED_PATHS = {"order", "keep", "restart", "first", "clock"}
"""Options that change nothing where no path is stored, which is so for m = 1."""

PATH_C_C = ("1/n^2", "1/(3n)", "1/n", "3/(2n)", "2/(n+2)", "1/sqrt(n)")
PATH_C_COV = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
PATH_C_P = ("0", "1/n^2", "1/(12n)", "1/n", "1/12")
"""The grid of `path.toml` and `path-test.toml`."""


class PathSetting(NamedTuple):
    """A point of the grid of `path.toml`; c_c and c_p are texts."""

    c_c: str
    c_cov: float
    c_p: str

    def label(self) -> str:
        """Return the label of EP-CMA-1 with this setting."""
        return labelled("ep-cma-1", f"{self.c_c}&{self.c_cov:g}&{self.c_p}")

    def __str__(self) -> str:
        return f"c_c = {self.c_c}, c_cov = {self.c_cov:g}, c_p = {self.c_p}"


PATH_GRID = tuple(PathSetting(*point) for point in itertools.product(PATH_C_C, PATH_C_COV, PATH_C_P))


class File(NamedTuple):
    """A study file."""

    name: str
    comment: str
    title: str
    schemes: Sequence[str | Mapping[str, Any]]
    problems: Sequence[Mapping[str, Any]]
    cap: float
    readings: Sequence[str] = ("frozen",)
    exceptions: Sequence[Mapping[str, Any]] = ()

    def text(self) -> str:
        """Return its content."""
        lines = [
            f"# {line}" for line in (self.comment, "Written by `python -m benchmarks.readings.declare`.")
        ]
        lines += [f"title = {_toml(self.title)}", "schemes = ["]
        lines += [f"  {_toml(scheme)}," for scheme in self.schemes]
        lines += ["]", f"readings = {_toml(list(self.readings))}", "runs = 11", "target = 1e-9"]
        lines += [f"cap = {self.cap:g}"]
        for key, tables in (("problems", self.problems), ("exceptions", self.exceptions)):
            for table in tables:
                lines += ["", f"[[{key}]]", *(f"{name} = {_toml(value)}" for name, value in table.items())]
        return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_toml(entry)}" for name, entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def labelled(scheme: str, setting: str) -> str:
    """Return the label of a scheme with a setting."""
    return f"{scheme}@{setting.replace('/', ':')}"


def _rate(text: str) -> float | str:
    """Return a rate as an option; 0 is a number."""
    return 0.0 if text == "0" else text


def _path_scheme(label: str, scheme: str, options: Mapping[str, Any]) -> dict[str, Any]:
    memory = scheme.removeprefix("ep-cma-")
    m = memory if memory in ("sqrt", "n") else int(memory)
    return {"method": "variants:PathCma", "label": label, "options": {"m": m, **options}}


def changes(structure: str, scheme: str) -> bool:
    """Return whether a scheme behaves differently with a structure."""
    return scheme != "ep-cma-1" or not STRUCTURES[structure].keys() <= _WITHOUT_STORED_PATHS


def _constants() -> Iterator[dict[str, Any]]:
    for c_p in FAILURE_RATES:
        options = {"c_p": _rate(c_p)}
        yield {"method": "variants:RatedCma", "label": labelled("cma", c_p), "options": options}
        for scheme in EP_CMA:
            yield _path_scheme(labelled(scheme, c_p), scheme, options)


def _structures() -> Iterator[dict[str, Any]]:
    for name, options in STRUCTURES.items():
        for scheme in EP_CMA:
            if changes(name, scheme):
                yield _path_scheme(labelled(scheme, name), scheme, options)


def _grid() -> Iterator[str | dict[str, Any]]:
    yield "sarp"
    for setting in PATH_GRID:
        options = {"c_c": setting.c_c, "c_cov": setting.c_cov, "c_p": _rate(setting.c_p)}
        yield _path_scheme(setting.label(), "ep-cma-1", options)


def _quadratics(names: Iterable[str], dimensions: Sequence[int], conditions: Sequence[float]) -> list[Any]:
    return [{"problem": name, "n": list(dimensions), "L": list(conditions)} for name in names]


_BOTH = (1e4, 1e6)
# The dimensions that the claims name, and a small one beside; those of Fig. 5 are 20 and 80.
_OF_CLAIMS = [
    *_quadratics(["exp", "lin"], [20, 100], _BOTH),
    *_quadratics(["two"], [20, 80, 100], _BOTH),
    {"problem": "rosenbrock", "n": [20, 80]},
]
# EP-CMA-n takes several microseconds an iteration there; these would take it to the cap everywhere.
_WIDE = [80, 100]
_SLOW_EP_CMA_N = [labelled("ep-cma-n", name) for name in ("never-stored", "reset", "step")]

FILES = (
    File(
        name="sarp",
        comment="The constant c in SARP's theta = 1/(n sqrt(c kappa)), and Random Pursuit beside it.",
        title="SARP with other constants",
        schemes=[
            "rp",
            "rp-exact",
            *(
                {"method": scheme, "label": labelled(scheme, f"{c:g}"), "options": {"damping": c}}
                for scheme in ("sarp", "sarp-exact")
                for c in DAMPINGS
            ),
        ],
        problems=_OF_CLAIMS,
        cap=2e5,
    ),
    File(
        name="constants",
        comment="The factor 1 - c_p by which a failure shortens the evolution path, for CMA and EP-CMA-m.",
        title="Evolution paths that failures shorten more or less",
        schemes=list(_constants()),
        problems=_OF_CLAIMS,
        cap=6e4,
        exceptions=[{"where": {"L": 1e6, "n": _WIDE, "scheme": labelled("ep-cma-n", "1/12")}, "runs": 0}],
    ),
    File(
        name="constants-long",
        comment="EP-CMA-1 on exp with L = 1e6, up to 20 times the iterations of SARP: claim 3 says 14.",
        title="EP-CMA-1 with patience",
        schemes=[s for s in _constants() if s["label"].startswith("ep-cma-1@")],
        problems=_quadratics(["exp"], [100], [1e6]),
        cap=6e5,
    ),
    File(
        name="structure",
        comment="What else the print leaves open about evolution paths: see `variants.py`.",
        title="Evolution paths by other rules",
        schemes=list(_structures()),
        problems=[
            *_quadratics(["exp", "lin"], [20, 100], _BOTH),
            {"problem": "two", "n": [20, 80, 100], "L": 1e4},
            {"problem": "rosenbrock", "n": [20, 80]},
        ],
        cap=6e4,
        readings=("fitted",),
        exceptions=[
            {"where": {"n": _WIDE, "scheme": _SLOW_EP_CMA_N}, "runs": 0},
            {"where": {"problem": "exp", "L": 1e6, "n": 20}, "runs": 0},
        ],
    ),
    File(
        name="path",
        comment="EP-CMA-1 with other rates beside SARP: could a path replace the drift?",
        title="An evolution path instead of a drift",
        schemes=list(_grid()),
        problems=[
            *_quadratics(["exp", "lin", "two"], [20, 40, 100], [1e4]),
            {"problem": "rosenbrock", "n": [20, 40, 100]},
        ],
        cap=3e4,
    ),
    File(
        name="path-test",
        comment="The settings of path.toml on problems that played no part in choosing one of them.",
        title="An evolution path instead of a drift, on other problems",
        schemes=list(_grid()),
        problems=[
            *_quadratics(["exp", "lin", "two"], [30, 70], [1e5]),
            {"problem": "rosenbrock", "n": [30, 70]},
            *_quadratics([f"problems:{name}" for name in ("stiff", "soft", "scattered")], [30, 70], [1e4]),
        ],
        cap=4e4,
    ),
)


def main() -> None:
    for file in FILES:
        (FOLDER / f"{file.name}.toml").write_text(file.text())


if __name__ == "__main__":
    main()
