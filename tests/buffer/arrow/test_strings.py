"""Arrow's arrays of strings, both ways; pyarrow answers the same questions."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer import StringData, count_copies, strings_from_arrow
from tensorwrapper.buffer.arrow._c import ArrowArray, pointer_in
from tensorwrapper.errors import ConversionError, StringDataError

TEXT = ["a", None, "hé", "", "x" * 40, "日本", "exactly 12 b", "thirteen byte"]
TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]
BYTES_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view()]
TYPES = [(t, "utf8") for t in TEXT_TYPES] + [(t, "binary") for t in BYTES_TYPES]


def items_of(kind):
    return TEXT if kind == "utf8" else [None if item is None else item.encode() for item in TEXT]


@pytest.mark.parametrize(("form", "kind"), TYPES, ids=str)
def test_every_type_of_strings(form, kind):
    strings = strings_from_arrow(pa.array(items_of(kind), form))

    assert strings.kind == kind
    assert strings.to_list() == items_of(kind)


@pytest.mark.parametrize(("form", "kind"), TYPES, ids=str)
@pytest.mark.parametrize("before", [0, 1, 7, 8, 9])
def test_slices(form, kind, before):
    items = items_of(kind)
    array = pa.array([None, *items[::-1]] * 2 + items, form)
    start = 2 * len(items) + 2 - before

    for stop in (len(array), len(array) - 3, start):
        assert strings_from_arrow(array[start:stop]).to_list() == array[start:stop].to_pylist()


@pytest.mark.parametrize(("form", "kind"), TYPES, ids=str)
@pytest.mark.parametrize("items", [[], [None], [None, None]])
def test_arrays_without_any_text(form, kind, items):
    strings = strings_from_arrow(pa.array(items, form))

    assert strings.to_list() == items
    assert strings.kind == kind


@pytest.mark.parametrize(("form", "kind"), TYPES, ids=str)
@pytest.mark.parametrize("n_chunks", [0, 1, 3])
def test_chunks_are_joined(form, kind, n_chunks):
    items = items_of(kind)
    chunked = pa.chunked_array([pa.array(items, form)] * n_chunks, form)

    assert strings_from_arrow(chunked).to_list() == items * n_chunks
    assert strings_from_arrow(chunked).kind == kind


@pytest.mark.parametrize("items", [["short", "x" * 12], ["x" * 13, "y" * 40], ["short", "y" * 13]])
def test_views_with_short_and_long_strings(items):
    assert strings_from_arrow(pa.array(items, pa.string_view())).to_list() == items


def test_views_over_several_buffers():
    parts = [pa.array([letter * 20, letter], pa.string_view()) for letter in "abc"]

    assert strings_from_arrow(pa.concat_arrays(parts)).to_list() == [i for p in parts for i in p.to_pylist()]


@pytest.mark.parametrize("form", [pa.large_string(), pa.string()])
def test_the_bytes_are_arrows_own(form):
    array = pa.array(["a", "bc", None], form)
    with count_copies() as count:
        strings = strings_from_arrow(array)

    assert count.nbytes == 0
    assert strings.data.ctypes.data == array.buffers()[2].address
    if form == pa.large_string():
        assert strings.offsets.ctypes.data == array.buffers()[1].address
    assert not strings.data.flags.writeable


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=15) | st.none(), max_size=20),
    st.data(),
)
def test_there_and_back(items, data):
    strings = StringData.from_list(items)
    low = data.draw(st.integers(0, len(items)))
    part = strings.slice(low, data.draw(st.integers(low, len(items))))
    order = data.draw(st.permutations(range(len(items))))

    for held in (strings, part, strings.take(order), strings.as_binary()):
        array = pa.array(held)
        array.validate(full=True)
        assert array.type == (pa.large_string() if held.kind == "utf8" else pa.large_binary())
        assert array.to_pylist() == held.to_list()
        assert array.null_count == held.null_count
        assert strings_from_arrow(array) == held


@pytest.mark.parametrize(
    "array",
    [pa.array([1]), pa.array([1.5]), pa.array([["a"]]), pa.nulls(2), pa.array([b"ab"], pa.binary(2))],
    ids=lambda array: str(array.type),
)
def test_arrays_of_other_types(array):
    before = pa.total_allocated_bytes()
    with pytest.raises(ConversionError, match="not that of strings"):
        strings_from_arrow(array)
    with pytest.raises(ConversionError, match="not that of strings"):
        strings_from_arrow(pa.chunked_array([array]))
    assert pa.total_allocated_bytes() == before


def test_a_dictionary_is_decoded_first():
    array = pa.array(["a", "b", "a"]).dictionary_encode()

    with pytest.raises(ConversionError, match="dictionary_decode"):
        strings_from_arrow(array)
    assert strings_from_arrow(array.dictionary_decode()).to_list() == ["a", "b", "a"]


@pytest.mark.parametrize("source", [["a"], "a", None, np.array(["a"])])
def test_what_is_no_arrow_array(source):
    with pytest.raises(ConversionError, match="it is not an Arrow array"):
        strings_from_arrow(source)


class Offers:
    """Hands out whatever it was given."""

    def __init__(self, *capsules):
        self.capsules = capsules

    def __arrow_c_array__(self, requested_schema=None):
        return self.capsules


def test_a_table_is_a_stream_of_records():
    with pytest.raises(ConversionError, match="not that of strings"):
        strings_from_arrow(pa.table({"x": ["a"]}))


@pytest.mark.parametrize(
    ("field", "value", "error", "message"),
    [
        ("length", -1, StringDataError, "-1 elements"),
        ("offset", -1, StringDataError, "from element -1"),
        ("n_buffers", 2, StringDataError, "3 buffers or more, not 2"),
        ("release", None, ConversionError, "released"),
    ],
)
def test_an_array_whose_numbers_are_wrong(field, value, error, message):
    schema, array = pa.array(["a", "b"]).__arrow_c_array__()
    structure = ArrowArray.from_address(pointer_in(array, b"arrow_array"))
    setattr(structure, field, value)

    with pytest.raises(error, match=message):
        strings_from_arrow(Offers(schema, array))


def test_a_buffer_that_is_missing():
    schema, array = pa.array(["a", "b"]).__arrow_c_array__()
    ArrowArray.from_address(pointer_in(array, b"arrow_array")).buffers[2] = None

    with pytest.raises(StringDataError, match="buffer 2 of the Arrow array, of 2 bytes, is missing"):
        strings_from_arrow(Offers(schema, array))


def over(form, *buffers):
    return pa.Array.from_buffers(form, 2, [None, *map(pa.py_buffer, buffers)])


def test_offsets_that_descend():
    array = over(pa.string(), np.array([0, 3, 1], "i4"), b"abc")

    with pytest.raises(StringDataError, match="element 1 would reach from 3 to 1"):
        strings_from_arrow(array)


def test_views_without_any_buffer():
    with pytest.raises(StringDataError, match="there are 0 buffers"):
        strings_from_arrow(over(pa.string_view(), view(1, 0, 0, 0) + view(20, 0, 0, 0)))


def test_text_that_is_not_utf8():
    array = over(pa.string(), np.array([0, 1, 2], "i4"), b"a\xff")

    with pytest.raises(StringDataError, match="element 1 is not UTF-8"):
        strings_from_arrow(array)
    assert strings_from_arrow(over(pa.binary(), np.array([0, 1, 2], "i4"), b"a\xff")).item(1) == b"\xff"


def view(length, *rest):
    return np.array([length, *rest], "i4").tobytes()


@pytest.mark.parametrize(
    "wrong", [(20, 0, 1, 0), (20, 0, -1, 0), (20, 0, 0, 5), (20, 0, 0, -1), (-1, 0, 0, 0)]
)
def test_views_that_leave_their_buffers(wrong):
    array = over(pa.string_view(), view(20, 0, 0, 0) + view(*wrong), b"x" * 20)

    with pytest.raises(StringDataError):
        strings_from_arrow(array)
