"""Spans that are joined: no request holds two spans with more than the gap between, or crosses a cut."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.store.ranges._joined import joined


@given(st.lists(st.integers(0, 50), min_size=2, max_size=30), st.integers(0, 20), st.integers(1, 100))
def test_groups_are_those_of_a_loop(steps, gap, longest):
    marks = np.cumsum(steps)[: len(steps) // 2 * 2].reshape(-1, 2)
    starts, stops = marks[:, 0], marks[:, 1]
    expected = [
        k
        for k in range(1, len(starts))
        if starts[k] - stops[k - 1] > gap or starts[k] // longest > starts[k - 1] // longest
    ]
    assert joined(starts, stops, gap, longest).tolist() == [0, *expected, len(starts)]
