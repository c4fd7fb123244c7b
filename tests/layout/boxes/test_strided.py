"""Strided layouts by example: orders, strides, views, refusals."""

import copy
import pickle

import numpy as np
import pytest

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    JaggedModeError,
    LayoutError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
    StepError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling


@pytest.mark.parametrize(
    ("order", "ascend", "extents", "strides", "offset"),
    [
        ((2, 1, 0), (True, True, True), (2, 3, 4), (12, 4, 1), 0),
        ((0, 1, 2), (True, True, True), (2, 3, 4), (1, 2, 6), 0),
        ((2, 0, 1), (True, True, True), (2, 3, 4), (4, 8, 1), 0),
        ((1, 2, 0), (True, True, True), (2, 3, 4), (12, 1, 3), 0),
        ((2, 1, 0), (True, False, True), (2, 3, 4), (12, -4, 1), 8),
        ((2, 0, 1), (False, True, False), (2, 3, 4), (-4, 8, -1), 7),
        ((1, 0), (False, True), (2, 3), (-3, 1), 3),
        ("C", (False, True), (2, 3), (-3, 1), 3),
        ("F", (True, False), (2, 3), (1, -2), 4),
        ("F", None, (2, 3, 4), (1, 2, 6), 0),
        (np.array([0, 1, 2]), None, (2, 3, 4), (1, 2, 6), 0),
        ((), (), (), (), 0),
        ("C", (False, False), (0, 3), (-3, -1), 2),
    ],
)
def test_order_k_is_the_kth_fastest_mode_and_ascend_turns_modes_round(
    order, ascend, extents, strides, offset
):
    layout = Layout(Shape(*extents), order=order, ascend=ascend)
    assert (layout.strides, layout.offset) == (strides, offset)
    if 0 not in extents:
        assert sorted(layout.to_numpy().ravel().tolist()) == list(range(layout.shape.size))
        assert layout.bounds() == (0, layout.shape.size - 1)


def test_order_and_its_inverse_differ_for_cycles_of_three():
    shape = Shape(2, 3, 4)
    assert Layout(shape, order=(1, 2, 0)).strides != Layout(shape, order=(2, 0, 1)).strides
    assert Layout(shape, order=(2, 1, 0)) == Layout(shape) == Layout(shape, order="C")


def test_the_default_is_row_major_from_zero():
    row = Layout(Shape(3, 4))
    assert (row.strides, row.offset, row.span) == ((4, 1), 0, 12)
    assert row.is_contiguous
    assert row.is_injective
    assert row.is_strided
    assert not row.is_tiled
    assert (row.offset_of((2, 1)), row.index_of(9)) == (9, (2, 1))
    assert repr(row) == "Layout(Shape(3, 4), strides=(4, 1), offset=0)"


def test_explicit_strides_and_offset():
    layout = Layout(Shape(2, 2, origin=(5, -1)), strides=(-3, 1), offset=np.int64(7))
    assert layout.offset_of((5, -1)) == layout.offset == 7
    assert layout.to_numpy().tolist() == [[7, 8], [4, 5]]
    assert (layout.bounds(), layout.span) == ((4, 8), 5)
    assert Layout(Shape(2, 3), offset=10).offset_of((0, 1)) == 11
    assert Layout(Shape(2, 3), ascend=(False, True), offset=10).bounds() == (7, 12)


def test_a_scalar_has_one_place():
    layout = Layout(Shape(), offset=3)
    assert (layout.strides, layout.bounds(), layout.span) == ((), (3, 3), 1)
    assert (layout.offset_of(()), layout.index_of(3), layout.to_numpy().tolist()) == (3, (), 3)
    assert layout[()] == layout[...] == layout
    assert layout[None].shape == Shape(1)
    assert layout.offsets_of(np.empty((5, 0), dtype=int)).tolist() == [3] * 5


def test_an_empty_layout_has_no_bounds():
    layout = Layout(Shape(2, 0, 3), offset=99)
    assert (layout.bounds(), layout.span) == ((0, -1), 0)
    assert layout.is_contiguous
    assert layout.is_injective
    assert layout.to_numpy().shape == (2, 0, 3)
    assert layout.offsets_of(np.empty((0, 3), dtype=int)).shape == (0,)
    with pytest.raises(OutOfBoundsError, match="no element"):
        layout.index_of(99)


def test_an_empty_layout_is_contiguous_whatever_its_strides():
    assert Layout(Shape(0, 3), strides=(7, 2)).is_contiguous
    assert Layout(Shape(0, 3), strides=(0, 0)).is_injective


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.uint64, ">i4"])
def test_offsets_of_narrow_integers_do_not_wrap(dtype):
    layout = Layout(Shape(100, 100, 100))
    assert layout.offsets_of(np.array([[99, 99, 99]], dtype=dtype)).tolist() == [999_999]


def test_offsets_of_takes_any_leading_axes():
    layout = Layout(Shape(3, 4, origin=(1, 1)))
    assert layout.offsets_of((1, 2)).tolist() == 1
    assert layout.offsets_of([[[1, 1], [3, 4]]]).tolist() == [[0, 11]]
    assert layout.offsets_of([[1, 1]]).dtype == np.int64


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Layout(Shape(2, 3)).offset_of((2, 0)), OutOfBoundsError, "is not in"),
        (lambda: Layout(Shape(2, 3)).offset_of((-1, 0)), OutOfBoundsError, "is not in"),
        (lambda: Layout(Shape(2, 3)).offset_of((1,)), RankError, "rank 2"),
        (lambda: Layout(Shape(2, 3)).offset_of((0.5, 0)), ConversionError, "integer"),
        (lambda: Layout(Shape(2, 3)).offset_of((True, 0)), ConversionError, "bool"),
        (lambda: Layout(Shape(2, 3)).offsets_of([[0, 0], [0, 3]]), OutOfBoundsError, r"\(0, 3\) is not in"),
        (lambda: Layout(Shape(2, 3)).offsets_of([0, 3]), OutOfBoundsError, r"\(0, 3\) is not in"),
        (lambda: Layout(Shape(2, 3)).offsets_of([[0, 0, 0]]), RankError, "rank 2"),
        (lambda: Layout(Shape(2, 3)).offsets_of([[0.0, 0.0]]), ConversionError, "integers"),
        (lambda: Layout(Shape(2, 3)).index_of(6), OutOfBoundsError, "offset 6"),
        (lambda: Layout(Shape(2, 3)).index_of(-1), OutOfBoundsError, "offset -1"),
        (lambda: Layout(Shape(2, 3))[2], OutOfBoundsError, "mode 0, which has extent 2"),
        (lambda: Layout(Shape(2, 3))[:, -4], OutOfBoundsError, "mode 1"),
        (lambda: Layout(Shape(2, 3))[0, 0, 0], RankError, "3 indices are too many for 2"),
        (lambda: Layout(Shape(2, 3))[..., ...], RankError, "one ellipsis"),
        (lambda: Layout(Shape(2, 3))[0.5], ConversionError, "integer, a slice or an ellipsis"),
        (lambda: Layout(Shape(2, 3))[True], ConversionError, "mode 0"),
        (lambda: Layout(Shape(2, 3))[[0, 1]], ConversionError, "mode 0"),
        (lambda: Layout(Shape(2, 3))[np.array([0, 1])], ConversionError, "mode 0"),
        (lambda: Layout(Shape(2, 3))[:, ::0], StepError, "step .*mode 1 is 0"),
        (lambda: Layout(Shape(2, 3))["a":], ConversionError, "not made of integers"),
        (lambda: Layout(Shape(2, 3), order=(0, 0)), RankError, "permutation"),
        (lambda: Layout(Shape(2, 3), order=(0,)), RankError, "permutation"),
        (lambda: Layout(Shape(2, 3), order="A"), ConversionError, '"C", "F" or a permutation'),
        (lambda: Layout(Shape(2, 3), ascend=(True,)), LayoutError, "one bool per mode"),
        (lambda: Layout(Shape(2, 3), ascend=True), ConversionError, "one bool per mode of 2, not True"),
        (
            lambda: Layout(Shape(2, 3)).as_tiled([[1], [2]]),
            ConversionError,
            r"a Tiling.*not \[\[1\], \[2\]\]",
        ),
        (lambda: Layout(Shape(2, 3)).offsets_of([[0, 0], [1]]), ConversionError, "rectangular"),
        (lambda: Layout(5), ExtentError, "not by the integer 5"),
        (lambda: Layout(Shape(2, 3), ascend=(1, 0)), LayoutError, "one bool per mode"),
        (lambda: Layout(Shape(2, 3), strides=(3,)), LayoutError, "1 strides do not fit"),
        (lambda: Layout(Shape(2, 3), strides=(3, 1), order="F"), LayoutError, "either strides, or order"),
        (lambda: Layout(Shape(2, 3), strides=(3, 1), ascend=(True, True)), LayoutError, "either strides"),
        (lambda: Layout(Shape.jagged([1]), strides=(1, 1)), LayoutError, "strides describe boxes"),
        (lambda: Layout(Shape.jagged([1]), ascend=(True, True)), LayoutError, "use reverse"),
        (lambda: Layout(Shape.jagged([1]), order=np.array([0, 1])), RankError, "modes 0 to 0"),
        (lambda: Layout(Shape.jagged([1])).strides, LayoutError, "strides needs a strided layout"),
        (lambda: Layout(Shape.jagged([1])).permute((1, 0)), LayoutError, "puts modes of cells"),
        (lambda: Layout(Shape.jagged([1])).rotate((0, 1)), JaggedModeError, "rotate moves whole rows along"),
        (lambda: Layout(Shape(2, 3)).permute((0, 0)), RankError, "permutation"),
        (lambda: Layout(Shape(2, 3)).reverse(2), RankError, "mode 2"),
        (lambda: Layout(Shape(2, 3)).window(Shape(2, 2, origin=(0, 2))), OutOfBoundsError, "mode 1"),
        (lambda: Layout(Shape(2, 3)).window(Shape(2)), LayoutError, r"\(2, 3\) .*\(2,\)"),
        (lambda: Layout(Shape(2, 3)).broadcast(Shape(2, 4)), LayoutError, "mode 1 .* extent 3"),
        (lambda: Layout(Shape(2, 3)).broadcast(Shape(3)), LayoutError, "fewer modes"),
        (lambda: Layout(Shape(2, 3)).as_tiled(Tiling([2], [2])), LayoutError, "does not cover"),
        (
            lambda: Layout(Shape(2, 3)).as_tiled(Tiling([2], [3], origin=(0, 1))),
            LayoutError,
            "does not cover",
        ),
        (lambda: Layout(Shape()).as_tiled(Tiling()), LayoutError, "scalar has no tiles"),
    ],
)
def test_refusals_say_what_is_allowed(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_out_of_bounds_is_what_strangers_catch():
    assert issubclass(OutOfBoundsError, IndexError)
    with pytest.raises(IndexError):
        Layout(Shape(3))[3]


def test_views_of_the_tour():
    row = Layout(Shape(3, 4))
    assert row.permute((1, 0)).strides == (1, 4)
    assert (row.reverse(1).strides, row.reverse(1).offset) == ((4, -1), 3)
    assert row.reverse() == row.reverse(0, 1) == row.reverse(-1, 0, 1)
    assert (row[1:3, ::2].strides, row[1:3, ::2].offset, row[1].strides) == ((4, 2), 4, (1,))
    assert Layout(Shape(4)).broadcast(Shape(3, 4)).strides == (0, 1)


def test_window_keeps_its_origin_and_positional_keys_do_not():
    layout = Layout(Shape(4, 6, origin=(10, 20)), order="F")
    part = layout.window(Shape(4, 6, origin=(10, 20))[11:13, 22:25])
    assert (part.shape.origin, part.shape.extents) == ((11, 22), (2, 3))
    assert part.offset == layout.offset_of((11, 22)) == part.offset_of((11, 22))
    assert layout[1:3, 2:5].shape == Shape(2, 3)
    assert np.array_equal(layout[1:3, 2:5].to_numpy(), part.to_numpy())
    empty = layout.window(Shape(0, 6, origin=(14, 20)))
    assert (empty.shape, empty.bounds()) == (Shape(0, 6, origin=(14, 20)), (0, -1))


def test_reverse_and_permute_keep_the_origin_of_the_modes():
    layout = Layout(Shape(2, 3, origin=(5, 7)))
    assert layout.reverse(1).shape == layout.shape
    assert layout.reverse(1).offset_of((5, 7)) == layout.offset_of((5, 9))
    assert layout.permute((1, 0)).shape == Shape(3, 2, origin=(7, 5))
    assert layout.permute((1, 0)).offset_of((8, 6)) == layout.offset_of((6, 8))


def test_layouts_are_values():
    layout = Layout(Shape(2, 3), order="F")
    same = Layout(Shape(2, 3), strides=(1, 2))
    assert layout == same
    assert hash(layout) == hash(same)
    assert layout != Layout(Shape(2, 3))
    assert layout != Layout(Shape(2, 3, origin=(0, 1)), order="F")
    assert layout != "layout"
    for other in (pickle.loads(pickle.dumps(layout)), copy.copy(layout), copy.deepcopy(layout)):
        assert other == layout
        assert other.to_numpy().tolist() == layout.to_numpy().tolist()
    with pytest.raises(AttributeError):
        layout.offset = 3


def test_a_layout_has_no_len_and_does_not_iterate_but_is_true():
    layout = Layout(Shape(0, 3))
    with pytest.raises(TypeError, match="shape` has extents, rank and size"):
        len(layout)
    with pytest.raises(TypeError, match="to_numpy"):
        iter(layout)
    assert layout


@pytest.mark.parametrize(
    ("extents", "strides", "expected"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (0, 1), False),
        ((1, 3), (0, 1), True),
        ((3, 2), (2, 3), True),  # interleaved, but no two meet: 0 3 2 5 4 7
        ((4, 2), (2, 3), True),
        ((3, 3), (1, 1), False),
        ((3, 3), (2, -2), False),
        ((4, 3), (2, 3), False),  # 6 = 3 * 2 = 2 * 3
    ],
)
def test_is_injective_where_modes_interleave(extents, strides, expected):
    assert Layout(Shape(*extents), strides=strides).is_injective is expected


def test_what_is_found_out_about_places_is_remembered_and_no_part_of_the_value():
    asked, fresh = (Layout(Shape(3, 2), strides=(2, 3)) for _ in range(2))
    assert asked.is_injective
    assert asked.implementation._injective
    assert asked == fresh
    assert hash(asked) == hash(fresh)
    assert pickle.loads(pickle.dumps(asked)).implementation._injective is None


@pytest.mark.parametrize(
    "strides", [(1, 1, 1, 1), (-1, 1, -1, 1), (1, 2, 0, 3), (6, 10, 15, -15), (2, 2, 2, 3)]
)
def test_the_least_index_is_found_without_all_others(strides):
    layout = Layout(Shape(3, 4, 2, 3), strides=strides)
    first = {}
    for index in layout.shape.indices():
        first.setdefault(layout.offset_of(index), index)
    assert {offset: layout.index_of(offset) for offset in first} == first
    large = Layout(Shape(2000, 2000, 2000, 400), strides=(1, 1, 1, 1))
    assert large.index_of(3000) == (0, 602, 1999, 399)


def test_what_is_too_large_to_search_counts_as_overlapping():
    assert not Layout(Shape(2000, 2000), strides=(2, 3997)).is_injective
    assert Layout(Shape(2000, 2000), strides=(2, 4000)).is_injective
    assert Layout(Shape(10**6, 10**6)).is_injective


def test_offsets_beyond_64_bits_are_python_integers_or_refused():
    huge = Layout(Shape(2**40, 2**40))
    assert huge.offset_of((2**40 - 1, 2**40 - 1)) == 2**80 - 1
    assert huge.index_of(2**80 - 1) == (2**40 - 1, 2**40 - 1)
    assert huge.bounds() == (0, 2**80 - 1)
    with pytest.raises(SizeOverflowError, match="64 bits"):
        huge.offsets_of([[0, 0]])
    with pytest.raises(SizeOverflowError, match="64 bits"):
        Layout(Shape(2), strides=(2**63,)).to_numpy()
    assert not Layout(Shape(2, 2), strides=(2**64, 2**64)).is_injective


def test_index_of_gives_the_first_index_of_a_repeated_place():
    repeated = Layout(Shape(4)).broadcast(Shape(3, 4))
    assert repeated.index_of(2) == (0, 2)
    overlapping = Layout(Shape(3, 3), strides=(1, 1))
    assert [overlapping.index_of(k) for k in range(5)] == [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2)]
    assert Layout(Shape(3, 3), strides=(1, -1), offset=2).index_of(2) == (0, 0)
