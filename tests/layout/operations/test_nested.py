"""Parts of a layout of a nested shape: they have the layers that the parts of the shape have."""

import copy
import pickle

import numpy as np
import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import LayerError, LayoutError, OutOfBoundsError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.testing import nested_shapes
from tests.support.layout.blocks import depths, orders_of

SHAPES = nested_shapes(max_rank=4)
N = Shape.nested(Shape(2, 3, 4, 5, origin=(1, 0, -1, 2)), layers=(2, 2))


def by_index(layout):
    return {index: layout.offset_of(index) for index in layout.shape.indices()}


def positions(index, shape):
    return tuple(i - shape.origin_at(index[:mode]) for mode, i in enumerate(index))


def are_like(layout, shape, found, expected):
    # In another order than "C" a layout does not keep what is stored behind empty modes.
    return found == expected if layout.shape == shape else found.is_congruent(expected)


@given(SHAPES, st.data())
def test_an_element_is_laid_out_where_it_lies_at_its_own_indices(shape, data):
    layout = Layout(shape, orders=data.draw(orders_of(shape)), offset=5)
    whole = by_index(layout)
    for layer, depth in enumerate(depths(shape)[:-1]):
        for prefix in shape.leading(depth).indices():
            element = layout.element(prefix, layer=layer)
            assert are_like(layout, shape, element.shape, shape.element(prefix, layer=layer))
            assert by_index(element) == {i[depth:]: k for i, k in whole.items() if i[:depth] == prefix}


@given(SHAPES, st.data())
def test_a_key_keeps_the_layers_that_it_does_not_empty(shape, data):
    layout = Layout(shape, orders=data.draw(orders_of(shape)), offset=5)
    whole = {positions(index, shape): place for index, place in by_index(layout).items()}
    pinned = data.draw(
        st.sampled_from([index for m in range(shape.rank + 1) for index in prefixes(shape, m)])
    )
    part = layout[positions(pinned, shape)]
    expected = shape.chip(*pinned)
    assert part.shape.layers == expected.layers
    assert (part.shape.kind == "nested") == (expected.kind == "nested")
    key = positions(pinned, shape)
    rest = {i[len(key) :]: place for i, place in whole.items() if i[: len(key)] == key}
    assert by_index(part) == rest


def prefixes(shape, modes):
    return list(shape.leading(modes).indices())[:4]


@given(SHAPES, st.data())
def test_a_window_keeps_layers_and_origin(shape, data):
    layout = Layout(shape, orders=data.draw(orders_of(shape)), offset=5)
    if not shape.rank:
        assert layout.window(shape) == layout
        return
    start, stop = shape.origin_at(()), shape.origin_at(()) + shape.extent_at(())
    first = data.draw(st.integers(start, stop))
    region = shape[first : data.draw(st.integers(first, stop))]
    part = layout.window(region)
    assert are_like(layout, shape, part.shape, region)
    assert part.shape.layers == region.layers
    assert by_index(part) == {i: layout.offset_of(i) for i in region.indices()}


def test_a_window_has_the_same_layers():
    with pytest.raises(LayoutError, match=r"has its layers \(2, 2\), not \(1, 3\)"):
        Layout(N).window(Shape.nested(N, layers=(1, 3)))
    with pytest.raises(LayoutError, match="same layers"):
        Layout(N).window(N.flatten())


def test_slices_of_any_step_keep_layers():
    part = Layout(N, orders=["F", "C"])[:, ::-2, 1:3]
    assert part.shape == Shape.nested(Shape(2, 2, 2, 5), layers=(2, 2))
    assert part.strides == (20, -80, 5, 1)
    rows = Layout(Shape.nested(Shape.jagged([[3, 1], [2]]), layers=(2, 1)), orders=["F", "C"])
    assert rows.to_numpy().tolist() == [0, 1, 2, 5, 3, 4]
    assert rows[:, :, ::-1].to_numpy().tolist() == [2, 1, 0, 5, 4, 3]
    assert rows[::-1].shape.layers == (2, 1)


def test_a_new_mode_has_no_layer():
    with pytest.raises(LayoutError, match="flatten"):
        Layout(N)[None]
    assert Layout(N).flatten()[None].shape == Shape(1, 2, 3, 4, 5)


def test_elements_end_where_layers_end():
    layout = Layout(N)
    with pytest.raises(LayerError, match="1 entry"):
        layout.element((1,))
    with pytest.raises(OutOfBoundsError):
        layout.element((3, 0))
    assert layout.element((np.int64(2), 1)).shape == Shape(4, 5, origin=(-1, 2))


def test_elements_of_a_jagged_layout_are_its_cells():
    cells = Shape.from_cells((2,), [(1, 2), (3, 1)], origins=[(4, 5), (0, 7)])
    cell = Layout(cells).element((1,))
    assert (cell.shape, cell.offset, cell.strides) == (Shape(3, 1, origin=(0, 7)), 2, (1, 1))


def test_modes_move_within_their_layer():
    layout = Layout(N, orders=["F", "C"])
    turned = layout.permute((1, 0, 3, 2))
    assert turned.shape == N.permute((1, 0, 3, 2))
    assert turned.strides == (40, 20, 1, 5)
    with pytest.raises(LayerError, match="layer 1"):
        layout.permute((0, 2, 1, 3))
    tiles = Layout.nested(Layout(Shape(4, 6)).as_tiled(Tiling([1, 3], [2, 4])), layers=(2, 2))
    assert tiles.permute((1, 0, 3, 2)).shape == tiles.shape.permute((1, 0, 3, 2))


def test_what_keeps_the_number_of_modes_keeps_layers():
    layout, flat = Layout(N, orders=["F", "C"]), Layout(N, orders=["F", "C"]).flatten()
    for change in (
        lambda one: one.reverse(0, 3),
        lambda one: one.rotate((1, 0, 2, 0)),
        lambda one: one.repeat((1, 2, 1, 1)),
        lambda one: one.repeat_each(2, 3),
        lambda one: one.gather(1, [2, 0]),
        lambda one: one.pad([(0, 0), (1, 1), (0, 0), (2, 0)], boundary="wrap"),
    ):
        assert change(layout).flatten() == change(flat)
        assert change(layout).shape.layers == (2, 2)


# Values.

VALUES = [
    Layout(N, orders=["F", "C"]),
    Layout(Shape.nested(Shape.tiled([1, 2], [2, 1]), layers=(2, 2)), orders=["F", "F"]),
    Layout(Shape.nested(Shape.jagged([3, 1]), layers=(1, 1))),
    Layout.nested(Layout(Shape(4, 6)).as_tiled(Tiling([1, 3], [2, 4])), layers=(2, 2)),
]


@pytest.mark.parametrize("layout", VALUES)
def test_layers_travel(layout):
    for back in (pickle.loads(pickle.dumps(layout)), copy.copy(layout), copy.deepcopy(layout)):
        assert back == layout
        assert hash(back) == hash(layout)
        assert tokenize(back) == tokenize(layout)
        assert by_index(back) == by_index(layout)
    assert layout != layout.flatten()


def test_the_text_makes_the_layout_again():
    for layout in VALUES[0], VALUES[2], VALUES[3]:
        assert eval(repr(layout), {"Layout": Layout, "Shape": Shape, "Tiling": Tiling}) == layout


@pytest.mark.parametrize("alignment", [1, 8])
def test_an_element_of_nested_tile_major_storage_keeps_its_origin(alignment):
    whole = Layout.tiled(Tiling([3, 1], [4, 1], [2, 2], origin=(0, -3, 5)), order="F", alignment=alignment)
    for index in ((1,), (3,)):
        element = Layout.nested(whole, layers=(1, 2)).element(index)
        assert element.shape == Shape(5, 4, origin=(-3, 5))
        assert by_index(element) == {
            rest: whole.offset_of((*index, *rest)) for rest in element.shape.indices()
        }
