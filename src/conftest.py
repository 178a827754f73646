"""Which modules' examples are run: those for a GPU need an extra that may be missing."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("numba_cuda") else ["pursuit/gpu/*"]
