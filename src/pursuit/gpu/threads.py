"""The threads of a team: how many there are, how they wait for each other, and whose an entry is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
from numba import cuda

WARP = 32
BLOCK = 512
"""The most threads of a team within a block."""
GRID = 128 * BLOCK
"""The threads of a team that fills the GPU: a block for each of most of its multiprocessors."""
u64: Any = numba.uint64
inline: Any = numba.njit(forceinline=True)
# Loops over up to this many entries of a thread are unrolled.
_MOST_UNROLLED = 16
_ALL = 0xFFFFFFFF
"""The threads of a warp."""


class Shape(NamedTuple):
    """What a class of teams is made for."""

    lanes: int
    """The threads of a team: a power of two."""
    n: int
    draws: int
    """The normals of an iteration."""
    points: int
    """The points of a query at once."""

    @property
    def is_grid(self) -> bool:
        """Whether a team is all threads of the GPU, in many blocks."""
        return self.lanes > BLOCK

    @property
    def warps(self) -> int:
        """How many warps a team fills in a block, at least one."""
        return max(1, min(self.lanes, BLOCK) // WARP)

    @property
    def whole(self) -> int:
        """How many entries of a vector every thread has."""
        return self.n // self.lanes

    @property
    def rows(self) -> int:
        """How many entries of a vector some threads have."""
        return -(-self.n // self.lanes)

    @property
    def is_unrolled(self) -> bool:
        """Whether loops over the entries of a thread are unrolled."""
        return self.rows <= _MOST_UNROLLED


@inline
def entry(team: Any, row: Any, lanes: Any) -> Any:
    """Return the index of one of a thread's entries: unsigned, so that nothing looks for negative ones."""
    return u64(team.lane) + u64(row * lanes)


class Waiting(NamedTuple):
    """How the threads of a team wait for each other, and add up what each of them has."""

    wait: Any
    """wait(team)"""
    total: Any
    """total(team, number)"""


def waiting_of(shape: Shape) -> Waiting:
    """Return how the threads of teams of this shape wait."""
    if shape.is_grid:
        return _waiting_in_grids(shape)
    return _waiting_in_blocks(shape) if shape.lanes > WARP else _waiting_in_warps(shape)


def _summing(lanes: int) -> Any:
    """Return the function `(members, number)` that adds up a number of so many neighbouring threads."""
    stages = lanes.bit_length() - 1

    @inline
    def total(members, number):
        for stage in range(stages):
            number += cuda.shfl_xor_sync(members, number, lanes >> (stage + 1))
        return number

    return total


_total_of_warp = _summing(WARP)


def _waiting_in_warps(shape: Shape) -> Waiting:
    lanes, total_of_lanes = shape.lanes, _summing(shape.lanes)
    everybody = (1 << lanes) - 1

    @inline
    def mask():
        return _ALL if lanes == WARP else everybody << (cuda.laneid & (WARP - lanes))

    @inline
    def wait(team):
        if lanes > 1:
            cuda.syncwarp(mask())

    @inline
    def total(team, number):
        return total_of_lanes(mask(), number) if lanes > 1 else number

    return Waiting(wait, total)


def _waiting_in_blocks(shape: Shape) -> Waiting:
    warps = shape.warps

    @inline
    def wait(team):
        cuda.syncthreads()

    @inline
    def total(team, number):
        number = _total_of_warp(_ALL, number)
        cuda.syncthreads()
        if (team.lane & 31) == 0:
            team.board[u64(team.lane >> 5)] = number
        cuda.syncthreads()
        number = team.board[u64(0)]
        for warp in range(1, warps):
            number += team.board[u64(warp)]
        return number

    return Waiting(wait, total)


class GridBoard(NamedTuple):
    """What the blocks of a team write for each other."""

    shared: Any
    """A number for each warp of a block, in shared memory."""
    arrivals: Any
    """How often blocks have arrived at a place where they wait, in global memory."""
    numbers: Any
    """A number for each block, in global memory."""


def _waiting_in_grids(shape: Shape) -> Waiting:
    warps, blocks = shape.warps, shape.lanes // BLOCK

    @inline
    def wait(team):
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            arrived = cuda.atomic.add(team.board.arrivals, 0, 1)
            everybody = (arrived // blocks + 1) * blocks
            while cuda.atomic.add(team.board.arrivals, 0, 0) < everybody:
                pass
            cuda.threadfence()
        cuda.syncthreads()

    @inline
    def total(team, number):
        number = _total_of_warp(_ALL, number)
        thread = numba.int64(cuda.threadIdx.x)
        if (thread & 31) == 0:
            team.board.shared[u64(thread >> 5)] = number
        cuda.syncthreads()
        if thread == 0:
            for warp in range(1, warps):
                number += team.board.shared[u64(warp)]
            team.board.numbers[u64(cuda.blockIdx.x)] = number
        wait(team)
        number = 0.0
        for block in range(thread & 31, blocks, 32):
            number += team.board.numbers[u64(block)]
        number = _total_of_warp(_ALL, number)
        wait(team)
        return number

    return Waiting(wait, total)
