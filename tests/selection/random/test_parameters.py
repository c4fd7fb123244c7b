"""What no distribution can be made of is refused, with the parameter and its value."""

import numpy as np
import pytest

from tensorwrapper.errors import (
    ConversionError,
    DistributionError,
    DTypeError,
    ExtentMismatchError,
    OutOfBoundsError,
)
from tensorwrapper.selection.random._values import draw, normal_pairs

RANKS = np.arange(6).reshape(2, 3)
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("distribution", "parameters", "text"),
    [
        ("uniform", [1, 1], "low must be less than high as float64, but they are 1.0 and 1.0"),
        ("uniform", [2, 1], "2.0 and 1.0"),
        ("uniform", [NAN, 1], "low must be finite as float64, but is nan"),
        ("uniform", [0, NAN], "high must be finite"),
        ("uniform", [0, INF], "high must be finite"),
        ("uniform", [np.array([0.0, NAN, 2.0]), 5], "low must be finite as float64, but is nan"),
        ("normal", [np.arange(3), np.array([1, 2, INF])], "sigma must be finite as float64, but is inf"),
        ("bernoulli", [np.array([0.5, NAN, 1.0])], "p must be finite as float64, but is nan"),
        ("uniform", [-1e308, 1e308], "high - low must be finite"),
        ("uniform", [np.array([0, 5, 0]), 3], "they are 5.0 and 3.0"),
        ("uniform", [0], "has \\('low', 'high'\\), not 1 parameters"),
        ("uniform", [0, 1, 2], "not 3 parameters"),
        ("normal", [0, -1], "sigma must not be negative, but is -1.0"),
        ("normal", [0, np.array([1.0, -0.5, 2.0])], "but is -0.5"),
        ("normal", [NAN, 1], "mean must be finite"),
        ("normal", [0, NAN], "sigma must be finite"),
        ("normal", [0, INF], "sigma must be finite"),
        ("normal", [0, 1e308], "mean \\+ 9 sigma must be finite"),
        ("integers", [3, 3], "low must be less than high, but they are 3 and 3"),
        ("integers", [4, 3], "4 and 3"),
        ("integers", [0, 2**63 + 1], "must fit into int64"),
        ("integers", [-(2**63) - 1, 0], "must fit into int64"),
        ("integers", [0, 2**200], "must fit into int64"),
        ("integers", [np.array([0, 9, 0]), np.array([5], np.uint64)], "they are 9 and 5"),
        ("bernoulli", [-0.1], "p must be from 0 to 1, but is -0.1"),
        ("bernoulli", [1.5], "but is 1.5"),
        ("bernoulli", [NAN], "p must be finite"),
        ("bernoulli", [np.array([0.5, 2.0, 0.1])], "but is 2.0"),
        ("poisson", [1], "must be one of"),
    ],
)
def test_bad_parameters(distribution, parameters, text):
    with pytest.raises(DistributionError, match=text):
        draw(distribution, 1, RANKS, parameters)


@pytest.mark.parametrize(
    ("distribution", "parameters"),
    [
        ("uniform", ["0", 1]),
        ("uniform", [0, 1j]),
        ("uniform", [True, 2]),
        ("uniform", [None, 2]),
        ("normal", [0, np.array(["1"])]),
        ("integers", [0.0, 3]),
        ("integers", [0, np.array([3.0])]),
        ("integers", [False, 3]),
        ("integers", [np.array([False]), 3]),
        ("bernoulli", [[[], 0.5]]),
    ],
)
def test_parameters_of_wrong_types(distribution, parameters):
    with pytest.raises(ConversionError):
        draw(distribution, 1, RANKS, parameters)


@pytest.mark.parametrize(
    ("distribution", "dtype"),
    [
        ("uniform", "int64"),
        ("uniform", "longdouble"),
        ("uniform", "nonesuch"),
        ("normal", "float16"),
        ("normal", "complex128"),
        ("integers", "float64"),
        ("integers", "bool"),
        ("bernoulli", "int8"),
    ],
)
def test_element_types_a_distribution_does_not_have(distribution, dtype):
    with pytest.raises(DTypeError, match=dtype if dtype != "longdouble" else "float"):
        draw(distribution, 1, RANKS, [0.5] if distribution == "bernoulli" else [0, 1], dtype)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_have_64_bits(seed):
    with pytest.raises(DistributionError, match=r"a seed must be from 0 to 2\*\*64 - 1"):
        draw("uniform", seed, RANKS, [0, 1])


@pytest.mark.parametrize("seed", [1.0, True, "7", None])
def test_seeds_are_integers(seed):
    with pytest.raises(ConversionError, match="a seed must be an integer"):
        draw("uniform", seed, RANKS, [0, 1])


def test_float32_is_checked_as_float32():
    with pytest.raises(DistributionError, match="as float32"):
        draw("uniform", 1, RANKS, [1, 1 + 1e-9], "float32")
    with pytest.raises(DistributionError, match="finite as float32"):
        draw("uniform", 1, RANKS, [0, 1e39], "float32")
    with pytest.raises(DistributionError, match="finite as float32"):
        draw("normal", 1, RANKS, [0, 1e38], "float32")
    assert np.isfinite(draw("normal", 1, RANKS, [0, 3e37], "float32")).all()


def test_no_number_reaches_high():
    ranks = np.arange(100_000)
    for low, high, dtype in [
        (1, np.nextafter(1, 2), "f8"),
        (2**53 - 1, 2**53, "f8"),
        (2**24 - 2, 2**24, "f4"),
    ]:
        drawn = draw("uniform", 1, ranks, [low, high], dtype)
        assert drawn.min() >= low
        assert drawn.max() < high


def test_no_spread_gives_the_mean():
    assert draw("normal", 1, RANKS, [3, 0]).tolist() == [[3.0] * 3] * 2


def test_the_farthest_normal_number():
    words = np.array([0, 0, 2**64 - 1], np.uint64), np.array([0, 2**63, 5], np.uint64)
    farthest = normal_pairs(*words)
    assert 8.57 < farthest[0] < 8.58
    assert farthest[2] == -farthest[0]
    assert farthest[4:].tolist() == [0, 0]


def test_ranks_and_out_that_do_not_fit():
    with pytest.raises(OutOfBoundsError, match="one is -3"):
        draw("uniform", 1, np.array([1, -3]), [0, 1])
    with pytest.raises(ConversionError, match="int32"):
        draw("uniform", 1, np.arange(3, dtype=np.int32), [0, 1])
    with pytest.raises(ExtentMismatchError, match=r"\(4,\)"):
        draw("uniform", 1, RANKS, [np.zeros(4), 1])
    with pytest.raises(ExtentMismatchError, match="fit one another"):
        draw("uniform", 1, RANKS, [np.zeros(2), np.ones(3)])
    with pytest.raises(ExtentMismatchError, match=r"out has shape \(3,\)"):
        draw("uniform", 1, RANKS, [0, 1], out=np.empty(3))
    with pytest.raises(DTypeError, match="float32"):
        draw("uniform", 1, RANKS, [0, 1], out=np.empty((2, 3), np.float32))
