"""Pads of rows, cells and tiles: what NumPy's pad makes of each cell, at its own indices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, JaggedModeError, LayoutError, RankError

KINDS = {
    "rows": tw.jagged([[1, 2], [7, 8, 9], [3]]),
    "empty rows": tw.jagged([[1, 2], [], [3]]),
    "no rows": tw.from_buffer(np.zeros(0), Shape.jagged([], rank=2)),
    "moved": tw.jagged([[1, 2], [4], [3]]).translate_to((5, 7)),
    "rows in rows": tw.jagged([[[1, 2], [3]], [], [[4]]]),
    "cells": tw.jagged([np.arange(6).reshape(2, 3), np.ones((0, 2)), np.ones((1, 1))]),
    "regions": tw.from_buffer(
        np.arange(7), Shape.jagged([Shape(2, 3, origin=(1, 2)), Shape(1, 1, origin=(5, 5))])
    ),
    "tiles": tw.as_tensor(np.arange(6).reshape(2, 3)).tiled(Tiling([1, 1], [2, 1])),
    "triangle": tw.from_buffer(np.arange(6), Shape.triangular(3)),
    "layers": tw.from_buffer(np.arange(3), Shape.nested(Shape.jagged([2, 0, 1]), layers=(1, 1))),
    "named": tw.jagged([[1, 2], [], [3]]).named("x", "y"),
    "strings": tw.strings([["a"], ["b", "cc"]]),
    "sparse": tw.sparse([(0, 1)], [1.5], Shape.jagged([2, 1])),
}
SEEN = {
    "tensor": lambda t: t,
    "view": sel.as_view,
    "some": lambda t: sel.as_view(t)[1:],
    "joined": lambda t: tw.concat([sel.as_view(t)[:1], sel.as_view(t)[1:]]),
}


def cells_of(tensor):
    flat = tensor.flatten() if tensor.shape.has_layers else tensor
    own = [(index, cell.to_dense() if cell.is_sparse else cell) for index, cell in flat.cells()]
    return [
        (index, cell.shape.origin, np.asarray(cell.elements()).reshape(cell.shape.extents))
        for index, cell in own
    ]


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_each_cell_is_padded_as_numpy_pads_it(kind, data):
    tensor, seen = KINDS[kind], data.draw(st.sampled_from(list(SEEN)))
    boundary = data.draw(st.sampled_from(["constant", "constant", "wrap", "edge", "reflect", "symmetric"]))
    outer = tensor.shape.flatten().outer_rank
    width = st.tuples(st.integers(0, 3), st.integers(0, 3))
    inner = data.draw(st.lists(width, min_size=tensor.rank - outer, max_size=tensor.rank - outer))
    given_view = SEEN[seen](tensor)
    widths, fill = [(0, 0)] * outer + inner, "-" if kind == "strings" else 0
    try:
        padded = given_view.pad(widths, boundary=boundary, fill_value=fill)
    except LayoutError:
        assert boundary != "constant"
        computed = given_view if seen == "tensor" else given_view.compute()
        assert computed.row_lengths(computed.rank - 1).elements().min() == 0
        return
    except JaggedModeError:
        assert boundary != "constant"
        assert len(inner) > 1
        return
    found = padded.compute()
    expected = cells_of(given_view if seen == "tensor" else given_view.compute())
    assert found.is_sparse == tensor.is_sparse
    assert (found.shape.names, found.shape.has_layers) == (tensor.shape.names, tensor.shape.has_layers)
    options = {"constant_values": fill} if boundary == "constant" else {}
    assert len(cells_of(found)) == len(expected)
    for (index, origin, cell), (there, start, own) in zip(cells_of(found), expected, strict=True):
        assert index == there
        assert origin == tuple(first - before for first, (before, _) in zip(start, inner, strict=True))
        array = own.astype("U2") if kind == "strings" else own
        assert cell.tolist() == np.pad(array, inner, mode=boundary, **options).tolist()
    if kind != "strings":
        told = sel.from_json(sel.to_json(padded), sources=sel.sources(padded))
        assert told.shape == found.shape
        assert told.compute().array_equal(found)


def test_what_cannot_be_padded_says_why():
    rows = KINDS["rows"]
    for view in (rows, sel.as_view(rows)):
        with pytest.raises(JaggedModeError, match="nothing says how long they are; modes 1 to 1 can"):
            view.pad([(1, 0), (0, 0)])
        with pytest.raises(RankError, match="one pair"):
            view.pad([(0, 0)])
        with pytest.raises(ConversionError, match="boundary must be"):
            view.pad([(0, 0), (1, 1)], boundary="mirror")
        assert view.pad([(0, 0), (0, 0)]).tolist() == rows.tolist()
    with pytest.raises(LayoutError, match="mode 1 has extent 0 in a cell"):
        KINDS["empty rows"].pad([(0, 0), (1, 0)], boundary="edge")
    with pytest.raises(JaggedModeError, match="a constant goes round each"):
        KINDS["cells"].pad([(0, 0), (1, 0), (0, 0)], boundary="edge")


def test_a_pad_is_written_through_and_routed_as_its_parts_are():
    rows = tw.jagged([[1, 2], [], [3]])
    padded = sel.as_view(rows).pad([(0, 0), (1, 1)], fill_value=9)
    assert padded.route((2, 0)).index == (2, 0)
    assert padded[2, 1].item() == 3
    assert padded.plan().bytes_read == 24
    assert tw.concat([padded, padded])[3:].tolist() == [[9, 1, 2, 9], [9, 9], [9, 3, 9]]
