"""Pieces that share out a mode are written in slabs."""

import numpy as np

from tensorwrapper import selection as sel


def test_columns_that_take_turns_are_written_in_slabs():
    left = np.arange(1100 * 600).reshape(1100, 600)
    v = sel.interleave([left, left + 7, left[::-1]], mode=1)[3:]
    expected = np.stack([left, left + 7, left[::-1]], 2).reshape((1100, 1800))[3:]
    np.testing.assert_array_equal(np.asarray(v.compute()), expected)
    np.testing.assert_array_equal(np.asarray(v.compute(order="F", threads=2)), expected)
