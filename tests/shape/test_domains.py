"""A box per tile or per cell as index domains of TensorStore: origins and labels stay, there and back."""

import json

import numpy as np
import pytest
import tensorstore as ts
from hypothesis import given

from tensorwrapper.layout import IndexDomain
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.testing import jagged_shapes, tilings


def through_tensorstore(domains):
    """Return domains as TensorStore reads and writes them."""
    return [IndexDomain.from_json(ts.IndexDomain(json=json.loads(d.to_json())).to_json()) for d in domains]


@given(tilings().filter(lambda t: t.rank and t.grid.size))
def test_a_tiling_is_a_domain_per_tile(tiling):
    labels = [f"x{mode}" for mode in range(tiling.rank)]
    domains = [IndexDomain(tile, labels) for tile in tiling.tiles()]
    back = through_tensorstore(domains)
    assert back == domains
    extents, origins = zip(*[(d.shape.extents, d.shape.origin) for d in back], strict=True)
    grid = Shape(*tiling.grid.extents)
    assert Tiling.from_shape(Shape.from_cells(grid, extents, origins=origins)) == tiling


@given(jagged_shapes().filter(lambda s: s.outer().size and s.rank > s.outer_rank))
def test_a_jagged_shape_is_a_domain_per_cell(shape):
    cells = [IndexDomain(cell) for _, cell in shape.cells()]
    back = through_tensorstore(cells)
    assert back == cells
    table = [d.shape.extents for d in back], [d.shape.origin for d in back]
    assert Shape.from_cells(shape.outer(), table[0], origins=table[1]) == shape


def test_the_tables_of_cells_say_the_same_as_their_domains():
    shape = Shape.from_cells((2,), [(1, 2), (3, 4)], origins=[(5, 6), (-7, 8)])
    table = shape.cell_table()
    domains = [IndexDomain(cell) for _, cell in shape.cells()]
    assert np.array_equal(table.extents, [d.shape.extents for d in domains])
    assert np.array_equal(table.origins, [d.shape.origin for d in domains])


@pytest.mark.parametrize("origin", [0, -3])
def test_labels_and_origins_stand_in_the_json(origin):
    (domain,) = [IndexDomain(tile, ["atom"]) for tile in Tiling([4], origin=(origin,)).tiles()]
    theirs = ts.IndexDomain(json=json.loads(domain.to_json()))
    assert (theirs.labels, theirs.origin, theirs.shape) == (("atom",), (origin,), (4,))
