"""Masks by hand: the requirements, the forms in which indices are given, and what is refused."""

import numpy as np
import pytest

from tensorwrapper import Mask, Shape, Tiling
from tensorwrapper.errors import (
    ConversionError,
    JaggedModeError,
    OutOfBoundsError,
    SizeOverflowError,
)
from tensorwrapper.shape import as_shape

BOX = Shape(4, 6)


@pytest.mark.parametrize(
    ("items", "extents", "first", "last"),
    [
        ((), (4, 6), (0, 0), (3, 5)),
        ((slice(None, None, 2),), (2, 6), (0, 0), (2, 5)),
        ((..., slice(None, None, 2)), (4, 3), (0, 0), (3, 4)),
        ((slice(None, None, -1), ...), (4, 6), (3, 0), (0, 5)),
        ((slice(3, 0, -2), slice(1, 2)), (2, 1), (3, 1), (1, 1)),
        ((range(1, 4, 2), range(5, -1, -5)), (2, 2), (1, 5), (3, 0)),
        (([0, 3], [1, 2, 5]), (2, 3), (0, 1), (3, 5)),
        (((2, 0), (4,)), (2, 1), (2, 4), (0, 4)),
        ((np.array([3, 1], dtype=">u2"), np.int8(5)), (2,), (3, 5), (1, 5)),
        ((np.array([True, False, False, True]), 2), (2,), (0, 2), (3, 2)),
        (([False, True, True, False], np.array(3)), (2,), (1, 3), (2, 3)),
        ((np.uint64(1), slice(2, 6, 3)), (2,), (1, 2), (1, 5)),
    ],
)
def test_a_non_contiguous_set_is_presented_as_contiguous(items, extents, first, last):  # MK-01
    mask = Mask(BOX, *items)

    assert (mask.shape, mask.extents, mask.rank) == (Shape.smooth(extents), extents, len(extents))
    assert mask.source_index((0,) * len(extents)) == first
    assert mask.source_index([n - 1 for n in extents]) == last
    assert mask.result_index(last) == tuple(n - 1 for n in extents)


def test_a_mask_is_built_on_a_shape_and_is_none():  # MK-02
    mask = Mask(BOX, slice(None, None, 2))

    assert mask.source is BOX
    with pytest.raises(ConversionError):
        as_shape(mask)
    with pytest.raises(TypeError, match="not iterable"):
        iter(mask)


def test_a_set_of_indices_has_a_compressed_box_and_places_in_it():
    mask = Mask.of_points(Shape(3, 4), [(1, 2), (1, 3)])

    assert mask.outer().extents == (1, 2)
    assert mask.outer().result_index((1, 3)) == (0, 1)
    assert mask.extents == (2,)
    assert mask.result_index((1, 3)) == (1,)
    with pytest.raises(OutOfBoundsError, match=r"\(0, 2\) is not picked"):
        mask.outer().result_index((0, 2))


def test_indices_are_absolute():
    mask = Mask(Shape(4, 6, origin=(-2, 10)), [-2, 1], slice(11, None, 2))

    assert mask.shape == Shape(2, 3)
    assert mask.source_index((1, 2)) == (1, 15)
    assert mask.result_index((-2, 13)) == (0, 1)


def test_rows_of_a_jagged_shape_make_a_jagged_shape():
    shape = Shape.jagged([[10], [20, 30], [30, 10, 20]], origin=(5, 1, 2))
    mask = Mask(shape, [7, 5])

    assert mask.shape == Shape.jagged([[30, 10, 20], [10]])
    assert mask.source_index((0, 2, 3)) == (7, 3, 5)
    assert mask.result_index((5, 1, 2)) == (1, 0, 0)
    assert mask.complement().shape == Shape.jagged([[20, 30]])


def test_cells_that_are_alike_stay_stored_once():
    mask = Mask(Shape.from_uniform(10**6, 3), slice(None, None, 2))

    assert mask.shape == Shape.from_uniform(5 * 10**5, 3)
    assert mask.shape.to_json().count(",") < 20


def test_tiles_are_picked_as_rows_and_as_points():
    tiled = Tiling([2, 1, 3], [4, 2]).shape
    rows = Mask(tiled, [True, False, True])

    assert rows.shape.lengths(2).tolist() == [2, 2, 3, 3]
    assert Mask.of_points(tiled, [(2, 1, 0, 0), (0, 0, 1, 1)]).ordinals().tolist() == [
        tiled.ordinal((2, 1, 0, 0)),
        tiled.ordinal((0, 0, 1, 1)),
    ]


def test_layers_do_not_count():
    nested = Shape.nested(Shape(2, 3, 4), layers=(1, 2))
    mask = Mask(nested, 1, [2, 0], slice(None, None, 3))

    assert (mask.shape, mask.source) == (Shape(2, 2), nested)
    assert mask.source_index((0, 1)) == (1, 2, 3)
    assert Mask.of_points(nested, np.ones((2, 3, 4), dtype=bool)).size == 24


def test_modes_keep_their_names():
    mask = Mask(Shape(4, 6, 2).named("atom", None, "spin"), [3, 0], 1)
    rows = Mask(Shape.jagged([3, 1, 2]).named("event", "hit"), [2, 0, 1])

    assert mask.shape == Shape(2, 2).named("atom", "spin")
    assert rows.shape == Shape.jagged([2, 3, 1]).named("event", "hit")
    assert Mask.parse(str(rows)) == rows == Mask.from_json(rows.to_json())


def test_modes_of_any_size_are_masked_in_integers():
    huge = 10**30
    mask = Mask(Shape(huge, 4), slice(0, None, 10**10), [0, 3])

    assert mask.size == 2 * 10**20
    assert mask.source_index((10**20 - 1, 1)) == (huge - 10**10, 3)
    assert (huge - 10**10, 3) in mask
    assert mask.contains([[10**10, 3], [10**10 + 1, 3]]).tolist() == [True, False]
    assert mask.source_indices([[10**8, 0], [3, 1]]).tolist() == [[10**18, 0], [3 * 10**10, 3]]
    with pytest.raises(SizeOverflowError, match="64 bits"):
        mask.source_indices([[10**9, 0]])
    with pytest.raises(SizeOverflowError, match="64 bits"):
        mask.ordinals()


def test_modes_far_from_zero_are_masked_too():
    far = Shape(4, origin=(10**30,))

    assert Mask(far, [False, True, False, True]).source_index((1,)) == (10**30 + 3,)
    assert Mask(far, slice(None, None, -1)).result_index((10**30,)) == (3,)
    assert Mask(far.translate_by((3 - 10**30,)), [True, True, False, True]).source_index((2,)) == (6,)
    for make in (lambda: Mask(far, [True, True, False, True]), lambda: Mask(far, [10**30])):
        with pytest.raises(SizeOverflowError, match="64 bits"):
            make()


def test_what_is_picked_does_not_change_with_the_array_it_came_from():
    array = np.array([5, 0, 1])
    mask = Mask(Shape(6), array)
    array[:] = 0

    assert mask.picks[0].to_numpy().tolist() == [5, 0, 1]
    assert not mask.picks[0].to_numpy().flags.writeable


def test_a_jagged_shape_has_rows_to_pick_and_nothing_else():
    shape = Shape.jagged([3, 1, 2])
    with pytest.raises(JaggedModeError, match=r"chip\(1\)"):
        Mask(shape, 1)
    with pytest.raises(JaggedModeError, match="of_points"):
        Mask(shape, slice(None), [0])


@pytest.mark.parametrize("source", [(4, 6), 4, None, Tiling([1], [2])])
def test_the_source_is_a_shape(source):
    for make in (Mask, lambda s: Mask.of_points(s, []), lambda s: Mask.of_ordinals(s, [])):
        with pytest.raises(ConversionError, match="as_shape"):
            make(source)


def test_indices_outside_the_result_raise():
    mask = Mask(BOX, [0, 2])
    for index in ((2, 0), (-1, 0)):
        with pytest.raises(OutOfBoundsError, match="outside the result"):
            mask.source_index(index)
        with pytest.raises(OutOfBoundsError, match="outside the result"):
            mask.source_indices([index])


@pytest.mark.parametrize("key", [(slice(None, None, 2),), ([0, 1],), (np.ones(4, dtype=bool),)])
def test_the_brackets_of_a_shape_point_to_masks(key):
    with pytest.raises((ConversionError, ValueError), match=r"tw\.Mask"):
        BOX[key]
