"""Frequent calls take short ways: they answer, and refuse, what the long ways do."""

import pickle

import numpy as np
import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import ConversionError, OutOfBoundsError, RankError, StepError, TooManyIndicesError

BOX = Layout(Shape(4, 5, 6, origin=(1, -2, 0)), strides=(-30, 6, 1), offset=100)


class Own:
    """An integer of another kind."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


@pytest.mark.parametrize("kind", [tuple, list, iter, np.array, lambda index: tuple(map(np.int16, index))])
def test_indices_of_any_kind_have_the_same_offset(kind):
    for index in ((1, -2, 0), (4, 2, 5), (2, 0, 3)):
        expected = 100 - 30 * (index[0] - 1) + 6 * (index[1] + 2) + index[2]
        assert BOX.offset_of(kind(index)) == expected
        assert type(BOX.offset_of(kind(index))) is int


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        ((0, -2, 0), OutOfBoundsError, r"index \(0, -2, 0\) is not in"),
        ((1, 3, 0), OutOfBoundsError, r"index \(1, 3, 0\) is not in"),
        ([1, -2, 6], OutOfBoundsError, r"index \(1, -2, 6\) is not in"),
        ((1, -2), RankError, "2 entries"),
        ((1, -2, 0, 0), RankError, "4 entries"),
        ((True, -2, 0), ConversionError, "bool True"),
        ((1, -2, np.True_), ConversionError, "bool True"),
        ((1, -2.0, 0), ConversionError, "-2.0"),
        ((1, -2, "0"), ConversionError, "'0'"),
        (5, ConversionError, "5"),
    ],
)
def test_indices_that_are_none_are_refused_however_often_asked(index, error, text):
    layout = Layout(BOX.shape, strides=BOX.strides, offset=100)
    for _ in range(2):
        with pytest.raises(error, match=text):
            layout.offset_of(index)
    assert layout.offset_of((1, -2, 0)) == 100


@pytest.mark.parametrize(
    "key",
    [
        (slice(1, 3), slice(None), slice(2, 5)),
        (slice(None, None, -1), -1, slice(5, 0, -2)),
        (slice(7, 9), 2),
        (slice(-100, 100), slice(3, 1), slice(0, 6, 4)),
        2,
        -4,
        slice(1, None),
        (),
        (..., 3),
        (2, ..., slice(None, None, 5)),
        (None, 1, None, slice(1, 2)),
    ],
    ids=str,
)
def test_keys_of_any_kind_of_integer_select_the_same(key):
    items = key if isinstance(key, tuple) else (key,)
    places = BOX.to_numpy()[key]
    for kind in (int, np.int8, np.uint64, Own):

        def turned(item, kind=kind):
            if isinstance(item, slice):
                ends = (item.start, item.stop, item.step)
                return slice(*[end if end is None or end < 0 else kind(end) for end in ends])
            return kind(item) if isinstance(item, int) and item >= 0 else item

        part = BOX[tuple(map(turned, items))]
        assert np.array_equal(part.to_numpy(), places)
        assert part.shape == Shape(*places.shape)
        assert {type(number) for number in (*part.strides, *part.shape.extents, part.offset)} == {int}


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        ((0, 0, 0, 0), TooManyIndicesError, "4 indices are too many for 3 modes"),
        ((0, 5), OutOfBoundsError, "position 5 is outside mode 1, which has extent 5"),
        (-5, OutOfBoundsError, "position -5 is outside mode 0, which has extent 4"),
        ((0, slice(0, 1, 0)), StepError, "mode 1 is 0"),
        ((0, slice(0, 1.5)), ConversionError, "mode 1 is not made of integers"),
        ((0, True), ConversionError, "mode 1 must be an integer, a slice or an ellipsis, not True"),
        ((0, 1.0), ConversionError, "mode 1 must be .* not 1.0"),
        ((..., ...), RankError, "one ellipsis only"),
    ],
)
def test_wrong_keys_name_the_mode(key, error, text):
    with pytest.raises(error, match=text):
        BOX[key]


def test_keys_of_modes_beyond_64_bits():
    wide = Layout(Shape(2**70, 3))
    assert wide[::2].shape.extents == (2**69, 3)
    assert wide[5 : 2**69 : -1].shape.extents == (0, 3)
    assert wide[:: -(2**68)].shape.extents == (4, 3)
    assert wide[-1, 1:].offset == 3 * (2**70 - 1) + 1
    turned = Layout(Shape(2**70, 3)).rotate((1, 0))
    assert turned[::2].shape.extents == (2**69, 3)


def test_an_empty_slice_keeps_the_offset_inside():
    for key in (slice(4, None), slice(9, 9), slice(4, None, 2), slice(None, 0, 1)):
        assert BOX[key].offset == 100
        assert BOX[key].shape.extents == (0, 5, 6)


def test_what_is_made_on_demand_is_no_part_of_the_value():
    asked, fresh = BOX.permute((2, 0, 1)), BOX.permute((2, 0, 1))
    before = pickle.dumps(fresh)
    assert asked.shape == Shape(6, 4, 5, origin=(0, 1, -2))
    assert asked.offset_of((0, 1, -2)) == 100
    assert asked == fresh
    assert hash(asked) == hash(fresh)
    assert pickle.dumps(asked) == before
    assert repr(asked) == "Layout(Shape(6, 4, 5, origin=(0, 1, -2)), strides=(1, -30, 6), offset=100)"
    assert asked != BOX.permute((2, 1, 0))
    assert asked != Layout(asked.shape.translate_to((0, 0, 0)), strides=asked.strides, offset=100)


def test_layouts_stay_frozen():
    with pytest.raises(AttributeError):
        BOX[1:].implementation.strides = (1, 1, 1)
