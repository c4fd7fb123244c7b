"""Tiled boxes and views of them come back, whole or in part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Tiling, wire
from tests.support.wire.sent_shapes import EXTENTS, ORIGINS, assert_same, described, filled, sent

TILINGS = [
    Tiling([1, 2], [2, 1, 3]),
    Tiling([3], [6]),
    Tiling([0, 1, 0, 2, 0], [6, 0]),
    Tiling([1, 2], [2, 1, 3], origin=(5, -7)),
    Tiling([1, 2], [2, 1, 3], origin=(2**61, -(2**61))),
]


@pytest.mark.parametrize("tiling", TILINGS, ids=repr)
def test_tiled_views_come_back(tiling):
    under = tw.from_buffer(np.arange(18.0), tiling.elements)
    tensor = under.tiled(tiling)
    (got,) = sent(tensor)
    assert_same(got, tensor)
    assert got.tiling == tiling
    assert_same(got.untiled(), under)
    assert got.tile((0, 0)).shape == tiling.tile((0, 0))


@pytest.mark.parametrize("tiling", TILINGS, ids=repr)
def test_boxes_of_tiles_travel_alone(tiling):
    tensor = tw.from_buffer(np.arange(18.0), tiling.elements).tiled(tiling)
    rows, columns = tiling.grid.extents
    for i in range(rows):
        for j in range(columns):
            box = tensor[i:, j:]
            assert_same(sent(box)[0], box)
            assert_same(sent(tensor[i, j])[0], tensor[i, j])
            window = tensor.window(tensor.shape[i:rows, j:columns])
            assert window.shape.origin[:2] == (i, j)
            (got,) = sent(window)
            assert_same(got, window)
            assert got.layout.is_tiled
            assert got.tile((i, j)).shape == tensor.tile((i, j)).shape


@pytest.mark.parametrize("tiling", TILINGS[:3], ids=repr)
def test_tiles_that_lie_one_after_the_other_come_back_so(tiling):
    tensor = tw.from_buffer(np.arange(18.0), tiling.shape)
    frames = wire.encode([tensor])
    assert np.frombuffer(frames[2]).tolist() == list(range(18))
    (got,) = wire.decode(frames).tensors
    assert_same(got, tensor)
    assert not got.layout.is_tiled
    # As a run of rows, and moved: the grid has an origin.
    assert_same(sent(tensor[1:])[0], tensor[1:])
    window = tensor.window(tensor.shape[1:])
    assert window.shape.origin_at(()) == 1
    assert_same(sent(window)[0], window)
    moved = tw.from_buffer(np.arange(18.0), tiling.shape.translate_by((4, -5, 0, 0)))
    assert_same(sent(moved)[0], moved)


def test_any_set_of_tiles_comes_back_where_it_was():
    tiling = Tiling([1, 2], [2, 1, 3], origin=(5, -7))
    tensor = tw.from_buffer(np.arange(18.0), tiling.elements).tiled(tiling)
    tiles = tensor.select_tiles([(1, 2), (0, 0), (1, 2)])
    (got,) = sent(tiles)
    assert_same(got, tiles)
    assert got[0].tolist() == tensor[1, 2].tolist()


def test_a_partition_that_is_used_twice_travels_once():
    tiling = Tiling(np.arange(1, 50), np.arange(1, 50))
    same = tw.as_tensor(np.zeros(tiling.elements.extents)).tiled(tiling)
    one, two = described(same, same)
    assert one["tiled"]["marks"] == two["tiled"]["marks"]
    assert len(wire.encode([same, same])) == 2 + 2 + 2


@given(
    sizes=st.lists(st.lists(EXTENTS, min_size=1, max_size=4), min_size=1, max_size=3),
    move=st.lists(ORIGINS, min_size=3, max_size=3),
    data=st.data(),
)
def test_random_tiled_tensors_come_back(sizes, move, data):
    tiling = Tiling(*sizes, origin=move[: len(sizes)])
    box = tw.from_buffer(np.arange(tiling.elements.size), tiling.elements)
    slices = tuple(slice(data.draw(st.integers(0, n))) for n in tiling.grid.extents)
    for tensor in (box, box.tiled(tiling), box.tiled(tiling)[slices], filled(tiling.shape)):
        assert_same(sent(tensor)[0], tensor)
