"""Uniform, gridded, ragged: the tightest word for a shape, and the tiling behind a gridded one."""

import numpy as np
import pytest
from hypothesis import given

from tensorwrapper.errors import JaggedModeError
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.testing import shapes, tiled_shapes, tilings


def by_definition(shape):
    """The word that the dependencies of the modes ask for."""
    flat = shape.flatten()
    needs = [set(flat.dependencies(mode)) for mode in range(flat.rank)]
    if not any(needs):
        return "uniform"
    half, odd = divmod(flat.rank, 2)
    alone = all(needs[half + i] <= {i} for i in range(half))
    return "gridded" if not odd and alone and not any(needs[:half]) else "ragged"


@pytest.mark.parametrize(
    ("shape", "word"),
    [
        (Shape(), "uniform"),
        (Shape(2, 3, origin=(1, 5)), "uniform"),
        (Shape.jagged([2, 2, 2]), "uniform"),
        (Shape.jagged([], rank=4), "uniform"),
        (Shape.tiled([3, 3], [2, 2, 2]), "uniform"),
        (Shape.tiled([0, 0], [1, 2]), "uniform"),
        (Shape.from_cells((2, 2), [(1, 2, 3)] * 4, origins=(5, 6, 7)), "uniform"),
        (Shape.jagged([3, 1, 2]), "gridded"),
        (Shape.jagged([Shape(2), Shape(2, origin=(1,))]), "gridded"),
        (Shape.triangular(10**9), "gridded"),
        (Shape.tiled([5, 15, 10], [5, 15, 10]), "gridded"),
        (Shape.tiled([5, 15, 10], [4, 4]), "gridded"),
        (Shape.tiled([1, 2], [3, 4])[1:, :, 0:1], "gridded"),
        (Shape.tiled([1, 2], [3, 4], [5, 6]), "gridded"),
        (Shape.from_cells((2, 2), [(1, 3), (1, 4), (2, 3), (2, 4)]), "gridded"),
        (Shape.from_cells((2, 2), [(0, 9), (0, 4), (2, 3), (2, 4)]), "gridded"),
        (Shape.nested(Shape.tiled([1, 2], [3, 4]), layers=(2, 2)), "gridded"),
        (Shape.from_cells((2, 2), [(1, 3), (1, 4), (2, 3), (2, 5)]), "ragged"),
        (Shape.from_cells((2, 2), [(3, 1), (4, 1), (3, 2), (4, 2)]), "ragged"),
        (Shape.from_cells((2, 2), [(1, 1)] * 4, origins=[(0, 0), (0, 0), (0, 1), (0, 1)]), "ragged"),
        (Shape.jagged([Shape(1, 2), Shape(3, 4)]), "ragged"),
        (Shape.jagged([[10], [20, 30], [30, 10, 20]]), "ragged"),
        (Shape.jagged([Shape.tiled([1], [2, 3]), Shape.tiled([2], [2, 3])]), "ragged"),
        (Shape.tiled([1, 2], [3, 4])[0], "ragged"),
        (Shape.jagged([Shape(2, 2, 2), Shape(2, 2, 3)]), "ragged"),
        (Shape.jagged([Shape(2, 2, 2), Shape(2, 3, 2)]), "gridded"),
    ],
)
def test_the_tightest_word(shape, word):
    assert shape.raggedness == word


@given(shapes())
def test_the_word_is_what_the_dependencies_say(shape):
    assert shape.raggedness == by_definition(shape)


@given(tiled_shapes())
def test_a_tiled_shape_has_the_word_of_its_rows(shape):
    rows = Shape.from_cells(shape.outer(), shape.cell_table().extents)
    # Rows cannot say the sizes of tiles where there is none.
    assert rows == shape or (not shape.outer().size and rows.is_congruent(shape))
    assert rows.raggedness == shape.raggedness != "ragged"


def test_a_tiling_of_any_size_answers_without_its_tiles():
    tiles = np.arange(10**5)
    assert Shape.tiled(tiles, tiles, tiles).raggedness == "gridded"


@given(tilings())
def test_the_shape_of_a_tiling_gives_the_tiling_back(tiling):
    at_zero = tiling.translate_to((0,) * tiling.rank)
    assert Tiling.from_shape(tiling.shape) == at_zero
    if tiling.grid.size:
        rows = Shape.from_cells(tiling.grid, tiling.shape.cell_table().extents)
        assert Tiling.from_shape(rows) == at_zero


@given(tilings(min_rank=2))
def test_a_tiling_is_found_however_many_modes_are_unrolled(tiling):
    rows, columns = [partition.sizes.tolist() for partition in tiling.partitions]
    deep = Shape.jagged([[[n] * m for n in columns] for m in rows], rank=4)
    assert deep.outer_rank == 3 or not deep.cell_table().extents.size
    assert deep.raggedness == tiling.shape.raggedness
    assert Tiling.from_shape(deep).shape.is_congruent(deep)


@given(tilings())
def test_tiles_where_they_lie_give_the_tiling_with_its_origin(tiling):
    if not tiling.grid.size:
        return
    tiles = list(tiling.tiles())
    extents, origins = [tile.extents for tile in tiles], [tile.origin for tile in tiles]
    found = Tiling.from_shape(Shape.from_cells(tiling.grid, extents, origins=origins))
    # Where all tiles of a mode start at 0, places in the box are places in the tile.
    assert found == tiling
    assert found.elements == tiling.elements


@given(shapes(["jagged"]))
def test_a_shape_becomes_a_tiling_exactly_or_not_at_all(shape):
    shape = shape.translate_by(
        [-o if m < shape.rank // 2 else 0 for m, o in enumerate(shape.as_smooth().origin)]
    )
    try:
        tiling = Tiling.from_shape(shape)
    except JaggedModeError:
        assert shape.raggedness == "ragged" or shape.rank % 2 or not is_tiled(shape)
        return
    assert shape.raggedness in ("uniform", "gridded")
    assert tiling.rank * 2 == shape.rank
    assert tiling.grid.size == shape.leading(tiling.rank).size
    for number in shape.leading(tiling.rank).indices():
        tile, cell = tiling.tile(number), shape.chip(*number).as_smooth()
        assert cell.is_congruent(tile) or not tile.size


def is_tiled(shape):
    """Whether inner modes start at 0 everywhere, or each tile where the one before it ends."""
    half = shape.rank // 2
    box = shape.as_smooth()
    for mode in range(half):
        starts = {}
        for index in shape.leading(half + mode).indices():
            starts[index[mode]] = (shape.origin_at(index), shape.extent_at(index))
        if sorted(starts) != list(range(box.extents[mode])):
            return False
        ends = [start + extent for start, extent in (starts[k] for k in sorted(starts))]
        firsts = [starts[k][0] for k in sorted(starts)]
        if any(firsts) and firsts[1:] != ends[:-1]:
            return False
    return True


@pytest.mark.parametrize(
    ("shape", "match"),
    [
        (Shape(3, 4), "no mode of a box"),
        (Shape.jagged([Shape(1, 2), Shape(3, 4)]), "rank 3 is odd"),
        (Shape.jagged([3, 1, 2])[1:], "mode 0 has tile numbers from 1"),
        (Shape.tiled([1, 2], [3, 4])[:, 1:], "mode 1 has tile numbers from 1"),
        (Shape.jagged([[[1], [2, 3]], [[4, 5]]]), r"mode 1 has tile numbers that depend on the modes \(0,\)"),
        (Shape.from_cells((2, 2), [(1, 3), (1, 4), (2, 3), (2, 5)]), "mode 3 .*tile number of mode 1"),
        (Shape.from_cells((2, 2), [(3, 1), (4, 1), (3, 2), (4, 2)]), "mode 2 .*tile number of mode 0"),
        (
            Shape.jagged([Shape(2), Shape(2, origin=(1,))]),
            r"mode 1 has the origin 1 in tile 1 of mode 0.*ends \(2\)",
        ),
        (Shape.jagged([Shape(2, 2, 2), Shape(2, 2, 3)]), "mode 3 .*tile number of mode 1"),
    ],
)
def test_what_is_no_tiling_is_refused_by_the_mode(shape, match):
    with pytest.raises(JaggedModeError, match=match):
        Tiling.from_shape(shape)


def test_tiles_without_elements_keep_the_sizes_that_are_stored():
    shape = Shape.from_cells((2, 2), [(0, 3), (0, 4), (0, 3), (0, 4)])
    assert Tiling.from_shape(shape) == Tiling([0, 0], [3, 4])
    assert Tiling.from_shape(shape).shape == shape
    assert Tiling.from_shape(Shape.jagged([], rank=4)) == Tiling([], [])
