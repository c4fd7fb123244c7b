"""Keys with arrays on layouts: NumPy's own indexing of the array of offsets says what each must select."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, selection
from tensorwrapper.errors import (
    IndexTypeError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
    TooManyIndicesError,
)
from tensorwrapper.layout import _array_keys
from tensorwrapper.layout._array_keys import (
    addresses_of_items,
    is_basic,
    numpys_errors,
    outer_product,
    split_points,
    to_items,
)


@st.composite
def cases(draw, *, outer=False):
    """Draw a permuted and reversed box, and a key with arrays, slices, integers, masks and an ellipsis."""
    extents = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple))
    order = draw(st.permutations(range(len(extents))))
    layout = Layout(Shape.smooth(extents)).permute(tuple(order))
    if draw(st.booleans()):
        layout = layout.reverse(0)
    count = draw(st.integers(1, 3))
    key = []
    for extent in layout.shape.extents:
        positions = st.lists(st.integers(-extent, extent - 1), min_size=count, max_size=count)
        mask = st.lists(st.booleans(), min_size=extent, max_size=extent).map(np.array)
        basic = st.sampled_from([slice(None), slice(None, None, -1), slice(0, 2), 0, -1])
        key.append(draw(st.one_of(positions, basic, mask) if outer else st.one_of(positions, basic)))
    if draw(st.booleans()):
        key[draw(st.integers(0, len(key))) :] = [...]
    return layout, tuple(key)


@given(cases())
def test_addresses_are_those_that_numpy_takes_of_the_offsets(case):
    layout, key = case
    offsets = layout.to_numpy()

    assert addresses_of_items(layout, to_items(key)).tolist() == offsets[key].tolist()


@given(cases(outer=True))
def test_an_outer_product_takes_each_mode_by_itself(case):
    layout, key = case
    expected = layout.to_numpy()
    items = [item for item in key if item is not ...]
    # From the last mode on, so that a dropped one moves none that is still to come.
    for mode in reversed(range(len(items))):
        expected = expected[(slice(None),) * mode + (items[mode],)]

    assert outer_product(layout, key).to_numpy().tolist() == expected.tolist()


@given(cases())
def test_points_come_first_and_slices_after_them(case):
    layout, key = case
    offsets = layout.to_numpy()
    found = addresses_of_items(*split_points(layout, key))
    given_ = [item for item in key if item is not ...]
    whole = [*given_, *[slice(None)] * (offsets.ndim - len(given_))]
    lists = [item for item in whole if isinstance(item, list)]

    if not lists:
        assert found.tolist() == offsets[tuple(whole)].tolist()
    for k, _ in enumerate(lists[0] if lists else ()):
        pinned = tuple([item[k] if isinstance(item, list) else item for item in whole])
        assert found[k].tolist() == offsets[pinned].tolist()


@pytest.mark.parametrize(
    ("key", "basic"),
    [
        (1, True),
        (np.int8(1), True),
        (np.array(1), True),
        (slice(0, 2), True),
        ((None, ..., 2), True),
        (True, False),
        (np.True_, False),
        ([1], False),
        (np.array([1]), False),
        ((0, [1]), False),
        ("a", False),
    ],
)
def test_a_key_without_arrays_is_told_from_one_with_some(key, basic):
    assert is_basic(key) is basic


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (True, IndexTypeError, "item 0 of the key is a single bool"),
        ((0, "ab"), IndexTypeError, "item 1 of the key must hold positions, .* not 'ab'"),
        ([1.5], IndexTypeError, "must hold positions, .* not float64"),
        ([[1], [1, 2]], IndexTypeError, "item 0 of the key is not an array of positions"),
    ],
)
def test_what_is_no_key_is_refused_with_its_place(key, error, text):
    with pytest.raises(error, match=text):
        to_items(key)


def test_an_empty_list_holds_positions_and_not_floats():
    (item,) = to_items([])

    assert item.dtype == np.int64


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (([0], [0], [0]), TooManyIndicesError, "3 indices are too many for 2 modes"),
        ((..., [0], ...), RankError, "one ellipsis only"),
        ([[0, 1]], RankError, r"the item of mode 0 must have one mode, not extents \(1, 2\)"),
        (np.array([True]), OutOfBoundsError, "a mask of 1 positions does not fit mode 0 of extent 2"),
        ([2], OutOfBoundsError, "2"),
    ],
)
def test_an_outer_product_refuses(key, error, text):
    with pytest.raises(error, match=text):
        outer_product(Layout(Shape(2, 3)), key)


def test_what_numpy_says_of_a_key_is_said_with_the_extents():
    shape, array = Shape(2, 3), np.zeros((2, 3))
    with (
        pytest.raises(OutOfBoundsError, match=r"index 5 is out of bounds.*extents \(2, 3\)"),
        numpys_errors(shape),
    ):
        array[[5]]
    with pytest.raises(TooManyIndicesError, match="too many indices"), numpys_errors(shape):
        array[[0], [0], [0]]
    with pytest.raises(TooManyIndicesError, match="4 indices are too many for 2 modes"):
        split_points(Layout(shape), np.zeros((1, 1, 1, 1), bool))


def test_a_box_of_rank_0_has_one_address():
    layout = Layout(Shape())[()]

    assert addresses_of_items(layout, (...,)).tolist() == 0
    assert addresses_of_items(layout, to_items(None)).tolist() == [0]


@given(cases(), st.booleans())
def test_long_modes_are_selected_from_as_short_ones(case, few):
    layout, key = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_array_keys, "_FEW", 0 if few else 2)
        found = addresses_of_items(layout, to_items(key))

    assert found.tolist() == layout.to_numpy()[key].tolist()


@pytest.mark.parametrize(
    ("key", "places"),
    [
        ([0, -1], [[0, 1, 2], [3 * 2**40 - 3, 3 * 2**40 - 2, 3 * 2**40 - 1]]),
        ((slice(0, 2), [0, 2]), [[0, 2], [3, 5]]),
        ((slice(None, None, 2**39), [0]), [[0], [3 * 2**39]]),
        (([5], [1]), [16]),
        ((5, [1, 0]), [16, 15]),
        ((np.int64(-1), np.array([1])), [3 * 2**40 - 2]),
        (([[7], [7]], None, [1, 2]), [[[22], [23]], [[22], [23]]]),
        (([], slice(None)), []),
        ((..., [1], [2]), [5]),
        ((np.array(True), 1, [2]), [5]),
    ],
)
def test_few_positions_of_long_modes_take_little_memory(key, places):
    layout = Layout(Shape(2**40, 3))
    tracemalloc.start()
    try:
        found = addresses_of_items(layout, to_items(key))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    assert found.tolist() == places
    assert selection.iota(layout.shape, 1)[key].tolist() == (np.array(places, dtype=int) % 3).tolist()


def test_nothing_of_long_modes_is_selected_and_what_is_outside_is_refused():
    layout = Layout(Shape(2**40, 3))

    assert addresses_of_items(layout, to_items((slice(None), []))).shape == (2**40, 0)
    for key in ([2**40], [-(2**40) - 1], np.array([2**63], dtype="u8"), ([0], [3])):
        with pytest.raises(OutOfBoundsError):
            addresses_of_items(layout, to_items(key))
    with pytest.raises(SizeOverflowError):
        addresses_of_items(Layout(Shape(2**64)), to_items([-1]))
    for key in (
        (slice(None), [0]),
        ([0] * 1000, slice(0, 2**25)),
        (slice(None), slice(None), np.array(False)),
    ):
        with pytest.raises(SizeOverflowError):
            addresses_of_items(Layout(Shape(2**40, 2**40)), to_items(key))


def test_positions_that_change_later_change_no_layout():
    positions = np.array([3, 1, 4, 1])
    positions.flags.writeable = False
    layout, view = Layout(Shape(9)).gather(0, positions), selection.as_view(np.arange(9))[positions]
    positions.flags.writeable = True
    positions[0] = 7
    assert (layout.to_numpy().tolist(), view.compute().tolist()) == ([3, 1, 4, 1], [3, 1, 4, 1])
