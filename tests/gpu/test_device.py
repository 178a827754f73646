"""What is said where there is no GPU."""

import subprocess
import sys

import pytest

from devices import REASON, needs_numba_cuda


@needs_numba_cuda
@pytest.mark.skipif(REASON is None, reason="There is a GPU here.")
def test_without_a_gpu_there_is_a_sentence():
    from pursuit.gpu.device import find_device
    from pursuit.gpu.errors import GpuError

    with pytest.raises(GpuError, match=r"There is no GPU here: NVIDIA's driver .+"):
        find_device()


def test_the_library_does_not_import_what_only_a_gpu_needs():
    code = "import pursuit, sys; sys.exit('numba.cuda' in sys.modules or 'cuda' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
