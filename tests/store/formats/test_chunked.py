"""Chunks that positions touch: each position is in one of them, where it says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.store.formats._chunked import by_chunk


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=30, unique=True), st.integers(1, 10**6))
def test_positions_are_put_together_again(positions, extent):
    places = np.array(sorted(positions))
    found = by_chunk(places, places // extent, places // extent * extent)
    chunks = [own.chunk for own in found]
    assert chunks == sorted(set(chunks))
    again = np.zeros_like(places)
    for own in found:
        assert (own.inner < extent).all()
        again[own.target] = own.chunk * extent + own.inner
    assert again.tolist() == places.tolist()
