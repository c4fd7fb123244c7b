"""Tiled views, reductions and selections of tiles, cells, padding, copies and comparison."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    JaggedModeError,
    LayoutError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.selection import as_view
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer, jagged, strings
from tests.support.shape.row_sets import MIB, peak_of
from tests.support.tensor.tiled_tensors import block, tiled_tensors


@given(tiled_tensors())
def test_a_tiled_view_shows_the_same_memory(made):
    x, tiling, t = made
    rank = tiling.rank
    assert t.shape == tiling.shape
    assert (t.rank, t.size, t.dtype) == (2 * rank, x.size, x.dtype)
    assert t.tiling == tiling
    assert np.array_equal(np.asarray(t.untiled()), x)
    assert np.asarray(t.untiled()).__array_interface__["data"] == x.__array_interface__["data"] or not x.size
    cells = dict(t.cells())
    assert list(cells) == list(tiling.grid.indices())
    for number, tile in zip(tiling.grid.indices(), tiling.tiles(), strict=True):
        expected = block(x, tile)
        assert np.array_equal(np.asarray(t[number]), expected)
        assert np.array_equal(np.asarray(t.tile(number)), expected)
        assert (t[number].shape, t.tile(number).shape) == (Shape(*tile.extents), tile)
        assert cells[number].shape == Shape(*tile.extents)
        assert np.array_equal(np.asarray(cells[number]), expected)
        if expected.size:
            address = expected.__array_interface__["data"][0]
            assert np.asarray(cells[number]).__array_interface__["data"][0] == address
            assert np.asarray(t.tile(number)).__array_interface__["data"][0] == address
    flat = [v for tile in tiling.tiles() for v in block(x, tile).ravel().tolist()]
    assert t.elements().tolist() == flat


@given(tiled_tensors())
def test_tolist_and_padding_of_tiled_views(made):
    x, tiling, t = made
    grid, rank = tiling.grid.extents, tiling.rank

    def nested(number):
        if len(number) == rank:
            return block(x, tiling.tile(number)).tolist()
        return [nested((*number, k)) for k in range(grid[len(number)])]

    assert t.tolist() == nested(())
    padded = np.full(t.shape.as_smooth().extents, -1)
    for number in tiling.grid.indices():
        part = block(x, tiling.tile(number))
        if part.size:
            padded[(*number, *map(slice, part.shape))] = part
    assert np.array_equal(t.to_padded(fill_value=-1), padded)


def test_writing_to_a_tile_writes_to_the_box():
    x = np.zeros((3, 3))
    t = as_tensor(x).tiled(Tiling([1, 2], [2, 1]))
    t[1, 0] = [[1, 2], [3, 4]]
    t.tile((0, 1))[0, 2 - 2] = 9
    assert x.tolist() == [[0, 0, 9], [1, 2, 0], [3, 4, 0]]
    with pytest.raises(ConversionError, match="cell by cell"):
        t[:, :] = [0, 0]
    t[:, :1] = 5
    assert x.tolist() == [[5, 5, 9], [5, 5, 0], [5, 5, 0]]


def test_windows_and_boxes_of_tiles():
    x = np.arange(36).reshape(6, 6)
    t = as_tensor(x).tiled(Tiling([1, 2, 3], [3, 2, 1]))
    part = t[1:, :2]
    assert part.tiling == Tiling([2, 3], [3, 2], origin=(1, 0))
    assert np.array_equal(np.asarray(part.untiled()), x[1:, :5])
    window = t.window(t.shape[1:3, 0:2])
    assert window.shape == t.shape[1:3, 0:2]
    assert np.array_equal(np.asarray(window.tile((2, 1))), x[3:, 3:5])
    assert list(dict(window.cells())) == [(1, 0), (1, 1), (2, 0), (2, 1)]
    for same in (window.copy(), window):
        assert same.shape == window.shape
        assert same.tiling == part.tiling
        assert np.array_equal(np.asarray(same.tile((2, 1))), x[3:, 3:5])
        assert np.array_equal(same.select_tiles([(2, 1)])[0].tolist(), x[3:, 3:5])
        assert same.reduce_tiles(np.add).shape == Shape(2, 2, origin=(1, 0))
    turned = t.permute((1, 0, 3, 2))
    assert np.array_equal(np.asarray(turned.tile((2, 1))), x[1:3, 5:6].T)


def test_what_needs_a_tiled_view_or_a_box_says_so():
    box = as_tensor(np.zeros((2, 2)))
    t = box.tiled(Tiling([1, 1], [2]))
    for call in (
        box.untiled,
        lambda: box.tile((0, 0)),
        lambda: box.tiling,
        lambda: box.select_tiles([(0, 0)]),
    ):
        with pytest.raises(LayoutError, match="needs a tiled"):
            call()
    with pytest.raises(LayoutError, match="does not cover"):
        box.tiled(Tiling([1], [2]))
    with pytest.raises(LayoutError, match="strided"):
        t.tiled(Tiling([1, 1], [2]))
    for number in ((2, 0), (0, -1), (0, 1)):
        with pytest.raises(OutOfBoundsError):
            t.tile(number)
    with pytest.raises(RankError):
        t.tile((0,))
    with pytest.raises(ConversionError, match="integer"):
        t.tile((0.5, 0))
    with pytest.raises(JaggedModeError, match="one cell"):
        list(box.cells())
    with pytest.raises(JaggedModeError, match="one cell"):
        box.reduce_tiles(np.add)


# Selections.


@given(tiled_tensors(), st.data())
def test_selected_tiles_are_scattered_to_where_they_were(made, data):
    x, tiling, t = made
    cells = st.lists(st.booleans(), min_size=tiling.grid.size, max_size=tiling.grid.size)
    mask = np.array(data.draw(cells), dtype=bool).reshape(tiling.grid.extents)
    fill = data.draw(st.sampled_from([0, 7]))
    expected = np.full_like(x, fill)
    for number in np.argwhere(mask).tolist():
        tile = tiling.tile(number)
        block(expected, tile)[...] = block(x, tile)
    selected = t.select_tiles(mask)

    over = Shape(*tiling.elements.extents, origin=tiling.elements.origin)
    box = selected.scatter(over, fill_value=fill)
    assert box.shape == over
    assert np.array_equal(np.asarray(box), expected)
    tiles = selected.scatter(tiling, fill_value=fill)
    assert tiles.tiling == tiling
    assert tiles.untiled().array_equal(box)


def test_cells_are_scattered_wherever_they_lie_in_memory():
    t = jagged([[1, 2], [3], []]).astype("i4")
    places = Shape.jagged([Shape(2, origin=(3,)), Shape(1), Shape(0, origin=(9,))])
    moved = from_buffer(np.arange(3.0), places)
    assert t[:1].scatter((4,)).tolist() == [1, 2, 0, 0]
    assert moved.scatter((5,), fill_value=np.inf).tolist() == [2.0, np.inf, np.inf, 0.0, 1.0]
    words = strings(["a", "b", "c"]).tiled(Tiling([2, 1])).select_tiles([(1,)])
    assert words.scatter((3,)).tolist() == ["", "", "c"]
    with pytest.raises(DTypeError, match="scatter"):
        words.scatter((3,), fill_value="x")


@pytest.mark.parametrize(
    ("cells", "over", "error", "text"),
    [
        ([Shape(2, origin=(3,))], (4,), OutOfBoundsError, r"the cell \(0,\).* is not inside \(4,\)"),
        ([Shape(0, origin=(9,)), Shape(1, origin=(-1,))], (4,), OutOfBoundsError, r"the cell \(1,\)"),
        (
            [Shape(2), Shape(0), Shape(1, origin=(3,)), Shape(2, origin=(1,))],
            Shape(5, origin=(-1,)),
            LayoutError,
            r"one place: the cells \(0,\) and \(3,\) both have the element \(1,\)",
        ),
        ([Shape(2)], (2, 2), RankError, "rank 1"),
    ],
)
@pytest.mark.parametrize("fill", [0, 1])
def test_cells_that_do_not_fit_are_not_scattered(cells, over, error, text, fill):
    shape = Shape.jagged(cells)
    with pytest.raises(error, match=text):
        from_buffer(np.arange(shape.size), shape).scatter(over, fill_value=fill)


# Cells of jagged tensors.


def test_cells_of_jagged_tensors_share_memory_and_keep_their_origins():
    shape = Shape.from_cells((3,), [(2, 2), (0, 0), (3, 3)], origins=[(5, 5), (0, 0), (7, 8)])
    flat = np.arange(13.0)
    t = from_buffer(flat, shape)
    cells = dict(t.cells())
    assert list(cells) == [(0,), (1,), (2,)]
    assert cells[2,].shape == Shape(3, 3, origin=(7, 8))
    assert np.array_equal(np.asarray(cells[2,]), flat[4:].reshape(3, 3))
    assert np.shares_memory(np.asarray(cells[2,]), flat)
    cells[0,][...] = -1.0
    assert flat[:5].tolist() == [-1.0] * 4 + [4.0]
    part = t[1:]
    assert [c.shape.size for _, c in part.cells()] == [0, 9]
    assert np.shares_memory(np.asarray(dict(part.cells())[1,]), flat)


def test_cells_of_tensors_with_several_unrolled_modes():
    t = jagged([[[1], [2, 3]], [], [[4, 5, 6]]])
    assert {i: c.tolist() for i, c in t.cells()} == {(0, 0): [1], (0, 1): [2, 3], (2, 0): [4, 5, 6]}
    square = from_buffer(np.arange(6), Shape.from_cells((2, 2), [(1, 1), (0, 5), (2, 1), (1, 3)]))
    assert [c.shape.extents for _, c in square.cells()] == [(1, 1), (0, 5), (2, 1), (1, 3)]


# Copies and comparison.


def test_elements_are_a_view_where_they_lie_in_order():
    x = np.arange(12).reshape(3, 4)
    t = as_tensor(x)
    for tensor, expected in [
        (t, x),
        (t[1:], x[1:]),
        (t[1, 1:3], x[1, 1:3]),
        (as_tensor(x.T).permute((1, 0)), x),
        (t.tiled(Tiling([1, 2], [4])), x),
        (t[1:].tiled(Tiling([1, 1], [3, 1]))[1:, 1:], x[2:, 3:]),
        (as_tensor(np.asfortranarray(x)).tiled(Tiling([3], [1, 1, 1, 1])), x.T),
        (jagged([[0, 1], [2]])[1:], np.array([2])),
    ]:
        with count_copies() as count:
            assert tensor.elements().tolist() == expected.ravel().tolist()
        assert count.copies == 0
    with count_copies() as count:
        assert t[:, ::-1].elements().tolist() == x[:, ::-1].ravel().tolist()
        assert t[:, :2].elements().tolist() == x[:, :2].ravel().tolist()
        assert t.tiled(Tiling([3], [2, 2])).elements().tolist() == [0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11]
    assert count.copies == 3


def test_packed_tiles_reduce_pad_and_list_as_the_view_does():
    tiles = as_tensor(np.arange(9).reshape(3, 3)).tiled(Tiling([1, 0, 2], [2, 1]))
    packed = from_buffer(tiles.elements(), tiles.shape)
    assert packed.tolist() == tiles.tolist()
    assert np.array_equal(packed.to_padded(), tiles.to_padded())
    assert packed.reduce_tiles(np.add).array_equal(tiles.reduce_tiles(np.add))
    for (i, a), (j, b) in itertools.zip_longest(packed.cells(), tiles.cells()):
        assert i == j
        assert a.array_equal(b)


# What does not depend on how the elements lie.


@given(st.data())
def test_elements_of_a_tiled_view_come_tile_after_tile(data):
    sizes = [data.draw(st.lists(st.integers(0, 4), min_size=1)) for _ in range(data.draw(st.integers(1, 3)))]
    start = [data.draw(st.integers(-3, 3)) for _ in sizes]
    tiling = Tiling(*sizes, origin=start)
    extents = tiling.elements.extents
    x = np.arange(math.prod(extents)).reshape(extents)[::-1]
    flat = as_tensor(x)
    layout = Layout(tiling.elements, strides=flat.layout.strides, offset=flat.layout.offset)
    box = Tensor(layout, flat._buffer).tiled(tiling)
    expected: list[int] = []
    for tile in tiling.tiles():
        corner = [a - b for a, b in zip(tile.origin, start, strict=True)]
        expected += (
            x[tuple(slice(c, c + n) for c, n in zip(corner, tile.extents, strict=True))].ravel().tolist()
        )

    assert box.elements().tolist() == expected


@pytest.mark.parametrize("step", [1, -1])
def test_elements_of_wide_rows_of_tiles_come_tile_after_tile(step):
    tiling = Tiling([5, 0, 15, 10, 5], [7, 3, 0, 20], origin=(-2, 9))
    x = np.arange(35 * 30).reshape(35, 30)[::step, ::-1]
    flat = as_tensor(x)
    layout = Layout(tiling.elements, strides=flat.layout.strides, offset=flat.layout.offset)
    down, across = (m - m[0] for m in tiling.marks)
    pairs = itertools.product(itertools.pairwise(down), itertools.pairwise(across))
    expected = [x[a:b, c:d].ravel() for (a, b), (c, d) in pairs]

    assert Tensor(layout, flat._buffer).tiled(tiling).elements().tolist() == np.concatenate(expected).tolist()


def test_membership_asks_the_elements():
    assert 3.0 in as_tensor([1.0, 3.0])
    assert 2 in jagged([[1], [2, 3]])
    assert 9 not in jagged([[1], [2, 3]])


def test_what_is_no_ufunc_and_no_tile_is_refused():
    t = as_tensor(np.ones((2, 2))).tiled(Tiling([1, 1], [2]))
    for wrong in ("add", None):
        with pytest.raises(ConversionError, match="ufunc such as"):
            t.reduce_tiles(wrong)
    assert t.select_tiles([]).shape.size == 0
    assert complex(as_tensor(2.0)) == 2


@pytest.mark.parametrize("lazy", [False, True])
def test_tiles_are_chosen_by_a_predicate_of_their_numbers(lazy):
    x = np.arange(30.0).reshape(5, 6)
    t = as_tensor(x).tiled(Tiling([2, 0, 3], [1, 2, 3]))
    chosen_of = as_view(t) if lazy else t
    mask = np.add.outer(np.arange(3), np.arange(3)) % 2 == 0

    for predicate in (lambda i, j: (i + j) % 2 == 0, lambda i, j: np.asarray(i + j) % 2 == 0):
        found = chosen_of.select_tiles(predicate)
        assert found.shape == t.select_tiles(mask).shape
        assert found.tolist() == t.select_tiles(mask).tolist()
    row = chosen_of.select_tiles(lambda i, _: i == 2)
    assert row.tolist() == t.select_tiles([(2, 0), (2, 1), (2, 2)]).tolist()
    with pytest.raises(ConversionError, match="truth values"):
        chosen_of.select_tiles(lambda i, j: i + j)
    with pytest.raises(RankError, match="extents"):
        chosen_of.select_tiles(lambda *_: np.ones((2, 2), bool))


@pytest.mark.parametrize(
    "t",
    [
        tw.jagged([[1, 2, 3], [], [4]]),
        tw.jagged([[1, 2, 3], [], [4]])[::-1, ::-1],
        tw.jagged([[[1, 2], [3]], [], [[4]]]),
        tw.as_tensor(np.arange(35).reshape(7, 5)).tiled(tw.Tiling([1, 0, 6], [3, 2])),
        tw.as_tensor(np.arange(35).reshape(7, 5)).tiled(tw.Tiling([1, 0, 6], [3, 2])).permute((1, 0, 3, 2)),
        tw.full(tw.Shape.from_cells((3,), [(2, 2), (0, 5), (1, 3)]), 1, dtype="i8"),
    ],
)
def test_cells_are_the_elements_of_their_indices(t):
    for index, cell in t.cells():
        element = t.element(index)
        assert cell.shape == element.shape
        assert not cell.size or cell.layout == element.layout
        assert cell.tolist() == element.tolist()


def test_layers_are_not_scattered():
    nested = Shape.nested(Shape(2, 2, 2), layers=(1, 2))
    with pytest.raises(JaggedModeError, match="layers"):
        from_buffer(np.arange(8), nested).scatter((9, 9))
    with pytest.raises(JaggedModeError, match="layers"):
        as_view(from_buffer(np.arange(8), nested)).scatter((9, 9))


def test_tiles_are_taken_and_put_back_with_little_memory_besides():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 60, (2, 40)).tolist()
    box = tw.as_tensor(rng.random([sum(own) for own in sizes])).tiled(tw.Tiling(*sizes))
    mask = rng.random((40, 40)) < 0.9
    chosen, peak = peak_of(lambda: box.select_tiles(mask))
    assert peak < chosen.nbytes + 4 * MIB
    back, peak = peak_of(lambda: chosen.scatter(box.tiling))
    assert peak < back.nbytes + 4 * MIB
    kept = np.repeat(np.repeat(mask, sizes[0], axis=0), sizes[1], axis=1)
    assert np.array_equal(np.asarray(back.untiled()), np.where(kept, np.asarray(box.untiled()), 0))
