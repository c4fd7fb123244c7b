"""Rows and the sets of indices that they stand for."""

import tracemalloc

import numpy as np
from hypothesis import strategies as st

from tensorwrapper.shape import Rows

STARTS = st.integers(-2, 2)


@st.composite
def rows(draw):
    """Draw rows of rank 3: two unrolled modes over leaves of rank 1, or one over leaves of rank 2."""
    outer = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    first = draw(STARTS)
    if draw(st.booleans()):
        inner = draw(st.lists(st.integers(0, 3), min_size=sum(outer), max_size=sum(outer)))
        origins = [[draw(STARTS) for _ in outer], draw(st.one_of(STARTS, st.just([0] * len(inner))))]
        return Rows.of_lengths(np.array(outer), np.array(inner, dtype=np.int64), first=first, origins=origins)
    table = np.array([(n, draw(st.integers(0, 3))) for n in outer])
    return Rows.of_lengths(table, first=first, origins=[[draw(STARTS), draw(STARTS)]])


def indices(of):
    return [of.index(k) for k in range(of.size)]


NODES = st.sampled_from([1, 2, 3, 2**16])
"""How many prefixes there are in a window: rows are gone through window after window."""


def span(of, prefix):
    """The indices of the mode after a prefix."""
    extent, start = of.range_under(prefix)
    return range(start, start + extent)


def prefixes(of, modes):
    """All prefixes of so many indices, also those under which nothing is."""
    found = [()]
    for _ in range(modes):
        found = [(*prefix, i) for prefix in found for i in span(of, prefix)]
    return found


MIB = 2**20


N = 2**20
"""Rows: an array of one number for each is 8 MiB."""


LENGTHS = np.arange(N) * 7 % 4 + 2


def peak_of(make):
    """What `make` returns, and how many bytes there were at most while it did."""
    tracemalloc.start()
    try:
        made = make()
        return made, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
