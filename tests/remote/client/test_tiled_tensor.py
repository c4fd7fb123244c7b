"""The layout of tiles is told by their shape and by where their box begins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import LayoutError, RemoteProtocolError
from tensorwrapper.remote.client._tiled_tensor import layout_of_tiles
from tensorwrapper.shape import Shape
from tensorwrapper.testing import tilings


@given(tilings(), st.booleans())
def test_it_is_that_of_a_box_in_tiles(tiling, named):
    seen = tw.Layout(tiling.elements).as_tiled(tiling)
    if tiling.grid.extents[0]:
        seen = seen.window(seen.shape[1:])
    names = "abcdefgh"[: 2 * tiling.rank]
    for own in (seen, seen.named(*names) if named else seen):
        box, found = layout_of_tiles(
            Shape.from_json(own.shape.to_json()), own.implementation.tiled.under.origin
        )
        assert found.shape == own.shape
        assert found.shape.names == own.shape.names
        assert found.implementation.tiled.tiling == own.implementation.tiled.tiling
        assert found[...].shape == own[...].shape
        assert box == own.implementation.tiled.under.shape
        layers = (tiling.rank, tiling.rank)
        nested = tw.Layout.nested(own, layers=layers)
        assert layout_of_tiles(nested.shape, box.origin)[1].shape == nested.shape


@pytest.mark.parametrize(
    ("shape", "origin"),
    [
        (Shape.jagged([1, 2]), (0,)),
        (Shape(2, 3), (0,)),
        (Shape.tiled([1, 2], [3]), (0,)),
        (Shape.tiled([1, 2], [3]), (0, 0, 0)),
        (Shape.tiled([1, 2], [3]), (0, 2**63 - 2)),
        (Shape.nested(Shape(2, 3), layers=(1, 1)), (0,)),
    ],
)
def test_what_is_no_box_in_tiles_is_refused(shape, origin):
    with pytest.raises(RemoteProtocolError) as caught:
        layout_of_tiles(shape, origin)
    assert caught.value.reason == "size"


def test_tiles_by_number_are_asked_for_one_after_the_other():
    """Out of parts of the box, a row of tiles took fifty times as long."""
    array = np.arange(60.0).reshape(6, 10)
    here = tw.as_tensor(array).tiled(tw.Tiling([2, 4], [3, 7]))
    with tw.serve({"x": here}) as server, tw.connect(server.address) as remote:
        for key in (1, -1, (1, 0), (0, 1, 1), ([1, 0],)):
            view, local = remote["x"][key], tw.selection.as_view(here)[key]
            assert view.shape == local.shape
            assert view.compute().tolist() == local.compute().tolist()
        plan = remote["x"][1].plan()
        assert [step.kind for step in plan.steps] == ["copy"]
        assert [type(own) for own in plan.reads[0].selections] == [tw.selection.Runs]


def test_a_tensor_without_tiles_says_so():
    with tw.serve({"x": np.zeros((2, 3))}) as server, tw.connect(server.address) as remote:
        x = remote["x"]
        assert not hasattr(x, "tiling")
        with pytest.raises(LayoutError):
            x.select_tiles([(0, 0)])
        assert x.view().tiled(tw.Tiling([1, 1], [3])).tiling.grid == Shape(2, 1)
