"""Tiled views, reductions and selections of tiles, cells, padding, copies and comparison."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer, jagged

SIZES = st.lists(st.integers(0, 3), max_size=4)


@st.composite
def tiled_tensors(draw):
    """An array of some layout, a tiling of it (empty tiles, also none at all), and the tiled view."""
    tiling = Tiling(*draw(st.lists(SIZES, min_size=1, max_size=3)))
    extents = tiling.elements.extents
    x = np.arange(np.prod(extents, dtype=int)).reshape(extents)
    match draw(st.sampled_from(["C", "F", "steps"])):
        case "F":
            x = np.asfortranarray(x)
        case "steps":
            wide = np.arange(np.prod([2 * n for n in extents], dtype=int)).reshape([2 * n for n in extents])
            x = wide[tuple(slice(None, None, draw(st.sampled_from([2, -2]))) for _ in extents)]
    return x, tiling, as_tensor(x).tiled(tiling)


def block(x, tile):
    return x[tuple(slice(o, o + n) for o, n in zip(tile.origin, tile.extents, strict=True))]


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
        with pytest.raises(LayoutError, match="needs a tiled view"):
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
def test_selected_tiles_are_one_packed_copy_with_absolute_origins(made, data):
    x, tiling, t = made
    grid = list(tiling.grid.indices())
    chosen = data.draw(st.lists(st.sampled_from(grid), max_size=6)) if grid else []
    numbers = np.array(chosen, dtype=data.draw(st.sampled_from(["i8", "u1", ">i4"]))).reshape(-1, tiling.rank)
    with count_copies() as count:
        s = t.select_tiles(numbers)
    tiles = [tiling.tile(number) for number in chosen]
    assert s.shape.outer() == Shape(len(chosen))
    assert (count.copies, count.nbytes) == (1, sum(tile.size for tile in tiles) * x.itemsize)
    assert s.layout.is_contiguous
    assert not s.is_readonly
    for k, tile in enumerate(tiles):
        assert s.shape[k] == tile
        assert np.array_equal(np.asarray(s[k]), block(x, tile))
    assert not np.shares_memory(s.elements(), x)


@given(tiled_tensors(), st.data())
def test_a_mask_selects_tiles_in_row_major_order(made, data):
    _, tiling, t = made
    cells = st.lists(st.booleans(), min_size=tiling.grid.size, max_size=tiling.grid.size)
    mask = np.array(data.draw(cells), dtype=bool).reshape(tiling.grid.extents)
    s = t.select_tiles(mask)
    expected = t.select_tiles(np.argwhere(mask))
    assert s.shape == expected.shape
    assert s.array_equal(expected)


@pytest.mark.parametrize(
    ("numbers", "error", "text"),
    [
        ([(2, 0)], OutOfBoundsError, None),
        ([(0, -1)], OutOfBoundsError, None),
        ([0, 1], ConversionError, r"shape \(n, 2\)"),
        ([(0, 1, 0)], ConversionError, r"shape \(n, 2\)"),
        ([(0.0, 1.0)], ConversionError, "float64"),
        ([[True, False]], RankError, r"extents \(2, 2\), not \(1, 2\)"),
    ],
)
def test_numbers_of_tiles_that_do_not_fit_are_refused(numbers, error, text):
    t = as_tensor(np.zeros((3, 3))).tiled(Tiling([1, 2], [2, 1]))
    with pytest.raises(error, match=text):
        t.select_tiles(numbers)


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


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_padding_puts_every_element_at_its_index(lengths):
    t = from_buffer(np.arange(sum(lengths)), Shape.jagged(lengths, origin=(3, 1)))
    padded = np.full((len(lengths), max(lengths)), -7)
    for row, n in enumerate(lengths):
        padded[row, :n] = np.asarray(t[row])
    with count_copies() as count:
        result = t.to_padded(fill_value=-7)
    assert np.array_equal(result, padded)
    assert count.nbytes == t.nbytes
    assert result.dtype == t.dtype


def test_padding_of_boxes_and_scalars_is_a_copy():
    x = np.arange(6).reshape(2, 3)
    padded = as_tensor(x[:, ::-1]).to_padded()
    assert np.array_equal(padded, x[:, ::-1])
    assert not np.shares_memory(padded, x)
    assert as_tensor(5).to_padded().tolist() == 5
    assert jagged([[True], [False, True]]).to_padded(fill_value=True).tolist() == [
        [True, True],
        [False, True],
    ]
    assert jagged([[1.0], []]).to_padded(fill_value=np.nan).shape == (2, 1)


# Copies and comparison.


@given(tiled_tensors())
def test_a_copy_has_memory_of_its_own_and_the_same_shape(made):
    x, _, t = made
    for tensor in (t, t.untiled(), t.untiled()[..., None]):
        with count_copies() as count:
            copied = tensor.copy()
        assert (count.copies, count.nbytes) == (1, x.nbytes)
        assert copied.shape == tensor.shape
        assert copied.array_equal(tensor)
        assert copied.layout.is_tiled == tensor.layout.is_tiled
        assert not np.shares_memory(copied.elements(), x)


def test_a_copy_of_a_jagged_part_has_its_elements_alone():
    t = jagged([[1, 2], [3], [4, 5, 6]])
    copied = t.window(t.shape[1:]).copy()
    assert copied.shape == t.shape[1:]
    assert copied.elements().tolist() == [3, 4, 5, 6]
    assert len(copied._buffer.flat) == 4
    assert not np.shares_memory(copied.elements(), t.elements())


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


def test_array_equal_compares_shapes_and_elements():
    t = as_tensor([[1.0, np.nan]])
    assert not t.array_equal(t)
    assert t.array_equal(t, equal_nan=True)
    assert as_tensor([1, 2]).array_equal(as_tensor([1.0, 2.0]))
    assert not as_tensor([1, 2]).array_equal(as_tensor([[1, 2]]))
    assert not as_tensor([1, 2]).array_equal(as_tensor([1, 3]))
    assert not as_tensor([1, 2]).array_equal(as_tensor([1, 2]).window(Shape(2)).permute((0,))[::-1])
    assert not as_tensor(np.zeros((0, 2))).array_equal(as_tensor(np.zeros((2, 0))))
    x = as_tensor(np.arange(6))
    assert not x[2:].array_equal(x.window(Shape(6)[2:]))
    rows = jagged([[1, 2], [3]])
    assert rows.array_equal(rows.copy())
    assert not rows.array_equal(jagged([[1], [2, 3]]))
    box = as_tensor(np.arange(9).reshape(3, 3))
    tiles = box.tiled(Tiling([1, 2], [2, 1]))
    packed = from_buffer(tiles.elements(), tiles.shape)
    assert packed.array_equal(tiles)
    assert packed.layout == Layout(tiles.shape)
    assert tiles.array_equal(packed)


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


def test_equal_boxes_and_tiled_boxes_are_compared_without_copies():
    x = np.arange(36.0).reshape(6, 6)
    y = np.asfortranarray(x)
    tiling = Tiling([2, 4], [3, 3])
    with count_copies() as count:
        assert as_tensor(x).array_equal(as_tensor(y))
        assert as_tensor(x).tiled(tiling).array_equal(as_tensor(y).tiled(tiling))
        assert not as_tensor(x).array_equal(as_tensor(x.T))
    assert count.copies == 0
    with pytest.raises(ConversionError, match="not with a ndarray"):
        as_tensor(x).array_equal(x)


def test_padding_is_a_number_that_the_elements_can_be():
    rows = jagged([[1, 2], [3]])
    assert rows.to_padded(fill_value=-1).tolist() == [[1, 2], [3, -1]]
    for fill in (1.5, 2**70, float("nan")):
        with pytest.raises((OverflowError, ConversionError, DTypeError), match="fill"):
            rows.to_padded(fill_value=fill)
    assert as_tensor([[1, 2]]).to_padded(fill_value=7).tolist() == [[1, 2]]


def test_membership_asks_the_elements():
    assert 3.0 in as_tensor([1.0, 3.0])
    assert 2 in jagged([[1], [2, 3]])
    assert 9 not in jagged([[1], [2, 3]])


def test_what_is_no_ufunc_and_no_tile_is_refused():
    t = as_tensor(np.ones((2, 2))).tiled(Tiling([1, 1], [2]))
    for wrong in ("add", np.sum, None):
        with pytest.raises(ConversionError, match="ufunc such as"):
            t.reduce_tiles(wrong)
    assert t.select_tiles([]).shape.size == 0
    assert complex(as_tensor(2.0)) == 2
