"""The parts of `momentum`, each alone: ranks, random directions, scales and the drift test."""

import math

import numba
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from methods.calling import from_python
from pursuit.compiling.hashing import hashed as _hashed
from pursuit.methods import RankedMomentum
from pursuit.methods.diagonal import Diagonal
from pursuit.methods.diagonal import rescale as _rescale
from pursuit.methods.drift import opposes as _opposes
from pursuit.methods.mirrored_rounds import MirroredRound
from pursuit.methods.mirrored_rounds import entry_of as _entry_of
from pursuit.methods.mirrored_rounds import start_of as _start_of
from pursuit.methods.mirrored_rounds import write_place as _write_place
from pursuit.methods.ranks import write_ranks as _write_ranks

rescale, opposes, write_place, write_ranks = map(
    from_python, (_rescale, _opposes, _write_place, _write_ranks)
)
hashed = from_python(_hashed)


def round_with(key, number, *, m=20, y=None, scales=None, first=None, second=None):
    nothing = np.empty(0)
    vectors = [nothing if vector is None else vector for vector in (y, scales, first, second)]
    return MirroredRound(*vectors, key, number, sigma=0.25, length=4.0, m=m, place=0, size=2 * m + 5)


@numba.njit
def _write_direction(z, query, i):
    start = _start_of(query, i)
    for j in range(z.shape[0]):
        z[j] = _entry_of(start, j)


def direction(query, i, n):
    z = np.empty(n)
    _write_direction(z, query, i)
    return z


@given(st.lists(st.sampled_from([-math.inf, -1.5, 0.0, 1e-300, 2.0, 7.0, math.inf]), min_size=2, max_size=30))
def test_ranks_are_those_of_scipy_scaled(values):
    ranks = np.empty(len(values))
    write_ranks(ranks, np.array(values))
    ordinary = scipy.stats.rankdata(values, method="average")
    np.testing.assert_allclose(ranks, (2.0 * ordinary - 1.0 - len(values)) / (len(values) - 1), atol=1e-15)


def test_hashes_are_those_of_splitmix64():
    """The first outputs of Vigna's implementation in C for the seed 1234567."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    words = [np.uint64((1234567 + (k + 1) * 0x9E3779B97F4A7C15) % 2**64) for k in range(4)]
    assert [int(hashed(word)) for word in words] == published


def test_entries_have_the_moments_of_a_sum_of_four_uniform_numbers():
    z = np.concatenate([direction(round_with(0.1, k), i, 1000) for k in range(10) for i in range(20)])
    # Five standard deviations of the means of 200 000 numbers.
    assert abs(z.mean()) < 5.0 / math.sqrt(z.size)
    assert abs((z**2).mean() - 1.0) < 5.0 * math.sqrt(1.7 / z.size)
    assert abs((z**4).mean() - 2.7) < 5.0 * math.sqrt(30.0 / z.size)
    assert abs(z).max() < math.sqrt(12.0)


def test_directions_of_one_round_and_of_others_have_nothing_to_do_with_each_other():
    n = 4000
    rounds = (round_with(0.5, 0), round_with(0.5, 1), round_with(0.5 + 1e-15, 0))
    z = np.array([direction(query, i, n) for query in rounds for i in range(10)])
    # 435 pairs, none of them five standard deviations off; the same for neighbours in one direction.
    products = z @ z.T / math.sqrt(n)
    assert abs(products[np.triu_indices(len(z), 1)]).max() < 5.0
    assert abs((z[:, 1:] * z[:, :-1]).sum(axis=1)).max() < 5.0 * math.sqrt(n)


def test_points_of_a_round_are_mirrored():
    n, m = 5, 3
    rng = np.random.default_rng(1)
    y, first, second = rng.standard_normal((3, n))
    scales = np.geomspace(0.1, 10.0, n)
    query = round_with(0.7, 3, m=m, y=y, scales=scales, first=first, second=second)
    points = np.empty((2 * m + 5, n))
    for place, point in enumerate(points):
        write_place(query, place, point)
    np.testing.assert_array_equal(points[[0, -1]], [y, y])
    for i in range(m):
        step = 0.25 * scales * direction(query, i, n)
        np.testing.assert_allclose(points[2 * i + 1], y + step)
        np.testing.assert_allclose(points[2 * i + 2], y - step)
    np.testing.assert_allclose(points[2 * m + 1 :], [y + 4.0 * first, y - 4.0 * first, y + second, y])


def test_scales_follow_evidence_that_exceeds_chance_and_only_that():
    latest = np.array([3.0, -1.0, 0.5, -0.5])
    spread = np.var(latest)
    for added, changes in ((0.1, True), (1.001 * spread, False), (100.0, False)):
        diagonal = Diagonal.create(4)
        # What all entries have in common is no evidence.
        diagonal.latest[:] = latest + 4.0
        variance, trust = rescale(diagonal, 0.0, added, 4)
        assert variance == added
        assert trust == pytest.approx(max(0.0, 1.0 - added / spread), rel=1e-9)
        assert (diagonal.scales != 1.0).any() == changes
    diagonal = Diagonal.create(4)
    diagonal.latest[:] = latest
    rescale(diagonal, 0.0, 0.1, 4)
    assert (np.argsort(diagonal.scales) == np.argsort(-latest)).all()
    # Only their ratios: the step size has a rule of its own.
    assert np.log(diagonal.scales).sum() == pytest.approx(0.0, abs=1e-15)


def test_evidence_adds_up_and_fades():
    n, m = 5, 4
    rng, kept = np.random.default_rng(3), 1.0 - 4 / (20 * 5)
    diagonal, variance, evidence, wanted = Diagonal.create(n), 0.0, np.zeros(n), 0.0
    for _ in range(30):
        diagonal.latest[:] = rng.standard_normal(n)
        evidence, wanted = kept * evidence + diagonal.latest, kept**2 * wanted + 2.0
        variance, _ = rescale(diagonal, variance, 2.0, m)
    np.testing.assert_allclose(diagonal.evidence, evidence)
    assert variance == pytest.approx(wanted)


def test_scales_stay_finite_whatever_the_evidence():
    diagonal = Diagonal.create(3)
    diagonal.latest[:] = 1e200, -1e200, 0.0
    for _ in range(1000):
        rescale(diagonal, 0.0, 1.0, 4)
    assert (diagonal.scales > 0.0).all()
    assert np.isfinite(diagonal.scales).all()


def test_steps_along_a_flat_direction_are_not_held_against_momentum():
    n, m = 20, 4
    rng = np.random.default_rng(2)
    state = RankedMomentum.create(n).init(np.zeros(n), 1.0, 1.0)
    state.v[:] = state.flat.p[:] = 1.0
    state.now["flat_step"] = -5.0
    for _ in range(200):
        state.s[:] = -5.0 + 1.0 + rng.standard_normal(n)
        assert not opposes(state.now[0], state, m, 0.0)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_steps_back_from_where_momentum_leads_are_noticed(side):
    n, m = 20, 4
    rng = np.random.default_rng(2)
    state = RankedMomentum.create(n).init(np.zeros(n), 1.0, 1.0)
    state.v[:] = 1.0
    seen = 0
    for _ in range(200):
        state.s[:] = side + rng.standard_normal(n)
        seen += opposes(state.now[0], state, m, 0.0)
    assert (seen > 0) == (side < 0.0)
