"""Damaged and forged checkpoints: each is refused by a sentence that names it, or gives the same run."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

import pursuit
from attack.batches import try_files
from attack.damage import damaged
from attack.forgery import BOMBS, FORGERIES, Forged, bomb, unpacked
from attack.kills import METHODS, Case, N, python_function
from attack.tally import Tally, differing, fingerprint

_EVALUATIONS, _ROUNDS = 300, 30
_EVIL = "class X:\n    def __init__(self, *_):\n        pass\n"


class Whole(NamedTuple):
    """An undamaged checkpoint, what is done with it, and what comes of that."""

    name: str
    data: bytes
    operation: Callable[[Path], dict[str, str]]
    expected: dict[str, str]


def attack(seed: int, seconds: float) -> Tally:
    """Try damaged checkpoints for so many seconds; with little time, of a few methods."""
    methods = Random(seed).sample(METHODS, min(len(METHODS), 1 + int(seconds / 5)))
    for name in BOMBS:
        bomb(name)  # once, and not in every child
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "evilmod.py").write_text(_EVIL)
        sys.path.append(name)
        wholes = [whole for method in methods for whole in _wholes(method, folder / "whole.npz")]
        attempt = functools.partial(_attempt, wholes, seed, folder / "run.npz")
        return try_files(attempt, functools.partial(_described, wholes, seed), folder, seconds)


def _wholes(method: str, path: Path) -> list[Whole]:
    """Return checkpoints of a method: before its start, and of runs with and without bounds."""
    options = {"kappa": 1e4} if method == "sarp" else None
    pursuit.Optimizer(np.ones(N), method, rng=1, options=options).save(path)
    found = [_whole(f"load, {method}, before its start", path, _loaded)]
    for case in (Case(method), Case(method, bounded=True)):

        def resumed(path: Path, case: Case = case) -> dict[str, str]:
            return case.minimized(_EVALUATIONS, checkpoint=path)

        path.unlink()
        case.minimized(_EVALUATIONS // 2, checkpoint=path)
        name = f"{method}{', bounds' * case.bounded}"
        found += [_whole(f"load, {name}", path, _loaded), _whole(f"minimize, {name}", path, resumed)]
    return found


def _whole(name: str, path: Path, operation: Callable[[Path], dict[str, str]]) -> Whole:
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


def _made(wholes: list[Whole], seed: int, number: int) -> tuple[Whole, Forged]:
    """Return the damaged file of a number."""
    random = Random(f"{seed} {number}")
    whole = random.choice(wholes)
    if random.random() < 0.5:
        return whole, (*damaged(whole.data, random), False)
    return whole, random.choice(FORGERIES)(*unpacked(whole.data), random)


def _described(wholes: list[Whole], seed: int, number: int) -> str:
    whole, (_, what, _) = _made(wholes, seed, number)
    return f"{whole.name}: {what}"


def _attempt(wholes: list[Whole], seed: int, path: Path, number: int) -> tuple[str, str]:
    whole, (data, done, may_differ) = _made(wholes, seed, number)
    path.write_bytes(data)
    what, detail = _outcome(whole, path, may_differ)
    if sys.modules.pop("evilmod", None) is not None:
        what, detail = "a module that the file names is imported", what
    return what, f"{whole.name}: {done} -> {what}: {detail}" if detail else ""


def _outcome(whole: Whole, path: Path, may_differ: bool) -> tuple[str, str]:
    """Return what comes of a damaged file, and some detail if it is a violation."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = whole.operation(path)
    except (ValueError, OSError) as error:
        if str(path) in str(error) and "\n" not in str(error):
            return "refused by a sentence", ""
        if may_differ and "must be finite at x0" in str(error):
            return "a forged checkpoint of another run", ""
        return f"{type(error).__name__} that does not name the file", repr(error)
    except BaseException as error:
        return f"{type(error).__name__}", repr(error)
    if found == whole.expected:
        return "the same result", ""
    if may_differ:
        return "a forged checkpoint of another run", ""
    return "another result", differing(found, whole.expected)
