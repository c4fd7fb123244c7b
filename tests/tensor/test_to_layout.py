"""Elements laid out anew: tile-major, padded, in another order, from every kind of tensor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.buffer import count_copies, from_functions
from tensorwrapper.errors import LayoutError

BOX = Shape(6, 5)
TILING = Tiling([1, 2, 3], [4, 1])
LAYOUTS = {
    "row-major": Layout(BOX),
    "column-major": Layout(BOX, order="F"),
    "descending": Layout(BOX, order="F", ascend=(False, True)),
    "rows apart": Layout(BOX, strides=(8, 1), offset=3),
    "tile-major": Layout.tiled(TILING),
    "aligned tiles": Layout.tiled(TILING, order="F", tile_order="F", alignment=8),
    "turned": Layout(BOX).rotate((2, 1)),
}


def sources():
    x = np.arange(30).reshape(6, 5)
    return {
        "array": tw.as_tensor(x),
        "transposed": tw.as_tensor(np.asfortranarray(x)),
        "reversed": tw.as_tensor(x[::-1, ::-1].copy()).reverse(),
        "turned": tw.as_tensor(np.roll(x, (1, 2), (0, 1))).rotate((-1, -2)),
        "functions": tw.from_buffer(from_functions(30, "i8", lambda a: a), BOX),
        "tile-major": tw.as_tensor(x).to_layout(LAYOUTS["tile-major"]),
    }


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("source", sources())
@pytest.mark.parametrize("threads", [1, 2])
def test_elements_keep_their_indices(name, source, threads):
    t = sources()[source]
    layout = LAYOUTS[name]
    with count_copies() as count:
        u = t.to_layout(layout, threads=threads)
    assert count.nbytes in {240, 480}  # functions are evaluated into memory first
    assert u.layout == layout
    assert u.tolist() == t.tolist()
    flat = np.zeros(layout.bounds()[1] + 1, dtype=int)
    flat[layout.to_numpy()] = np.arange(30).reshape(6, 5)
    assert u.buffer.flat.tolist() == flat.tolist()
    assert u.copy().buffer.flat.tolist() == list(range(30))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(1, 5))
def test_jagged_tensors_are_laid_out_apart(lengths, alignment):
    shape = Shape.jagged(lengths)
    t = tw.from_buffer(np.arange(shape.size), shape)
    u = t.to_layout(Layout.packed(shape, alignment=alignment))
    assert u.tolist() == t.tolist()
    padded = t.to_layout(Layout.padded(shape))
    assert padded.tolist() == t.tolist()
    assert padded.copy().elements().tolist() == list(range(shape.size))


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (Layout(Shape(5, 6)), "shape"),
        (Layout(BOX, strides=(1, 1)), "place|mode"),
        (Layout(BOX, strides=(-5, 1)), "offset -25"),
    ],
)
def test_layouts_that_cannot_hold_the_elements_are_refused(layout, text):
    with pytest.raises(LayoutError, match=text):
        tw.as_tensor(np.zeros((6, 5))).to_layout(layout)
