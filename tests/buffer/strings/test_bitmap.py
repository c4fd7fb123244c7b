"""Bitmaps of validity: bits from any place on, against lists of bools and Arrow's order of bits."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer.strings._bitmap import (
    check_bitmap,
    marks_at,
    pack_marks,
    pack_nulls,
    unpack_marks,
)
from tensorwrapper.errors import StringDataError

BOOLS = st.lists(st.booleans(), max_size=40)


@given(BOOLS, st.data())
def test_any_run_of_bits_is_read(bools, data):
    bitmap = pack_marks(np.array(bools, dtype=bool))
    stop = data.draw(st.integers(0, len(bools)))
    first = data.draw(st.integers(0, stop))

    assert unpack_marks(bitmap, first, stop - first).tolist() == bools[first:stop]
    places = (
        data.draw(st.lists(st.integers(0, len(bools) - 1 - first), max_size=5)) if first < len(bools) else []
    )
    found = marks_at(bitmap, first, np.array(places, dtype=np.int64))
    assert found.tolist() == [bools[first + place] for place in places]


@given(BOOLS)
def test_bits_are_in_the_order_of_arrow(bools):
    array = pa.array([1 if known else None for known in bools], pa.int8())
    theirs = array.buffers()[0]
    ours = pack_nulls(np.array(bools, dtype=bool))

    assert (ours is None) == all(bools)
    if ours is not None:
        assert not ours.flags.writeable
        assert ours.tolist() == list(theirs.to_pybytes()[: len(ours)])


@pytest.mark.parametrize(("size", "first", "count"), [(1, 0, 9), (1, 8, 1), (0, 0, 1), (2, -1, 3)])
def test_bits_that_are_not_there_are_refused(size, first, count):
    with pytest.raises(StringDataError, match=f"of {size} bytes has no {count} bits from bit {first} on"):
        check_bitmap(np.zeros(size, np.uint8), first, count)
    check_bitmap(np.zeros(2, np.uint8), 3, 13)
