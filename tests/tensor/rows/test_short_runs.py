"""Sums of short runs have the bits of NumPy's sum of each run, and warn as it does."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.tensor.rows import _short_runs
from tensorwrapper.tensor.rows._short_runs import sums_of_short_runs


@pytest.fixture(autouse=True, scope="module")
def few_at_once():
    """Let a few runs count as many, and blocks end within them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_short_runs, "_MANY", 1)
        patch.setattr(_short_runs, "_AT_ONCE", 3)
        yield


def offsets_of(lengths, start=0):
    return np.concatenate([[start], start + np.cumsum(lengths, dtype=np.int64)])


runs = st.lists(st.integers(0, 7), min_size=1, max_size=20).filter(any)


@given(runs, st.integers(0, 3), st.sampled_from("fd"), st.integers(0, 2**32 - 1))
def test_floats_have_the_bits_of_the_sum_of_each_run(lengths, start, dtype, seed):
    rng = np.random.default_rng(seed)
    flat = (rng.normal(size=sum(lengths) + start + 2) * 10.0 ** rng.integers(-9, 9)).astype(dtype)
    found = sums_of_short_runs(flat, offsets := offsets_of(lengths, start))
    if sum(lengths) * (max(lengths) - 1) > 24 * len(lengths):
        assert found is None
        return
    expected = [np.add.reduce(flat[a:b]) for a, b in itertools.pairwise(offsets)]
    assert found.dtype == flat.dtype
    assert found.tobytes() == np.array(expected, dtype).tobytes()


@given(
    runs,
    st.integers(0, 3),
    st.sampled_from("?bBhHiIlL"),
    st.sampled_from([None, "i4", "u8"]),
    st.integers(0, 2**32 - 1),
)
def test_integers_wrap_as_those_of_numpy(lengths, start, dtype, computed, seed):
    flat = np.frombuffer(np.random.default_rng(seed).bytes(400 * 8), np.dtype(dtype).str.replace("b1", "u1"))
    flat = (flat % 2 == 0 if dtype == "?" else flat)[: sum(lengths) + start + 2]
    found = sums_of_short_runs(flat, offsets := offsets_of(lengths, start), computed)
    expected = [np.add.reduce(flat[a:b], dtype=computed) for a, b in itertools.pairwise(offsets)]
    assert found.dtype == np.add.reduceat(flat, [0], dtype=computed).dtype
    assert found.tolist() == [int(number) for number in expected]


def test_numpy_warns_of_runs_that_overflow_and_of_no_others():
    huge = np.full(6, 1e308)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sums_of_short_runs(huge, np.arange(7)).tolist() == huge.tolist()
        assert sums_of_short_runs(np.array([np.inf, -np.inf, np.nan]), np.arange(4)).tolist()[:2] == [
            np.inf,
            -np.inf,
        ]
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert sums_of_short_runs(huge, np.array([0, 1, 3, 4, 5])).tolist() == [1e308, np.inf, 1e308, 1e308]
    with pytest.warns(RuntimeWarning, match="invalid"):
        sums_of_short_runs(np.array([np.inf, -np.inf, 1.0]), np.array([0, 2, 3]))


@pytest.mark.parametrize(
    ("flat", "offsets"),
    [
        (np.zeros(0), [0, 0, 0]),
        (np.ones(9), [0, 8, 9]),
        (np.ones(300, "i8"), [0, 299, 300]),
        (np.ones(3, "c16"), [0, 1, 2, 3]),
        (np.ones(3, "f2"), [0, 1, 2, 3]),
        (np.ones(3, ">f8"), [0, 1, 2, 3]),
        (np.ones(3, "m8[s]"), [0, 1, 2, 3]),
    ],
)
def test_what_is_not_short_or_is_added_otherwise_is_left_to_numpy(flat, offsets):
    assert sums_of_short_runs(flat, np.array(offsets)) is None


@given(runs, st.sampled_from(["f8", "f4", "i4", "u2", "?"]))
def test_rows_are_summed_alike_on_both_ways(lengths, dtype):
    t = tw.as_tensor((np.arange(sum(lengths)) % 3).astype(dtype)).unflatten(lengths)
    found, general = t.rows().reduce(np.add), t.rows().reduce(np.add, initial=0)
    assert found.dtype == general.dtype
    assert found.tolist() == general.tolist()
