"""Masks laid on tensors and layouts."""

import numpy as np
import pytest
from hypothesis import given

import tensorwrapper as tw
from tensorwrapper import Layout, Mask, Shape
from tensorwrapper.errors import ConversionError, ExtentMismatchError
from tests.support.shape.masks import mode_masks, point_masks, row_masks


def numbered(shape):
    """Return a tensor whose elements are their own ordinals."""
    return tw.from_buffer(np.arange(shape.size), shape)


def flat(values):
    """Return the numbers in nested lists, in order."""
    return [n for row in values for n in flat(row)] if isinstance(values, list) else [values]


@given(mode_masks())
def test_the_view_of_a_box_is_what_numpy_selects(given_):
    mask, _ = given_
    array = np.arange(mask.source.size).reshape(mask.source.extents)
    starts = mask.source.origin
    key = [(p if isinstance(p, int) else p.to_numpy()) - o for p, o in zip(mask.picks, starts, strict=True)]
    expected = array[np.ix_(*[np.atleast_1d(k) for k in key])].reshape(mask.extents) if key else array
    found = mask.gather(numbered(mask.source))

    assert found.tolist() == expected.tolist()
    assert array.reshape(-1).take(mask.ordinals()).reshape(mask.extents).tolist() == expected.tolist()


@given(row_masks())
def test_rows_of_a_jagged_tensor_are_a_view(given_):
    mask, model = given_
    tensor = numbered(mask.source.flatten())

    assert flat(mask.gather(tensor).tolist()) == [mask.source.ordinal(index) for index in model]


@given(point_masks())
def test_the_elements_of_points_are_taken_by_ordinals(given_):
    mask, model = given_
    tensor = numbered(mask.source.flatten())

    assert tensor.elements().take(mask.ordinals()).tolist() == [mask.source.ordinal(i) for i in model]


def test_a_view_shares_memory_and_takes_writes():
    array = np.zeros((4, 6))
    view = Mask(Shape(4, 6), slice(None, None, 2), [5, 0]).gather(tw.as_tensor(array))
    view.assign(1.0)

    assert array.sum() == 4
    assert array[2, 5] == array[0, 0] == 1


def test_layouts_are_gathered_too():
    layout = Mask(Shape(4, 6), 3, [5, 0, 1]).gather(Layout(Shape(4, 6), order="F"))

    assert layout.to_numpy().tolist() == [23, 3, 7]


def test_an_origin_does_not_matter_to_tensors():
    mask = Mask(Shape(4, 6, origin=(1, 1)), [1, 4], 6)

    assert mask.gather(numbered(Shape(4, 6))).tolist() == [5, 23]


def test_points_make_no_view():
    with pytest.raises(ConversionError, match="ordinals"):
        Mask.of_points(Shape(2), [(0,)]).gather(numbered(Shape(2)))


def test_a_tensor_of_another_shape_is_refused():
    with pytest.raises(ExtentMismatchError, match=r"of \(2,\), but it is laid on \(3,\)"):
        Mask(Shape(2)).gather(numbered(Shape(3)))
