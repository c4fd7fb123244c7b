"""Boost's storage order, which TENS copies, and the dimensions of Halide: out of layouts, and back."""

import itertools

import pytest
from hypothesis import given

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import ConversionError, ExtentError, LayoutError
from tests.support.layout.strided import strided_layouts


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "order", "ascend", "origin_offset"),
    [
        # Recorded from Boost.MultiArray 1.74.
        (Shape(2, 3, 4), (12, 4, 1), 0, (2, 1, 0), (True, True, True), 0),
        (Shape(2, 3, 4), (1, 2, 6), 0, (0, 1, 2), (True, True, True), 0),
        (Shape(2, 3, 4), (4, 8, 1), 0, (2, 0, 1), (True, True, True), 0),
        (Shape(2, 3, 4), (12, 1, 3), 0, (1, 2, 0), (True, True, True), 0),
        (Shape(2, 3, 4), (-12, 4, 1), 12, (2, 1, 0), (False, True, True), 12),
        (Shape(2, 3, 4), (12, -4, 1), 8, (2, 1, 0), (True, False, True), 8),
        (Shape(2, 3, 4), (-4, 8, -1), 7, (2, 0, 1), (False, True, False), 7),
        (Shape(2, 3), (-3, 1), 3, (1, 0), (False, True), 3),
        (Shape(2, 3, 4, origin=(10, 20, 30)), (12, -4, 1), 8, (2, 1, 0), (True, False, True), -62),
        (Shape(2, 3, 4, origin=(1, -1, 5)), (12, 4, 1), 0, (2, 1, 0), (True, True, True), -13),
    ],
)
def test_the_figures_of_boost(shape, strides, offset, order, ascend, origin_offset):
    layout = Layout(shape, strides=strides, offset=offset)
    found = layout.storage_order()
    assert (found.order, found.ascend, found.origin_offset) == (order, ascend, origin_offset)
    assert found.lost.is_exact == (not any(shape.origin))
    assert Layout(shape, order=found.order, ascend=found.ascend) == layout


@pytest.mark.parametrize("extents", [*itertools.product((0, 1, 2, 3), repeat=3), (), (5,)])
def test_every_order_and_direction_comes_back(extents):
    shape = Shape(*extents)
    rank = len(extents)
    for order in itertools.permutations(range(rank)):
        for ascend in itertools.product((True, False), repeat=rank):
            layout = Layout(shape, order=order, ascend=ascend)
            found = layout.storage_order()
            back = Layout(shape, order=found.order, ascend=found.ascend)
            assert (back == layout) == found.lost.is_exact
            if shape.size:
                assert (back.to_numpy() == layout.to_numpy()).all()
            if 0 not in extents and 1 not in extents:
                assert (found.order, found.ascend, found.lost.is_exact) == (order, ascend, True)


@pytest.mark.parametrize(
    ("extents", "strides", "order"),
    [
        ((2, 1, 3), (3, 3, 1), (2, 1, 0)),
        ((2, 1, 3), (1, 2, 2), (0, 1, 2)),
        ((2, 1, 3), (3, 77, 1), (2, 1, 0)),
        ((1, 1, 1), (5, 5, 5), (2, 1, 0)),
        ((1, 2, 3), (9, 1, 2), (0, 1, 2)),
        ((1, 2, 3), (6, 1, 2), (1, 2, 0)),
        ((1, 2, 3), (2, 1, 2), (1, 0, 2)),
        ((0, 3), (0, 0), (1, 0)),
        ((0, 3), (1, 0), (0, 1)),
    ],
)
def test_modes_that_may_stand_anywhere_have_one_place(extents, strides, order):
    assert Layout(Shape(*extents), strides=strides).storage_order().order == order


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        (Layout(Shape(2, 3), strides=(4, 1)), "gaps"),
        (Layout(Shape(3), strides=(2,)), "gaps"),
        (Layout(Shape(4, 6))[:, :5], "gaps"),
        (Layout(Shape(2)).broadcast((3, 2)), "zero_strides"),
        (Layout(Shape(2, 2), strides=(1, 1)), "interleaving"),
        (Layout(Shape(4)).rotate([1]), "maps"),
        (Layout(Shape.jagged([1, 2])), "jagged"),
    ],
)
def test_what_has_no_storage_order_is_refused(layout, reason):
    with pytest.raises(LayoutError, match=reason):
        layout.storage_order()


@given(strided_layouts())
def test_halide_keeps_all_of_a_strided_layout(layout):
    found = layout.to_halide()
    assert found.lost.is_exact
    assert Layout.from_halide(found.dims, offset=found.offset) == layout
    # address = host + sum of (index - min) * stride
    for index in itertools.islice(layout.shape.indices(), 20):
        steps = zip(reversed(index), found.dims, strict=True)
        assert found.offset + sum((i - low) * step for i, (low, _, step) in steps) == layout.offset_of(index)


@pytest.mark.parametrize(
    ("dims", "error"),
    [([(0, 2)], ConversionError), ([(0, -1, 1)], ExtentError), ([(0, 2.0, 1)], ConversionError)],
)
def test_dimensions_that_are_none_are_refused(dims, error):
    with pytest.raises(error):
        Layout.from_halide(dims)
