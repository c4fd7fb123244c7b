"""Sums follow the one rule for writes: what the type cannot hold is refused, and nothing is added."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.buffer._sums import add_at
from tensorwrapper.errors import DTypeError, SizeOverflowError


@given(st.data(), st.sampled_from(["i1", "u1", "i4", "u4", "i8", "u8"]))
def test_sums_are_those_of_python_or_refused(data, name):
    info = np.iinfo(name)
    numbers = st.one_of(st.integers(-3, 3), st.integers(int(info.min), int(info.max))).map(
        lambda n: min(max(n, int(info.min)), int(info.max))
    )
    old = data.draw(st.lists(numbers, min_size=1, max_size=4))
    more = data.draw(st.lists(st.tuples(st.integers(0, len(old) - 1), numbers), max_size=6))
    flat = np.array(old, dtype=name)
    expected = [n + sum([v for place, v in more if place == k]) for k, n in enumerate(old)]
    places = np.array([place for place, _ in more], dtype=np.int64)
    values = np.array([v for _, v in more], dtype=name)
    if all(info.min <= n <= info.max for n in expected):
        add_at(flat, places, values)
        assert flat.tolist() == expected
    else:
        with pytest.raises(SizeOverflowError, match="sum"):
            add_at(flat, places, values)
        assert flat.tolist() == old


def _sparse(array):
    return tw.sparse([[0], [1]], array, (2,))


@pytest.mark.parametrize("make", [tw.as_tensor, _sparse])
def test_attack_8_sums_that_do_not_fit_are_refused(make):
    for start, more in (
        (np.array([127, 1], "i1"), np.array([1, 0], "i1")),
        (np.array([250, 1], "u1"), np.array([9, 0], "u1")),
        (np.array([2**63 - 1, 1]), np.array([1, 0])),
        (np.array([3e38, 1], "f4"), np.array([3e38, 0], "f4")),
        (np.array([1, 1], "i1"), np.array([300, 0], "i8")),
        (np.array([1, 1], "f4"), np.array([1e300, 0], "f8")),
    ):
        target = make(start.copy())
        with pytest.raises(SizeOverflowError):
            tw.as_tensor(more).accumulate_into(target)
        assert (target.to_dense() if target.is_sparse else target).tolist() == start.tolist()


def test_attack_8_views_refuse_the_same_and_infinities_stay():
    total = tw.as_tensor(np.array([100, 0], "i1"))
    with pytest.raises(SizeOverflowError, match="sum 220"):
        tw.as_tensor(np.array([60, 60], "i1")).accumulate_into(sel.as_view(total).gather(0, [0, 0]))
    assert total.tolist() == [100, 0]
    with pytest.raises(DTypeError):
        tw.as_tensor([0.5, 0.5]).accumulate_into(total)
    floats = tw.as_tensor([np.inf, 1.0])
    tw.as_tensor([1.0, -np.inf]).accumulate_into(floats)
    assert floats.tolist() == [np.inf, -np.inf]
