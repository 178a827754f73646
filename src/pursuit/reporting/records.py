"""What is kept of a run for people and for other programs: its history, its summary, its data, and a log."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pursuit.checks import checked_flag, shown
from pursuit.engine.archive import replacing
from pursuit.engine.stopping import Reason
from pursuit.methods.stages import Stage
from pursuit.optional import optional_module
from pursuit.problems.structure import Structure, flat_of, rows_of, structure_of


class _Columns(NamedTuple):
    """The columns of a history."""

    nit: NDArray[np.int64]
    nfev: NDArray[np.int64]
    fun: NDArray[np.float64]
    """The value of the latest iterate."""
    method: NDArray[np.str_]
    """Which was at work."""
    sigma: NDArray[np.float64]
    """The step size."""
    at_bound: NDArray[np.int64]
    """How many variables of the best point are at a bound; 0 without bounds. Each stage begins anew."""


class History(_Columns):
    """The course of a run at selected iterations, an array for each of these columns.

    Attributes
    ----------
    x : ndarray or None
        With ``trace="x"``: the best point so far, one per row; under noise, if the method estimates values,
        the point that it estimated to be the best. It is no column of the tuple, nor of a table.

    Examples
    --------
    >>> import pursuit
    >>> problem = pursuit.problems.exp(3, 1e2)
    >>> trace = pursuit.minimize(problem, problem.x0, method="rp", rng=1, maxfev=200, trace=True).trace
    >>> trace._fields
    ('nit', 'nfev', 'fun', 'method', 'sigma', 'at_bound')
    >>> trace.nfev[-1]
    np.int64(200)
    """

    x: NDArray[np.float64] | None = None

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with these columns."""
        return optional_module("pandas", "to_pandas").DataFrame(self._asdict())

    def to_polars(self) -> Any:
        """Return a `polars.DataFrame` with these columns."""
        return optional_module("polars", "to_polars").DataFrame(self._asdict())


# --- a result as people read it: `print(result)` --------------------------------------------------


_WIDTH = 79
# Of longer points, the first and the last few entries are shown.
_MOST_ENTRIES, _ENTRIES_AT_EACH_END = 10, 3


def summary_of(result: Mapping[str, Any]) -> str:
    """Return what matters of a result, a line for each field; fields that it lacks are left out.

    Examples
    --------
    >>> print(summary_of({"fun": 0.25, "nfev": 3, "nit": 2, "x": [0.5, 0.0]}))
    fun      0.25
    nfev     3 evaluations, in 2 iterations
    x        [0.5 0. ]
    """
    return "\n".join(
        textwrap.fill(
            text,
            _WIDTH,
            initial_indent=f"{name:9}",
            subsequent_indent=" " * 9,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, text in _lines(result)
    )


def _lines(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield names of fields, each with a text."""
    if "fun" in result:
        yield "fun", _value(result["fun"], result.get("fun_is_estimate"), result.get("fun_error"))
    if "maxcv" in result:
        yield "maxcv", f"{result['maxcv']:.2g}, by how much constraints are violated at most"
    if "success" in result:
        yield "success", str(bool(result["success"]))
    if "message" in result:
        yield "message", result["message"]
    if "nfev" in result:
        iterations = f", in {counted(result['nit'], 'iteration')}" if "nit" in result else ""
        yield "nfev", counted(result["nfev"], "evaluation") + iterations
    if result.get("nfaulty"):
        yield "nfaulty", f"{result['nfaulty']} of the values were NaN"
    if "time" in result:
        yield "time", f"{result['time']:.3g} s"
    if "sigma" in result:
        yield "sigma", f"{result['sigma']:.3g}, the step size"
    if result.get("noise") is not None:
        yield "noise", f"{result['noise']:.2g}, the standard deviation of the noise of a value"
    if "active_mask" in result:
        mask = flat_of(result["active_mask"])
        yield "bounds", f"{np.count_nonzero(mask)} of {mask.size} variables at a bound"
    if "method" in result:
        yield "method", result["method"]
    if "seed" in result:
        yield "seed", shown(result["seed"])
    if "trace" in result:
        columns = ", ".join(result["trace"]._fields)
        yield "trace", f"{columns}: {len(result['trace'].nit)} entries each"
    if "x" in result:
        x = result["x"]
        yield "x", shown(x, 300) if structure_of(x)[0].tree else _shortened(np.asarray(x))


def _value(fun: float, is_estimate: Any, error: float | None) -> str:
    """Return a value; of an estimate, the digits that its error leaves."""
    if not is_estimate:
        return f"{fun:.10g}"
    if not error or not math.isfinite(error) or not math.isfinite(fun):
        return f"{fun:.10g}, an estimate"
    digits = 2 + math.floor(math.log10(abs(fun) or error)) - math.floor(math.log10(error))
    return f"{fun:.{min(max(digits, 1), 10)}g} ± {error:.2g}, an estimate"


def counted(number: int, noun: str) -> str:
    """Return how many there are of something."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shortened(x: Any) -> str:
    """Return a point on a line or two, with dots for the middle of a long one."""
    text = np.array2string(
        x, max_line_width=10**6, precision=6, threshold=_MOST_ENTRIES, edgeitems=_ENTRIES_AT_EACH_END
    )
    return text if x.size <= _MOST_ENTRIES else f"{text}, {x.size} variables"


# --- results as JSON takes them, and back ---------------------------------------------------------


_POINTS, _ARRAYS = ("x", "active_mask"), ("hess", "jac")
"""The fields with the structure of x0, and other arrays."""
_WORDS = ("message", "method", "extra", "seed")
"""The fields that may be texts."""


def plain(value: Any) -> Any:
    """Return something as JSON takes it: arrays as lists, and what is not finite as text.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.reporting.records import plain
    >>> plain({"x": np.array([1.0, np.inf]), "n": np.int64(3)})
    {'x': [1.0, 'inf'], 'n': 3}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def plain_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a result as JSON takes them, without those that it does not take."""
    found = {name: plain(_simple(name, value)) for name, value in result.items()}
    return {name: value for name, value in found.items() if _is_plain(value)}


def fields_of(data: Any, structure: Structure) -> dict[str, Any]:
    """Return the fields of a result from what `plain_result` has returned."""
    if not isinstance(data, Mapping):
        raise TypeError(f"The data of a result must be a dictionary, but {shown(data)} was given.")
    fields = {}
    for name, value in data.items():
        try:
            fields[name] = _field(name, value, structure)
        except (TypeError, ValueError, LookupError, AttributeError):
            raise ValueError(
                f"The data of a result must be what to_dict has returned, but its {name} is {shown(value)}."
            ) from None
    return fields


def _simple(name: str, value: Any) -> Any:
    """Return a field without the classes of this package."""
    if name in _POINTS:
        return flat_of(value)
    if name == "stages":
        return [stage._asdict() | {"reason": int(stage.reason)} for stage in value]
    if name == "trace":
        return value._asdict() | ({} if value.x is None else {"x": rows_of(value.x)})
    if isinstance(value, np.random.SeedSequence):
        return {"entropy": value.entropy, "spawn_key": value.spawn_key}
    return value


def _field(name: str, value: Any, structure: Structure) -> Any:
    """Return a field as a result has it."""
    if name in _POINTS:
        return structure.shaped(np.array(value, dtype=float if name == "x" else int))
    if name in _ARRAYS:
        return np.array(value, dtype=float)
    if name == "stages":
        return tuple(_stage(one) for one in value)
    if name == "trace":
        kinds = {"nit": int, "nfev": int, "method": str, "at_bound": int}
        trace = History(**{key: np.array(value[key], dtype=kinds.get(key, float)) for key in History._fields})
        if "x" in value:
            trace.x = structure.shaped(np.array(value["x"], dtype=float))
        return trace
    if name == "seed" and isinstance(value, Mapping):
        return np.random.SeedSequence(value["entropy"], spawn_key=tuple(value["spawn_key"]))
    return float(value) if isinstance(value, str) and name not in _WORDS else value


def _stage(one: Mapping[str, Any]) -> Stage:
    numbers = {key: float(one[key]) for key in ("fun", "noise", "error") if isinstance(one[key], str)}
    return Stage(**{**one, **numbers, "reason": Reason(one["reason"])})


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


# --- a log in a file ------------------------------------------------------------------------------


_FIELDS = ("nit", "nfev", "fun", "fun_is_estimate", "fun_error", "sigma", "noise", "nfaulty")
"""The fields of a result that are numbers, and change from iteration to iteration."""


def numbers_of(result: Any) -> dict[str, Any]:
    """Return the numbers of a result; None stands for what is not known."""
    return {name: plain(result[name]) for name in _FIELDS}


class Log:
    """A callback that writes a line to a file after every iteration.

    Every line is written whole, so that the file can be read during the run and is sound if that is killed.
    If the run is resumed from a checkpoint, its log goes on from there; otherwise the file is begun anew.

    Parameters
    ----------
    path : path
        The file, a table if its name ends in ``.csv``, and lines of JSON if in ``.jsonl``. Its columns are
        `nit`, `nfev`, `fun`, `fun_is_estimate`, `fun_error`, `sigma`, `noise` and `nfaulty`.
    x : bool
        Whether to write the best point as well, as one list of numbers.

    Examples
    --------
    >>> import json, os, tempfile, pursuit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.jsonl")
    ...     result = pursuit.minimize(lambda x: x @ x, [1.0, 2.0], rng=1, callback=pursuit.Log(path))
    ...     with open(path) as file:
    ...         last = [json.loads(line) for line in file][-1]
    >>> last["nit"] == result.nit, last["fun"] == result.fun
    (True, True)
    """

    def __init__(self, path: str | os.PathLike[str], *, x: bool = False) -> None:
        self._path, self._has_x = Path(path), checked_flag("x", x)
        if self._path.suffix not in (".csv", ".jsonl"):
            raise ValueError(f"The name of a log must end in .csv or .jsonl, but {shown(path)} was given.")
        self._latest: int | None = None
        """The iteration of the last line; None before the first."""

    def __call__(self, intermediate_result: Any) -> None:
        """Write a line."""
        record = numbers_of(intermediate_result)
        if self._has_x:
            record["x"] = plain(flat_of(intermediate_result.x))
        if self._latest is None or record["nit"] <= self._latest:
            self._begin(record)
        with self._path.open("ab", buffering=0) as file:
            # Without a buffer, one call of the system writes a whole line at the end of the file.
            file.write(self._line(record))
        self._latest = record["nit"]

    def _begin(self, record: dict[str, Any]) -> None:
        """Keep what the file has of the iterations before this one, and nothing else."""
        kept = [line for nit, line in self._lines() if nit < record["nit"]] if self._path.exists() else []
        head = self._row(list(record)) if self._path.suffix == ".csv" else b""
        with replacing(self._path) as part:
            part.write_bytes(b"".join([head, *kept]))

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of the file and their iterations, as far as these rise."""
        latest = 0
        for line in self._path.read_bytes().splitlines(keepends=True):
            try:
                text = line.decode()
                nit = json.loads(text)["nit"] if self._path.suffix == ".jsonl" else int(text.split(",")[0])
            except (ValueError, LookupError, TypeError):
                # The head of a table, or half a line from a disk that was full.
                continue
            if nit > latest and line.endswith(b"\n"):
                latest = nit
                yield nit, line

    def _line(self, record: dict[str, Any]) -> bytes:
        if self._path.suffix == ".jsonl":
            return json.dumps(record).encode() + b"\n"
        cells = [" ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in record.values()]
        return self._row(cells)

    def _row(self, cells: list[Any]) -> bytes:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        return text.getvalue().encode()
