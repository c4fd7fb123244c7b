"""Keys with arrays: NumPy is the oracle, for memory and for buffers without any."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
import tensorwrapper.selection as sel
from tensorwrapper import Layout, Shape
from tensorwrapper.buffer import count_copies, from_functions
from tensorwrapper.errors import (
    ConversionError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
    ReadOnlyError,
    TooManyIndicesError,
)


def computed(extents):
    size = int(np.prod(extents, dtype=int))
    return tw.from_buffer(from_functions(size, "i8", lambda a: a), Shape.smooth(extents))


def tensors(extents):
    """The same tensor in memory, in memory of another order, rotated, tile-major, and without memory."""
    x = np.arange(np.prod(extents, dtype=int)).reshape(extents)
    yield tw.as_tensor(x.copy())
    yield tw.as_tensor(np.asfortranarray(x))
    yield computed(extents)
    if x.ndim:
        yield tw.as_tensor(np.roll(x, -1, axis=0)).rotate((1,) + (0,) * (x.ndim - 1))


@st.composite
def boxes_and_keys(draw):
    extents = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=1, max_side=3))
    items = []
    mode = 0
    while mode < len(extents):
        n = extents[mode]
        kind = draw(st.integers(0, 6))
        width = 1
        if kind == 0:
            items.append(draw(st.integers(-n, n - 1)))
        elif kind == 1:
            items.append(draw(st.slices(n)))
        elif kind == 2:
            items.append(draw(hnp.arrays(np.int64, shape, elements=st.integers(-n, n - 1))))
        elif kind == 3:
            items.append(draw(st.lists(st.integers(-n, n - 1), max_size=3)))
        elif kind == 4:
            width = draw(st.integers(1, len(extents) - mode))
            items.append(draw(hnp.arrays(np.bool_, extents[mode : mode + width])))
        elif kind == 5:
            items.append(None)
            width = 0
        else:
            break
        mode += width
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), ...)
    return extents, tuple(items)


@given(boxes_and_keys())
def test_reading_follows_numpy(case):
    extents, key = case
    for t in tensors(extents):
        x = t.elements().reshape(extents)
        try:
            expected = x[key]
        except IndexError:
            with pytest.raises(IndexError):
                t[key]
            continue
        selected = t[key]
        assert selected.shape.extents == expected.shape
        assert np.array_equal(selected.elements(), expected.reshape(-1))


@given(boxes_and_keys(), st.booleans())
def test_writing_follows_numpy(case, scalar):
    extents, key = case
    for t in tensors(extents):
        if t.is_readonly:
            continue
        x = t.elements().reshape(extents).copy()
        try:
            values = -1 if scalar else -1 - np.arange(x[key].size).reshape(x[key].shape)
            x[key] = values
        except IndexError:
            with pytest.raises(IndexError):
                t[key] = -1
            continue
        t[key] = values
        assert np.array_equal(t.elements(), x.reshape(-1))


@given(boxes_and_keys())
def test_outer_indexing_is_ix_and_a_view(case):
    extents, key = case
    items = [item for item in key if item is not None and item is not Ellipsis]
    if any(np.ndim(item) > 1 for item in items if not isinstance(item, slice)):
        items = [slice(None)]
    if any(np.ndim(item) == 0 and isinstance(item, np.ndarray) for item in items):
        items = [slice(None)]
    for t in tensors(extents):
        expected = t.elements().reshape(extents)
        dropped = 0
        for mode, item in enumerate(items):
            at = (slice(None),) * (mode - dropped)
            expected = (
                expected[(*at, np.array(item, dtype=int) if item == [] else item)]
                if isinstance(item, list)
                else expected[(*at, item)]
            )
            dropped += isinstance(item, int)
        with count_copies() as count:
            selected = t.oindex[tuple(items)]
        assert count.nbytes == 0
        assert selected.shape.extents == expected.shape
        assert np.array_equal(selected.elements(), expected.reshape(-1))


def test_outer_writes_go_to_the_memory_underneath():
    x = np.zeros((3, 4), dtype=int)
    t = tw.as_tensor(x)
    t.oindex[[2, 0], [1, 3]] = [[1, 2], [3, 4]]
    assert x.tolist() == [[0, 3, 0, 4], [0, 0, 0, 0], [0, 1, 0, 2]]
    t.oindex[[0, 1]][1] = 9
    assert x[1].tolist() == [9, 9, 9, 9]
    with pytest.raises(ReadOnlyError, match="mode 0, which repeats"):
        t.oindex[[0, 0]][0] = 1
    with pytest.raises(ReadOnlyError, match="mode 0, which repeats"):
        t.oindex[[0, 0]] = 1


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (([3, 0, 3], [5, 5, 0]), [23, 5, 18]),
        ((slice(None), [3, 0]), [[3, 9, 15, 21], [0, 6, 12, 18]]),
        (([1, 0], slice(1, 3)), [[7, 8], [1, 2]]),
        ((2, [5, 0]), [17, 12]),
        (([[1], [0]], [0, 5]), [[6, 11], [0, 5]]),
        ((..., [0]), [[0, 6, 12, 18]]),
        ((None, [1], [2]), [[8]]),
        ([True, False, False, True], [[0, 1, 2, 3, 4, 5], [18, 19, 20, 21, 22, 23]]),
        ((), [list(range(k, k + 6)) for k in range(0, 24, 6)]),
    ],
)
def test_points(key, expected):
    for t in tensors((4, 6)):
        assert t.vindex[key].tolist() == expected


def test_a_mask_of_several_modes_selects_points():
    x = np.arange(24).reshape(2, 3, 4)
    mask = x[:, :, 0] % 8 == 0
    for t in tensors((2, 3, 4)):
        assert t.vindex[mask].tolist() == x[mask].tolist()
        assert t.vindex[mask, 1].tolist() == x[mask, 1].tolist()
        assert t.vindex[..., x[0] % 2 == 0].tolist() == x[:, x[0] % 2 == 0].T.tolist()


def test_writing_points_keeps_the_last_value():
    for t in tensors((3, 3)):
        if not t.is_readonly:
            t.vindex[[0, 2, 0], [1, 1, 1]] = [-1, -2, -3]
            assert t.tolist() == [[0, -3, 2], [3, 4, 5], [6, -2, 8]]


def test_the_rows_of_a_jagged_tensor():
    t = tw.jagged([[1, 2, 3], [4], [], [5, 6]])
    assert t[[3, 0, 3]].tolist() == [[5, 6], [1, 2, 3], [5, 6]]
    assert t[np.array([True, False, True, True])].tolist() == [[1, 2, 3], [], [5, 6]]
    with count_copies() as count:
        view = t.oindex[[1, 0]]
    assert (count.nbytes, view.tolist()) == (0, [[4], [1, 2, 3]])
    view[0] = 9
    assert t.tolist() == [[1, 2, 3], [9], [], [5, 6]]
    with pytest.raises(JaggedModeError, match="mode 1"):
        t[:, [0]]


@pytest.mark.parametrize(
    ("select", "error", "text"),
    [
        (lambda t: t[[0, 3]], OutOfBoundsError, r"index 3 is out of bounds.*extents \(3, 4\)"),
        (lambda t: t[[0], [0], [0]], TooManyIndicesError, "too many"),
        (lambda t: t[[0, 1], [0, 1, 2]], OutOfBoundsError, "broadcast"),
        (lambda t: t[[True, False]], OutOfBoundsError, "boolean"),
        (lambda t: t[2**63, [0]], OutOfBoundsError, r"does not fit 64 bits; the tensor has extents \(3, 4\)"),
        (lambda t: tw.selection.as_view(t)[-(2**64), [0]], OutOfBoundsError, "does not fit 64 bits"),
        (lambda t: t[[0.5]], ConversionError, "item 0 of the key must hold positions, .* not float64"),
        (lambda t: t.oindex[[[0]]], RankError, "mode 0 must have one mode"),
        (lambda t: t.oindex[[0, 7]], OutOfBoundsError, "7"),
        (lambda t: t.oindex[:, [True]], OutOfBoundsError, "1 positions does not fit mode 1 of extent 4"),
        (lambda t: t.oindex[[0], [0], [0]], TooManyIndicesError, "3 indices are too many"),
        (lambda t: t.vindex[[0, 9], [0, 0]], OutOfBoundsError, "index 9"),
        (lambda t: t.vindex[[0], [0], [0]], TooManyIndicesError, "3 indices are too many"),
        (lambda t: t.vindex[..., ..., [0]], RankError, "one ellipsis"),
        (lambda t: t.vindex[True], ConversionError, "single bool"),
    ],
)
def test_errors_say_what_is_wrong(select, error, text):
    for t in tensors((3, 4)):
        with pytest.raises(error, match=text):
            select(t)


def test_copies_are_counted_and_own_their_memory():
    x = np.arange(12.0).reshape(3, 4)
    t = tw.as_tensor(x)
    with count_copies() as count:
        part = t[[0, 1]]
        points = t.vindex[[0, 1], [1, 2]]
    assert count.nbytes == (8 + 2) * 8
    part[...] = 0.0
    points[...] = 0.0
    assert x.tolist() == np.arange(12.0).reshape(3, 4).tolist()
    assert not np.shares_memory(np.asarray(t[np.array(True)]), x)


def test_tensors_are_keys():
    t = tw.as_tensor(np.arange(6).reshape(2, 3))
    assert t[tw.as_tensor([1, 0])].tolist() == [[3, 4, 5], [0, 1, 2]]
    assert t.oindex[:, tw.as_tensor([2])].tolist() == [[2], [5]]


def test_origins_do_not_matter_to_positions():
    shape = Shape(2, 3, origin=(5, -7))
    t = tw.from_buffer(np.arange(6), shape)
    u = tw.from_buffer(from_functions(6, "i8", lambda a: a), shape, layout=Layout(shape))
    for one in (t, u):
        assert one[[1], [-1]].tolist() == [5]
        assert one.oindex[[1], 1:].tolist() == [[4, 5]]


def test_leading_modes_of_one_are_dropped_for_masks_too():
    mask = np.array([[True, False], [True, True]])
    for value in ([[1.0]], [[1.0, 2.0, 3.0]], [[[4.0, 5.0, 6.0]]]):
        found = []
        for of in (lambda t: t, sel.as_view):
            t = tw.as_tensor(np.zeros((2, 2)))
            of(t)[mask] = np.array(value)
            found.append(t.tolist())
        wanted = np.zeros((2, 2))
        wanted[mask] = np.reshape(value, -1)
        assert found == [wanted.tolist(), wanted.tolist()]
