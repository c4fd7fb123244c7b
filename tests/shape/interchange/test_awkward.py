"""Shapes as forms and buffers of Awkward Array, with the library itself as the judge."""

import json

import awkward as ak
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, ParseError, RankError
from tensorwrapper.shape import Shape
from tensorwrapper.testing import shapes


def array_of(shape):
    form, length, buffers = shape.awkward_buffers("int64")
    data = {f"node{shape.rank - 1}-data": np.arange(shape.size)}
    return ak.from_buffers(form, length, {**buffers, **data})


def shape_of(array):
    form, length, buffers = ak.to_buffers(array)
    return Shape.from_awkward(form.to_json(), length, buffers)


@given(shapes().filter(lambda s: s.rank and s.size))
def test_awkward_reads_our_forms_and_we_read_its(shape):
    array = array_of(shape)
    assert array.ndim == shape.rank
    assert int(ak.count(array, axis=None)) == shape.size
    assert ak.flatten(array, axis=None).tolist() == list(range(shape.size))
    back = shape_of(array)
    assert back == Shape.from_row_partitions(shape.to_row_partitions())
    for mode in range(1, shape.rank):
        lengths = ak.num(array, axis=mode)
        ours = shape.flatten().as_jagged().lengths(mode)
        assert np.ravel(ak.flatten(lengths, axis=None)).tolist() == ours.tolist()


@pytest.mark.parametrize(
    ("array", "shape"),
    [
        (ak.Array([[1, 2, 3], [], [4]]), Shape.jagged([3, 0, 1])),
        (ak.Array([[1, 2, 3], [], [4]])[1:], Shape.jagged([0, 1])),
        (ak.Array([[1, 2, 3], [], [4]])[[2, 0]], Shape.jagged([1, 3])),
        (ak.Array([[[1, 2], [3]], [[4]]]), Shape.jagged([[2, 1], [1]])),
        (ak.Array([[[1, 2], [3]], [[4]], [[5], [6, 7]]])[1:], Shape.jagged([[1], [1, 2]])),
        (ak.Array(np.zeros((2, 3, 4))), Shape(2, 3, 4)),
        (ak.to_regular(ak.Array([[1, 2], [3, 4]])), Shape(2, 2)),
        (ak.Array([[1, 2], [3, 4]]), Shape.jagged([2, 2])),
        (ak.Array([]), Shape(0)),
        (ak.unflatten(ak.Array(np.zeros((4, 5))), [3, 1]), Shape.from_cells((2,), [(3, 5), (1, 5)])),
        (ak.Array(ak.contents.RegularArray(ak.contents.EmptyArray(), 0, 3)), Shape(3, 0)),
    ],
)
def test_arrays_of_awkward_have_the_shape_they_look_like(array, shape):
    assert shape_of(array) == shape


def lists(content, **fields):
    return {"class": "ListOffsetArray", "offsets": "i64", "content": content, "form_key": "a", **fields}


LEAF = {"class": "NumpyArray", "primitive": "int64", "inner_shape": [], "form_key": "z"}


def test_offsets_may_leave_elements_out():
    form = lists(lists(LEAF, form_key="b"))
    buffers = {"a-offsets": np.array([1, 2, 4], np.uint32), "b-offsets": np.array([0, 2, 5, 6, 9, 11])}
    assert Shape.from_awkward(form, 2, buffers) == Shape.jagged([[3], [1, 3]])
    assert Shape.from_awkward(json.dumps(form), 1, buffers) == Shape.jagged([[3]])
    assert Shape.from_awkward(lists(LEAF), 0, {"a-offsets": np.array([], np.int64)}) == Shape.jagged(
        [], rank=2
    )


def views(content):
    return {"class": "ListArray", "starts": "i64", "stops": "i64", "content": content, "form_key": "a"}


def test_lists_in_any_order_need_elements_that_are_alike():
    buffers = {"a-starts": [4, 0, 9], "a-stops": [6, 1, 9], "b-offsets": range(10)}
    assert Shape.from_awkward(views(LEAF), 3, buffers) == Shape.jagged([2, 1, 0])
    regular = {"class": "RegularArray", "size": 5, "content": LEAF}
    assert Shape.from_awkward(views(regular), 2, buffers) == Shape.from_cells((2,), [(2, 5), (1, 5)])
    with pytest.raises(ConversionError, match=r"level 0 do not follow one another.*pack"):
        Shape.from_awkward(views(lists(LEAF, form_key="b")), 3, buffers)
    ordered = {"a-starts": [2, 7, 4], "a-stops": [4, 7, 5], "b-offsets": [0, 1, 2, 5, 9, 14]}
    assert Shape.from_awkward(views(lists(LEAF, form_key="b")), 3, ordered) == Shape.jagged([[3, 4], [], [5]])


@pytest.mark.parametrize(
    ("form", "length", "buffers", "error", "message"),
    [
        (lists(LEAF), 1, {}, ParseError, "no buffer 'a-offsets'"),
        (lists(LEAF), 2, {"a-offsets": [0, 1]}, OutOfBoundsError, "level 0 has 1 lists, but 2 are asked for"),
        (lists(LEAF), 2, {"a-offsets": [0, 3, 1]}, ExtentError, "list 1 of level 0 goes from 3 to 1"),
        (lists(LEAF), 1, {"a-offsets": [-1, 3]}, ExtentError, "list 0 of level 0 goes from -1 to 3"),
        (lists(LEAF), 1, {"a-offsets": [0.0, 1.0]}, ConversionError, "a-offsets"),
        (lists(LEAF), -1, {"a-offsets": [0]}, ExtentError, "length of an array"),
        (
            lists(lists(LEAF, form_key="b")),
            1,
            {"a-offsets": [0, 3], "b-offsets": [0, 1]},
            OutOfBoundsError,
            "level 1 has 1 lists, but 3",
        ),
        ({"class": "IndexedOptionArray", "content": LEAF}, 1, {}, ConversionError, "'IndexedOptionArray'"),
        ({"class": "RecordArray", "contents": []}, 1, {}, ConversionError, "'RecordArray'"),
        (
            {"class": "RegularArray", "size": -1, "content": LEAF},
            1,
            {},
            ParseError,
            "size must be an integer",
        ),
        ({"class": "RegularArray", "size": True, "content": LEAF}, 1, {}, ParseError, "not 'True'"),
        ({"class": "RegularArray", "size": 2}, 1, {}, ParseError, "not a NoneType"),
        ({}, 1, {}, ConversionError, "'None'"),
        ("[1]", 1, {}, ParseError, "an object with the key 'class', not a list"),
        ("{", 1, {}, ParseError, "the form is not JSON"),
        ('{"class":1,"class":2}', 1, {}, ParseError, "twice"),
        ("[" * 10_000, 1, {}, ParseError, "nests over 128 deep"),
        ({**LEAF, "inner_shape": 3}, 1, {}, ParseError, "inner_shape is a list"),
        ({**LEAF, "inner_shape": [2.0]}, 1, {}, ParseError, "inner_shape must be an integer"),
    ],
)
def test_what_is_no_list_of_numbers_is_refused(form, length, buffers, error, message):
    with pytest.raises(error, match=message):
        Shape.from_awkward(form, length, buffers)


def test_forms_that_hold_themselves_are_refused():
    form = {"class": "RegularArray", "size": 1}
    form["content"] = form
    with pytest.raises(ParseError, match="at most 64 deep"):
        Shape.from_awkward(form, 1, {})


def test_a_scalar_is_no_array_of_awkward():
    with pytest.raises(RankError, match="has a mode"):
        Shape().awkward_buffers()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_the_offsets_are_those_that_awkward_has(lengths):
    _, length, buffers = Shape.jagged(lengths).awkward_buffers()
    theirs = ak.unflatten(np.zeros(sum(lengths)), lengths).layout
    assert length == len(theirs)
    assert buffers["node0-offsets"].tolist() == theirs.to_ListOffsetArray64().offsets.data.tolist()


def test_a_form_is_text_or_bytes_with_white_space_around():
    form, length, buffers = Shape.jagged([3, 1]).awkward_buffers()
    for text in (f"\n{form} ", f"{form}\n".encode()):
        assert Shape.from_awkward(text, length, buffers) == Shape.jagged([3, 1])
