"""Parts that are written: those of tensors first, what they need besides once and after them."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.wire import Limits
from tensorwrapper.wire.parts._part_writer import PartWriter, as_bytes


@pytest.mark.parametrize(("apart", "parts"), [(False, [2, 3, 2]), (True, [5, 7, 5])])
def test_index_arrays_come_after_the_tensors_and_each_once(apart, parts):
    writer, splits = PartWriter(2, apart=apart), np.array([0, 3])
    writer.by_number[0] = memoryview(b"first")

    assert [
        writer.add_indices(splits),
        writer.add_elements(np.array([1.5])),
        writer.add_indices(splits),
    ] == parts
    assert bytes(writer.payload[0]) == b"first"
    assert np.frombuffer(writer.payload[parts[0]], "<i8").tolist() == [0, 3]
    assert len(writer.payload) == parts[1] + 1


def test_what_a_reader_would_refuse_is_not_written():
    writer = PartWriter(1, limits=Limits(empty_elements=5, extent=10))
    writer.claim_empty(3)
    with pytest.raises(LocalProtocolError, match=r"a tensor could not be read again.*empty_elements"):
        writer.claim_empty(3)
    with pytest.raises(LocalProtocolError, match="extent 11, and 10 is the limit"):
        writer.check_extent(11)


def test_elements_are_little_endian_in_row_major_order_and_made_once():
    writer = PartWriter(1)
    tensor = tw.as_tensor(np.arange(6, dtype=">i4").reshape(2, 3).T)
    flat = writer.row_major(tensor, np.dtype("<i4"))

    assert flat.tolist() == [0, 3, 1, 4, 2, 5]
    assert writer.row_major(tensor, np.dtype("<i4")) is flat
    assert bytes(as_bytes(np.array([1], dtype=">i2"), np.dtype("<i2"))) == b"\x01\x00"
