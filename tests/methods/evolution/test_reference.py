"""`evolution` beside MA-ES as it was published, in distribution."""

import math

import numpy as np
import pytest

import pursuit
from reference import problems
from reference.ma_es import ma_es

SEEDS, TARGET, MOST = range(15), 1e-9, 100_000


@pytest.mark.parametrize(("n", "name"), [(5, "exp"), (5, "two"), (5, "rosenbrock"), (20, "exp"), (20, "two")])
def test_takes_about_as_many_evaluations_as_published(n, name):
    """No more than a quarter more; fewer by up to a third, since it also learns from bad points."""
    f, x0 = problems.make(name, n, 1e4)

    def evaluations(seed):
        run = pursuit.minimize(f, x0, method="evolution", rng=seed, ftarget=TARGET, maxfev=MOST)
        return run.nfev if run.success else math.inf

    ours = np.median([evaluations(seed) for seed in SEEDS])
    theirs = np.median([ma_es(f, x0, 1.0, TARGET, MOST, np.random.default_rng(seed)) for seed in SEEDS])
    assert theirs / 1.5 < ours < 1.25 * theirs < math.inf
