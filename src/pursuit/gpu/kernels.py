"""Kernels, made once: compiled in parallel, and kept on disk.

Compiling needs the GPU itself: of the functions that a kernel calls, numba-cuda asks the current device what
to compile them for.
"""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import pickle
import re
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from numba import NumbaError, cuda
from numba.cuda import types

from pursuit.compiling.cache import cache_folder
from pursuit.gpu.errors import GpuError
from pursuit.gpu.loop import make_kernel
from pursuit.gpu.plan import Plan
from pursuit.problems.objective import reason_in

MOST_REGISTERS = 128
"""The registers of a thread: with more, too few threads fit on a multiprocessor."""
_ARGUMENTS = 5
_SEPARATOR = b"\n"
_PACKAGES = ("numba", "numba-cuda", "llvmlite")


class MachineCode(NamedTuple):
    """A kernel as a driver loads it."""

    entry: str
    """The name of the function."""
    cubin: bytes


class Blueprint(NamedTuple):
    """What a kernel is made for; any runs of the same kind have the same one."""

    plan: Plan
    folder: Path | None
    """Where it is kept; None if it cannot be."""
    capability: tuple[int, int]

    @property
    def file(self) -> Path | None:
        """The file where it is kept."""
        versions = (f"{name} {version(name)}" for name in _PACKAGES)
        text = "\n".join([repr(self.plan), repr(self.capability), *versions])
        name = hashlib.sha256(text.encode()).hexdigest()[:32]
        return None if self.folder is None else self.folder / f"gpu-{name}.cubin"


_made: dict[Blueprint, MachineCode] = {}
"""Kernels of this process."""


def blueprint_of(plan: Plan, scheme: Any, problem: Any, capability: tuple[int, int]) -> Blueprint:
    """Return what the kernel for these runs is made for."""
    return Blueprint(plan, cache_folder(scheme, problem), capability)


def build(blueprints: Sequence[Blueprint], workers: int | None = None) -> list[str | None]:
    """Compile kernels that are not kept yet, by `workers` processes at once, by default one for each core.

    Returns for each of them the sentence that says why it cannot be compiled, or None.
    """
    missing = [blueprint for blueprint in dict.fromkeys(blueprints) if _kept(blueprint) is None]
    shared = [blueprint for blueprint in missing if blueprint.folder is not None and _pickles(blueprint)]
    refusals: dict[Blueprint, str | None] = {}
    if len(shared) > 1:
        count = min(len(shared), workers or os.cpu_count() or 1)
        # Spawned processes inherit neither a GPU nor locks of other threads.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(count, mp_context=context) as executor:
            refusals.update(zip(shared, executor.map(_refusal, shared), strict=True))
    for blueprint in missing:
        if blueprint not in refusals:
            refusals[blueprint] = _refusal(blueprint)
    return [refusals.get(blueprint) for blueprint in blueprints]


def machine_code(blueprint: Blueprint) -> MachineCode:
    """Return a kernel, from disk if it is kept there."""
    return _kept(blueprint) or _build(blueprint)


def _kept(blueprint: Blueprint) -> MachineCode | None:
    """Return a kernel if there is one already."""
    file = blueprint.file
    if blueprint not in _made and file is not None:
        try:
            entry, digest, cubin = file.read_bytes().split(_SEPARATOR, 2)
        except (OSError, ValueError):
            return None
        if hashlib.sha256(cubin).hexdigest().encode() != digest:
            return None  # It is damaged, and will be made again.
        _made[blueprint] = MachineCode(entry.decode(), cubin)
    return _made.get(blueprint)


def _build(blueprint: Blueprint) -> MachineCode:
    try:
        ptx = ptx_of(make_kernel(blueprint.plan), _ARGUMENTS, blueprint.capability)
    except NumbaError as error:
        scheme, problem = (part.cls.__qualname__ for part in blueprint.plan.fixed.root.parts[:2])
        refused = f"{scheme.rpartition('.')[2]} on {problem.rpartition('.')[2]}"
        raise GpuError(f"{refused} cannot be compiled for a GPU: {reason_in(error, ' on a GPU')}.") from error
    code, file = assembled(ptx, blueprint.capability), blueprint.file
    _made[blueprint] = code
    if file is not None:
        digest = hashlib.sha256(code.cubin).hexdigest().encode()
        # Other processes may write it at the same time: the last one wins, and each file is whole.
        part = file.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            # If it cannot be kept, it is compiled again next time.
            file.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(_SEPARATOR.join([code.entry.encode(), digest, code.cubin]))
            part.replace(file)
    return code


def _refusal(blueprint: Blueprint) -> str | None:
    """Build a kernel; return the sentence of an error."""
    try:
        _build(blueprint)
    except GpuError as error:
        return str(error)
    return None


def _pickles(blueprint: Any) -> bool:
    try:
        pickle.dumps(blueprint)
    except Exception:
        # Classes defined at a prompt or inside a function do not.
        return False
    return True


def ptx_of(kernel: Callable[..., None], integers: int, capability: tuple[int, int]) -> str:
    """Return the PTX of a kernel that takes this many 64-bit integers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text, _ = cuda.compile_ptx(kernel, (types.int64,) * integers, cc=capability)
    return str(text)


def assembled(ptx: str, capability: tuple[int, int]) -> MachineCode:
    """Return the machine code of PTX."""
    from cuda.bindings import nvjitlink

    entry = re.search(r"\.entry\s+(\w+)", ptx)
    assert entry is not None
    options = [f"-arch=sm_{capability[0]}{capability[1]}", f"-maxrregcount={MOST_REGISTERS}", "-O3"]
    handle = nvjitlink.create(len(options), options)
    try:
        code = ptx.encode()
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, code, len(code), "kernel")
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
    finally:
        nvjitlink.destroy(handle)
    return MachineCode(entry[1], bytes(cubin))
