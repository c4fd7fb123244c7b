"""Boxes within boxes: blocks and runs share out the places, and a table has what others leave."""

from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper._boxes import BoxTable, boxes_of_run, cut_box

EXTENTS = st.lists(st.integers(0, 4), max_size=3).map(tuple)


@given(EXTENTS, st.integers(1, 60), st.data())
def test_blocks_make_up_the_box_and_keep_what_is_one_grain(box, most, data):
    grain = data.draw(st.none() | st.tuples(*[st.integers(1, 4) for _ in box]))
    blocks = list(cut_box(box, most, grain))
    met = [index for block in blocks for index in product(*[range(own.start, own.stop) for own in block])]
    assert sorted(met) == sorted(product(*map(range, box)))
    steps = grain or (1,) * len(box)
    for block in blocks:
        sizes = [own.stop - own.start for own in block]
        assert all(own.start % step == 0 for own, step in zip(block, steps, strict=True))
        assert prod(sizes) <= most * prod(steps)
    starts = [tuple(own.start for own in block) for block in blocks]
    assert all(a < b for a, b in pairwise(starts))


@given(EXTENTS, st.data())
def test_a_run_of_places_is_a_few_boxes(extents, data):
    places = np.arange(np.prod(extents, dtype=int)).reshape(extents)
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, places.size)] * 2)))
    found, parts = [], 0
    for block, before in boxes_of_run(extents, start, stop):
        assert before == len(found)
        found += places[block].reshape(-1).tolist()
        parts += 1

    assert found == list(range(start, stop))
    assert parts <= max(2 * len(extents) - 1, 1)


@pytest.mark.parametrize("most", [10, 2**62])
@given(
    cuts=st.lists(st.tuples(*[st.integers(0, 5)] * 4).map(lambda n: (min(n[:2]), max(n[:2]), *sorted(n[2:]))))
)
def test_a_table_has_the_indices_that_are_left(most, cuts):
    table, left = BoxTable((0, 0), (5, 5), most), np.ones((5, 5), dtype=bool)
    for a, b, c, d in cuts:
        hit = table.find((a, c), (b, d))
        assert table.volume(hit, (a, c), (b, d)) == left[a:b, c:d].sum()
        if a < b and c < d:
            table.take(hit, (a, c), (b, d))
        left[a:b, c:d] = False
    seen = np.zeros((5, 5), dtype=int)
    for (a, c), (n, m) in table.boxes():
        seen[a : a + n, c : c + m] += 1

    assert seen.tolist() == left.astype(int).tolist()
    assert len(table) == len(table.boxes())
