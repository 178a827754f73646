"""Which modules' examples are run: those for a GPU and for other packages need what may be missing."""

from importlib.util import find_spec

_NEEDS = {"gpu/*": "numba_cuda", "adapters/optimagic.py": "optimagic", "adapters/optuna.py": "optuna"}
collect_ignore_glob = [f"pursuit/{path}" for path, package in _NEEDS.items() if not find_spec(package)]
