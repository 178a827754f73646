"""The generator of a GPU's normals."""

import numba
import numpy as np
import pytest

from devices import needs_gpu, run_kernel

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed: pip install 'pursuit[gpu]'")

from numba import cuda

from pursuit.gpu.access import integers_at
from pursuit.gpu.philox import Key, four_words

ROUNDS = 10
MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = 0x9E3779B9, 0xBB67AE85
KEY = Key(12345, 678)


def words_in_python(counter, place, key):
    """Return four words: the published algorithm."""
    c0, c1, c2, c3 = counter & 0xFFFFFFFF, counter >> 32, place, 0
    k0, k1 = key
    for _ in range(ROUNDS):
        first, second = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1 = (second >> 32) ^ c1 ^ k0, second & 0xFFFFFFFF
        c2, c3 = (first >> 32) ^ c3 ^ k1, first & 0xFFFFFFFF
        k0, k1 = (k0 + WEYL[0]) & 0xFFFFFFFF, (k1 + WEYL[1]) & 0xFFFFFFFF
    return c0, c1, c2, c3


def test_words_are_those_of_the_published_generator():
    # The known answers that the authors of Philox distribute; our last counter word is always 0.
    assert words_in_python(0, 0, (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)


@needs_gpu
@pytest.mark.parametrize("counter", [0, 7, 2**32 + 7])
def test_a_gpu_has_the_words_of_the_published_generator(counter):
    def kernel(address, ignored):
        words = integers_at(address, 4 * 32)
        place = numba.int64(cuda.threadIdx.x)
        four = four_words(counter, place, KEY)
        for k in range(4):
            words[4 * place + k] = numba.int64(four[k])

    given = np.zeros(4 * 32, dtype=np.int64)
    run_kernel(kernel, given, 32)
    assert [tuple(words) for words in given.reshape(32, 4).tolist()] == [
        words_in_python(counter, place, KEY) for place in range(32)
    ]


def test_every_iteration_place_and_key_has_words_of_its_own():
    words = {
        words_in_python(counter, place, (key, 0))
        for counter in (0, 1, 2**32, 2**40)
        for place in range(8)
        for key in range(3)
    }
    assert len(words) == 4 * 8 * 3


def test_a_key_follows_from_the_seed_and_differs_between_runs():
    keys = [Key.of(seed) for seed in np.random.SeedSequence(1).spawn(100)]
    assert keys == [Key.of(seed) for seed in np.random.SeedSequence(1).spawn(100)]
    assert len(set(keys)) == 100
