"""What is picked, as users give it: places, points, ordinals, and what is none of them."""

import numpy as np
import pytest

from tensorwrapper import Mask, Shape
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)

BOX = Shape(4, 6)


def test_booleans_for_all_modes_pick_points_in_row_major_order():
    bools = np.array([[0, 1, 0], [1, 0, 1]], dtype=bool)
    mask = Mask.of_points(Shape(2, 3), bools)

    assert mask.shape == Shape(3)
    assert mask.source_indices([[0], [1], [2]]).tolist() == [[0, 1], [1, 0], [1, 2]]
    assert mask == Mask.of_points(Shape(2, 3), bools.tolist())


def test_points_keep_the_order_in_which_they_are_given():
    mask = Mask.of_points(Shape(2, 3), [(1, 2), (0, 0)])

    assert [mask.source_index((k,)) for k in range(2)] == [(1, 2), (0, 0)]
    assert mask[1].shape == Shape()
    assert mask[1].source_index(()) == (0, 0)


@pytest.mark.parametrize(
    ("items", "error", "match"),
    [
        (([0, 4],), OutOfBoundsError, r"index 4 is outside \[0, 4\) of mode 0"),
        ((slice(None), [-1]), OutOfBoundsError, r"index -1 is outside \[0, 6\) of mode 1"),
        ((7,), OutOfBoundsError, r"index 7 is outside \[0, 4\) of mode 0"),
        ((range(0, 5, 4),), OutOfBoundsError, "index 4"),
        ((slice(0, 5),), OutOfBoundsError, r"slice 0:5:1 of mode 0 must run within \[0, 4\)"),
        ((slice(3, 1),), OutOfBoundsError, "backwards"),
        ((slice(1, 3, -1),), OutOfBoundsError, "backwards"),
        ((slice(None, None, 0),), ExtentError, "step of mode 0 must not be 0"),
        (([1, 2, 1],), ExtentError, "1 comes twice.*gather"),
        (([3, 1, 1],), ExtentError, "1 comes twice"),
        (([True],), ExtentError, "mode 0 has 4 indices, but 1 bools"),
        (([0], [0], [0]), RankError, "3 items are too many"),
        ((..., ...), RankError, "one ellipsis"),
        ((1.0,), ConversionError, "not by 1.0"),
        (([1.5],), ConversionError, "integer"),
        (([1, True],), ConversionError, "bool"),
        ((True,), ConversionError, "not by True"),
        (("01",), ConversionError, "not by '01'"),
        ((np.ones((4, 6), dtype=bool),), ConversionError, "of_points takes bools"),
        ((np.array([1.0]),), ConversionError, "float64"),
        (([2**70],), SizeOverflowError, "64 bits"),
        ((None,), ConversionError, "not by None"),
    ],
)
def test_refusals_say_what_is_wrong_and_where(items, error, match):
    with pytest.raises(error, match=match):
        Mask(BOX, *items)


@pytest.mark.parametrize(
    ("points", "error", "match"),
    [
        ([(0, 6)], OutOfBoundsError, r"\(0, 6\)"),
        ([(0, 0), (0, 0)], ExtentError, "comes twice"),
        ([(0, 0, 0)], RankError, "rank 2"),
        ([0, 1], RankError, "table of indices"),
        (np.ones(5, dtype=bool), ExtentError, r"bools of \(4, 6\)"),
        ([(0.5, 1)], ConversionError, "integers"),
    ],
)
def test_points_that_are_none_are_refused(points, error, match):
    with pytest.raises(error, match=match):
        Mask.of_points(BOX, points)


@pytest.mark.parametrize(
    ("ordinals", "error"),
    [
        (24, OutOfBoundsError),
        ([-1], OutOfBoundsError),
        (range(0, 48, 24), OutOfBoundsError),
        ([[1]], RankError),
        ([3, 3], ExtentError),
    ],
)
def test_ordinals_that_are_none_are_refused(ordinals, error):
    with pytest.raises(error):
        Mask.of_ordinals(BOX, ordinals)


@pytest.mark.parametrize(
    "mask",
    [
        Mask(BOX, [0, 2], slice(None, None, 2)),
        Mask(Shape.jagged([3, 1, 2], origin=(1, 2)), [3, 1]),
        Mask.of_points(BOX, [(3, 1), (0, 0), (1, 1)]),
    ],
)
def test_arrays_of_any_rank_hold_indices(mask):
    places = mask.shape.indices().to_numpy()
    found = mask.source_indices(places)

    for extents in [(1, -1), (-1, 1, 1)]:
        table = found.reshape(*extents, found.shape[-1])
        assert mask.result_indices(table).tolist() == places.reshape(*extents, places.shape[-1]).tolist()
        assert mask.contains(table).all()
    assert mask.source_indices(places[0]).tolist() == found[0].tolist()
    assert mask.result_indices(found[0]).tolist() == places[0].tolist()
    assert mask.contains(found[0])
    assert not mask.contains(found[0] + 100)
