"""The buffer under an array: every element at its offset and strides, in the memory of the array."""

import numpy as np
import pytest

from tensorwrapper.buffer._dense import as_dense, buffer_of
from tensorwrapper.errors import ConversionError, DTypeError

A = np.arange(24, dtype="i2").reshape(2, 3, 4)
ARRAYS = {
    "row-major": A,
    "fortran": A.T,
    "permuted": A.transpose(1, 0, 2),
    "reversed": A[::-1, :, ::-1],
    "steps": A[:, ::2, 1::2],
    "repeated": np.broadcast_to(A[0], (5, 3, 4)),
    "empty": A[:, 1:1],
    "rank 0": A[1, 2, 3],
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_elements_lie_where_strides_and_offset_say(array):
    array = np.asarray(array)
    buffer, strides, offset = as_dense(array)
    places = (
        offset + np.tensordot(np.array(strides, dtype=int), np.indices(array.shape), 1)
        if array.ndim
        else offset
    )

    assert np.array_equal(buffer.flat[places], array)
    assert array.size == 0 or array.ndim == 0 or np.shares_memory(buffer.flat, array)
    assert buffer.is_readonly is not array.flags.writeable


def test_what_has_no_strides_in_elements_is_refused():
    with pytest.raises(ConversionError, match=r"steps of \(3,\) bytes and elements of 2"):
        as_dense(np.ndarray((3,), "i2", bytes(9), strides=(3,)))
    with pytest.raises(DTypeError):
        as_dense(np.array([None]))


def test_a_flat_array_becomes_the_buffer_of_what_it_has():
    numbers = np.arange(3.0)
    assert buffer_of(numbers).memory is numbers
    for text in (["a", "", "é"], [b"a", b""]):
        dtype = np.dtypes.StringDType() if isinstance(text[0], str) else object
        buffer = buffer_of(np.array(text, dtype=dtype))
        assert buffer.memory is None
        assert buffer.read(np.arange(len(text))).tolist() == text
