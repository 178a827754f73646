"""Damaged and forged checkpoints: each is refused by a sentence that names it, or gives the same run."""

from __future__ import annotations

import functools
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import pursuit
from benchmarks.attack.batches import try_batch
from benchmarks.attack.damage import DAMAGES
from benchmarks.attack.forgery import BOMBS, FORGERIES, Forged, bomb, unpacked
from benchmarks.attack.kills import METHODS, options_of, python_function
from benchmarks.attack.tally import Tally, differing, fingerprint

N = 12
_EVALUATIONS = 300
_ROUNDS = 30
_EVIL = "class X:\n    def __init__(self, *_):\n        pass\n"
Operation = Callable[[Path], dict[str, str]]


class Whole(NamedTuple):
    """An undamaged checkpoint, what is done with it, and what comes of that."""

    name: str
    data: bytes
    operation: Operation
    expected: dict[str, str]


def attack(seed: int, seconds: float) -> Tally:
    """Try damaged checkpoints for so many seconds; with little time, of a few methods."""
    tally = Tally()
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "evilmod.py").write_text(_EVIL)
        sys.path.append(name)
        methods = Random(seed).sample(METHODS, min(len(METHODS), 1 + int(seconds / 5)))
        wholes = [whole for method in methods for whole in _wholes(method, folder)]
        for entry in BOMBS:
            bomb(entry)  # once, and not in every child
        attempt = functools.partial(_attempt, wholes, folder / "run.npz", seed)
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            number = try_batch(number, attempt, functools.partial(_describe, wholes, seed), tally, folder)
        sys.path.remove(name)
    return tally


def _wholes(method: str, folder: Path) -> list[Whole]:
    """Return checkpoints of a method: before its start, and of runs with and without bounds."""
    found, path = [], folder / "whole.npz"
    pursuit.Optimizer(np.ones(N), method, rng=1, options=options_of(method)).save(path)
    found.append(_whole(f"{method}, before its start", path, _loaded))
    for bounded in (False, True):
        operation = functools.partial(_resumed, method, bounded)
        path.unlink()
        operation(path, evaluations=_EVALUATIONS // 2)
        name = f"{method}{', bounds' * bounded}"
        found += [_whole(name, path, _loaded), _whole(name, path, operation)]
    return found


def _whole(name: str, path: Path, operation: Operation) -> Whole:
    data = path.read_bytes()
    expected = operation(path)
    path.write_bytes(data)
    return Whole(name, data, operation, expected)


def _loaded(path: Path) -> dict[str, str]:
    """Load an optimizer, and let it run a little."""
    optimizer = pursuit.Optimizer.load(path, trace=True)
    for _ in range(_ROUNDS):
        if optimizer.stop():
            break
        points = optimizer.ask()
        optimizer.tell(points, [python_function(x) for x in points])
    return fingerprint(optimizer.result)


def _resumed(method: str, bounded: bool, path: Path, evaluations: int = _EVALUATIONS) -> dict[str, str]:
    """Resume a run, and let it run a little."""
    result = pursuit.minimize(
        python_function,
        np.linspace(0.5, 2.0, N),
        method=method,
        bounds=[(0.25, 3.0)] * N if bounded else None,
        rng=5,
        maxfev=evaluations,
        options=options_of(method),
        trace=True,
        checkpoint=path,
    )
    return fingerprint(result)


def _damaged(wholes: list[Whole], seed: int, number: int) -> tuple[Whole, Forged]:
    random = Random(f"{seed} {number}")
    whole = random.choice(wholes)
    if random.random() < 0.5:
        data, what = random.choice(DAMAGES)(whole.data, random)
        return whole, (data, what, False)
    return whole, random.choice(FORGERIES)(*unpacked(whole.data), random)


def _describe(wholes: list[Whole], seed: int, number: int) -> str:
    whole, (_, what, _) = _damaged(wholes, seed, number)
    act = "load" if whole.operation is _loaded else "minimize"
    return f"{act}, {whole.name}: {what}"


def _attempt(wholes: list[Whole], path: Path, seed: int, number: int) -> tuple[str, str, bool]:
    whole, (data, _, may_differ) = _damaged(wholes, seed, number)
    path.write_bytes(data)
    del data
    what, is_violation = _outcome(whole, path, may_differ)
    if sys.modules.pop("evilmod", None) is not None:
        what, is_violation = "a module that the file names is imported", True
    return what.split(": ")[0], f"{_describe(wholes, seed, number)} -> {what}", is_violation


def _outcome(whole: Whole, path: Path, may_differ: bool) -> tuple[str, bool]:
    """Return what comes of a damaged file, and whether that is a violation."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Any = whole.operation(path)
    except (ValueError, OSError) as error:
        if str(path) in str(error) and "\n" not in str(error).strip():
            return "refused by a sentence", False
        return f"{type(error).__name__} that does not name the file: {error}", True
    except BaseException as error:
        return f"{type(error).__name__}: {error}", True
    if found == whole.expected:
        return "the same result", False
    if may_differ:
        return "a forged checkpoint of another run", False
    return f"another result: {differing(found, whole.expected)}", True
