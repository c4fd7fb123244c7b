"""A random number belongs to its rank: golden values, and the same in any subset, order and batch."""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.selection.random import _values
from tensorwrapper.selection.random._values import draw, philox4x64

CASES = [
    ("uniform", [-1.0, 3.0], "float64"),
    ("uniform", [-1.0, 3.0], "float32"),
    ("normal", [5.0, 2.0], "float64"),
    ("normal", [5.0, 2.0], "float32"),
    ("integers", [-10, 7], "int64"),
    ("integers", [0, 2**64], "uint64"),
    ("integers", [-(2**63), 2**63], "int64"),
    ("integers", [-128, 128], "int8"),
    ("bernoulli", [0.3], "bool"),
]
GOLDEN = [
    (
        "uniform",
        [-1.0, 3.0],
        "float64",
        [
            "0x1.605374d30b5d8p-1",
            "0x1.7adeab265c7c8p-2",
            "-0x1.1b002e3b81fa0p-1",
            "0x1.6994a13142272p+1",
            "0x1.04e359314cc80p-3",
            "0x1.04399cff11c38p+1",
        ],
    ),
    (
        "uniform",
        [0, 1],
        "float32",
        [
            "0x1.b029b80000000p-2",
            "0x1.5eb7a80000000p-2",
            "0x1.c9ffa00000000p-4",
            "0x1.e994a00000000p-1",
            "0x1.209c680000000p-2",
            "0x1.84399c0000000p-1",
        ],
    ),
    (
        "normal",
        [0, 1],
        "float64",
        [
            "0x1.aba757678ae3fp-1",
            "0x1.7e09b685257c5p-6",
            "0x1.c4293ca74836bp-2",
            "0x1.42187deb85f19p-1",
            "0x1.0580e42fb478bp+0",
            "0x1.6fb647e56f216p-1",
        ],
    ),
    (
        "normal",
        [5.0, 2.0],
        "float32",
        [
            "0x1.aae9d60000000p+2",
            "0x1.42fc140000000p+2",
            "0x1.7885280000000p+2",
            "0x1.9086200000000p+2",
            "0x1.c2c0720000000p+2",
            "0x1.9bed920000000p+2",
        ],
    ),
    ("integers", [-10, 7], "int64", [2, 4, 4, 4, 2, 4]),
    (
        "integers",
        [0, 18446744073709551616],
        "uint64",
        [
            13786437655191839858,
            16013557406012178777,
            15801579658168911454,
            15626058550646188473,
            13149612130269274662,
            15345279884002054441,
        ],
    ),
    (
        "integers",
        [0, 1000000000000000],
        "int64",
        [
            747364282829747,
            868096686440987,
            856605349704474,
            847090331399814,
            712841901948984,
            831869289381656,
        ],
    ),
    ("bernoulli", [0.5], "bool", [True, False, False, False, False, False]),
]

cases = pytest.mark.parametrize(("distribution", "parameters", "dtype"), CASES)
ANY_RANKS = st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**64 - 1)), max_size=12)


def word_of(stream, seed, rank):
    block = philox4x64(np.array([(rank >> 2) + 1], np.uint64), seed, stream)[0].tolist()
    first = rank & 2
    return block[rank & 3], (block[first], block[first + 1])


def one_number(distribution, seed, rank, parameters):
    """One number in Python's own arithmetic, with the C library's functions."""
    stream = ["uniform", "normal", "integers", "bernoulli"].index(distribution)
    word, (first, second) = word_of(stream, seed, rank)
    if distribution == "uniform":
        low, high = parameters
        return low + (high - low) * ((word >> 11) / 2**53)
    if distribution == "normal":
        radius = math.sqrt(-2 * math.log(((first >> 11) + 1) / 2**53))
        turn = 2 * math.pi * second / 2**64
        return parameters[0] + parameters[1] * radius * (math.sin if rank & 1 else math.cos)(turn)
    if distribution == "integers":
        low, high = parameters
        return low + math.floor(Fraction(word, 2**64) * (high - low))
    return Fraction(word >> 11, 2**53) < parameters[0]


@cases
@given(ranks=ANY_RANKS, seed=st.integers(0, 2**64 - 1))
def test_every_number_is_that_of_plain_arithmetic(distribution, parameters, dtype, ranks, seed):
    found = draw(distribution, seed, np.array(ranks, np.uint64), parameters, dtype)
    assert found.dtype == dtype
    expected = [one_number(distribution, seed, rank, parameters) for rank in ranks]
    if found.dtype.kind == "f":
        tolerance = 1e-14 if dtype == "float64" else 1e-6
        np.testing.assert_allclose(found, np.array(expected), rtol=0, atol=tolerance)
    else:
        assert found.tolist() == expected


@pytest.mark.parametrize(("distribution", "parameters", "dtype", "golden"), GOLDEN)
def test_golden_values(distribution, parameters, dtype, golden):
    """Every bit: these stand in files of others."""
    found = draw(distribution, 2026, np.array([0, 1, 2, 3, 2**33, 2**62 + 1]), parameters, dtype)
    assert [value.hex() if isinstance(value, float) else value for value in found.tolist()] == golden


@cases
@given(data=st.data(), ranks=ANY_RANKS)
def test_the_same_number_in_any_subset_and_order(distribution, parameters, dtype, data, ranks):
    given_ranks = np.array(ranks, np.uint64)
    whole = draw(distribution, 1, given_ranks, parameters, dtype)
    picked = np.array(data.draw(st.lists(st.integers(0, max(len(ranks) - 1, 0)), max_size=12)), np.intp)
    if not ranks:
        picked = picked[:0]
    np.testing.assert_array_equal(
        draw(distribution, 1, given_ranks[picked], parameters, dtype), whole[picked]
    )


@cases
@pytest.mark.parametrize("batch", [1, 2, 3, 7, 100])
def test_the_same_numbers_in_batches_of_any_size(monkeypatch, distribution, parameters, dtype, batch):
    rows = np.arange(3, 40)[None, :] + np.array([[0], [1000], [2**40 + 1]])
    whole = draw(distribution, 1, rows, parameters, dtype)
    monkeypatch.setattr(_values, "BATCH", batch)
    np.testing.assert_array_equal(draw(distribution, 1, rows, parameters, dtype), whole)
    np.testing.assert_array_equal(draw(distribution, 1, rows.T, parameters, dtype), whole.T)


@cases
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
@pytest.mark.parametrize("first", [0, 1])
def test_consecutive_ranks_give_what_ranks_apart_give(distribution, parameters, dtype, first, step):
    ranks = np.arange(first, 100_000)[::step]
    expected = draw(distribution, 1, np.arange(100_000), parameters, dtype)
    np.testing.assert_array_equal(draw(distribution, 1, ranks, parameters, dtype), expected[ranks])


@pytest.mark.parametrize("distribution", ["uniform", "normal", "integers", "bernoulli"])
def test_ranks_above_32_bits_have_numbers_of_their_own(distribution):
    parameters = {"integers": [0, 10**6], "bernoulli": [0.5]}.get(distribution, [0.0, 1.0])
    near = np.arange(200)
    drawn = [draw(distribution, 1, near + far, parameters) for far in (0, 2**32, 2**33, 2**62)]
    for k, one in enumerate(drawn):
        for other in drawn[:k]:
            assert np.count_nonzero(one == other) < (150 if distribution == "bernoulli" else 5)


@cases
def test_slices_of_a_field_are_fields_of_slices(distribution, parameters, dtype):
    ranks = np.arange(240).reshape(20, 12)
    whole = draw(distribution, 1, ranks, parameters, dtype)
    np.testing.assert_array_equal(
        draw(distribution, 1, ranks[5:9, ::-2], parameters, dtype), whole[5:9, ::-2]
    )


@given(seed=st.integers(0, 2**64 - 1), first=st.integers(0, 9), count=st.integers(1, 20))
def test_uniform_numbers_are_those_of_numpys_generator(seed, first, count):
    key = np.array([seed, 0], np.uint64)
    whole = np.random.Generator(np.random.Philox(key=key)).random(first + count)
    ranks = np.arange(first, first + count)
    assert draw("uniform", seed, ranks, [0, 1]).tolist() == whole[first:].tolist()
    assert draw("uniform", seed, ranks[::-1], [0, 1]).tolist() == whole[first:][::-1].tolist()


def test_a_numpy_that_makes_floats_otherwise_changes_nothing(monkeypatch):
    ranks = np.arange(3, 50)
    expected = draw("uniform", 1, ranks, [0, 1]).tolist()
    monkeypatch.setattr(_values, "_draws_as_here", lambda: False)
    assert draw("uniform", 1, ranks, [0, 1]).tolist() == expected


@cases
@given(first=st.integers(0, 2**64 - 60), count=st.integers(0, 40))
def test_a_range_of_ranks_is_an_array_of_them(distribution, parameters, dtype, first, count):
    ranks = np.array([first + k for k in range(count)], np.uint64)
    found = draw(distribution, 1, range(first, first + count), parameters, dtype)
    assert found.tolist() == draw(distribution, 1, ranks, parameters, dtype).tolist()


def test_ranks_may_have_another_byte_order():
    ranks = np.array([5, 1, 2**40])
    assert (
        draw("normal", 1, ranks.astype(">i8"), [0, 1]).tolist() == draw("normal", 1, ranks, [0, 1]).tolist()
    )


def test_seeds_and_distributions_are_independent():
    ranks = np.arange(2000)
    zeros = draw("uniform", 0, ranks, [0, 1])
    for seed in (1, 2**32, 2**64 - 1):
        assert abs(np.corrcoef(zeros, draw("uniform", seed, ranks, [0, 1]))[0, 1]) < 0.1
    assert abs(np.corrcoef(zeros, draw("bernoulli", 0, ranks, [0.5]))[0, 1]) < 0.1
    assert abs(np.corrcoef(zeros, draw("integers", 0, ranks, [0, 2**62]))[0, 1]) < 0.1


@cases
def test_parameters_are_broadcast_against_the_ranks(monkeypatch, distribution, parameters, dtype):
    monkeypatch.setattr(_values, "BATCH", 5)
    ranks = np.arange(12).reshape(3, 4)
    if max(parameters) >= 2**63:
        parameters = [0, 2**62]
    least = np.array(parameters[0])
    rows = np.stack([least, least, least])[:, None]
    found = draw(distribution, 1, ranks, [rows, *parameters[1:]], dtype)
    np.testing.assert_array_equal(found, draw(distribution, 1, ranks, parameters, dtype))


def test_parameters_of_each_element_are_its_own():
    ranks = np.arange(6)
    means, sigmas = np.array([0, 1, 2, 3, 4, 5.0]), np.array([0, 0, 1, 1, 2, 2])
    whole = draw("normal", 1, ranks, [means, sigmas])
    alone = [draw("normal", 1, ranks[k : k + 1], [means[k], sigmas[k]])[0] for k in ranks]
    assert whole.tolist() == alone
    lows, highs = np.array([-5, 0, 0, 2**40, 7, 7]), np.array([1, 2**63, 2, 2**41, 8, 9], np.uint64)
    lows = lows.astype(">i8")
    found = draw("integers", 1, ranks, [lows, highs])
    assert found.tolist() == [
        draw("integers", 1, ranks[k : k + 1], [int(lows[k]), int(highs[k])])[0] for k in ranks
    ]


@cases
def test_out_of_any_strides_is_written_and_returned(distribution, parameters, dtype):
    ranks = np.arange(12).reshape(3, 4)
    expected = draw(distribution, 1, ranks, parameters, dtype)
    for order in ("C", "F"):
        out = np.zeros((3, 4), dtype, order)
        assert draw(distribution, 1, ranks, parameters, dtype, out) is out
        np.testing.assert_array_equal(out, expected)
    sparse = np.zeros((6, 8), dtype)
    draw(distribution, 1, ranks, parameters, dtype, sparse[::2, ::-2])
    np.testing.assert_array_equal(sparse[::2, ::-2], expected)
    assert not sparse[1::2].any()


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_other_byte_orders_hold_the_same_numbers(name):
    swapped = np.dtype(name).newbyteorder()
    found = draw("uniform", 1, np.arange(5), [0, 1], swapped)
    assert found.dtype == swapped
    np.testing.assert_array_equal(found, draw("uniform", 1, np.arange(5), [0, 1], name))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_a_scalar_and_nothing_at_all(shape):
    assert draw("normal", 1, np.zeros(shape, np.int64), [0, 1]).shape == shape


def peak_of(distribution, ranks, parameters, dtype=None):
    out = draw(distribution, 1, ranks, parameters, dtype)
    tracemalloc.start()
    draw(distribution, 1, ranks, parameters, dtype, out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("step", [1, -3])
@cases
def test_memory_beside_the_result_is_small(distribution, parameters, dtype, step):
    assert peak_of(distribution, np.arange(10**6)[::step], parameters, dtype) < 5_500_000


def test_memory_for_parameters_that_are_arrays_is_32_bytes_an_element():
    count = 500_000
    lows = np.linspace(0, 1, count)
    assert peak_of("uniform", np.arange(count), [lows, lows + 1]) < 5_500_000 + 32 * count
    assert peak_of("normal", np.arange(count), [lows, lows]) < 5_500_000 + 32 * count


@given(
    st.one_of(st.integers(1, 300), st.integers(2**16 - 2, 2**16 + 2), st.integers(2**32 - 1, 2**40)),
    st.lists(st.tuples(st.integers(0, 2**40), st.integers(-2, 2)), min_size=1, max_size=9),
)
def test_integers_are_exact_where_one_ends_and_the_next_begins(width, ends):
    words = [(-(-(number % width) * 2**64 // width) + apart) % 2**64 for number, apart in ends]
    found = _values._scale(np.array(words, np.uint64), np.asarray(width, np.uint64))
    assert found.tolist() == [word * width // 2**64 for word in words]
