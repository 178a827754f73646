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
