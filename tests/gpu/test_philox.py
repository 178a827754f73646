"""The generator of a GPU's normals."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed: pip install 'pursuit[gpu]'")

from pursuit.gpu.philox import Key, words_in_python


def test_words_are_those_of_the_published_generator():
    # The known answers that the authors of Philox distribute; our last counter word is always 0.
    assert words_in_python(0, 0, (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)


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
