"""Coverage of a box by boxes, against a grid in which every index is counted."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.errors import (
    JaggedModeError,
    RankError,
    SizeOverflowError,
    ValidationError,
)
from tensorwrapper.sharding import BoxTable, _coverage, check_coverage, coverage_findings

MARGIN = 3  # how far changes of one step each can take a box out of the whole
WORDS = {"leaves": "outside", "is in the boxes": "overlap", "is in none": "gap"}


def kinds(findings):
    return {kind for f in findings for word, kind in WORDS.items() if word in f.text}


@st.composite
def tilings(draw):
    """A box, and boxes that tile it: made by cutting, again and again."""
    rank = draw(st.integers(0, 4))
    origin = draw(st.tuples(*[st.integers(-3, 3)] * rank))
    whole = Shape.smooth(draw(st.tuples(*[st.integers(1, 4)] * rank)), origin=origin)
    boxes = [whole]
    for _ in range(draw(st.integers(0, 8))):
        box = boxes.pop(draw(st.integers(0, len(boxes) - 1)))
        wide = [mode for mode, extent in enumerate(box.extents) if extent > 1]
        if not wide:
            boxes.append(box)
            continue
        mode = draw(st.sampled_from(wide))
        cut = draw(st.integers(1, box.extents[mode] - 1)) + box.origin[mode]
        boxes += box.split([cut], mode)
    return whole, draw(st.permutations(boxes))


@st.composite
def broken(draw):
    """A tiling in which boxes are dropped, doubled, moved or resized, or nothing is done."""
    whole, boxes = draw(tilings())
    for _ in range(draw(st.integers(0, MARGIN))):
        if not boxes:
            break
        place = draw(st.integers(0, len(boxes) - 1))
        what = draw(st.sampled_from(["drop", "double", "move", "resize", "empty", "keep"]))
        box = boxes[place]
        changes = draw(st.tuples(*[st.integers(-1, 1)] * whole.rank))
        if what == "drop":
            del boxes[place]
        elif what == "double":
            boxes.insert(0, box)
        elif what == "move":
            boxes[place] = box.translate_by(changes)
        elif what == "resize":
            sizes = [max(0, a + b) for a, b in zip(box.extents, changes, strict=True)]
            boxes[place] = Shape.smooth(sizes, origin=box.origin)
        elif what == "empty":
            boxes.insert(0, Shape.smooth([0] * whole.rank, origin=box.origin) if whole.rank else box)
    return whole, boxes


def counted(whole, boxes):
    """Return how often each index of the whole and of a margin around it is in a box."""
    count = np.zeros([extent + 2 * MARGIN for extent in whole.extents], dtype=int)
    for box in boxes:
        starts = [a - b + MARGIN for a, b in zip(box.origin, whole.origin, strict=True)]
        count[tuple([slice(a, a + n) for a, n in zip(starts, box.extents, strict=True)])] += 1
    return count


def expected(whole, boxes):
    count = counted(whole, boxes)
    inside = tuple([slice(MARGIN, MARGIN + extent) for extent in whole.extents])
    wrong = set()
    if (count[inside] > 1).any():
        wrong.add("overlap")
    if (count[inside] == 0).any():
        wrong.add("gap")
    if count.sum() > count[inside].sum():
        wrong.add("outside")
    return wrong


@given(tilings())
def test_a_tiling_has_no_fault(case):
    whole, boxes = case

    assert coverage_findings(whole, boxes) == ()
    check_coverage(whole, BoxTable.from_boxes(boxes))


@given(broken())
@example((Shape(2, 2), [Shape(1, 2), Shape(1, 2)]))
@example((Shape(), []))
@example((Shape(), [Shape(), Shape()]))
@example((Shape(0, 3), [Shape(0, 3)]))
def test_all_kinds_of_faults_are_found_and_no_others(case):
    whole, boxes = case

    assert kinds(coverage_findings(whole, boxes)) == expected(whole, boxes)


@given(broken())
def test_faults_are_where_they_are_said_to_be(case):
    whole, boxes = case
    for finding in coverage_findings(whole, boxes):
        if "leaves" in finding.text:
            continue
        index = eval(finding.text[: finding.text.index(")") + 1])
        holders = [k for k, box in enumerate(boxes) if index in box]
        assert index in whole
        assert len(holders) != 1
        assert all(f"{k} [" in finding.text for k in holders[:4])


@pytest.mark.parametrize(
    "limits",
    [
        {"_CORNERS": 8},
        {"_CORNERS": 8, "_PAIRS": 2},
        {"_CORNERS": 8, "_PAIRS": 2, "_LOSS": 0},
        {"_CELLS": 2},
        {"_CELLS": 2, "_LOSS": 0},
        {"_KEYS": 4},
    ],
    ids=str,
)
def test_every_way_of_looking_agrees_on_whether_there_are_faults(limits, monkeypatch):
    for name, value in limits.items():
        monkeypatch.setattr(_coverage, name, value)

    @given(broken())
    def check(case):
        whole, boxes = case
        found, wanted = kinds(coverage_findings(whole, boxes)), expected(whole, boxes)

        assert found <= wanted
        assert bool(found) == bool(wanted)

    check()


def test_a_sum_of_sizes_does_not_tell():
    boxes = [Shape.from_bounds((0, 0), (2, 2)), Shape.from_bounds((1, 1), (3, 3)), Shape(1, 1)]

    assert sum(box.size for box in boxes) == 9
    assert kinds(coverage_findings((3, 3), boxes)) == {"overlap", "gap"}


def test_all_faults_are_reported_together():
    boxes = [Shape(2, 2), Shape(2, 2, origin=(1, 1)), Shape(1, 9, origin=(3, 0)), Shape(1, 1, origin=(9, 9))]
    with pytest.raises(ValidationError, match="blocks: 3 faults: ") as caught:
        check_coverage((4, 4), boxes, what="blocks")

    assert [finding.text for finding in caught.value.findings] == [
        "box 2 [3:4, 0:9] leaves [0:4, 0:4], and 1 more boxes leave it",
        "(1, 1) is in the boxes 0 [0:2, 0:2] and 1 [1:3, 1:3] of 4",
        "(0, 2) of [0:4, 0:4] is in none of the 4 boxes",
    ]
    assert {finding.where for finding in caught.value.findings} == {"blocks"}


def test_many_holders_of_an_index_are_not_all_named():
    (finding,) = coverage_findings((2,), [Shape(2)] * 9)

    assert finding.text == "(0,) is in the boxes 0 [0:2], 1 [0:2], 2 [0:2], 3 [0:2] and 5 more of 9"


def grid(rows, columns):
    i, j = np.divmod(np.arange(rows * columns), columns)
    return np.stack([7 * i, 5 * j], axis=1), np.tile([7, 5], (rows * columns, 1))


@pytest.mark.parametrize("change", [None, "overlap", "gap", "both"])
def test_a_hundred_thousand_boxes_are_checked(change):
    origins, extents = grid(400, 250)
    if change in ("overlap", "both"):
        extents[777, 0] += 1
    if change in ("gap", "both"):
        extents[99_999, 1] -= 1
    found = coverage_findings((2800, 1250), BoxTable.from_arrays(origins, extents))

    assert kinds(found) == {None: set(), "both": {"overlap", "gap"}}.get(change, {change})


def test_boxes_that_overlap_everywhere_are_told_from_those_with_gaps_everywhere():
    rng = np.random.default_rng(5)
    origins = rng.integers(0, 10**6, (20_000, 2))
    table = BoxTable.from_arrays(origins, np.minimum(rng.integers(1, 1000, (20_000, 2)), 10**6 - origins))

    assert kinds(coverage_findings((10**6, 10**6), table)) == {"overlap", "gap"}


def test_boxes_of_high_rank_are_checked():
    # Too many corners to sort: every fourth of 20 modes is cut in two.
    modes = [
        list(
            Shape(
                2,
            ).split_by_extents(1, 0)
        )
        if mode % 4 == 0
        else [Shape(1)]
        for mode in range(20)
    ]
    boxes = list(map(Shape.product, itertools.product(*modes)))
    whole = Shape.smooth([2 if mode % 4 == 0 else 1 for mode in range(20)])

    assert coverage_findings(whole, boxes) == ()
    assert kinds(coverage_findings(whole, boxes[1:])) == {"gap"}
    assert kinds(coverage_findings(whole, [*boxes, boxes[3]])) == {"overlap"}


@pytest.mark.parametrize("rank", [14, 24])
def test_boxes_that_differ_in_every_mode_are_compared(rank):
    # Box k is the whole but for mode k: no cut helps, and there are 2**rank corners per box.
    whole = Shape.smooth([2] * rank)
    boxes = [Shape.smooth([1 + (mode != k) for mode in range(rank)]) for k in range(rank)]

    assert kinds(coverage_findings(whole, boxes)) >= {"overlap"}
    assert kinds(coverage_findings(whole, boxes[:1])) == {"gap"}


def test_coordinates_may_be_as_large_as_64_bits_hold():
    far = 2**62
    boxes = [Shape(far, origin=(-far,)), Shape(far - 1, origin=(0,))]

    assert coverage_findings(Shape(2 * far - 1, origin=(-far,)), boxes) == ()
    with pytest.raises(SizeOverflowError, match="one of them is larger"):
        coverage_findings((2**70,), [Shape(2**70)])


def test_what_is_no_box_of_the_rank_is_refused():
    with pytest.raises(RankError, match="box 1 has rank 1, but the table has rank 2"):
        coverage_findings((2, 2), [Shape(2, 2), Shape(2)])
    with pytest.raises(JaggedModeError, match="box 0 must be a box, not jagged"):
        coverage_findings((2, 2), [Shape.jagged([1, 2])])
    with pytest.raises(RankError, match="the boxes have rank 1, but rank 2 is needed"):
        coverage_findings((2, 2), BoxTable.from_boxes([Shape(2)]))
