"""10^6 numbers have the moments and the distribution they should have; the seeds are fixed."""

import numpy as np
import pytest
from scipy import stats

from tensorwrapper.selection.random._values import draw

COUNT = 10**6
RANKS = np.arange(COUNT)
SEEDS = [0, 1, 2**63 + 5]
LIKELY = 1e-3


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seed", SEEDS)
def test_uniform(seed, dtype):
    drawn = draw("uniform", seed, RANKS, [-2, 6], dtype)
    assert drawn.min() >= -2
    assert drawn.max() < 6
    assert abs(drawn.mean(dtype=float) - 2) < 4 * np.sqrt(64 / 12 / COUNT)
    assert abs(drawn.var(dtype=float) - 64 / 12) < 0.02
    assert stats.kstest(drawn, stats.uniform(-2, 8).cdf).pvalue > LIKELY


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seed", SEEDS)
def test_normal(seed, dtype):
    drawn = draw("normal", seed, RANKS, [5, 0.5], dtype)
    assert abs(drawn.mean(dtype=float) - 5) < 4 * 0.5 / np.sqrt(COUNT)
    assert abs(drawn.var(dtype=float) - 0.25) < 4 * 0.25 * np.sqrt(2 / COUNT)
    assert stats.kstest(drawn, stats.norm(5, 0.5).cdf).pvalue > LIKELY


def test_the_two_normals_of_a_block_are_independent():
    pairs = draw("normal", 3, RANKS, [0, 1]).reshape(-1, 2)
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.005
    assert stats.kstest((pairs**2).sum(axis=1), stats.chi2(2).cdf).pvalue > LIKELY


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("low", "high"), [(-3, 4), (0, 1000), (-(2**63), 2**63), (5, 2**50)])
def test_integers(seed, low, high):
    drawn = draw("integers", seed, RANKS, [low, high])
    assert low <= drawn.min()
    assert drawn.max() < high
    buckets = 7 if high - low == 7 else 100
    counts, _ = np.histogram(drawn.astype(float), buckets, (float(low), float(high)))
    assert stats.chisquare(counts).pvalue > LIKELY


@pytest.mark.parametrize("p", [0.0, 1e-3, 0.25, 0.5, 1.0])
def test_bernoulli(p):
    drawn = draw("bernoulli", 1, RANKS, [p])
    assert drawn.dtype == bool
    assert abs(drawn.mean() - p) <= 4 * np.sqrt(p * (1 - p) / COUNT)


def test_neighbours_are_independent():
    drawn = draw("uniform", 1, RANKS, [0, 1])
    for lag in (1, 2, 3, 1000):
        assert abs(np.corrcoef(drawn[lag:], drawn[:-lag])[0, 1]) < 0.005


def test_each_bit_is_set_half_of_the_time():
    drawn = draw("integers", 1, RANKS, [0, 2**64], "uint64")
    for bit in range(64):
        ones = int(((drawn >> np.uint64(bit)) & np.uint64(1)).sum())
        assert abs(ones - COUNT / 2) < 4.5 * np.sqrt(COUNT / 4)
