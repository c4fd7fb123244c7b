"""One mode as several: exactly where the offsets are sums over the parts, by looking and by rule."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.layout.axes import _split
from tensorwrapper.layout.axes._axis import Cycle, Stride, Table
from tensorwrapper.layout.axes._split import is_sum, split_axis

COUNTS = st.lists(st.integers(1, 4), min_size=1, max_size=3)


@st.composite
def cases(draw):
    """The counts of the parts, and a map of as many positions as they have together."""
    counts = draw(COUNTS)
    extent = int(np.prod(counts))
    small = st.integers(-5, 5)
    cycle = st.builds(Cycle, st.just(extent), small, small, st.integers(1, 8), st.integers(1, 3), small)
    table = st.lists(small, min_size=extent, max_size=extent).map(lambda n: Table(np.array(n)))
    return counts, draw(st.builds(Stride, st.just(extent), small) | cycle | table)


def sums(parts):
    """The offset of every position, as a sum over the parts."""
    found = np.zeros((), dtype=np.int64)
    for base, axis in parts:
        found = np.add.outer(found, base + np.array([axis.at(j) for j in range(axis.extent)]))
    return found.reshape(-1).tolist()


@given(cases())
def test_a_mode_splits_exactly_where_its_offsets_are_sums(case):
    counts, axis = case
    offsets = np.array([axis.at(j) for j in range(axis.extent)])
    parts = split_axis(axis, counts)
    table = offsets.reshape(counts)
    first = np.array(0)
    for mode in range(len(counts)):
        line = table[tuple(slice(None) if m == mode else 0 for m in range(len(counts)))]
        first = np.add.outer(first, line - offsets[0])

    assert (parts is not None) == bool((first.reshape(-1) + offsets[0] == offsets).all())
    if parts is not None:
        assert [part.extent for _, part in parts] == counts
        assert sums(parts) == offsets.tolist()
    if is_sum(axis, counts):  # the rule may be silent, but it never errs
        assert parts is not None


def test_a_long_cycle_is_split_by_rule():
    turned = Cycle(_split.SEARCHED * 4, 0, 1, 8, 1, 3)

    assert split_axis(turned, (_split.SEARCHED // 2, 8)) is not None
    assert split_axis(turned, (_split.SEARCHED // 3 * 4, 3)) is None
