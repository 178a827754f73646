"""The error of everything that has to do with a GPU."""

from __future__ import annotations


class GpuError(RuntimeError):
    """Something cannot be done on a GPU, or there is none; the message is a sentence."""
