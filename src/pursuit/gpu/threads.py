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
# Loops over up to this many entries of a thread are unrolled.
_MOST_UNROLLED = 16


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


def _waiting_in_warps(shape: Shape) -> Waiting:
    lanes, stages = shape.lanes, shape.lanes.bit_length() - 1
    everybody = (1 << lanes) - 1

    @numba.njit(forceinline=True)
    def mask():
        if lanes == WARP:
            return 0xFFFFFFFF
        return everybody << (cuda.laneid & (WARP - lanes))

    @numba.njit(forceinline=True)
    def wait(team):
        if lanes > 1:
            cuda.syncwarp(mask())

    @numba.njit(forceinline=True)
    def total(team, number):
        if lanes > 1:
            members = mask()
            for stage in range(stages):
                number += cuda.shfl_xor_sync(members, number, lanes >> (stage + 1))
        return number

    return Waiting(wait, total)


def _waiting_in_blocks(shape: Shape) -> Waiting:
    warps = shape.warps

    @numba.njit(forceinline=True)
    def wait(team):
        cuda.syncthreads()

    @numba.njit(forceinline=True)
    def total(team, number):
        for stage in range(5):
            number += cuda.shfl_xor_sync(0xFFFFFFFF, number, 16 >> stage)
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

    @numba.njit(forceinline=True)
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

    @numba.njit(forceinline=True)
    def total(team, number):
        for stage in range(5):
            number += cuda.shfl_xor_sync(0xFFFFFFFF, number, 16 >> stage)
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
        for stage in range(5):
            number += cuda.shfl_xor_sync(0xFFFFFFFF, number, 16 >> stage)
        wait(team)
        return number

    return Waiting(wait, total)


class Entries:
    """Which entries of a vector of n numbers a thread has, in compiled functions."""

    def __init__(self, shape: Shape) -> None:
        lanes, n = shape.lanes, shape.n
        self.n = n
        self.lanes = lanes
        self.whole: int = n // lanes
        """Every thread has this many entries,"""
        self.rows: int = -(-n // lanes)
        """and some have this many."""
        self.unrolled: bool = self.rows <= _MOST_UNROLLED
        self.evaluates_origins: bool = shape.points > 1

        @numba.njit(forceinline=True)
        def entry(team: Any, row: Any) -> Any:
            # Unsigned, so that nothing looks for negative indices.
            return u64(team.lane) + u64(row * lanes)

        self.entry = entry
