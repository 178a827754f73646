"""How the runs of one kind are laid out on a GPU: the width of a team, and what lies where."""

from __future__ import annotations

import dis
import functools
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.cache import definitions_in
from pursuit.compiling.dispatch import implementations_of
from pursuit.compiling.vectors import reads_entries
from pursuit.engine.counters import Counters, Limits, Trace, Unfinished, first_counters
from pursuit.engine.iteration import nothing
from pursuit.engine.setup import Setup
from pursuit.engine.stopping import Reason
from pursuit.gpu.errors import GpuError
from pursuit.gpu.layout import Image, Space, Where, image_of, parts_in, words_of
from pursuit.gpu.philox import Key
from pursuit.gpu.team import checked_lanes
from pursuit.gpu.threads import BLOCK, GRID, WARP, Shape

# Matrices of up to this many words lie in shared memory, for teams within warps and for whole blocks. Vectors
# do while there is room.
_SMALL_MATRIX, _SMALL_MATRIX_OF_BLOCKS = 1024, 12 * 1024
# The words of shared memory that a block may have.
_MOST_WORDS = 200 * 1024 // 8
# A block has this many threads unless that takes too much shared memory: different kernels on one
# multiprocessor get in each other's way, and so do small blocks of the same one.
_THREADS, _BLOCK_WORDS = 256, 100 * 1024 // 8
# A run of more variables has all threads of the GPU.
_MOST_VARIABLES = 8192
_BANKS = 16  # of shared memory, each as wide as a word


class Fixed(NamedTuple):
    """What all runs of a batch have in common."""

    scheme: Any
    problem: Any
    limits: Limits


class Course(NamedTuple):
    """Where a run stands: the numbers that change from one iteration to the next."""

    numbers: Any
    counters: Counters
    reason: int
    unfinished: Unfinished
    """The evaluations of an iteration that was cut short by the evaluation limit."""


class Own(NamedTuple):
    """What belongs to a single run."""

    course: Course
    arrays: Any
    trace: Trace
    key: Key
    best: Vector
    """The best point of an iteration that was cut short."""
    normals: Vector
    """The normals of an iteration, if a team fills the GPU; else there are none here."""


class Plan(NamedTuple):
    """The layout of runs of one kind."""

    shape: Shape
    fixed: Image
    own: Image
    normals: int
    """Where the normals lie in a run's shared memory,"""
    point: int
    """the point that is evaluated,"""
    board: int
    """and a number for each warp of a team."""
    run_words: int
    """The words of shared memory that a run has,"""
    block_words: int
    """and those that all runs of a block have together."""
    seats: int
    """The runs of a block."""

    @property
    def threads(self) -> int:
        """How many threads a block has."""
        return self.seats * min(self.shape.lanes, BLOCK)

    @property
    def blocks(self) -> int:
        """How many blocks a team has."""
        return max(1, self.shape.lanes // BLOCK)

    @property
    def reads_images(self) -> bool:
        """Whether iterations read arrays in global memory."""
        arrays = self.own.root.parts[Own._fields.index("arrays")]
        return any(part.where == Where.IMAGE for part in (*parts_in(arrays), *parts_in(self.fixed.root)))

    @property
    def shared_bytes(self) -> int:
        """How much shared memory a block has."""
        return 8 * (self.block_words + self.seats * self.run_words)


def plan_for(fixed: Fixed, own: Own, lanes: int) -> Plan:
    """Return the layout of runs like this one."""
    n = own.arrays.x.size
    needs = fixed.scheme.needs(n)
    shape = Shape(checked_lanes(lanes), n, needs.normals, needs.points)
    run, block = Space(), Space()
    # A run that fills the GPU has all of its arrays in global memory.
    vectors = (0, 0) if shape.is_grid else (shape.draws, n)
    normals, point, board = (_room(run, words) for words in (*vectors, shape.warps))
    small_matrix = _SMALL_MATRIX if lanes <= WARP else _SMALL_MATRIX_OF_BLOCKS

    def is_near(array: Any, taken: int) -> bool:
        words = words_of(array)
        is_small = words <= (small_matrix if array.ndim > 1 else _MOST_WORDS)
        return not shape.is_grid and is_small and taken + words <= _MOST_WORDS

    def place_own(owner: Any, name: str, array: Any) -> tuple[Where, int]:
        if isinstance(owner, Trace | Own) or not is_near(array, run.words):
            return Where.IMAGE, 0
        return Where.RUN, run.take(words_of(array))

    def place_fixed(owner: Any, name: str, array: Any) -> tuple[Where, int]:
        words, is_constant = words_of(array), name in getattr(owner, "constants", ())
        if is_near(array, run.words + block.words):
            return (Where.BLOCK, block.take(words)) if is_constant else (Where.RUN, run.take(words))
        if not (is_constant or shape.is_grid):
            raise GpuError(
                f"The array `{name}` of {type(owner).__qualname__} has {words} entries, too many for each "
                "run on a GPU to have its own. If it is never written, name it in `constants`: then all runs "
                "share it."
            )
        return Where.IMAGE, 0

    own_image = image_of(own, place_own)
    fixed_image = image_of(fixed, place_fixed)
    run_words = run.words if shape.is_grid else _spread(run.words, shape.lanes)
    return Plan(
        shape=shape,
        fixed=fixed_image,
        own=own_image,
        normals=normals,
        point=point,
        board=board,
        run_words=run_words,
        block_words=block.words + block.words % 2,
        seats=_seats(shape.lanes, run_words, block.words),
    )


def _room(run: Space, words: int) -> int:
    """Take words of a run's shared memory, which it must have."""
    if run.words + words > _MOST_WORDS:
        raise GpuError(
            f"A run of {words} variables needs more memory of a multiprocessor than there is: "
            f"its point and its normals may fill {_MOST_WORDS} words."
        )
    return run.take(words)


def _spread(words: int, lanes: int) -> int:
    """Return a few words more, so that runs of narrow teams side by side lie in different banks."""
    wanted = lanes % _BANKS
    return words + (wanted - words) % _BANKS


def _seats(lanes: int, run_words: int, block_words: int) -> int:
    """Return how many runs a block has."""
    if lanes > WARP:
        return 1
    seats = _THREADS // lanes
    while seats > WARP // lanes and block_words + seats * run_words > _BLOCK_WORDS:
        seats //= 2
    while seats > 1 and block_words + seats * run_words > _MOST_WORDS:
        seats //= 2
    return seats


def default_lanes(scheme: Any, problem: Any, n: int) -> int:
    """Return how many threads execute a run: a function of the classes of scheme and problem, and of n.

    Code that is not known to do all its work on arrays by vector operations is executed by one thread.
    """
    if not (_keeps_to_operations(scheme) and _keeps_to_operations(problem)):
        return 1
    if _has_matrix(scheme, n):
        return 32 if n <= 20 else 64 if n <= 40 else 128 if n <= 200 else 512
    if n > _MOST_VARIABLES:
        return GRID
    return 8 if n <= 30 else 16 if n <= 50 else 32 if n <= 512 else 128 if n <= 2048 else 512


def _has_matrix(scheme: Any, n: int) -> bool:
    """Say whether a scheme works on n by n numbers."""
    m = getattr(scheme, "m", None)
    return type(scheme).__name__.endswith("Cma") and (m is None or 4 * m > n)


def _keeps_to_operations(record: Any) -> bool:
    return all(
        (cls.__module__.partition(".")[0] == "pursuit" and "<locals>" not in cls.__qualname__)
        or not any(_takes_arrays_apart(function) for function in implementations_of(cls))
        for cls in definitions_in(record)
    )


@functools.cache
def _takes_arrays_apart(function: Any) -> bool:
    """Say whether a function reads or writes entries of anything, or calls what may do so."""
    return any(
        reads_entries(instruction)
        or instruction.opname in ("STORE_SUBSCR", "STORE_SLICE", "CALL_FUNCTION_EX")
        for instruction in dis.get_instructions(function)
    )


def first_own(setup: Setup, start: Vector, fx: float, key: Key, lanes: int) -> Own:
    """Return what belongs to a run that has evaluated its start."""
    counters, trace = first_counters(fx, setup.first_step, setup.transform.at_bound(start))
    normals = setup.scheme.needs(start.size).normals if lanes > BLOCK else 0
    for column in trace:
        column[counters.rows :] = 0
    state = setup.scheme.init(np.array(start), fx, setup.first_step)
    return Own(
        course=Course(state.numbers, counters, int(Reason.RUNNING), nothing()),
        arrays=state.arrays,
        trace=trace,
        key=key,
        best=np.zeros(start.size),
        normals=np.zeros(normals),
    )
