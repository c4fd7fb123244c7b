"""Arrow arrays as tensors, of strings and of numbers: without copies, and lists as rows."""

import gc
import weakref

import numpy as np
import pyarrow as pa
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ConversionError, DTypeError, ReadOnlyError

TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()]


@pytest.mark.parametrize("form", TYPES, ids=str)
@pytest.mark.parametrize("make", [tw.strings, tw.as_tensor])
def test_strings_come_with_their_nulls(form, make):
    items = ["a", None, "", "a string of more than twelve bytes", "ß"]
    if "binary" in str(form):
        items = [None if item is None else item.encode() for item in items]
    array = pa.array(items, form)

    assert make(array).tolist() == items
    assert make(array[2:4]).tolist() == items[2:4]
    assert make(array).null_count == 1
    assert make(array[2:4]).null_count == 0


def test_the_bytes_stay_where_they_are_and_writes_do_not_reach_them():
    array = pa.array(["a", "bc", "def"])
    with count_copies() as count:
        tensor = tw.strings(array)
        again = pa.array(tensor.to_string_data())

    assert count.nbytes == 0
    assert tensor.to_string_data().data.ctypes.data == array.buffers()[2].address
    assert again.buffers()[2].address == array.buffers()[2].address
    tensor[1] = "new"
    assert array.to_pylist() == ["a", "bc", "def"]
    assert tensor.tolist() == ["a", "new", "def"]


def test_chunks_are_joined():
    assert tw.strings(pa.chunked_array([["a"], ["b", None]])).tolist() == ["a", "b", None]
    with pytest.raises(ConversionError, match="not that of strings"):
        tw.strings(pa.chunked_array([[1]]))


def test_a_shape_says_what_a_flat_array_means():
    tensor = tw.strings(pa.array(list("abcdef")), shape=(2, 3))

    assert tensor.permute((1, 0)).tolist() == [["a", "d"], ["b", "e"], ["c", "f"]]


NUMBERS = {
    "i1": pa.int8(), "u1": pa.uint8(), "i2": pa.int16(), "u2": pa.uint16(), "i4": pa.int32(),
    "u4": pa.uint32(), "i8": pa.int64(), "u8": pa.uint64(), "f2": pa.float16(), "f4": pa.float32(),
    "f8": pa.float64(), "M8[s]": pa.timestamp("s"), "M8[ms]": pa.timestamp("ms"),
    "M8[us]": pa.timestamp("us"), "M8[ns]": pa.timestamp("ns"), "m8[s]": pa.duration("s"),
    "m8[ms]": pa.duration("ms"), "m8[us]": pa.duration("us"), "m8[ns]": pa.duration("ns"),
}  # fmt: skip


@pytest.mark.parametrize("dtype", NUMBERS)
def test_numbers_are_not_copied(dtype):
    elements = np.arange(6).astype(dtype)
    array = pa.array(elements, NUMBERS[dtype])[1:]
    with count_copies() as count:
        tensor = tw.as_tensor(array, copy=False)

    assert count.nbytes == 0
    assert tensor.dtype == dtype
    assert tensor.to_numpy().ctypes.data == array.buffers()[1].address + elements.itemsize
    assert np.array_equal(tensor, elements[1:])
    assert tensor.is_readonly
    with pytest.raises(ReadOnlyError):
        tensor[0] = elements[0]
    copied = tw.as_tensor(array, copy=True)
    copied[0] = elements[0]
    assert np.array_equal(tensor, elements[1:])


def test_truth_values_are_unpacked():
    marks = [True, False, True, True, False, False, True, False, True, True]

    assert tw.as_tensor(pa.array(marks)[1:]).tolist() == marks[1:]
    with pytest.raises(ConversionError, match="bits"):
        tw.as_tensor(pa.array(marks), copy=False)


LISTS = {
    "lists": (pa.list_(pa.int32()), [[1], [2, 3], [], [4]], Shape.jagged([1, 2, 0, 1])),
    "large lists": (pa.large_list(pa.int32()), [[1], [2, 3], [], [4]], Shape.jagged([1, 2, 0, 1])),
    "no lists": (pa.list_(pa.int32()), [], Shape.jagged([], rank=2)),
    "fixed lists": (pa.list_(pa.float32(), 2), [[1, 2], [3, 4]], Shape(2, 2)),
    "lists of lists": (
        pa.list_(pa.large_list(pa.int8())),
        [[[1], []], [], [[2, 3]]],
        Shape.jagged([[1, 0], [], [2]]),
    ),
    "lists of fixed lists": (
        pa.list_(pa.list_(pa.int64(), 2)),
        [[[1, 2]], [[3, 4], [5, 6]]],
        Shape.jagged([[2], [2, 2]]),
    ),
    "fixed lists of lists": (
        pa.list_(pa.list_(pa.int64()), 2),
        [[[1], []], [[3, 4], [5, 6]]],
        Shape.jagged([[1, 0], [2, 2]]),
    ),
    "fixed lists of fixed lists": (
        pa.list_(pa.list_(pa.int64(), 2), 1),
        [[[1, 2]], [[3, 4]]],
        Shape(2, 1, 2),
    ),
    "lists of strings": (pa.list_(pa.string()), [["a", None], [], ["b"]], Shape.jagged([2, 0, 1])),
    "lists of bytes": (pa.list_(pa.large_binary()), [[b"a"], [b"\0"]], Shape.jagged([1, 1])),
    "lists of truth values": (pa.list_(pa.bool_()), [[True], [False, True]], Shape.jagged([1, 2])),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_rows(name):
    form, rows, shape = LISTS[name]
    array = pa.array(rows, form)

    assert tw.as_tensor(array).shape == shape
    assert tw.as_tensor(array).tolist() == rows
    for start in range(len(rows) + 1):
        for stop in range(start, len(rows) + 1):
            part = array[start:stop]
            assert tw.as_tensor(part).tolist() == rows[start:stop]
            assert tw.as_tensor(pa.concat_arrays([array, part])[len(rows) :]).tolist() == rows[start:stop]


def test_neither_elements_nor_wide_offsets_of_lists_are_copied():
    array = pa.array([[1.0], [2.0, 3.0]], pa.large_list(pa.float64()))
    with count_copies() as count:
        tensor = tw.as_tensor(array, copy=False)

    assert count.nbytes == 0
    assert tensor.elements().ctypes.data == array.values.buffers()[1].address
    assert tensor.shape.splits(1).ctypes.data == array.buffers()[1].address


@pytest.mark.parametrize(
    ("array", "error", "text"),
    [
        (pa.array([1, None, 3]), ConversionError, "1 of 3 elements .*fill_null"),
        (pa.array([[1], None]), ConversionError, "1 of 2 elements"),
        (pa.array([[1], [None, 2]]), ConversionError, "1 of 3 elements"),
        (pa.array([True, None]), ConversionError, "1 of 2"),
        (pa.array([None]), DTypeError, "'n'"),
        (pa.array([1], pa.date32()), DTypeError, "'tdD'"),
        (pa.array([1], pa.timestamp("s", "UTC")), DTypeError, "without a zone"),
        (pa.array(["a"]).dictionary_encode(), DTypeError, "dictionary_decode"),
    ],
)
def test_what_tensors_do_not_hold_is_refused(array, error, text):
    with pytest.raises(error, match=text):
        tw.as_tensor(array)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (pa.array([1]), "has elements of type int64"),
        (pa.array([[1.5]]), "has elements of type float64"),
        (pa.record_batch({"a": ["x"]}), "is a table"),
    ],
)
def test_what_has_no_strings_is_refused(values, text):
    with pytest.raises(ConversionError, match=text):
        tw.strings(values)


def test_nulls_outside_a_slice_do_not_matter():
    assert tw.as_tensor(pa.array([None, 1, 2])[1:]).tolist() == [1, 2]
    assert tw.as_tensor(pa.array([[None], [1, 2]])[1:]).tolist() == [[1, 2]]


def test_arrow_memory_lives_as_long_as_a_view_of_it():
    elements = np.arange(1000.0)
    alive = weakref.finalize(elements, lambda: None)
    array = pa.ListArray.from_arrays(pa.array([0, 400, 1000], pa.int32()), pa.array(elements))
    row = tw.as_tensor(array)[1]
    del array, elements
    gc.collect()

    assert alive.alive
    assert row.to_numpy()[-1] == 999.0
    del row
    gc.collect()
    assert not alive.alive
