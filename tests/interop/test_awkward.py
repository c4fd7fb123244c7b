"""Tensors as arrays of Awkward Array and back, against lists and addresses."""

import awkward as ak
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError


@given(st.lists(st.lists(st.lists(st.integers(-9, 9), max_size=4), max_size=4), max_size=4))
def test_rows_go_there_and_back(lists):
    array = ak.values_astype(ak.Array(lists), np.int64) if ak.num(ak.Array(lists), 0) else ak.Array(lists)
    if array.ndim != 3 or "unknown" in str(array.type):
        return
    tensor = tw.as_tensor(array)

    assert tensor.tolist() == lists
    assert tensor.to_awkward().to_list() == lists


@given(
    st.lists(st.lists(st.integers(-9, 9), max_size=5), min_size=1, max_size=8), st.integers(0, 4), st.data()
)
def test_what_slices_gathers_and_masks_leave_is_packed(lists, first, data):
    lists = [*lists, [7]]
    array = ak.Array(lists)[first:]
    picks = data.draw(st.lists(st.integers(0, max(len(array) - 1, 0)), max_size=6)) if len(array) else []
    for part in (array, array[::-1], array[picks], array[ak.num(array) > 1], ak.drop_none(array)):
        assert tw.from_awkward(part).tolist() == part.to_list()


def test_elements_stay_in_their_memory_both_ways():
    x = np.arange(6.0)
    for shape in (tw.Shape(6), tw.Shape(2, 3), tw.Shape.jagged([1, 0, 5])):
        there = tw.from_buffer(x, shape).to_awkward()
        back = tw.from_awkward(there, copy=False)

        assert np.shares_memory(back.elements(), x)
        assert back.shape == shape
        assert back.is_readonly


def test_a_copy_can_be_written_to_and_what_must_be_packed_cannot_be_shared():
    array = ak.Array([[1, 2], [3], [4, 5]])

    assert not tw.from_awkward(array, copy=True).is_readonly
    with pytest.raises(ConversionError, match="packed"):
        tw.from_awkward(array[[2, 0]], copy=False)
    assert tw.from_awkward(array[1:], copy=False).tolist() == [[3], [4, 5]]


def test_modes_of_one_extent_are_regular():
    cells = tw.from_buffer(np.arange(8), tw.Shape.from_cells((2,), [(3, 2), (1, 2)]))

    assert str(cells.to_awkward().type) == "2 * var * 2 * int64"
    assert tw.as_tensor(cells.to_awkward()).shape == cells.shape


@pytest.mark.parametrize("lists", [[], [[]], [[], []], [[[], []], []]])
def test_lists_of_nothing_are_tensors_of_no_floats(lists):
    tensor = tw.as_tensor(ak.Array(lists))

    assert tensor.tolist() == lists
    assert tensor.dtype == np.float64


@pytest.mark.parametrize("make", [tw.zeros, lambda s: tw.full(s, "ab")])
@given(extents=st.lists(st.integers(0, 3), min_size=1, max_size=3), jagged=st.booleans())
@example(extents=[2, 0], jagged=False)
def test_lists_of_no_extent_keep_their_number(make, extents, jagged):
    shape = tw.Shape(*extents)
    tensor = make(shape.as_jagged() if jagged and len(extents) > 1 else shape)

    assert tensor.to_awkward().to_list() == tensor.tolist()
    assert len(tensor.to_awkward()) == extents[0]


@pytest.mark.parametrize("values", [["a", None, "bc"], [["a", None], ["bc", "d"]], [b"a", b"\xff"]])
def test_strings_keep_their_nulls(values):
    tensor = tw.strings(values)

    assert tensor.to_awkward().to_list() == values
    assert tw.as_tensor(tensor.to_awkward()).tolist() == values


def test_options_without_nulls_are_no_options():
    array = ak.Array([[1, None], [3]])

    assert not tw.as_tensor(ak.drop_none(array)).is_nullable
    assert tw.as_tensor(ak.drop_none(array)).tolist() == [[1], [3]]
    assert tw.as_tensor(ak.fill_none(array, 0)).tolist() == [[1, 0], [3]]


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (lambda: ak.Array([{"a": 1}]), r"array\['field'\]"),
        (lambda: ak.Array([1, [2]]), "several types"),
        (lambda: ak.Array([[1], None]), "null_rows.*drop_none"),
    ],
)
def test_what_is_no_tensor_is_refused_by_name(array, words):
    with pytest.raises(ConversionError, match=words) as caught:
        tw.as_tensor(array())
    assert not hasattr(caught.value, "__notes__")


def test_one_record_is_refused_by_name():
    with pytest.raises(ConversionError, match=r"^a record of Awkward Array.*record\['field'\]$"):
        tw.from_awkward({"a": 1})


def test_what_awkward_does_not_have_is_refused_by_name():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for small in (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        tensor = tw.as_tensor(np.ones(2, small))
        with pytest.raises(DTypeError, match="float32"):
            tensor.to_awkward()
    with pytest.raises(ConversionError, match="to_dense"):
        tw.sparse([(0, 1)], [1.0], tw.Shape(2, 2)).to_awkward()
    with pytest.raises(ConversionError, match="item"):
        tw.as_tensor(1.0).to_awkward()


def test_layouts_builders_and_arrays_of_arrow_made_by_awkward_are_read():
    builder = ak.ArrayBuilder()
    with builder.list():
        builder.integer(1)
    array = ak.Array([[1, 2], [], [3]])

    assert tw.as_tensor(builder).tolist() == [[1]]
    assert (
        tw.as_tensor(array.layout).shape
        == tw.as_tensor(ak.to_arrow(array)).shape
        == tw.Shape.jagged([2, 0, 1])
    )
    assert tw.jagged(array, dtype="f4").tolist() == [[1.0, 2.0], [], [3.0]]
    assert not tw.jagged(array).is_readonly
    with pytest.raises(ConversionError, match="field"):
        tw.as_tensor(ak.Array([{"a": 1}])[0])


def test_offsets_of_an_array_stay_as_they_are():
    offsets, x = np.array([0, 2, 2, 3]), np.arange(3)
    array = ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(offsets), ak.contents.NumpyArray(x)))
    tensor = tw.from_awkward(array, copy=False)
    copied = tw.from_awkward(array, copy=True)
    offsets[1] = 1

    assert offsets.flags.writeable
    assert copied.tolist() == [[0, 1], [], [2]]
    assert tensor.elements().flags.writeable is False


def test_offsets_that_descend_or_leave_the_elements_are_refused():
    for offsets in ([0, 2, 1], [0, 2, 9], [-1, 0, 1]):
        node = ak.contents.NumpyArray(np.arange(3))
        try:
            layout = ak.contents.ListOffsetArray(ak.index.Index64(np.array(offsets)), node)
        except ValueError:
            continue
        with pytest.raises((ConversionError, ValueError), match="offsets"):
            tw.from_awkward(layout)


def test_a_field_of_structures_is_copied():
    table = np.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")])

    assert tw.as_tensor(ak.from_numpy(table).a).tolist() == [1, 3]
    assert tw.as_tensor(ak.from_numpy(table).b[1:]).tolist() == [4.0]
    with pytest.raises(ConversionError, match="copy=False"):
        tw.from_awkward(ak.from_numpy(table).a, copy=False)


@pytest.mark.parametrize("lists", [[[], []], [[[]], []], [["a", ""], []], [[], [["é"], []], []]], ids=str)
def test_empty_rows_of_strings_stay_rows(lists):
    tensor = tw.strings(lists, kind="utf8")
    assert tensor.to_awkward().to_list() == lists
    assert tensor.to_arrow().to_pylist() == lists
    assert tw.as_tensor(tensor.to_awkward()).tolist() == lists


ROWS_OF_EACH_TYPE = {
    "numbers": [[1.0], [2.0, 3.0], [4.0], []],
    "text": [["x"], ["a", ""], ["c"], []],
    "bytes": [[b"x"], [b"a", b""], [b"c"], []],
    "text with nulls": [["x"], ["a", None], [None], []],
    "rows of text": [[["x"]], [["a", "b"], []], [["c"]], []],
}


@pytest.mark.parametrize("kind", ROWS_OF_EACH_TYPE)
@given(
    masks=st.lists(st.booleans(), min_size=4, max_size=4),
    first=st.integers(0, 3),
    step=st.sampled_from([1, 2, -1]),
    indexed=st.booleans(),
)
def test_rows_that_a_mask_hides_are_empty_in_every_part(kind, masks, first, step, indexed):
    """`ak.to_arrow` takes elements from the beginning where a part of such lists has a missing one."""
    rows = ROWS_OF_EACH_TYPE[kind]
    array = ak.mask(ak.Array(rows), masks)
    if indexed:
        array = ak.Array(ak.to_layout(array).to_IndexedOptionArray64())
    expected = [own if kept else [] for own, kept in zip(rows, masks, strict=True)]
    found = tw.as_tensor(array[first::step], null_rows="empty").tolist()
    assert found == expected[first::step]


@pytest.mark.parametrize(
    ("array", "key"),
    [
        (ak.Array([[[1]], [None], [[2]]]), [True, False, True]),
        (ak.Array([[], [None, [1]], []]), [0, 2]),
        (ak.Array([[["a"]], [None], [["b", "c"]]]), [2, 0]),
        (ak.Array([[[[1]], []], [[None]], [[[2]]]]), [0, 2]),
    ],
)
def test_missing_lists_of_rows_that_were_left_out_do_not_count(array, key):
    part = array[key]
    assert tw.as_tensor(part).tolist() == ak.to_list(part)
    assert sel.as_view(part).compute().tolist() == ak.to_list(part)
    with pytest.raises(ConversionError, match="missing"):
        tw.as_tensor(array)
