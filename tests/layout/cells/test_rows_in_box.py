"""Rows, cells and tiles inside a box are where the box has them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Layout, Shape
from tensorwrapper.errors import LayoutError, OutOfBoundsError
from tensorwrapper.testing import jagged_shapes, tiled_shapes

ROWS = Shape.jagged([2, 0, 3])


@st.composite
def boxes_and_rows(draw):
    """Draw a layout of a box of any form, and rows inside the box."""
    rows = draw(st.one_of(jagged_shapes(), tiled_shapes()))
    hull = rows.as_smooth().copy()
    before, after = [draw(st.tuples(*[st.integers(0, 2)] * rows.rank)) for _ in range(2)]
    extents = [e + a + b for e, a, b in zip(hull.extents, before, after, strict=True)]
    box = Shape(*extents, origin=[o - a for o, a in zip(hull.origin, before, strict=True)])
    layout = Layout(box, order=draw(st.sampled_from(["C", "F"])))
    form = draw(st.sampled_from(["strided", "reversed", "repeated", "gathered", "gathered inside"]))
    if form == "reversed":
        layout = layout.reverse()
    elif form == "repeated":
        layout = Layout(Shape(*[1] * box.rank)).broadcast(box.extents)
    elif form == "gathered":
        places = draw(st.permutations(range(extents[0])))
        layout = layout.gather(0, np.array(places, dtype=np.int64))
    elif form == "gathered inside":
        places = draw(st.permutations(range(extents[-1])))
        layout = layout.gather(box.rank - 1, np.array(places, dtype=np.int64))
    return layout.translate_to(box.origin), rows


@given(boxes_and_rows())
def test_each_element_is_where_the_box_has_it(case):
    layout, rows = case
    window = layout.window(rows)
    indices = rows.indices_at(np.arange(rows.size))
    assert window.shape == rows
    assert window.offsets_of(indices).tolist() == layout.offsets_of(indices).tolist()
    assert window.to_numpy().tolist() == layout.offsets_of(indices).tolist()


@pytest.mark.parametrize("form", ["repeated", "gathered", "gathered inside", "permuted", "offset"])
def test_extents_behind_an_empty_mode_are_those_of_the_rows(form):
    rows = Shape.jagged([Shape(0, 0, 0), Shape(0, 0, 1), Shape(1, 2, 1)])
    box = Layout(Shape(3, 1, 2, 1))
    layout = {
        "repeated": Layout(Shape(1, 1, 1, 1)).broadcast((3, 1, 2, 1)),
        "gathered": box.gather(0, [2, 0, 1]),
        "gathered inside": Layout(Shape(3, 1, 4, 1)).gather(2, [3, 0]),
        "permuted": Layout(Shape(1, 2, 3, 1)).permute((2, 0, 1, 3)).gather(0, [0, 2, 1]),
        "offset": Layout(Shape(3, 1, 2, 1), strides=(0, 0, 0, 0), offset=7),
    }[form]
    window = layout.window(rows)
    assert window.shape == rows
    assert window.to_numpy().tolist() == layout.offsets_of(rows.indices_at(np.arange(2))).tolist()
    nothing = Shape.jagged([Shape(0, 0, 2), Shape(0, 3, 1)])
    assert Layout(Shape(1, 1, 1, 1)).broadcast((2, 2, 3, 2)).window(nothing).shape == nothing


@pytest.mark.parametrize("strides", [(2**70, 1), (1, -(2**70))])
def test_a_stride_that_is_never_taken_may_be_of_any_size(strides):
    layout = Layout(Shape(1, 1), strides=strides, offset=3)
    assert layout.window(Shape.jagged([1])).to_numpy().tolist() == [3]
    assert layout.broadcast((2, 1)).window(Shape.jagged([1, 1])).to_numpy().tolist() == [3, 3]


def test_rows_of_padded_data_are_seen_and_written():
    padded = tw.as_tensor([[1, 2, 0], [0, 0, 0], [3, 4, 5]])
    rows = padded.window(ROWS)
    assert rows.tolist() == [[1, 2], [], [3, 4, 5]]
    rows.assign(9)
    assert padded.tolist() == [[9, 9, 0], [0, 0, 0], [9, 9, 9]]
    assert padded.named("event", "hit").window(ROWS).shape == ROWS.named("event", "hit")


@pytest.mark.parametrize(
    ("region", "error"),
    [
        (Shape.jagged([2, 4]), OutOfBoundsError),
        (Shape.jagged([1, 1, 1, 1]), OutOfBoundsError),
        (ROWS.translate_to((1, 0)), OutOfBoundsError),
        (Shape.jagged([[1], [2]]), LayoutError),
        (Shape.nested(ROWS, layers=(1, 1)), LayoutError),
    ],
)
def test_what_is_no_part_of_the_box_is_refused(region, error):
    with pytest.raises(error):
        Layout(Shape(3, 3)).window(region)
