"""Kernels, made once: compiled in parallel, and kept on disk."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import multiprocessing
import os
import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from numba.core.errors import NumbaError

from pursuit.checks import cut
from pursuit.compiling.cache import cache_folder
from pursuit.gpu.errors import GpuError
from pursuit.gpu.loop import make_kernel
from pursuit.gpu.plan import Fixed, Own, Plan, plan_for
from pursuit.gpu.ptx import MachineCode, assembled, ptx_of

_ARGUMENTS = 5
_SEPARATOR = b"\n"
_PACKAGES = ("numba", "numba-cuda", "llvmlite")


@dataclass(frozen=True, eq=False)
class Blueprint:
    """What a kernel is made for: any run of its kind, and the width of a team."""

    fixed: Fixed
    own: Own
    lanes: int
    capability: tuple[int, int]

    @functools.cached_property
    def plan(self) -> Plan:
        """The layout of its runs."""
        return plan_for(self.fixed, self.own, self.lanes)

    @functools.cached_property
    def place(self) -> Place:
        """Where it is kept: in no folder if it cannot be, with a name that kernels of the same code share."""
        parts = [repr(self.plan), repr(self.capability), *_versions()]
        name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
        return Place(cache_folder(self.fixed.scheme, self.fixed.problem), name)


class Place(NamedTuple):
    """Where a kernel is kept."""

    folder: Path | None
    name: str

    @property
    def file(self) -> Path:
        """Its file, if it is kept in a folder."""
        assert self.folder is not None
        return self.folder / f"gpu-{self.name}.cubin"


@functools.cache
def _versions() -> tuple[str, ...]:
    return tuple(f"{name} {version(name)}" for name in _PACKAGES)


_made: dict[Place, MachineCode] = {}
"""Kernels of this process."""


def build(blueprints: Sequence[Blueprint], workers: int | None = None) -> list[str | None]:
    """Compile kernels that are not kept yet, by `workers` processes at once, by default one for each core.

    Returns for each of them the sentence that says why it cannot be compiled, or None.
    """
    missing = {blueprint.place: blueprint for blueprint in blueprints if _kept(blueprint.place) is None}
    shared = [
        place for place, blueprint in missing.items() if place.folder is not None and _pickles(blueprint)
    ]
    refusals: dict[Place, str | None] = {}
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
    return [refusals.get(blueprint.place) for blueprint in blueprints]


def machine_code(blueprint: Blueprint) -> MachineCode:
    """Return a kernel, from disk if it is kept there."""
    return _kept(blueprint.place) or _build(blueprint)


def _kept(place: Place) -> MachineCode | None:
    """Return a kernel if there is one already."""
    if place not in _made and place.folder is not None:
        try:
            entry, _, cubin = place.file.read_bytes().partition(_SEPARATOR)
        except OSError:
            return None
        digest, _, cubin = cubin.partition(_SEPARATOR)
        if hashlib.sha256(cubin).hexdigest().encode() != digest:
            return None  # It is damaged, and will be made again.
        _made[place] = MachineCode(entry.decode(), cubin)
    return _made.get(place)


def _build(blueprint: Blueprint) -> MachineCode:
    names = (type(record).__qualname__.rpartition(".")[2] for record in blueprint.fixed[:2])
    refused = f"{' on '.join(names)} cannot be compiled for a GPU"
    try:
        ptx = ptx_of(make_kernel(blueprint.plan), _ARGUMENTS, blueprint.capability)
    except NumbaError as error:
        raise GpuError(f"{refused}: {_reason(error)}.") from error
    code = assembled(ptx, blueprint.capability)
    place = blueprint.place
    _made[place] = code
    if place.folder is not None:
        digest = hashlib.sha256(code.cubin).hexdigest().encode()
        content = _SEPARATOR.join([code.entry.encode(), digest, code.cubin])
        with contextlib.suppress(OSError):
            # If it cannot be kept, it is compiled again next time.
            _write(place.file, content)
    return code


def _refusal(blueprint: Blueprint) -> str | None:
    """Build a kernel; return the sentence of an error."""
    try:
        _build(blueprint)
    except GpuError as error:
        return str(error)
    return None


def _write(path: Path, content: bytes) -> None:
    """Write a file that other processes may write at the same time: the last one wins, and each is whole."""
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)


def _pickles(blueprint: Any) -> bool:
    try:
        pickle.dumps(blueprint)
    except Exception:
        # Classes defined at a prompt or inside a function do not.
        return False
    return True


def _reason(error: NumbaError) -> str:
    """Return the most informative line of a Numba error."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File "))]
    missing = [line.removeprefix(">>>").strip() for line in said if line.startswith(">>>")]
    if missing:
        return f"there is no {cut(missing[0], 200)} on a GPU"
    return cut(said[0].rstrip(".:"), 200) if said else type(error).__name__
