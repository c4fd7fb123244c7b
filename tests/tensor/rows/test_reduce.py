"""Reductions of tiles and cells: ``ufunc.reduce`` of each is the oracle."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import as_tensor, from_buffer, jagged

UFUNCS = [
    np.add,
    np.multiply,
    np.maximum,
    np.minimum,
    np.fmax,
    np.logical_and,
    np.logical_or,
    np.bitwise_or,
    np.bitwise_and,
    np.bitwise_xor,
    np.gcd,
]
DTYPES = ["i1", "u1", "u8", "?", "f4", "f8", "c8", ">i2", ">f4"]
SIZES = st.lists(st.integers(0, 3), max_size=4)


def values(data, extents, dtype):
    """Small numbers, so that every order of adding them gives the same sum."""
    n = int(np.prod(extents, dtype=int))
    least = 0 if np.dtype(dtype).kind in "ub" else -3
    numbers = data.draw(st.lists(st.integers(least, 3), min_size=n, max_size=n))
    return np.array(numbers, dtype=dtype).reshape(extents)


def oracle(ufunc, parts, initial=None):
    """What NumPy makes of each part; raises as it does."""
    extra = {} if initial is None else {"initial": initial}
    return [ufunc.reduce(part, axis=None, **extra) for part in parts]


def check(t, ufunc, parts, outer, initial=None):
    """Compare with NumPy, results and exceptions and types."""
    try:
        # Of no part at all NumPy says nothing but the type.
        sample = parts or [np.ones((1,) * (t.rank - t.shape.outer_rank), t.dtype)]
        expected = oracle(ufunc, sample, initial)
    except ValueError:
        assert ufunc.identity is None
        with pytest.raises(ExtentError, match=f"{ufunc.__name__} has no identity: give initial="):
            t.reduce_tiles(ufunc, initial=initial)
        return
    except TypeError:
        with pytest.raises(TypeError):
            t.reduce_tiles(ufunc, initial=initial)
        return
    result = t.reduce_tiles(ufunc, initial=initial)
    assert result.shape == outer
    assert result.elements().tolist() == [e.item() for e in expected][: len(parts)]
    assert result.dtype == expected[0].dtype


@given(
    st.lists(SIZES, min_size=1, max_size=3),
    st.sampled_from(UFUNCS),
    st.sampled_from(DTYPES),
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([1, -1]),
    st.data(),
)
def test_tiles_reduce_as_numpy_reduces_each(sizes, ufunc, dtype, initial, step, data):
    tiling = Tiling(*sizes)
    x = values(data, tiling.elements.extents, dtype)[..., ::step]
    parts = [
        x[tuple(slice(o, o + n) for o, n in zip(tile.origin, tile.extents, strict=True))]
        for tile in tiling.tiles()
    ]
    check(as_tensor(x).tiled(tiling), ufunc, parts, tiling.grid, initial)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=5),
    st.sampled_from(UFUNCS),
    st.sampled_from(DTYPES),
    st.sampled_from([None, 0, 1, 2]),
    st.data(),
)
def test_cells_reduce_as_numpy_reduces_each(extents, ufunc, dtype, initial, data):
    shape = Shape.from_cells((len(extents),), extents).translate_by((4, 0, 0))
    flat = values(data, (shape.size,), dtype)
    t = from_buffer(flat, shape)
    parts = [np.asarray(cell) for _, cell in t.cells()]
    check(t, ufunc, parts, Shape(len(extents), origin=(4,)), initial)
    check(t[1:], ufunc, parts[1:], Shape(len(extents) - 1), initial)


@given(
    st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=4),
    st.sampled_from(UFUNCS),
    st.data(),
)
def test_rows_under_two_unrolled_modes_reduce_to_a_jagged_tensor(lengths, ufunc, data):
    shape = Shape.jagged(lengths, rank=3)
    t = from_buffer(values(data, (shape.size,), "i4"), shape)
    parts = [np.asarray(cell) for _, cell in t.cells()]
    check(t, ufunc, parts, shape.outer())


def test_examples():
    t = as_tensor(np.arange(9).reshape(3, 3)).tiled(Tiling([1, 2], [2, 1]))
    assert t.reduce_tiles(np.add).tolist() == [[1, 2], [20, 13]]
    assert jagged([[1, 2, 3], [4], []]).reduce_tiles(np.add).tolist() == [6, 4, 0]
    assert jagged([[[1], [2, 3]], [], [[4]]]).reduce_tiles(np.maximum).tolist() == [[1, 3], [], [4]]
    durations = jagged([np.array([1, 2], "m8[s]"), np.array([], "m8[s]")]).reduce_tiles(np.add)
    assert durations.elements().tolist() == np.array([3, 0], "m8[s]").tolist()


def test_nothing_is_copied_and_no_number_is_left_behind():
    x = np.arange(10_000.0).reshape(100, 100)
    tiling = Tiling([30, 0, 70], [99, 1])
    with count_copies() as count:
        sums = as_tensor(x).tiled(tiling).reduce_tiles(np.add)
    assert count.copies == 0
    assert sums.shape == Shape(3, 2)
    assert np.asarray(sums).sum() == x.sum()
    assert not sums.is_readonly


def test_an_empty_tile_without_identity_needs_initial():
    t = as_tensor(np.arange(6.0).reshape(2, 3)).tiled(Tiling([1, 0, 1], [3]))
    with pytest.raises(ExtentError, match=r"tile \(1, 0\) is empty and maximum has no identity"):
        t.reduce_tiles(np.maximum)
    assert t.reduce_tiles(np.maximum, initial=-np.inf).tolist() == [[2.0], [-np.inf], [5.0]]
    assert t.reduce_tiles(np.minimum, initial=1.0).tolist() == [[0.0], [1.0], [1.0]]
    assert t.reduce_tiles(np.multiply).tolist() == [[0.0], [1.0], [60.0]]


def test_initial_takes_the_type_of_the_result():
    t = jagged([np.ones(2, np.int8), np.ones(0, np.int8)])
    result = t.reduce_tiles(np.maximum, initial=np.int64(5))
    assert (result.dtype, result.tolist()) == (np.dtype(np.int8), [5, 5])
    for unfit in (300, np.int64(300)):
        with pytest.raises(OverflowError):
            t.reduce_tiles(np.maximum, initial=unfit)
    with pytest.raises(DTypeError):
        t.reduce_tiles(np.maximum, initial=1.5)
    assert t.reduce_tiles(np.add, initial=300).tolist() == [302, 300]


@pytest.mark.parametrize("ufunc", [np.subtract, np.divide, np.power, np.arctan2, np.left_shift])
def test_ufuncs_that_depend_on_the_order_are_refused(ufunc):
    for t in (as_tensor(np.ones((2, 2))).tiled(Tiling([1, 1], [2])), jagged([[1.0], [2.0, 3.0]])):
        with pytest.raises(ValueError, match="depends on the order"):
            t.reduce_tiles(ufunc)


@pytest.mark.parametrize("ufunc", [np.sin, np.divmod, np.matmul, np.frexp])
def test_ufuncs_that_do_not_reduce_are_refused(ufunc):
    with pytest.raises(ConversionError, match="does not reduce"):
        jagged([[1.0]]).reduce_tiles(ufunc)


def test_results_that_tensors_cannot_hold_are_refused():
    add = np.frompyfunc(lambda a, b: a + b, 2, 1, identity=0)
    with pytest.raises(DTypeError, match="object"):
        jagged([[1.0, 2.0]]).reduce_tiles(add)


@pytest.mark.parametrize("ufunc", [np.gcd, np.hypot, np.logaddexp, np.add, np.multiply, np.bitwise_and])
@given(lengths=st.lists(st.integers(0, 3), min_size=1, max_size=4), data=st.data())
def test_rows_of_one_element_are_reduced_as_numpy_does(ufunc, lengths, data):
    numbers = np.array(
        data.draw(st.lists(st.integers(-9, 9), min_size=sum(lengths), max_size=sum(lengths))), "i8"
    )
    elements = numbers.astype("f8") if ufunc in (np.hypot, np.logaddexp) else numbers
    rows = from_buffer(elements, Shape.jagged(lengths))
    expected = [ufunc.reduce(own) for own in np.split(elements, np.cumsum(lengths)[:-1])]
    assert np.allclose(ufunc.reduce(rows, axis=-1), expected)
    assert np.allclose(rows.rows().reduce(ufunc), expected)
    assert np.allclose(rows.reduce_tiles(ufunc), expected)


@pytest.mark.parametrize("ufunc", [np.bitwise_and, np.gcd, np.bitwise_or])
def test_elements_that_a_ufunc_does_not_take_are_refused(ufunc):
    rows = tw.jagged([[1.0, 2.0], [3.0]])
    tiles = tw.as_tensor(np.ones((2, 2))).tiled(tw.Tiling([1, 1], [2]))
    for reduce in (rows.rows().reduce, rows.reduce_tiles, tiles.reduce_tiles):
        with pytest.raises(DTypeError, match=f"{ufunc.__name__} does not reduce elements of type float64"):
            reduce(ufunc)


def test_the_norm_of_a_tile_is_that_of_its_elements():
    cube = np.arange(24.0).reshape(2, 3, 4)
    tiles = tw.as_tensor(cube).tiled(tw.Tiling([1, 1], [1, 2], [2, 2]))
    expected = [
        np.linalg.norm(cube[i : i + 1, j : j + n, k : k + 2].ravel())
        for i in (0, 1)
        for j, n in ((0, 1), (1, 2))
        for k in (0, 2)
    ]

    assert tiles.reduce_tiles(np.linalg.norm).elements() == pytest.approx(expected)


@pytest.mark.parametrize(
    "ufunc",
    [np.add, np.multiply, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_and, np.logical_or],
)
def test_what_is_empty_has_the_identity_of_the_type_that_is_computed_in(ufunc):
    nothing = np.zeros(5, bool)
    for narrow, wide in itertools.product("?bBhHiIqQefdFD", repeat=2):
        values = np.array([1, 3, 2, 7, 5], narrow)
        if not np.can_cast(narrow, wide):
            continue
        try:
            numbers = [ufunc.reduce(own, dtype=wide) for own in (values[:2], values[:0], values[2:])]
        except TypeError:
            continue
        rows = tw.as_tensor(values).unflatten([2, 0, 3])
        empty = np.array(numbers[1])
        for found, wanted in (
            (ufunc.reduce(rows, axis=-1, dtype=wide), np.array(numbers)),
            (ufunc.reduce(rows, axis=None, dtype=wide, where=nothing[:3]), empty),
            (ufunc.reduce(tw.nullable(values, nothing), axis=None, dtype=wide), empty),
            (ufunc.reduce(tw.nullable(values[None], nothing[None]), axis=-1, dtype=wide), empty[None]),
            (ufunc.reduce(tw.nullable(rows), axis=-1, dtype=wide), np.array(numbers)),
        ):
            made = np.asarray(found)
            assert (made.dtype, made.tolist()) == (wanted.dtype, wanted.tolist()), (narrow, wide)


@pytest.mark.parametrize("function", [np.sum, np.mean, np.median, np.std])
@pytest.mark.parametrize("place", [lambda t: t, lambda t: t[1:], lambda t: t[:, ::-1]])
def test_functions_that_refuse_the_elements_of_tiles_are_refused_in_our_words(function, place):
    dates = place(tw.jagged([[3, 1], [2, 5, 4], []], dtype="i8").astype("M8[s]"))
    with pytest.raises(DTypeError, match=r"does not reduce elements of type datetime64\[s\]"):
        dates.reduce_tiles(function)


def test_errors_of_own_functions_of_tiles_are_their_own():
    def broken(array, axis):  # noqa: ARG001 - it fails first
        raise TypeError("my own")

    with pytest.raises(TypeError, match="my own"):
        tw.jagged([[1], [2, 3]]).reduce_tiles(broken)
