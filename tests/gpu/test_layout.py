"""Records in images and back."""

from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed: pip install 'pursuit[gpu]'")

from pursuit.gpu.errors import GpuError
from pursuit.gpu.layout import Space, Where, image_of, words_of


class Inner(NamedTuple):
    flag: bool
    matrix: np.ndarray


class Outer(NamedTuple):
    count: int
    x: np.ndarray
    inner: Inner
    value: float
    pair: tuple
    small: np.ndarray


def record(k=0):
    return Outer(
        count=k - 5,
        x=np.arange(3.0) + k,
        inner=Inner(flag=True, matrix=np.arange(6.0).reshape(2, 3) * k),
        value=-0.5 * k,
        pair=(k, 2.0),
        small=np.array([1, 2, 3], dtype=np.int8),
    )


def image():
    shared = Space()

    def place(owner, name, array):
        if array.ndim > 1:
            return Where.IMAGE, 0
        return Where.RUN, shared.take(words_of(array))

    return image_of(record(), place)


def test_what_is_written_is_read():
    layout = image()
    rows = np.zeros((4, layout.words), dtype=np.int64)
    for k, row in enumerate(rows):
        layout.write(record(k), row)
    for k, row in enumerate(rows):
        read, expected = layout.read(row), record(k)
        assert type(read) is Outer
        assert (read.count, read.value, read.pair) == (expected.count, expected.value, expected.pair)
        assert read.inner.flag is True
        for mine, other in ((read.x, expected.x), (read.inner.matrix, expected.inner.matrix)):
            np.testing.assert_array_equal(mine, other)
        np.testing.assert_array_equal(read.small, expected.small)
        assert read.small.dtype == np.int8


def test_arrays_of_one_memory_lie_side_by_side():
    layout = image()
    # Five numbers come first, then the vectors, the bytes of the small one in one word, then the matrix.
    assert layout.span(Where.RUN) == (5, 0, 4)
    assert layout.span(Where.IMAGE) == (9, 0, 6)
    assert layout.span(Where.BLOCK).words == 0
    assert layout.words == 15


@pytest.mark.parametrize(
    ("value", "words"),
    [("text", "pair.0 is of type str"), (np.arange(6.0)[::2], "contiguous arrays of numbers, and pair.0")],
)
def test_what_a_gpu_does_not_take_is_refused_by_name(value, words):
    with pytest.raises(GpuError, match=words):
        image_of(record()._replace(pair=(value, 1.0)), lambda owner, name, array: (Where.IMAGE, 0))
