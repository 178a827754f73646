"""The GPU itself: what it is, its memory, and the launching of kernels."""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from pursuit.gpu.errors import GpuError
from pursuit.optional import how_to_install

# Older ones are untested: they lack some of the instructions that teams use.
_OLDEST = (7, 0)
_LARGE = 1 << 28
_INSTALL = how_to_install("gpu")
Words = np.ndarray[Any, Any]


class Device(NamedTuple):
    """What a GPU is."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    shared: int
    """The most shared memory of a block, in bytes."""
    driver: tuple[int, int]
    """The version of CUDA that the driver supports."""


def find_device() -> Device:
    """Return the first GPU of this machine, or raise a `GpuError` that says why there is none."""
    return Gpu().device


class Gpu:
    """The first GPU of this machine, ready to be used."""

    def __init__(self) -> None:
        if find_spec("cuda") is None or find_spec("cuda.bindings") is None:
            raise GpuError(f"The packages for GPUs are not installed: {_INSTALL}.")
        from cuda.bindings import driver

        self._driver = driver
        try:
            found = driver.cuInit(0)[0]
        except Exception as error:
            # Without a driver's library, the bindings raise errors of several kinds.
            raise GpuError("There is no GPU here: NVIDIA's driver is not installed.") from error
        if found != driver.CUresult.CUDA_SUCCESS or self.call("cuDeviceGetCount") == 0:
            raise GpuError(f"There is no GPU here: NVIDIA's driver says {self._name_of(found)}.")
        handle = self.call("cuDeviceGet", 0)
        self.device: Device = self._described(handle)
        self._check_versions()
        self.call("cuCtxSetCurrent", self.call("cuDevicePrimaryCtxRetain", handle))
        self._loaded: dict[tuple[bytes, int, bool], Any] = {}
        self._idle: dict[int, list[int]] = {}

    def _described(self, handle: Any) -> Device:
        kinds = self._driver.CUdevice_attribute

        def attribute(name: str) -> int:
            return int(
                self.call("cuDeviceGetAttribute", getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{name}"), handle)
            )

        version = int(self.call("cuDriverGetVersion"))
        return Device(
            name=self.call("cuDeviceGetName", 256, handle).split(b"\0")[0].decode(),
            capability=(attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR")),
            multiprocessors=attribute("MULTIPROCESSOR_COUNT"),
            shared=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            driver=(version // 1000, version % 1000 // 10),
        )

    def _check_versions(self) -> None:
        from cuda.bindings import nvjitlink

        if self.device.capability < _OLDEST:
            raise GpuError(
                f"The {self.device.name} has compute capability {_dotted(self.device.capability)}, "
                f"but {_dotted(_OLDEST)} is needed."
            )
        try:
            needed = nvjitlink.version()
        except Exception as error:
            raise GpuError(f"The compiler for GPUs is not installed: {_INSTALL}.") from error
        if self.device.driver[0] < needed[0]:
            raise GpuError(
                f"The driver of the {self.device.name} supports CUDA {_dotted(self.device.driver)}, but the "
                f"compiler here makes code for CUDA {_dotted(needed)}: update the driver."
            )

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the driver, return what it returns, and raise its errors as sentences."""
        status, *returned = getattr(self._driver, name)(*arguments)
        if status == self._driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise GpuError("The memory of the GPU is full.")
        if status != self._driver.CUresult.CUDA_SUCCESS:
            raise GpuError(f"The GPU failed: {name} says {self._name_of(status)}.")
        return returned[0] if returned else None

    def _name_of(self, status: Any) -> str:
        return str(getattr(status, "name", status))

    @property
    def free_memory(self) -> int:
        """How many bytes of its memory are free."""
        free, _ = self._driver.cuMemGetInfo()[1:]
        return int(free) + sum(size * len(addresses) for size, addresses in self._idle.items())

    def load(self, cubin: bytes, entry: str, shared: int, *, cache: bool) -> Any:
        """Return a kernel that is launched with `shared` bytes of shared memory.

        `cache` says whether it needs a cache for global memory, at the cost of shared memory.
        """
        if shared > self.device.shared:
            raise GpuError(
                f"A block of these runs needs {shared} bytes of shared memory, but the {self.device.name} "
                f"has {self.device.shared}."
            )
        # The driver waits for running kernels before it loads another.
        known = cubin, shared, cache
        if known not in self._loaded:
            function = self.call("cuModuleGetFunction", self.call("cuModuleLoadData", cubin), entry.encode())
            kinds = self._driver.CUfunction_attribute
            settings = [(kinds.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)]
            if not cache:
                settings.append((kinds.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100))
            for setting in settings:
                self.call("cuFuncSetAttribute", function, *setting)
            self._loaded[known] = function
        return self._loaded[known]

    def upload(self, words: Words) -> Buffer:
        """Return a copy of an array in the GPU's memory."""
        room = _rounded(words.nbytes)
        if not self._idle.get(room):
            try:
                self._idle[room] = [int(self.call("cuMemAlloc", room))]
            except GpuError:
                self._free_idle()
                self._idle[room] = [int(self.call("cuMemAlloc", room))]
        buffer = Buffer(self, self._idle[room].pop(), words.nbytes)
        buffer.write(words)
        return buffer

    def put_back(self, buffer: Buffer) -> None:
        """Keep the memory of an array for the next one: to free it, the driver waits for all kernels."""
        self._idle[_rounded(buffer.size)].append(buffer.address)

    def _free_idle(self) -> None:
        for addresses in self._idle.values():
            while addresses:
                self.call("cuMemFree", addresses.pop())

    def stream(self) -> Any:
        """Return a new queue of work."""
        return self.call("cuStreamCreate", int(self._driver.CUstream_flags.CU_STREAM_NON_BLOCKING))

    def launch(self, function: Any, grid: int, plan: Any, stream: Any, arguments: tuple[int, ...]) -> None:
        """Start a kernel of 64-bit integers in `grid` blocks of a plan's threads and shared memory."""
        kinds = (ctypes.c_int64,) * len(arguments)
        blocks, threads = (grid, 1, 1), (plan.threads, 1, 1)
        given = arguments, kinds
        self.call("cuLaunchKernel", function, *blocks, *threads, plan.shared_bytes, stream, given, 0)

    def is_done(self, stream: Any) -> bool:
        """Say whether all work of a queue is done; raise an error if it failed."""
        status = self._driver.cuStreamQuery(stream)[0]
        if status == self._driver.CUresult.CUDA_ERROR_NOT_READY:
            return False
        if status != self._driver.CUresult.CUDA_SUCCESS:
            raise GpuError(f"The GPU failed: a kernel ended with {self._name_of(status)}.")
        return True

    def finish(self) -> None:
        """Wait until all work is done, and free the memory that no array has."""
        self.call("cuCtxSynchronize")
        self._free_idle()


class Buffer:
    """An array in the GPU's memory."""

    def __init__(self, gpu: Gpu, address: int, size: int) -> None:
        self._gpu = gpu
        self.address: int = address
        self.size: int = size

    def write(self, words: Words) -> None:
        """Copy an array of the same size there."""
        if words.nbytes:
            self._gpu.call(
                "cuMemcpyHtoD", self.address, np.ascontiguousarray(words).ctypes.data, words.nbytes
            )

    def read(self, words: Words) -> None:
        """Copy it into an array of the same size."""
        if words.nbytes:
            self._gpu.call("cuMemcpyDtoH", words.ctypes.data, self.address, words.nbytes)

    def free(self) -> None:
        """Give the memory back."""
        self._gpu.put_back(self)


def _rounded(size: int) -> int:
    """Return how much memory an array gets: a small one gets more than it needs, so that others fit later."""
    return max(8, size) if size > _LARGE else 1 << max(8, size - 1).bit_length()


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version[:2]))
