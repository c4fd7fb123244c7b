"""Tensors and views at another origin: the same elements, wherever they are asked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel

SHAPES = [
    tw.Shape(4, 6),
    tw.Shape(4, 6, origin=(-2, 7)),
    tw.Shape.jagged([3, 0, 2]),
    tw.Shape.from_cells((2,), [(3, 2), (1, 2)]),
    tw.Shape.triangular(3),
    tw.Shape(4, 6).named("a", "b"),
    tw.Shape.nested(tw.Shape(4, 6), layers=(1, 1)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@given(data=st.data())
def test_elements_stay_and_indices_move(shape, data):
    tensor = tw.from_buffer(np.arange(shape.size), shape)
    origin = data.draw(st.tuples(*[st.integers(-9, 9)] * shape.rank))
    try:
        wanted = shape.translate_to(origin)
    except tw.errors.TensorWrapperError as refused:
        with pytest.raises(type(refused)):
            tensor.translate_to(origin)
        return
    for given_ in (tensor, sel.as_view(tensor), tensor[::-1] if shape.kind == "smooth" else tensor):
        moved = given_.translate_to(origin)

        assert moved.shape == wanted
        assert moved.shape.origin_at(()) == origin[0]
        assert moved.tolist() == given_.tolist()
        assert moved.copy().shape == moved.shape


def test_views_of_sources_know_their_routes_at_another_origin():
    tensor = tw.as_tensor(np.arange(6).reshape(2, 3))
    view = sel.concat([tensor, tensor])[1:].translate_to((10, 20))

    assert view.route((11, 20)).index == (0, 0)
    assert view.route((10, 21)).index == (1, 1)
    assert view[0].tolist() == [3, 4, 5]
    assert view.window(view.shape[11:12, 20:21]).compute().tolist() == [[0]]


LAYOUTS = {
    "tiled": tw.Layout(tw.Shape(4, 6)).as_tiled(tw.Tiling([1, 3], [4, 2])),
    "tile-major": tw.Layout.tiled(tw.Tiling([1, 3], [4, 2])),
    "tiles in memory": tw.Layout.tiled(tw.Tiling([1, 3], [4, 2])).as_tiled(tw.Tiling([1, 3], [4, 2])),
    "hierarchical": tw.Layout.parse("((2,3),4):((1,8),2)"),
    "composite": tw.layout.compose(tw.Layout.parse("8:2"), tw.Layout.parse("(2,3):(3,1)")),
    "swizzled": tw.layout.compose(tw.layout.Swizzle(1, 0, 2), tw.Layout.parse("(4,4):(4,1)")),
    "gathered": tw.Layout(tw.Shape(4, 6)).gather(0, [3, 0, 0]),
    "rotated": tw.Layout(tw.Shape(4, 6)).rotate((1, 2)),
    "padded rows": tw.Layout.padded(tw.Shape.jagged([3, 0, 2])),
    "packed rows": tw.Layout(tw.Shape.jagged([3, 0, 2])),
    "layers": tw.Layout(tw.Shape.nested(tw.Shape(4, 6), layers=(1, 1))),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_moves(layout):
    origin = tuple(range(3, 3 + layout.shape.rank))
    if layout.shape.kind == "jagged":
        origin = (3, *[0] * (layout.shape.rank - 1))
    moved = layout.translate_to(origin)
    indices = moved.shape.indices().to_numpy()

    assert moved.shape == layout.shape.translate_to(origin)
    assert moved.offsets_of(indices).tolist() == layout.offsets_of(layout.shape.indices().to_numpy()).tolist()
    assert moved.translate_to(layout.shape.origin) == layout


def test_tiles_whose_indices_do_not_start_at_zero_are_cells():
    layout = tw.Layout(tw.Shape(4, 6)).as_tiled(tw.Tiling([1, 3], [4, 2]))
    moved = layout.translate_to((5, 6, 1, 2))

    assert moved.shape == layout.shape.translate_to((5, 6, 1, 2))
    assert moved.offset_of((6, 6, 1, 2)) == layout.offset_of((1, 0, 0, 0))
