"""Cells, elements and layers of a shape: put together they are the whole."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import JaggedModeError
from tests.support.shape.layered import SHAPES, prefixes


@given(SHAPES)
def test_elements_put_together_are_the_whole(shape):
    cells = list(shape.cells())
    flat, layers = shape.flatten(), shape.layers
    assert [index for index, _ in cells] == prefixes(flat, shape.outer_rank) == list(shape.outer().indices())
    assert [(*i, *j) for i, cell in cells for j in cell.indices()] == list(shape.indices())
    for index, cell in cells:
        assert cell.kind != "nested"
        assert cell == flat.chip(*index) == shape.element(index)
    for layer in range(len(layers) - 1):
        end = sum(layers[: layer + 1])
        parts = list(shape.cells(layer=layer))
        assert parts == list(shape.cells(layer=layer - len(layers)))
        assert [index for index, _ in parts] == prefixes(flat, end)
        for index, part in parts:
            below = layers[layer + 1 :]
            assert part == shape.element(index, layer=layer)
            assert part.flatten() == flat.chip(*index)
            assert part.layers == below
            assert part.kind == ("nested" if len(below) > 1 else part.flatten().kind)


@given(SHAPES, st.data())
def test_the_element_of_an_element_is_an_element(shape, data):
    layers = shape.layers
    if len(layers) < 3:
        return
    first = data.draw(st.integers(0, len(layers) - 3))
    second = data.draw(st.integers(0, len(layers) - 3 - first))
    for index, part in itertools.islice(shape.cells(layer=first), 4):
        for inner, cell in itertools.islice(part.cells(layer=second), 4):
            assert cell == shape.element((*index, *inner), layer=first + 1 + second)


@given(SHAPES)
def test_the_table_of_cells_is_the_cells(shape):
    cells = list(shape.cells())
    try:
        table = shape.cell_table()
    except JaggedModeError:
        assert any(cell.kind == "jagged" for _, cell in cells) or not cells
        return
    assert list(map(tuple, table.indices.tolist())) == [index for index, _ in cells]
    assert list(map(tuple, table.extents.tolist())) == [cell.extents for _, cell in cells]
    assert list(map(tuple, table.origins.tolist())) == [cell.origin for _, cell in cells]
    assert np.diff(table.offsets).tolist() == [cell.size for _, cell in cells]
    assert table.offsets[0] == 0
