"""Threads that share the points of a round."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import NamedTuple


class Threads(NamedTuple):
    """Threads that share the points of a round, for functions that need no interpreter."""

    executor: ThreadPoolExecutor
    number: int

    def call(self, evaluate: Callable[[int, int], None], points: int) -> None:
        """Call a function with the first point and the end of each share, and wait until all are done."""
        ends = [points * k // self.number for k in range(self.number + 1)]
        shares = [(first, end) for first, end in pairwise(ends) if first < end]
        futures = [self.executor.submit(evaluate, *share) for share in shares[1:]]
        try:
            evaluate(*shares[0])
        finally:
            wait(futures)
        for future in futures:
            future.result()
