"""Views by transforms are what TensorStore makes of the same JSON, and NumPy of the same key."""

import json

import numpy as np
import pytest
import tensorstore as ts
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, NdselError, OutOfBoundsError, ParseError, RankError
from tensorwrapper.layout import IndexTransform

ARRAY = np.arange(120).reshape(4, 5, 6)


@pytest.mark.parametrize(
    ("message", "key", "origin"),
    [
        ({"kind": "point", "coords": [1, 2, 3]}, np.s_[1, 2, 3], ()),
        (
            {"kind": "box", "inclusive_min": [1, 0, 2], "exclusive_max": [3, 5, 4]},
            np.s_[1:3, :, 2:4],
            (1, 0, 2),
        ),
        ({"kind": "box", "inclusive_min": [2, 0, 0]}, np.s_[2:], (2, 0, 0)),
        ({"kind": "box", "shape": [2, 0, 6]}, np.s_[:2, :0], (0, 0, 0)),
        (
            {"kind": "slice", "start": [1, 0, 5], "stop": [4, 5, 6], "step": [2, 2, 1]},
            np.s_[1:4:2, ::2, 5:],
            (0, 0, 5),
        ),
        (
            {"kind": "points", "coords": [[0, 0, 0], [3, 4, 5], [0, 0, 0]]},
            ([0, 3, 0], [0, 4, 0], [0, 5, 0]),
            (0,),
        ),
    ],
)
def test_messages_select_what_numpy_selects(message, key, origin):
    view = sel.from_ndsel(json.dumps(message), ARRAY)
    assert view.shape.origin == origin
    np.testing.assert_array_equal(np.asarray(view), ARRAY[key])


def test_indices_are_those_of_the_source():
    moved = tw.as_tensor(ARRAY).translate_to((10, -2, 0))
    view = sel.from_ndsel({"kind": "box", "inclusive_min": [11, -2, 0], "shape": [2, 3, 1]}, moved)
    assert view.shape == tw.Shape(2, 3, 1, origin=(11, -2, 0))
    np.testing.assert_array_equal(np.asarray(view), ARRAY[1:3, :3, :1])
    assert sel.from_ndsel({"kind": "box", "inclusive_min": [["-inf"]] * 3}, moved).shape == moved.shape


def test_labels_are_names():
    message = {"kind": "box", "shape": [2, 2, 2], "labels": ["x", "", "no name"]}
    assert sel.from_ndsel(message, ARRAY).shape.names == ("x", None, None)


def test_only_what_is_selected_is_read():
    view = sel.from_ndsel({"kind": "slice", "start": [0, 0, 0], "stop": [4, 5, 6], "step": [2, 1, 3]}, ARRAY)
    assert view.plan().bytes_read == 2 * 5 * 2 * 8


@st.composite
def transforms(draw):
    """Draw transforms of TensorStore over the array: slices, chips, turns, diagonals, tables."""
    rank = draw(st.integers(0, 3))
    extents = [draw(st.integers(1, 3)) for _ in range(rank)]
    lows = [draw(st.integers(-3, 3)) for _ in range(rank)]
    output = []
    for extent in ARRAY.shape:
        kind = draw(st.sampled_from(["constant", "dimension", "array"] if rank else ["constant"]))
        if kind == "constant":
            output.append({"offset": draw(st.integers(0, extent - 1))})
        elif kind == "dimension":
            mode = draw(st.integers(0, rank - 1))
            stride = draw(st.sampled_from([-2, -1, 1, 2, 0]))
            first = draw(st.integers(0, extent - 1))
            last = first + stride * (extents[mode] - 1)
            if not 0 <= last < extent:
                first, stride = 0, 1
            output.append({"input_dimension": mode, "stride": stride, "offset": first - stride * lows[mode]})
        else:
            sizes = [draw(st.sampled_from([1, n])) for n in extents]
            table = np.array(draw(st.lists(st.integers(0, extent - 1), min_size=27, max_size=27)))
            output.append({"index_array": table[: int(np.prod(sizes))].reshape(sizes).tolist()})
    return {
        "input_inclusive_min": lows,
        "input_exclusive_max": [low + n for low, n in zip(lows, extents, strict=True)],
        "output": output,
    } | ({} if rank else {"input_rank": 0})


@given(transforms())
@settings(max_examples=200)
def test_transforms_select_what_tensorstore_selects(document):
    if not document["input_inclusive_min"]:
        document = {"input_rank": 0, "output": document["output"]}
    theirs = ts.array(ARRAY)[ts.IndexTransform(json=document)]
    for given_document in (document, json.dumps(document)):
        ours = sel.from_tensorstore(given_document, ARRAY)
        assert ours.shape.origin == theirs.domain.origin
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs.read().result()))


def test_layouts_give_transforms_that_select_the_same():
    part = tw.Layout(tw.Shape(*ARRAY.shape))[1:, ::-2, 3]
    transform = part.to_tensorstore(tw.Shape(*ARRAY.shape))
    view = sel.from_tensorstore(transform, ARRAY)
    np.testing.assert_array_equal(np.asarray(view), ARRAY[1:, ::-2, 3])
    again = sel.from_tensorstore(IndexTransform.from_json(transform.to_json()), ARRAY)
    assert again.tolist() == view.tolist()


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"input_shape": [3, 5, 6], "input_inclusive_min": [2, 0, 0]}, OutOfBoundsError),
        ({"input_shape": [-1, 5, 6]}, OutOfBoundsError),
        ({"input_shape": [2, 2]}, RankError),
        ({"input_shape": [4], "output": [{"input_dimension": 1}, {}, {}]}, RankError),
        ({"input_shape": [4], "output": [{"index_array": [1, 2]}, {}, {}]}, RankError),
        ({"input_shape": [2], "output": [{"index_array": [[1], [2]]}, {}, {}]}, RankError),
        ({"input_shape": [2], "output": [{"index_array": [1, 4]}, {}, {}]}, OutOfBoundsError),
        (
            {"input_shape": [2], "output": [{"index_array": [1, 2], "index_array_bounds": [0, 1]}, {}, {}]},
            OutOfBoundsError,
        ),
        ({"input_shape": [2], "output": [{"offset": -1}, {}, {}]}, OutOfBoundsError),
        (
            {"input_shape": [2**40], "output": [{"input_dimension": 0, "stride": 2**40}, {}, {}]},
            OutOfBoundsError,
        ),
        ({"input_rank": 1, "output": [{}, {}, {}]}, ConversionError),
        ({"kind": "transform"}, ParseError),
        ("[]", ParseError),
        ("{", ParseError),
    ],
)
def test_what_cannot_be_selected_is_refused(document, error):
    with pytest.raises(error):
        sel.from_tensorstore(document, ARRAY)


def test_what_is_no_box_is_refused():
    with pytest.raises(ConversionError, match="box"):
        sel.from_ndsel({"kind": "point", "coords": [0, 0]}, tw.jagged([[1], [2, 3]]))
    with pytest.raises(NdselError):
        sel.from_ndsel({"kind": "cube"}, ARRAY)


def test_a_mode_that_nothing_follows_repeats():
    view = sel.from_tensorstore(
        {"input_shape": [3, 2], "output": [{}, {"input_dimension": 1}, {"offset": 2}]}, ARRAY
    )
    np.testing.assert_array_equal(np.asarray(view), np.broadcast_to(ARRAY[0, :2, 2], (3, 2)))
    huge = sel.from_tensorstore({"input_shape": [2**30], "output": [{}, {}, {}]}, ARRAY)
    assert huge.plan().bytes_read == 8
