"""Every element of every layer lies in one piece, and those of a layer follow one another in its order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import LayerError, LayoutError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape
from tensorwrapper.testing import nested_shapes
from tests.support.layout.blocks import blocks, depths, orders_of, runs, slowest_first

SHAPES = nested_shapes(max_rank=4)


def place(index, shape, orders):
    """What the elements are sorted by: layer after layer, in each from the slowest mode to the fastest."""
    key, first = [], 0
    for count, order in zip(shape.layers, orders, strict=True):
        key += [index[first + mode] for mode in slowest_first(order, count)]
        first += count
    return key


@given(SHAPES, st.data())
def test_every_element_of_every_layer_is_one_run(shape, data):
    layout = Layout(shape, orders=data.draw(orders_of(shape)), offset=data.draw(st.integers(-9, 9)))
    for depth in depths(shape):
        assert all(runs(offsets) == 1 for offsets in blocks(layout, depth).values() if offsets)


@given(SHAPES, st.data())
def test_elements_of_a_layer_follow_one_another_in_its_order(shape, data):
    orders, offset = data.draw(orders_of(shape)), data.draw(st.integers(-9, 9))
    layout = Layout(shape, orders=orders, offset=offset)
    indices = sorted(shape.indices(), key=lambda index: place(index, shape, orders))
    assert [layout.offset_of(index) for index in indices] == list(range(offset, offset + shape.size))


@given(SHAPES, st.data())
def test_all_questions_have_one_answer(shape, data):
    layout = Layout(shape, orders=data.draw(orders_of(shape)), offset=3)
    indices = list(shape.indices())
    places = [layout.offset_of(index) for index in indices]
    table = shape.indices().to_numpy()
    assert sorted(places) == list(range(3, 3 + shape.size))
    assert layout.shape == shape
    assert layout.to_numpy().ravel().tolist() == layout.offsets_of(table).tolist() == places
    assert [layout.index_of(k) for k in places] == indices
    assert [layout.indices_of(k) for k in places] == [[index] for index in indices]
    assert layout.indices_at(places).tolist() == table.tolist()
    assert layout.bounds() == ((3, 2 + shape.size) if shape.size else (0, -1))
    assert layout.span == shape.size
    assert layout.is_injective
    assert layout.is_exhaustive
    assert layout.is_contiguous == (places == list(range(3, 3 + shape.size)))
    with pytest.raises(OutOfBoundsError):
        layout.index_of(3 + shape.size)


@given(SHAPES)
def test_row_major_order_in_all_layers_is_that_of_the_shape_without_layers(shape):
    orders = [list(range(count))[::-1] for count in shape.layers]
    for layout in (Layout(shape), Layout(shape, orders=orders), Layout(shape, orders=["C"] * len(orders))):
        assert layout == Layout(shape)
        assert layout.flatten() == Layout(shape.flatten())


@given(SHAPES)
def test_one_order_may_serve_all_layers(shape):
    assert Layout(shape, order="F") == Layout(shape, orders=["F"] * len(shape.layers))


@given(nested_shapes(max_rank=3, max_layers=1))
def test_a_single_layer_in_order_f_lies_as_indices_in_order_f(shape):
    layout = Layout(shape, order="F")
    assert [layout.offset_of(i) for i in shape.flatten().indices(order="F")] == list(range(shape.size))


def test_strides_of_smooth_layers():
    shape = Shape.nested(Shape(2, 3, 4, 5), layers=(2, 2))
    for orders, strides in [
        (["C", "C"], (60, 20, 5, 1)),
        (["F", "C"], (20, 40, 5, 1)),
        (["C", "F"], (60, 20, 1, 4)),
        (["F", "F"], (20, 40, 1, 4)),
        ([(0, 1), np.array([1, 0])], (20, 40, 5, 1)),
    ]:
        assert Layout(shape, orders=orders).strides == strides
    assert Layout(shape, orders=["F", "C"]).is_strided


def test_what_is_innermost_decides_locality():
    """ND-04: the columns of a matrix lie together if they are the elements, and its rows if those are."""
    matrix = np.arange(12).reshape(3, 4)
    rows = Layout(Shape.nested(Shape(3, 4), layers=(1, 1)))
    columns = Layout(Shape.nested(Shape(4, 3), layers=(1, 1))).flatten().permute((1, 0))
    assert rows.to_numpy().tolist() == matrix.tolist()
    assert columns.to_numpy().tolist() == matrix.reshape(4, 3).T.tolist()


# Shapes of every combination; the sizes are those of their layers.

ROWS = Shape.jagged([[1, 2], [3], [2, 2, 1]])
CELLS = Shape.jagged([[Shape(1, 2), Shape(2, 3)], [Shape(3, 1)], [Shape(2, 2), Shape(1, 1), Shape(2, 1)]])
TILES = Shape.tiled([1, 2], [2, 1, 3])
DEEP = Shape.jagged([Shape(2, 2, 1), Shape(1, 3, 2)])
NESTINGS = [
    (Shape(10, 20, 30), (1, 2), [10, 6000]),  # shapes.md 4.4
    (Shape(2, 2, 10, 10), (2, 2), [4, 400]),
    (ROWS, (1, 2), [3, 11]),  # jagged inside smooth
    (ROWS, (2, 1), [6, 11]),  # smooth inside jagged
    (ROWS, (1, 1, 1), [3, 6, 11]),
    (CELLS, (2, 2), [6, 18]),
    (CELLS, (1, 3), [3, 18]),
    (CELLS, (3, 1), [11, 18]),
    (TILES, (2, 2), [6, 18]),
    (TILES, (1, 3), [2, 18]),
    (DEEP, (2, 2), [3, 10]),  # the first layer ends within cells
    (Shape(3, 0), (1, 1), [3, 0]),
    (Shape(0, 3), (1, 1), [0, 0]),
    (Shape.jagged([0, 2, 0]), (1, 1), [3, 2]),
    (Shape(), (0, 0), [1, 1]),
    (Shape(4), (0, 1, 0), [1, 4, 4]),  # layers without modes
]


@pytest.mark.parametrize(("flat", "layers", "sizes"), NESTINGS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_layers_of_every_kind_inside_every_other(flat, layers, sizes, order):
    shape = Shape.nested(flat, layers=layers)
    layout = Layout(shape, order=order)
    assert sorted(layout.to_numpy().ravel().tolist()) == list(range(sizes[-1]))
    for k, depth in enumerate(depths(shape)):
        found = blocks(layout, depth)
        assert len(found) == sizes[k]
        assert all(runs(offsets) == 1 for offsets in found.values() if offsets)


def test_tables_have_one_number_per_cell_where_cells_stay_in_one_piece():
    shape = Shape.nested(Shape.tiled([40, 60], [50, 50]), layers=(2, 2))
    assert Layout(shape, orders=["F", "C"]).flatten().implementation.starts.tolist() == [0, 5000, 2000, 7000]
    assert (
        Layout(shape, orders=["C", "F"]).flatten().implementation.strides.tolist()
        == [[1, 40]] * 2 + [[1, 60]] * 2
    )


def test_orders_that_do_not_fit_name_the_layer():
    shape = Shape.nested(Shape(2, 3, 4), layers=(1, 2))
    with pytest.raises(LayerError, match=r"one order for each of the 2 layers \(1, 2\)"):
        Layout(shape, orders=["C"])
    with pytest.raises(LayerError, match="one order for each"):
        Layout(shape, orders="CF")
    with pytest.raises(LayerError, match="layer 1 of"):
        Layout(shape, orders=["C", (0, 1, 2)])
    with pytest.raises(LayerError, match="layer 1 of"):
        Layout(shape, orders=["C", (1, 1)])
    with pytest.raises(LayerError, match="layer 0 of"):
        Layout(shape, orders=["A", "C"])
    with pytest.raises(LayerError, match="layer 1 of"):
        Layout(shape, order=[0])
    with pytest.raises(LayoutError, match="one for all layers, or orders"):
        Layout(shape, order="F", orders=["C", "C"])
    with pytest.raises(LayoutError, match="smooth"):
        Layout(Shape(2, 3), orders=["C"])


def test_options_of_boxes_work_on_smooth_layers():
    shape = Shape.nested(Shape(2, 3), layers=(1, 1))
    assert Layout(shape, ascend=[True, False]).to_numpy().tolist() == [[2, 1, 0], [5, 4, 3]]
    assert Layout(shape, strides=(4, 1)).shape == shape
    with pytest.raises(LayoutError, match="jagged"):
        Layout(Shape.nested(Shape.jagged([1, 2]), layers=(1, 1)), ascend=[True, False])
    with pytest.raises(LayoutError, match="jagged"):
        Layout(Shape.nested(Shape.jagged([1, 2]), layers=(1, 1)), strides=(2, 1))


def test_places_that_leave_64_bits_are_refused():
    shape = Shape.nested(Shape.from_cells((2,), [(2, 2**31), (3, 2**31)]), layers=(2, 1))
    with pytest.raises(SizeOverflowError):
        Layout(shape, orders=["F", "C"], offset=2**62)
