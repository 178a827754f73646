"""From a Python function to machine code of a GPU.

Compiling needs the GPU itself: of the functions that a kernel calls, numba-cuda asks the current device what
to compile them for.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import NamedTuple

from numba import cuda
from numba.cuda import types

MOST_REGISTERS = 128
"""The registers of a thread: with more, too few threads fit on a multiprocessor."""


class MachineCode(NamedTuple):
    """A kernel as a driver loads it."""

    entry: str
    """The name of the function."""
    cubin: bytes


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
