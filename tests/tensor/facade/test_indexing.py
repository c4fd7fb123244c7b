"""Positional indexing, views, windows, writes and reading of single elements: NumPy is the oracle."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import (
    ConversionError,
    JaggedModeError,
    LayoutError,
    OutOfBoundsError,
    RankError,
    ReadOnlyError,
    TooManyIndicesError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer, jagged

EXTENTS = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def view(x, key):
    """What NumPy selects, as an array over the same memory where NumPy itself would give a number."""
    items = key if isinstance(key, tuple) else (key,)
    return x[items] if Ellipsis in items else x[(*items, ...)]


@st.composite
def arrays(draw):
    """An array whose elements are all different: row-major, column-major, sliced or reversed."""
    extents = draw(EXTENTS)
    x = np.arange(np.prod(extents, dtype=int), dtype=draw(st.sampled_from(["i8", "f4", ">i4", "c16"])))
    x = x.reshape(extents)
    match draw(st.sampled_from(["C", "F", "slice"])):
        case "F":
            return np.asfortranarray(x)
        case "slice":
            return view(x, draw(hnp.basic_indices(extents, allow_newaxis=True)))
        case _:
            return x


def basic_keys(extents):
    return hnp.basic_indices(extents, allow_newaxis=True, allow_ellipsis=True)


def shares(t, x):
    return not x.size or np.asarray(t).__array_interface__["data"][0] == x.__array_interface__["data"][0]


@given(arrays(), st.data())
def test_a_key_selects_what_numpy_selects_over_the_same_memory(x, data):
    x = np.asarray(x)
    t = as_tensor(x)
    with count_copies() as count:
        for _ in range(3):
            key = data.draw(basic_keys(x.shape))
            x, t = view(x, key), t[key]
            assert isinstance(t, Tensor)
            assert t.shape == Shape(*x.shape)
            assert np.array_equal(np.asarray(t), x)
            assert t.dtype == x.dtype
            assert shares(t, x)
    assert count.copies == 0


@given(EXTENTS, st.data())
def test_keys_that_numpy_refuses_are_refused(extents, data):
    x = np.zeros(extents)
    items = st.one_of(st.integers(-6, 6), st.just(slice(1, None)), st.just(...), st.none())
    key = tuple(data.draw(st.lists(items, max_size=5)))
    try:
        expected = x[key].shape
    except IndexError as error:
        outside = "out of bounds" in str(error)
        with pytest.raises(OutOfBoundsError if outside else RankError):
            as_tensor(x)[key]
        assert issubclass(OutOfBoundsError, IndexError)
        return
    assert as_tensor(x)[key].shape == Shape(*expected)


def test_integers_alone_give_rank_0_tensors():
    x = np.arange(6.0).reshape(2, 3)
    t = as_tensor(x)
    one = t[1, -1]
    assert isinstance(one, Tensor)
    assert (one.rank, one.shape, one.size) == (0, Shape(), 1)
    assert (one.item(), float(one), int(one), one.tolist()) == (5.0, 5.0, 5, 5.0)
    one[()] = 9.0
    assert x[1, 2] == 9.0


@pytest.mark.parametrize("key", [1.0, "a", object(), np.array([1.0]), [0.5], ["a"], [[0], [1, 2]]])
def test_keys_that_are_no_positions_are_refused(key):
    with pytest.raises(ConversionError, match=r"mode 0|item 0"):
        as_tensor(np.zeros((2, 3)))[key]


# Writes.


@given(arrays(), st.data())
def test_assignment_is_numpys(x, data):
    expected, actual = x.copy(order="K"), x.copy(order="K")
    key = data.draw(basic_keys(x.shape))
    # The array of rank 0, not the number: assigning to a number has rules of its own in NumPy.
    target = view(expected, key)
    extents = target.shape
    given_ = data.draw(
        st.one_of(
            st.integers(-5, 5),
            hnp.broadcastable_shapes(extents, max_dims=len(extents) + 1, min_side=0).map(
                lambda s: np.arange(np.prod(s, dtype=int)).reshape(s)
            ),
        )
    )
    t = as_tensor(actual)
    try:
        target[...] = given_
    except (ValueError, TypeError) as error:
        with pytest.raises(type(error)):
            t[key] = given_
        return
    t[key] = given_
    assert np.array_equal(actual, expected)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("i1", 300),
        ("i1", np.int64(300)),
        ("f4", [1, 2, 3]),
        ("f4", [[1], [2, 3]]),
        ("?", 1),
        ("f8", np.float32(0.1)),
        ("M8[s]", "2020-01-01"),
        ("f8", [[[1.0, 2.0]]]),
        ("f8", [[1.0], [2.0]]),
    ],
)
def test_assignment_casts_and_fails_as_numpys(dtype, value):
    expected, actual = np.zeros(2, dtype), np.zeros(2, dtype)
    t = as_tensor(actual)
    try:
        expected[:] = value
    except (ValueError, TypeError, OverflowError) as error:
        with pytest.raises(type(error)):
            t[:] = value
    else:
        t[:] = value
    assert np.array_equal(actual, expected)


def test_assignment_of_tensors_and_of_overlapping_views():
    x = np.arange(8.0)
    t = as_tensor(x)
    t[2:5] = as_tensor([7.0, 8.0, 9.0])
    assert x[2:5].tolist() == [7.0, 8.0, 9.0]
    x[:] = np.arange(8.0)
    with count_copies() as count:
        t[1:] = t[:-1]
    assert count.nbytes == 7 * 8
    assert x.tolist() == [0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    t[:] = t.reverse()
    assert x.tolist() == [6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0, 0.0]
    with pytest.raises(ConversionError, match="to_padded"):
        t[:] = jagged([[1.0], [2.0, 3.0]])


def test_read_only_memory_refuses_writes():
    x = np.arange(3.0)
    x.flags.writeable = False
    for t in (as_tensor(x), as_tensor(x)[1:], as_tensor(b"abc"), as_tensor(x).permute((0,))):
        assert t.is_readonly
        with pytest.raises(ReadOnlyError, match=r"read-only.*copy\(\)"):
            t[0] = 1
    with pytest.raises(ReadOnlyError):
        as_tensor(x).tiled(Tiling([1, 2]))[0] = 1.0


def test_a_tensor_that_repeats_its_elements_is_read_only_and_so_is_every_view_of_it():
    x = np.arange(24.0).reshape(4, 6)
    t = as_tensor(x)
    stretched = t.broadcast(Shape(2, 4, 6))
    with pytest.raises(ReadOnlyError, match="mode 0, which repeats"):
        stretched[0, 0, 0] = 1.0
    with pytest.raises(ReadOnlyError, match="mode 1, which repeats"):
        t[:, :1].broadcast((4, 9))[0, 0] = 1.0
    views = [
        stretched[0],
        stretched[0, 1, 2],
        stretched.window(Shape(1, 4, 6)),
        stretched.permute((1, 2, 0))[..., 0],
        stretched[0].tiled(Tiling([4], [6])),
        stretched[1].tiled(Tiling([4], [6])).untiled(),
        stretched[1].tiled(Tiling([4], [6]))[0, 0],
    ]
    for view in views:
        assert view.is_readonly
        with pytest.raises(ReadOnlyError):
            view[...] = 1.0
        if not view.layout.is_tiled:
            assert not np.asarray(view).flags.writeable
    assert not t.broadcast((4, 6)).is_readonly
    assert not t.is_readonly
    assert not stretched.copy().is_readonly
    assert x[0, 0] == 0.0


def test_overlapping_modes_are_named_as_such():
    shape = Shape(3, 3)
    t = from_buffer(np.arange(5), shape, layout=Layout(shape, strides=(1, 1)))
    with pytest.raises(ReadOnlyError, match="modes that overlap"):
        t[0, 0] = 1
    windows = as_tensor(np.lib.stride_tricks.sliding_window_view(np.arange(5.0), 3, writeable=True))
    assert windows.is_readonly
    assert windows[0].is_readonly


def test_jagged_tensors_are_written_cell_by_cell():
    t = jagged([[1, 2, 3], [4], [5, 6]])
    t[0] = 0
    t[2][1] = 9
    t[1, 0] = 8
    assert t.tolist() == [[0, 0, 0], [8], [5, 9]]
    for key in (slice(None), ..., ()):
        with pytest.raises(ConversionError, match="cell by cell"):
            t[key] = [1, 2, 3, 4, 5, 6]


# Windows, order of modes, broadcasting.


def test_a_window_remembers_where_it_lies():
    x = np.arange(24.0).reshape(4, 6)
    t = as_tensor(x)
    w = t.window(Shape(4, 6)[2:4, 1:3])
    assert w.shape == Shape(2, 2, origin=(2, 1))
    assert w.tolist() == [[13.0, 14.0], [19.0, 20.0]]
    assert w.window(Shape(1, 2, origin=(3, 1))).tolist() == [[19.0, 20.0]]
    assert w[1, 0].item() == 19.0
    assert w.copy().shape == w.shape
    assert t.window(Tiling([1, 3], [2, 4]).tile((1, 0))).tolist() == [[6.0, 7.0], [12.0, 13.0], [18.0, 19.0]]
    w[...] = 0.0
    assert x[2:4, 1:3].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(OutOfBoundsError):
        w.window(Shape(1, 1))
    assert t.window((2, 2)).tolist() == x[:2, :2].tolist()


@given(arrays(), st.data())
def test_tiles_of_a_tiling_are_numpys_slices(x, data):
    cuts = [sorted(data.draw(st.lists(st.integers(0, n), max_size=3))) for n in x.shape]
    marks = [[0, *cut, n] for cut, n in zip(cuts, x.shape, strict=True)]
    t, tiling = as_tensor(x), Tiling.from_marks(*marks)
    for tile in tiling.tiles():
        part = t.window(tile)
        ends = zip(tile.origin, tile.extents, strict=True)
        assert np.array_equal(np.asarray(part), x[tuple(slice(o, o + n) for o, n in ends)])
        assert part.shape == tile


@given(arrays(), st.data())
def test_permute_reverse_and_broadcast_are_numpys(x, data):
    t = as_tensor(x)
    order = data.draw(st.permutations(range(x.ndim)))
    assert np.array_equal(np.asarray(t.permute(order)), x.transpose(order))
    modes = data.draw(st.lists(st.sampled_from(range(-x.ndim, x.ndim)), max_size=3)) if x.ndim else []
    axes = tuple({m % x.ndim for m in modes} or range(x.ndim))
    assert np.array_equal(np.asarray(t.reverse(*modes)), np.flip(x, axes))
    target = data.draw(hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4))
    try:
        expected = np.broadcast_to(x, target)
    except ValueError:
        with pytest.raises(LayoutError):
            t.broadcast(target)
    else:
        assert np.array_equal(np.asarray(t.broadcast(target)), expected)
        assert shares(t.broadcast(target), expected)


# Reading.


@given(arrays())
def test_len_iter_and_tolist_are_numpys(x):
    t = as_tensor(x)
    assert t.tolist() == x.tolist()
    if not x.ndim:
        for call in (len, iter, list):
            with pytest.raises(TypeError, match="rank 0"):
                call(t)
        return
    assert len(t) == len(x)
    rows = list(t)
    assert len(rows) == len(x)
    assert all(np.array_equal(np.asarray(a), b) for a, b in zip(rows, x, strict=True))
    assert all(shares(a, b) for a, b in zip(rows, [x[k, ...] for k in range(len(x))], strict=True))


def test_rows_of_jagged_tensors():
    t = jagged([[1, 2, 3], [], [5, 6]])
    assert len(t) == 3
    assert [row.tolist() for row in t] == [[1, 2, 3], [], [5, 6]] == t.tolist()
    assert t[-1].tolist() == [5, 6]
    assert t[1:].tolist() == [[], [5, 6]]
    assert t[1:].shape == Shape.jagged([0, 2])
    assert t[0, ::-2].tolist() == [3, 1]
    assert t[2, 1].item() == 6
    assert t.window(t.shape[1:]).shape == t.shape[1:]
    assert np.shares_memory(t[1:].elements(), t.elements())
    deep = jagged([[[1], [2, 3]], [[4]]])
    assert deep[0].tolist() == [[1], [2, 3]]
    assert deep[0, 1].tolist() == [2, 3]
    assert deep[1, 0, 0].item() == 4


def test_tensors_are_found_in_lists_by_identity_and_print_their_shape():
    t = as_tensor(np.zeros((2, 3)))
    assert t in [t, 1]
    assert [t].index(t) == 0
    assert repr(t).startswith("<Tensor 2 x 3, float64, ")


@pytest.mark.parametrize("key", [np.s_[0 :: 2**62], np.s_[:, 1 :: -(10**20)], np.s_[:: 2**70, :: 2**63]])
def test_fuzz_a_step_that_is_never_taken_may_be_of_any_size(key):
    # NumPy has no strides of more than 64 bits, and needs none where there is one index.
    small = tuple([slice(k.start, k.stop, k.step and (9 if k.step > 0 else -9)) for k in np.index_exp[key]])
    t, x = as_tensor(np.arange(4.0).reshape(2, 2)), np.arange(4.0).reshape(2, 2)
    found, wanted = t[key], x[small]
    assert found.tolist() == wanted.tolist() == found.copy().tolist()
    assert np.asarray(found).tolist() == (found + 0).tolist() == wanted.tolist()
    assert "2" in repr(found) or "0" in repr(found)
    found[...] = 7
    assert np.asarray(t)[small].tolist() == np.full(wanted.shape, 7.0).tolist()


NUMBERS = [
    0,
    1,
    -1,
    255,
    256,
    2**31,
    2**63,
    2**64,
    2**70,
    -(2**63),
    1.5,
    1e300,
    float("inf"),
    float("nan"),
    True,
]
TYPES = ["f8", ">f8", "f4", "f2", "c16", "i8", "u8", "i1", "u1", "?", "M8[s]", "i4"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_a_number_at_an_index_is_written_or_refused_as_a_slice_would_be(dtype, value):
    def written(key):
        t = tw.as_tensor(np.zeros((2, 3), dtype))
        try:
            t[key] = value
        except tw.errors.TensorWrapperError as error:
            return type(error), t.tolist()
        return t.dtype, repr(t.tolist())

    assert written((1, -1)) == written((slice(1, 2), slice(-1, None)))


@pytest.mark.parametrize("key", [(2, 0), (0, 3), (-3, 0), (0, 0, 0), (True, 0), (0,), 0, (np.int64(1), 2)])
def test_other_indices_go_the_general_way(key):
    def written(value):
        t = tw.as_tensor(np.zeros((2, 3)))
        try:
            t[key] = value
        except tw.errors.TensorWrapperError as error:
            return type(error), str(error)
        return t.tolist()

    assert written(1.5) == written(np.float64(1.5))


def test_a_number_is_written_where_views_and_arrays_see_it_and_counted():
    array = np.zeros((2, 3))
    t = tw.as_tensor(array)
    seen = np.asarray(t)
    with count_copies() as count:
        t[1, 2] = 4.0
    assert (array[1, 2], seen[1, 2], t[1].tolist(), count.nbytes) == (4.0, 4.0, [0.0, 0.0, 4.0], 8)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tw.as_tensor(np.zeros(3)).broadcast((2, 3)),
        lambda: tw.as_tensor(np.zeros((2, 3))).gather(0, [1, 1]),
        lambda: tw.as_tensor(np.broadcast_to(np.zeros(3), (2, 3))),
    ],
)
def test_a_number_is_not_written_to_what_may_not_change(make):
    t = make()
    np.asarray(t)
    with pytest.raises(tw.errors.ReadOnlyError):
        t[1, 2] = 4.0


def test_whoever_gets_the_array_may_change_its_flags():
    t = tw.as_tensor(np.zeros((2, 3)))
    first = np.asarray(t)
    first.flags.writeable = False
    first.shape = (6,)
    t[0, 0] = 1.0
    assert np.asarray(t).flags.writeable
    assert np.asarray(t).tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert pickle.loads(pickle.dumps(t)).tolist() == t.tolist()
    assert copy.deepcopy(t).tolist() == t.tolist()


@pytest.mark.parametrize(
    "tensor", [tw.strings(["a", "b"]), tw.as_tensor([1, 2]), tw.sparse([(0,)], [1], (2,))]
)
@pytest.mark.parametrize("key", [(0, [0]), ([0], [0]), ([0], slice(None)), ([0], 0)])
def test_too_many_indices_are_said_of_named_modes_too(tensor, key):
    for one in (tensor, tensor.named("x"), sel.as_view(tensor.named("x"))):
        with pytest.raises(TooManyIndicesError):
            one[key]


@pytest.mark.parametrize("show", [lambda t: t, sel.as_view])
def test_several_lists_pick_points_of_rows_as_of_boxes(show):
    box, even = np.array([[1, 2], [3, 4]]), tw.jagged([[1, 2], [3, 4]])
    nested = tw.from_buffer(np.arange(1, 5), tw.Shape.nested(tw.Shape(2, 2), layers=(1, 1)))
    for t in (tw.as_tensor(box), even, nested, tw.nullable(even)):
        for key in (([0, 1], [1, 0]), (np.array([1, 1]), [0, 1]), ([[0], [1]], [0, 1]), ([True, False], [1])):
            assert show(t)[key].tolist() == box[key].tolist()
        written = t.copy()
        show(written)[[0, 1], [1, 0]] = 9
        assert written.tolist() == [[1, 9], [9, 4]]
    uneven = show(tw.jagged([[1, 2], [3], [5, 6]]))
    assert uneven[[0, 2]].tolist() == [[1, 2], [5, 6]]
    for key in (([0, 2], [1, 0]), ([0, 1], [1, 0])):
        with pytest.raises(JaggedModeError):
            uneven[key]
