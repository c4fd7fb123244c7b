"""Copies of tensors: packed, padded; and tensors compared element by element."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import as_tensor, from_buffer, jagged
from tensorwrapper.testing import jagged_shapes
from tests.support.tensor.tiled_tensors import block, tiled_tensors


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


@given(jagged_shapes(max_rank=4))
def test_padding_of_every_jagged_shape_has_each_element_at_its_index(shape):
    t = from_buffer(np.arange(1, shape.size + 1), shape)
    box = shape.as_smooth()
    wanted = np.zeros(box.extents, np.int64)
    for number, index in enumerate(shape.indices(), 1):
        wanted[tuple(i - start for i, start in zip(index, box.origin, strict=True))] = number
    assert t.to_padded().tolist() == wanted.tolist()
    assert t[::-1].to_padded(fill_value=-1).shape == wanted.shape


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
