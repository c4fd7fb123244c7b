"""Arrow arrays as tensors, of strings and of numbers: without copies, and lists as rows."""

import gc
import weakref

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    with pytest.raises(ConversionError, match="elements of type int64"):
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
    with pytest.raises(ConversionError, match="truth values"):
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
        (pa.array([[1], None]), ConversionError, "1 of 2 rows .*null_rows"),
        (pa.array([[[1]], [None, [2]]]), ConversionError, "1 of 3 rows .*null_rows"),
        (pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), ConversionError, "1 of 2 rows .*null_rows"),
        (pa.array([None]), DTypeError, "'n'"),
        (pa.array([1], pa.time32("s")), DTypeError, "cast"),
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
        (pa.record_batch({"a": ["x"]}), "a table"),
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


@st.composite
def _lists(draw, depth):
    return [
        draw(_lists(depth - 1)) if depth > 1 else draw(st.integers(-9, 9))
        for _ in range(draw(st.integers(0, 4)))
    ]


@given(_lists(2), st.data())
def test_views_of_lists_come_in_any_order(lists, data):
    # Views are of any lists: some twice, some never.
    inner = pa.array(lists, pa.large_list(pa.int64()))
    spans = [
        sorted(data.draw(st.tuples(*[st.integers(0, len(lists))] * 2)))
        for _ in range(data.draw(st.integers(0, 4)))
    ]
    starts, sizes = [a for a, _ in spans], [b - a for a, b in spans]
    array = pa.LargeListViewArray.from_arrays(
        pa.array(starts, pa.int64()), pa.array(sizes, pa.int64()), inner
    )

    assert tw.as_tensor(array).tolist() == [lists[a:b] for a, b in spans]
    assert tw.as_tensor(array[1:]).tolist() == [lists[a:b] for a, b in spans[1:]]


def test_views_of_lists_of_strings_and_of_fixed_lists_are_gathered():
    words = pa.ListViewArray.from_arrays([1, 0], [1, 2], pa.array(["a", None]))
    pairs = pa.ListViewArray.from_arrays([1, 0], [1, 2], pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)))

    assert tw.as_tensor(words).tolist() == [[None], ["a", None]]
    assert tw.as_tensor(pairs).tolist() == [[[3, 4]], [[1, 2], [3, 4]]]
    with pytest.raises(ConversionError, match="list 0"):
        tw.as_tensor(pa.ListViewArray.from_arrays([5], [1], pa.array([1])))


def test_views_in_order_keep_their_memory():
    array = pa.array([[1], [], [2, 3]], pa.large_list_view(pa.int64()))
    tensor = tw.as_tensor(array, copy=False)

    assert tensor.shape == Shape.jagged([1, 0, 2])
    assert tensor.elements().ctypes.data == array.values.buffers()[1].address


@given(st.permutations([0, 1, 2]), st.lists(st.integers(1, 3), min_size=3, max_size=3), st.integers(0, 3))
def test_tensors_of_one_shape_keep_their_modes_and_names(order, extents, count):
    x = np.arange(count * np.prod(extents)).reshape(count, *extents)
    form = pa.fixed_shape_tensor(pa.int64(), extents, dim_names=["a", "b", "c"], permutation=order)
    storage = pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1)), int(np.prod(extents)))
    array = pa.ExtensionArray.from_storage(form, storage)
    tensor = tw.as_tensor(array, copy=False)

    assert tensor.tolist() == x.transpose(0, *[1 + mode for mode in order]).tolist()
    assert tensor.shape.names == (None, *["abc"[mode] for mode in order])
    if count and all(order[order[mode]] == mode for mode in range(3)):
        # pyarrow itself reads beyond its memory where an order is not its own inverse.
        assert tensor.to_numpy().tolist() == array.to_numpy_ndarray().tolist()
    if count:
        assert np.shares_memory(tensor.to_numpy(), array.storage.values.to_numpy())
        assert tw.as_tensor(array[1:]).tolist() == tensor[1:].tolist()


def test_metadata_that_says_no_tensor_is_refused():
    storage = pa.array([[1, 2]], pa.list_(pa.int64(), 2))
    for said in (
        "{}",
        "[]",
        "nonsense",
        '{"shape": [3]}',
        '{"shape": [2], "permutation": [1]}',
        '{"shape": [-1, -2]}',
    ):
        pairs = {"ARROW:extension:name": "arrow.fixed_shape_tensor", "ARROW:extension:metadata": said}
        field = pa.field("x", storage.type, metadata=pairs)

        class Offer:
            def __arrow_c_array__(self, requested_schema=None, field=field):
                return field.__arrow_c_schema__(), storage.__arrow_c_array__()[1]

        with pytest.raises(ConversionError, match=r"Arrow tensor"):
            tw.as_tensor(Offer())


def test_truth_values_of_a_byte_keep_their_memory():
    x = np.array([True, False, True])
    array = pa.ExtensionArray.from_storage(pa.bool8(), pa.array(x.view("i1")))
    odd = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([2, 0], pa.int8()))

    assert np.shares_memory(tw.as_tensor(array, copy=False).to_numpy(), x)
    assert tw.as_tensor(array).dtype == tw.as_tensor(odd).dtype == np.bool_
    assert tw.as_tensor(odd).tolist() == [True, False]
    assert tw.as_tensor(array[:0]).dtype == np.bool_


def test_days_and_lists_of_nothing_are_read():
    days = tw.as_tensor(pa.array([1, None], pa.date32()))

    assert days.dtype == np.dtype("M8[D]")
    assert np.isnat(days.to_numpy()).tolist() == [False, True]
    assert tw.as_tensor(pa.array([86400000], pa.date64())).dtype == np.dtype("M8[ms]")
    assert tw.as_tensor(pa.array([[], []])).shape == Shape.jagged([0, 0])
    with pytest.raises(DTypeError, match="cast"):
        tw.as_tensor(pa.array([None]))


@pytest.mark.parametrize(
    "chunks",
    [
        pa.chunked_array([[[1, 2]], [[3], []]]),
        pa.chunked_array([], pa.list_(pa.int64())),
        pa.chunked_array([[True], [False, True]]),
        pa.chunked_array([[["a"], [None]], [[]]]),
        pa.chunked_array(
            [pa.array([[1, 2]], pa.list_(pa.int64(), 2)), pa.array([[3, 4]], pa.list_(pa.int64(), 2))]
        ),
    ],
)
def test_arrays_in_a_row_are_joined(chunks):
    assert tw.as_tensor(chunks).tolist() == chunks.to_pylist()


def test_one_array_of_a_stream_keeps_its_memory():
    x = np.arange(6)
    tensor = tw.as_tensor(pa.chunked_array([x]), copy=False)

    assert np.shares_memory(tensor.to_numpy(), x)
    with pytest.raises(ConversionError, match="copy=False"):
        tw.as_tensor(pa.chunked_array([x, x]), copy=False)


def test_rows_of_cells_come_back_as_cells():
    cells = tw.from_buffer(np.arange(8), Shape.from_cells((2,), [(3, 2), (1, 2)]))

    assert tw.as_tensor(cells.to_arrow()).shape == cells.shape


def test_names_that_no_mode_can_have_are_dropped():
    form = pa.fixed_shape_tensor(pa.int64(), [1, 1, 1, 1], dim_names=["no name", "a", "a", "_"])
    array = pa.ExtensionArray.from_storage(form, pa.array([[1]], pa.list_(pa.int64(), 1)))

    assert tw.as_tensor(array).shape == Shape(1, 1, 1, 1, 1)
