"""What `as_tensor`, `as_view` and `jagged` take of other libraries."""

import awkward as ak
import pyarrow as pa

import tensorwrapper as tw
from tensorwrapper import selection as sel


def test_jagged_takes_what_as_tensor_takes():
    array = ak.Array([[1, 2], [], [3]])

    assert tw.jagged(array).shape == tw.as_tensor(array).shape == tw.Shape.jagged([2, 0, 1])
    assert tw.jagged(array, dtype="f4").tolist() == [[1.0, 2.0], [], [3.0]]
    assert not tw.jagged(array).is_readonly
    assert tw.jagged(ak.to_arrow(array)).tolist() == [[1, 2], [], [3]]


def test_chunked_arrays_of_numbers_and_rows_are_read():
    chunks = pa.chunked_array([[[1, 2]], [[3], []]])

    assert tw.as_tensor(chunks).tolist() == [[1, 2], [3], []]
    assert sel.as_view(chunks)[1:].compute().tolist() == [[3], []]
