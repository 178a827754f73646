"""What tests of the GPU need: numba-cuda, and a device."""

from importlib.util import find_spec

import pytest


def reason_to_skip():
    """Return why tests that need a GPU are skipped; None if there is one."""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed: pip install 'pursuit[gpu]'"
    from pursuit.gpu.device import find_device
    from pursuit.gpu.errors import GpuError

    try:
        find_device()
    except GpuError as error:
        return str(error)
    return None


REASON = reason_to_skip()
needs_numba_cuda = pytest.mark.skipif(
    find_spec("numba_cuda") is None, reason="numba-cuda is not installed: pip install 'pursuit[gpu]'"
)


def needs_gpu(test):
    """Mark a test that needs a GPU, and skip it where there is none."""
    return pytest.mark.gpu(pytest.mark.skipif(REASON is not None, reason=str(REASON))(test))


def run_kernel(kernel, given, threads):
    """Run a kernel `(address, 0)` in one block on an array, which it changes."""
    from pursuit.gpu.device import Gpu
    from pursuit.gpu.kernels import assembled, ptx_of

    gpu = Gpu()
    code = assembled(ptx_of(kernel, 2, gpu.device.capability), gpu.device.capability)
    function = gpu.load(code.cubin, code.entry, 1024, cache=True)
    buffer, stream = gpu.upload(given), gpu.stream()

    class Plan:
        shared_bytes = 1024

    Plan.threads = threads
    gpu.launch(function, 1, Plan, stream, (buffer.address, 0))
    gpu.finish()
    buffer.read(given)
    buffer.free()
