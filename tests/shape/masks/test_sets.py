"""Masks of masks, and masks as sets, against Python's lists and sets."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Mask, Shape
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    JaggedModeError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.testing import shapes
from tests.support.shape.masks import masks, mode_masks, picks


def listed(mask):
    return [mask.source_index(place) for place in mask.shape.indices()]


@st.composite
def masks_of(draw, shape):
    """A mask of any way of one shape."""
    size = shape.size
    flat = shape.flatten()
    if draw(st.booleans()) or flat.rank == 0:
        chosen = draw(st.lists(st.integers(0, size - 1), unique=True, max_size=8)) if size else []
        return Mask.of_ordinals(shape, chosen)
    if flat.kind == "jagged":
        return Mask(shape, draw(picks(flat.origin_at(()), flat.extent(0)))[0])
    return Mask(shape, *[draw(picks(o, n))[0] for o, n in zip(flat.origin, flat.extents, strict=True)])


@given(masks, st.data())
def test_a_mask_of_a_mask_picks_what_both_pick_in_turn(given_, data):
    mask, model = given_
    inner = data.draw(masks_of(mask.shape))
    both = mask.compose(inner)
    places = list(mask.shape.indices())

    assert listed(both) == [model[places.index(place)] for place in listed(inner)]
    assert both.source == mask.source


@given(mode_masks(), st.data())
def test_brackets_compose(given_, data):
    mask, _ = given_
    items = tuple(data.draw(picks(0, n))[0] for n in mask.extents)

    assert mask[items] == mask.compose(Mask(mask.shape, *items))


@given(shapes(), st.data())
def test_masks_of_one_shape_are_sets(shape, data):
    a, b = data.draw(masks_of(shape)), data.draw(masks_of(shape))
    mine, theirs, whole = listed(a), listed(b), list(shape.indices())

    assert listed(a.intersect(b)) == [index for index in mine if index in theirs]
    assert listed(a.union(b)) == [index for index in whole if index in mine or index in theirs]
    assert listed(a.complement()) == [index for index in whole if index not in mine]
    assert listed(a.as_points()) == mine


@given(shapes(), st.data())
def test_a_mask_and_a_shape_meet_in_the_indices_of_both(shape, data):
    mask = data.draw(masks_of(shape))
    region = data.draw(shapes(max_rank=4).filter(lambda other: other.rank == shape.rank))

    assert listed(mask.intersect(region)) == [index for index in listed(mask) if index in region]


@given(mode_masks())
def test_pinned_modes_meet_shapes_too(given_):
    mask, model = given_
    region = mask.source.slice(
        mask.source.origin, [o + n // 2 for o, n in zip(*ends(mask.source), strict=True)]
    )

    assert listed(mask.intersect(region)) == [index for index in model if index in region]


def ends(box):
    return box.origin, box.extents


@given(mode_masks(), st.data())
def test_the_complement_of_a_mode_leaves_the_others_as_they_are(given_, data):
    mask, _ = given_
    free = [mode for mode, picked in enumerate(mask.picks) if not isinstance(picked, int)]
    if not free:
        return
    mode = data.draw(st.sampled_from(free))
    other = mask.complement(mode)
    every = range(mask.source.origin[mode], mask.source.origin[mode] + mask.source.extents[mode])

    assert sorted([*other.picks[mode].to_numpy(), *mask.picks[mode].to_numpy()]) == list(every)
    assert [p for m, p in enumerate(other.picks) if m != mode] == [
        p for m, p in enumerate(mask.picks) if m != mode
    ]


@given(shapes(kinds=["smooth"]), st.data())
def test_the_outer_mask_is_the_product_of_the_indices_that_occur(shape, data):
    mask = data.draw(masks_of(shape))
    found, outer = listed(mask), mask.outer()
    in_order = list if mask.way == "modes" else sorted
    occur = [in_order(dict.fromkeys(index[mode] for index in found)) for mode in range(shape.rank)]

    assert outer.extents == tuple(map(len, occur))
    assert all(index in outer for index in found)
    assert [outer.result_index(index) for index in found] == [
        tuple(column.index(i) for column, i in zip(occur, index, strict=True)) for index in found
    ]


def test_slices_of_ranges_stay_ranges_in_constant_memory():
    mask = Mask(Shape(10**18, 10**18), slice(None, None, 3), slice(5, None, 7))
    part = mask[10**6 :: 2, ::-1]

    assert part.picks[0].places == range(3 * 10**6, 10**18, 6)
    assert part.source_index((1, 0)) == (3 * 10**6 + 6, mask.picks[1].places[-1])
    assert part.result_index((3 * 10**6 + 6, 5)) == (1, part.extents[1] - 1)


def test_regular_positions_are_kept_as_ranges():
    mask = Mask(Shape(10, 10), [1, 3, 5, 7], [False, True] * 5)

    assert [picks.places for picks in mask.picks] == [range(1, 8, 2), range(1, 10, 2)]
    assert Mask(Shape(10), [0, 1, 3])[[0, 2]].picks[0].places == range(0, 4, 3)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (slice(1, None, 2), range(0)),
        ([7, 4, 10], [4, 10]),
        (slice(9, None, -5), [4]),
        (slice(10**20, None, -(10**20 - 14)), [14, 10**20]),
    ],
)
def test_ranges_of_any_size_meet_in_what_the_other_has(other, expected):
    twos = Mask(Shape(10**20 + 1), slice(None, None, 2))
    both = twos.intersect(Mask(twos.source, other))

    assert [both.source_index((k,))[0] for k in range(both.size)] == list(expected)


def test_a_few_points_meet_a_mask_of_any_size():
    rows = Mask(Shape(10**9, 10**9), slice(None, None, -1))
    points = Mask.of_points(rows.source, [(3, 5), (7, 1)])

    assert listed(rows.intersect(points)) == [(7, 1), (3, 5)]
    assert listed(points.intersect(rows)) == [(3, 5), (7, 1)]
    assert listed(points.intersect(Shape(10**9, 10**9)[5:])) == [(7, 1)]


def test_masks_that_pin_the_same_index_meet_by_modes():
    a, b = Mask(Shape(4, 6), 2, slice(None, None, 2)), Mask(Shape(4, 6), 2, [4, 1, 2])

    assert a.intersect(b) == Mask(Shape(4, 6), 2, [2, 4])
    assert a.intersect(Mask(Shape(4, 6), 1)).size == 0


def test_a_mask_composes_with_masks_of_its_own_result_only():
    with pytest.raises(ExtentMismatchError, match=r"inner mask is of \(7,\), but the result is \(5,\)"):
        Mask(Shape(10), slice(None, None, 2)).compose(Mask(Shape(7)))


def test_sets_need_one_source():
    with pytest.raises(ExtentMismatchError, match=r"one mask is of \(3,\), the other of \(4,\)"):
        Mask(Shape(3)).union(Mask(Shape(4)))
    with pytest.raises(RankError, match="rank 2"):
        Mask(Shape(3)).intersect((3, 3))


def test_a_jagged_source_has_no_outer_mask():
    with pytest.raises(JaggedModeError, match="outer product"):
        Mask(Shape.jagged([3, 1])).outer()


@pytest.mark.parametrize("mask", [Mask(Shape(3, 4), 1), Mask.of_points(Shape(3, 4), [(0, 1)])])
def test_only_modes_that_are_picked_have_a_complement(mask):
    with pytest.raises(ConversionError, match="mode 0"):
        mask.complement(0)


@given(st.data())
def test_w4_the_union_of_ranges_is_that_of_sets(data):
    ranges = [
        range(start, start + step * count, step)
        for start, step, count in [
            data.draw(st.tuples(st.integers(0, 12), st.sampled_from([1, 2, 3, 4]), st.integers(0, 6)))
            for _ in range(2)
        ]
    ]
    masks = [Mask(Shape(60), own if data.draw(st.booleans()) else own[::-1]) for own in ranges]
    found = masks[0].union(masks[1])
    assert found.ordinals().tolist() == sorted({*ranges[0], *ranges[1]})


def test_w4_unions_of_long_ranges_are_ranges_or_refused():
    line = Shape(2**40, origin=(5,))
    even, odd = Mask(line, slice(None, None, 2)), Mask(line, range(6, 2**40 + 5, 2))
    tracemalloc.start()
    assert even.union(odd).size == 2**40
    assert even.union(Mask(line, slice(None, None, 6))).size == 2**39
    rows = Shape(2**40, 3)
    assert Mask(rows, slice(None, None, 2), 1).union(Mask(rows, range(1, 2**40, 2), 1)).size == 2**40
    for ask in (
        lambda: even.union(Mask(line, slice(None, None, 3))),
        lambda: Mask(rows, slice(None), [0, 2]).union(Mask(rows, 1)),
        lambda: Mask(line, slice(None, None, 3)).complement(),
    ):
        with pytest.raises(SizeOverflowError, match="more than memory holds"):
            ask()
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
