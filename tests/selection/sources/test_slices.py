"""Outer selections in slices: few reads, each of a bounded size."""

import numpy as np

from tensorwrapper import selection as sel
from tests.support.selection.lazy_arrays import VALUES, Counting


def test_positions_within_a_chunk_are_one_read():
    array = Counting(VALUES, chunks=(10, 17, 11))
    expected = VALUES[[0, 3, 9, 21, 22]]
    assert sel.as_view(array)[[0, 3, 9, 21, 22]].compute().tolist() == expected.tolist()
    assert len(array.keys) <= 2


def test_large_selections_are_read_in_blocks():
    array = Counting(np.zeros((40, 1 << 18)))
    sel.as_view(array).compute()
    assert array.elements == 40 << 18
    assert (
        max(np.zeros(0).itemsize + 8 * (key[0].stop - key[0].start) * (1 << 18) for key in array.keys)
        <= (1 << 24) + 8
    )
