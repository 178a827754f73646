"""A GPU engine that only pretends: its runs are long and end as their seeds say, and need no GPU.

It has the interface that the study uses, so that everything around the engine can be tested anywhere.
"""

from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import numpy as np

from pursuit.engine.stopping import Reason
from pursuit.experiments.study.results import Trace

LEG = 100
_TOTAL, _NIT = 0, 1


class PretendedGpuError(RuntimeError):
    """Stands for the engine's `GpuError`."""


class Outcome(NamedTuple):
    nit: int
    nfev: int
    fun: float
    reason: Reason
    trace: object


class Batch:
    """Runs whose only state is how far they are."""

    def __init__(self, setup, limits, starts, values, seeds, *, lanes=None):
        assert np.shape(starts) == (len(seeds), setup.n)
        assert len(values) == len(seeds)
        lengths = [50 + int(seed.generate_state(1)[0]) % 700 for seed in seeds]
        self._prepare(setup, limits, np.array([[length, 0] for length in lengths], dtype=np.int64))

    def _prepare(self, setup, limits, words):
        self.setup, self.limits, self.words = setup, limits, words
        self.lanes = 8 if setup.n < 6 else 16
        self.expected = np.inf

    @classmethod
    def resumed(cls, setup, limits, memory, *, lanes=None):
        batch = cls.__new__(cls)
        words = np.array(memory["words"])
        if words.ndim != 2 or words.shape[1] != 2:
            raise ValueError("The memory is that of other runs.")
        batch._prepare(setup, limits, words)
        return batch

    @property
    def identity(self):
        return {"device": "gpu", "generator": "pretended", "lanes": self.lanes}

    @property
    def runs(self):
        return len(self.words)

    @property
    def running(self):
        return np.flatnonzero(self.words[:, _NIT] < self.words[:, _TOTAL])

    def memory(self):
        return {"words": self.words, "lanes": np.int64(self.lanes)}

    def outcome(self, run):
        nit = int(self.words[run, _NIT])
        assert nit == self.words[run, _TOTAL]
        trace = Trace(np.array([0, nit]), np.array([1, nit + 1]), np.array([1.0, 1e-7]))
        return Outcome(nit, nit + 1, 1e-7, Reason.TARGET, lambda: trace)


class Engine:
    """The pretended engine, which counts what it does."""

    def __init__(self):
        self.iterations = 0
        self.order = []
        self.landings_left = None
        """After so many landings the process is interrupted."""
        self.missing = ""
        """Why there is no GPU."""
        self.refused = ""
        """Why one of the schemes cannot be compiled."""
        self.refused_scheme = ""

    def find_device(self):
        if self.missing:
            raise PretendedGpuError(self.missing)
        return SimpleNamespace(name="Pretended 9000")

    def build_kernels(self, batches, *, workers=None):
        return [
            self.refused if type(batch.setup.scheme).__qualname__ == self.refused_scheme else None
            for batch in batches
        ]

    def run_batches(self, batches, *, landed, workers=None):
        waiting = sorted(batches, key=lambda batch: -batch.expected)
        self.order = [batch.expected for batch in waiting]
        while waiting:
            batch = waiting.pop(0)
            before = batch.running
            steps = np.minimum(LEG, batch.words[before, _TOTAL] - batch.words[before, _NIT])
            batch.words[before, _NIT] += steps
            self.iterations += int(steps.sum())
            if batch.running.size:
                waiting.append(batch)
            landed(batch, sorted(set(before) - set(batch.running)))
            if self.landings_left is not None:
                self.landings_left -= 1
                if self.landings_left == 0:
                    raise KeyboardInterrupt

    def modules(self):
        """Return its modules, by name."""
        return {
            "pursuit.gpu.errors": _module(GpuError=PretendedGpuError),
            "pursuit.gpu.device": _module(find_device=self.find_device),
            "pursuit.gpu.batch": _module(Batch=Batch),
            "pursuit.gpu.schedule": _module(build_kernels=self.build_kernels, run_batches=self.run_batches),
        }


def _module(**names):
    module = ModuleType("pretended")
    vars(module).update(names)
    return module
