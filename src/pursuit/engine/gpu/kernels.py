"""Kernels, made once: compiled in parallel on machines with or without a GPU, and kept on disk."""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from numba.core.errors import NumbaError

from pursuit.checks import cut
from pursuit.compiling.cache import cache_folder
from pursuit.compiling.gpu.errors import GpuError
from pursuit.compiling.gpu.ptx import MachineCode, assembled, ptx_of
from pursuit.engine.gpu.loop import make_kernel
from pursuit.engine.gpu.plan import Fixed, Own, Plan, plan_for

_ARGUMENTS = 5
_SEPARATOR = b"\n"
_PACKAGES = ("numba", "numba-cuda", "llvmlite")


class Blueprint(NamedTuple):
    """What a kernel is made for: any run of its kind, and the width of a team."""

    fixed: Fixed
    own: Own
    lanes: int
    capability: tuple[int, int]

    @property
    def plan(self) -> Plan:
        """The layout of its runs."""
        return plan_for(self.fixed, self.own, self.lanes)

    @property
    def name(self) -> str:
        """A name that kernels of the same code share, and no others."""
        parts = [repr(self.plan), repr(self.capability), *(f"{name} {version(name)}" for name in _PACKAGES)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


_made: dict[str, MachineCode] = {}
"""Kernels of this process, by the folder and the name."""


def build(blueprints: Sequence[Blueprint], workers: int | None = None) -> list[str | None]:
    """Compile kernels that are not kept yet, by `workers` processes at once, by default one for each core.

    Returns for each of them the sentence that says why it cannot be compiled, or None.
    """
    places = [_place(blueprint) for blueprint in blueprints]
    missing = {
        place: blueprint
        for place, blueprint in zip(places, blueprints, strict=True)
        if _kept(blueprint) is None
    }
    shared = [place for place, blueprint in missing.items() if place[0] is not None and _pickles(blueprint)]
    refusals: dict[tuple[Path | None, str], str | None] = {}
    if len(shared) > 1:
        count = min(len(shared), workers or os.cpu_count() or 1)
        # Spawned processes inherit neither a GPU nor locks of other threads.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(count, mp_context=context) as executor:
            found = executor.map(_refusal, [missing[place] for place in shared])
            refusals.update(zip(shared, found, strict=True))
    for place, blueprint in missing.items():
        if place not in refusals:
            refusals[place] = _refusal(blueprint)
    return [refusals.get(place) for place in places]


def machine_code(blueprint: Blueprint) -> MachineCode:
    """Return a kernel, from disk if it is kept there."""
    return _kept(blueprint) or _build(blueprint)


def _kept(blueprint: Blueprint) -> MachineCode | None:
    """Return a kernel if there is one already."""
    place = _place(blueprint)
    key = repr(place)
    if key not in _made and place[0] is not None:
        try:
            entry, _, cubin = _file(place).read_bytes().partition(_SEPARATOR)
        except OSError:
            return None
        digest, _, cubin = cubin.partition(_SEPARATOR)
        if hashlib.sha256(cubin).hexdigest().encode() != digest:
            return None  # It is damaged, and made anew.
        _made[key] = MachineCode(entry.decode(), cubin)
    return _made.get(key)


def _build(blueprint: Blueprint) -> MachineCode:
    try:
        ptx = ptx_of(make_kernel(blueprint.plan), _ARGUMENTS, blueprint.capability)
    except NumbaError as error:
        names = (type(record).__qualname__.rpartition(".")[2] for record in blueprint.fixed[:2])
        raise GpuError(f"{' on '.join(names)} cannot be compiled for a GPU: {_reason(error)}.") from error
    code = assembled(ptx, blueprint.capability)
    place = _place(blueprint)
    _made[repr(place)] = code
    if place[0] is not None:
        digest = hashlib.sha256(code.cubin).hexdigest().encode()
        content = _SEPARATOR.join([code.entry.encode(), digest, code.cubin])
        with contextlib.suppress(OSError):
            # If it cannot be kept, it is compiled again next time.
            _write(_file(place), content)
    return code


def _refusal(blueprint: Blueprint) -> str | None:
    """Build a kernel; return the sentence of an error."""
    try:
        _build(blueprint)
    except GpuError as error:
        return str(error)
    return None


def _place(blueprint: Blueprint) -> tuple[Path | None, str]:
    return cache_folder(blueprint.fixed.scheme, blueprint.fixed.problem), blueprint.name


def _file(place: tuple[Path | None, str]) -> Path:
    folder, name = place
    assert folder is not None
    return folder / f"gpu-{name}.cubin"


def _write(path: Path, content: bytes) -> None:
    """Write a file that other processes may write at the same time: the last one wins, and all are whole."""
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)


def _pickles(blueprint: Any) -> bool:
    try:
        pickle.dumps(blueprint)
    except Exception:
        # Classes from a prompt or from inside of a function do not.
        return False
    return True


def _reason(error: NumbaError) -> str:
    """Return what Numba says in the line that says most."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File "))]
    missing = [line.removeprefix(">>>").strip() for line in said if line.startswith(">>>")]
    if missing:
        return f"there is no {cut(missing[0], 200)} on a GPU"
    return cut(said[0].rstrip(".:"), 200) if said else type(error).__name__
