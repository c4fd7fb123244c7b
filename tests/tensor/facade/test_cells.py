"""Cells put together by their size, and reduced by functions of the user."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, JaggedModeError, LayerError
from tensorwrapper.tensor.facade import _cells
from tensorwrapper.testing import jagged_shapes

WORDS = tw.strings(["a", "b", "c", "d"]).unflatten([2, 0, 2])
SHAPES = jagged_shapes(max_rank=4)


@st.composite
def tensors(draw):
    """A tensor of rows or cells, packed or with its rows the other way round."""
    shape = draw(SHAPES)
    t = tw.from_buffer(np.arange(1.0, shape.size + 1), shape)
    return t[::-1] if draw(st.booleans()) else t


@given(tensors())
def test_every_cell_is_in_the_group_of_its_size(t):
    cells = {index: cell.to_numpy() for index, cell in t.cells()}
    groups = t.group_by_shape()
    assert [g.extents for g in groups] == sorted({cell.shape for cell in cells.values()})
    for group in groups:
        assert group.cells.shape == Shape(len(group.indices), *group.extents)
        for index, cell in zip(group.indices.tolist(), group.cells.to_numpy(), strict=True):
            assert np.array_equal(cell, cells.pop(tuple(index)))
    assert not cells


@given(tensors())
def test_a_function_reduces_as_a_ufunc_does(t):
    by_ufunc = t.reduce_tiles(np.add)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cells, "_BLOCK", 40)
        by_function = t.reduce_tiles(np.sum)
    assert by_function.shape == by_ufunc.shape
    assert np.allclose(by_function.elements(), by_ufunc.elements())


def test_norms_of_tiles():
    x = np.arange(30.0).reshape(5, 6)
    t = tw.as_tensor(x).tiled(Tiling([2, 3], [1, 0, 5]))
    norms = t.reduce_tiles(np.linalg.norm)
    assert norms.shape == Shape(2, 3)
    assert norms[1, 2].item() == np.linalg.norm(x[2:, 1:])
    assert norms[0, 1].item() == 0
    assert t.reduce_tiles(lambda a, axis: a.any(axis)).dtype == np.bool_


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("function", [np.median, np.mean, np.std, np.var])
def test_of_an_empty_tile_a_function_makes_what_it_makes_of_nothing(function):
    for t in (tw.jagged([[1.0, 3.0], [], [4.0]]), tw.as_tensor([1.0, 3.0, 4.0]).tiled(Tiling([2, 0, 1]))):
        found = t.reduce_tiles(function).tolist()
        assert [found[0], found[2]] == [function([1.0, 3.0]), function([4.0])]
        assert np.isnan(found[1])


def test_a_function_that_makes_nothing_of_no_elements_says_so():
    with pytest.raises(ExtentError, match=r"a tile is empty.*no identity"):
        tw.jagged([[1.0], []]).reduce_tiles(np.max)


def test_a_function_may_warn_of_tiles_that_have_elements():
    with pytest.warns(RuntimeWarning):
        tw.jagged([[1.0], []]).reduce_tiles(lambda a, axis: np.std(a, axis=axis, ddof=1))


def test_groups_copy_each_element_once():
    t = tw.jagged([[1, 2], [3], [4, 5], []])
    with count_copies() as count:
        groups = t.group_by_shape()
    assert count.nbytes == t.nbytes
    assert [g.indices.tolist() for g in groups] == [[[3]], [[1]], [[0], [2]]]
    groups[2].cells[0, 0] = 9
    assert t[0, 0].item() == 1


def test_cells_of_many_rows_are_those_that_are_asked_for_one_by_one():
    counts = np.arange(2500) % 4  # more than are made at a time, and each fourth is empty
    for t in (
        tw.as_tensor(np.arange(counts.sum())).unflatten(counts),
        tw.jagged([[[1, 2]], [[3], [4, 5]], []]),
    ):
        for turned in (t, t[::-1]):
            for index, cell in turned.cells():
                one = turned.element(index)
                assert cell.shape == one.shape
                assert cell.layout == one.layout or not cell.size


def test_batched_products_are_those_of_the_cells():
    t = tw.as_tensor(np.arange(36.0).reshape(6, 6)).tiled(Tiling([2, 1, 3], [2, 1, 3]))
    found = {}
    for group in t.group_by_shape():
        products = np.matmul(group.cells.to_numpy(), group.cells.to_numpy().transpose(0, 2, 1))
        found |= dict(zip(map(tuple, group.indices.tolist()), products, strict=True))
    for index, tile in t.cells():
        assert np.array_equal(found[index], tile.to_numpy() @ tile.to_numpy().T)


def all_of_it(array, axis):
    assert axis == (1,)
    return array


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tw.zeros((2, 2)).group_by_shape(), JaggedModeError, "group_by_shape"),
        (lambda: tw.zeros((2, 2)).reduce_tiles(np.linalg.norm), JaggedModeError, "reduce_tiles"),
        (lambda: tw.jagged([[1]]).reduce_tiles(5), ConversionError, "not by 5"),
        (lambda: tw.jagged([[1]]).reduce_tiles(np.sum, initial=1), ConversionError, "initial"),
        (
            lambda: tw.jagged([[1, 2]]).reduce_tiles(all_of_it),
            ConversionError,
            r"one number .* \(1, 2\)",
        ),
        (lambda: WORDS.reduce_tiles(np.sum), DTypeError, "reduce_tiles"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_strings_have_groups_too():
    assert WORDS.group_by_shape()[1].cells.tolist() == [["a", "b"], ["c", "d"]]


def test_layers_whose_elements_are_no_cells_are_refused():
    deep = Shape.jagged([[], [1, 2], [3]])
    rows = tw.from_buffer(np.arange(6), Shape.nested(deep, layers=(2, 1)))
    flat = tw.from_buffer(np.arange(6), deep)
    for make in (lambda t: t, tw.selection.as_view):
        assert make(rows).reduce_tiles(np.add).array_equal(make(flat).reduce_tiles(np.add))
        assert make(rows).reduce_tiles(np.median).array_equal(flat.reduce_tiles(np.median))
        found = make(rows).group_by_shape()
        assert [g.cells.tolist() for g in found] == [g.cells.tolist() for g in flat.group_by_shape()]
        for shape in (Shape.nested(deep, layers=(1, 2)), Shape.nested(Shape(1, 3, 2), layers=(1, 2))):
            other = make(tw.from_buffer(np.arange(6), shape))
            for call in (other.group_by_shape, lambda t=other: t.reduce_tiles(np.add)):
                with pytest.raises(LayerError, match="flatten"):
                    call()


FUNCTIONS = (
    np.sum,
    np.prod,
    np.max,
    np.min,
    np.any,
    np.all,
    np.mean,
    np.var,
    np.std,
    np.linalg.norm,
    np.median,
)


@st.composite
def cut_tensors(draw):
    """A tensor of tiles or cells that lies somehow in memory, and its tiles as arrays in row-major order."""
    rank = draw(st.integers(1, 3))
    sizes = [draw(st.lists(st.integers(0, 4), min_size=1, max_size=4)) for _ in range(rank)]
    dtype = np.dtype(draw(st.sampled_from(["?", "i1", "u2", "i8", "f4", "f8", ">f8", "c8", "c16", "f2"])))
    numbers = draw(arrays(np.int8, [sum(own) for own in sizes], elements=st.integers(-3, 3)))
    array = np.asarray(numbers, order=draw(st.sampled_from("CF"))).astype(dtype)
    if dtype.kind == "c":
        array = array + 1j * array[::-1]
    if draw(st.booleans()):
        array = array[(slice(None, None, -1),) * rank]
    t = tw.as_tensor(array).tiled(tw.Tiling(*sizes))
    marks = [np.r_[0, np.cumsum(own)] for own in sizes]
    grid = np.ndindex(*[len(own) for own in sizes])
    parts = [array[tuple(slice(m[k], m[k + 1]) for m, k in zip(marks, place, strict=True))] for place in grid]
    return (t.copy() if draw(st.booleans()) else t), parts


@given(cut_tensors(), st.sampled_from(FUNCTIONS))
@settings(max_examples=300, deadline=None)
def test_a_function_of_numpy_gives_what_it_gives_of_each_tile(pair, function):
    t, parts = pair
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            wanted = [np.asarray(function(part.reshape(-1))) for part in parts]
        except ValueError:
            with pytest.raises(ExtentError, match="is empty"):
                t.reduce_tiles(function)
            return
        found = t.reduce_tiles(function)
    assert found.dtype == wanted[0].dtype.newbyteorder("=")
    close = {"f": 1e-5, "e": 1e-2}.get(found.dtype.char, 1e-12)
    np.testing.assert_allclose(np.asarray(found).reshape(-1), wanted, rtol=close, atol=close)


@given(cut_tensors(), st.sampled_from((np.add, np.maximum, np.logical_or)))
@settings(max_examples=100, deadline=None)
def test_reduce_over_the_modes_in_tiles_is_reduce_tiles(pair, ufunc):
    t, parts = pair
    modes = tuple(range(t.shape.rank // 2, t.shape.rank))
    initial = {} if ufunc.identity is not None else {"initial": 1}
    wanted = [ufunc.reduce(part, axis=None, **initial) for part in parts]
    found = ufunc.reduce(t, axis=modes, **initial)
    assert (found.dtype, np.asarray(found).reshape(-1).tolist()) == (
        t.reduce_tiles(ufunc, **initial).dtype,
        wanted,
    )


@given(cut_tensors())
@settings(max_examples=100, deadline=None)
def test_groups_have_every_tile_once_wherever_it_lies(pair):
    t, parts = pair
    numbers = np.arange(len(parts)).reshape(t.shape.outer().extents)
    seen = []
    for group in t.group_by_shape():
        for index, cell in zip(group.indices.tolist(), np.asarray(group.cells), strict=True):
            number = int(numbers[tuple(index)])
            assert cell.tolist() == parts[number].tolist()
            seen.append(number)
    assert sorted(seen) == list(range(len(parts)))
