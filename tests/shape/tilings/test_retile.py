"""Moving elements from one tiling to another: the plan is followed tile by tile and must lose nothing."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import Overlaps, Partition, RetileCost, Shape, Tiling

OLD = Tiling.from_marks((0, 2, 4, 8), (0, 3, 5))
NEW = Tiling.from_marks((0, 4, 6, 8), (0, 2, 4, 5))


@st.composite
def two_cuts(draw):
    """Two ways to cut one range, with empty tiles and tiles of extent 0 at either end."""
    low = draw(st.integers(-5, 5))
    high = low + draw(st.integers(0, 12))
    inner = st.lists(st.integers(low, high), max_size=6).map(sorted)
    cuts = [[low, *draw(inner), high] for _ in range(2)]
    # A range without indices may be cut into no tile at all.
    return [cut[:1] if low == high and draw(st.booleans()) else cut for cut in cuts]


@st.composite
def two_tilings(draw, most=3):
    modes = draw(st.lists(two_cuts(), max_size=most))
    return tuple(Tiling.from_marks(*[cuts[k] for cuts in modes]) for k in range(2))


def place_of(tile, origin):
    return tuple(slice(o - a, o - a + n) for o, a, n in zip(tile.origin, origin, tile.extents, strict=True))


def tiles_of(array, tiling):
    """The tiles of an array, each an array of its own."""
    return {
        number: array[place_of(tiling.tile(number), tiling.origin)].copy() for number in tiling.grid.indices()
    }


def moved(array, old, new, pieces):
    """What the tiles of `new` are, made only of the tiles of `old` by following the pieces."""
    source = tiles_of(array, old)
    target = {k: np.full(new.tile(k).extents, -1, dtype=array.dtype) for k in new.grid.indices()}
    for old_tile, cut, new_tile, place in pieces.slices():
        assert (target[new_tile][place] == -1).all(), "an element moved twice"
        target[new_tile][place] = source[old_tile][cut]
    return target


def check_same(found, expected):
    assert found.keys() == expected.keys()
    for number, tile in expected.items():
        assert np.array_equal(found[number], tile), number


def test_the_tiles_of_tiledarray_s_example_are_moved():
    array = np.arange(40.0).reshape(8, 5)
    plan = OLD.retile_plan(NEW)
    assert OLD.retile(NEW) == NEW
    check_same(moved(array, OLD, NEW, plan.pieces()), tiles_of(array, NEW))
    assert plan.count == len(plan.pieces()) == 16


@given(two_tilings())
def test_every_element_moves_once_to_where_it_belongs(tilings):
    old, new = tilings
    array = np.arange(old.elements.size).reshape(old.elements.extents)
    check_same(moved(array, old, new, old.retile_plan(new).pieces()), tiles_of(array, new))


@given(two_tilings(), st.integers(1, 7))
def test_batches_and_single_tiles_give_the_same_pieces(tilings, length):
    old, new = tilings
    plan = old.retile_plan(new)
    rows = list(plan.pieces().slices())
    batches = list(plan.batches(length))
    assert [row for batch in batches for row in batch.slices()] == rows
    assert all(len(batch) == length for batch in batches[:-1])
    for number in new.grid.indices():
        mine = list(plan.pieces_of(number).slices())
        assert mine == [row for row in rows if row[2] == number]
        assert plan.fan_in(number) == len(mine)


@given(two_tilings())
def test_the_cost_is_that_of_the_pieces(tilings):
    old, new = tilings
    plan = old.retile_plan(new)
    pieces = plan.pieces()
    ins = dict.fromkeys(new.grid.indices(), 0)
    outs = dict.fromkeys(old.grid.indices(), 0)
    for old_tile, _, new_tile, _ in pieces.slices():
        ins[new_tile] += 1
        outs[old_tile] += 1
    assert plan.cost(itemsize=8) == RetileCost(
        pieces=len(pieces),
        elements=math.prod(new.elements.extents),
        nbytes=8 * new.elements.size,
        fan_in=max(ins.values(), default=0),
        fan_out=max(outs.values(), default=0),
    )
    assert plan.fan_ins().tolist() == np.reshape(list(ins.values()), new.grid.extents).tolist()
    assert plan.fan_outs().tolist() == np.reshape(list(outs.values()), old.grid.extents).tolist()
    for number, count in outs.items():
        assert plan.fan_out(number) == count


@given(two_tilings())
def test_pieces_lie_in_both_their_tiles_and_are_the_tiles_of_the_common_refinement(tilings):
    old, new = tilings
    pieces = old.retile_plan(new).pieces()
    boxes = []
    for k in range(len(pieces)):
        box = Shape.smooth(pieces.extents[k], origin=pieces.starts[k])
        a, b = old.tile(pieces.old_tiles[k]), new.tile(pieces.new_tiles[k])
        assert box == a.intersect(b)
        assert box.size > 0
        assert tuple(pieces.old_offsets[k]) == tuple(np.subtract(box.origin, a.origin))
        assert tuple(pieces.new_offsets[k]) == tuple(np.subtract(box.origin, b.origin))
        boxes.append(box)
    assert boxes == [t for t in old.intersect(new).tiles() if t.size]


@given(two_cuts())
def test_overlaps_are_the_pairs_of_tiles_that_share_indices(cuts):
    old, new = (Partition.of_marks(c) for c in cuts)
    found = Overlaps(old, new)
    expected = [
        (i, j, max(a, c), min(b, d) - max(a, c))
        for i, (a, b) in enumerate(itertools.pairwise(cuts[0]))
        for j, (c, d) in enumerate(itertools.pairwise(cuts[1]))
        if max(a, c) < min(b, d)
    ]
    columns = (found.old_tiles, found.new_tiles, found.starts, found.extents)
    assert list(zip(*[c.tolist() for c in columns], strict=True)) == sorted(expected, key=lambda e: e[2])
    assert len(found) == len(expected)


def test_a_scalar_is_one_piece():
    plan = Tiling().retile_plan(Tiling())
    assert plan.cost(itemsize=4) == RetileCost(pieces=1, elements=1, nbytes=4, fan_in=1, fan_out=1)
    assert list(plan.pieces().slices()) == list(plan.pieces_of(()).slices()) == [((), (), (), ())]
    assert plan.fan_ins().tolist() == 1


def test_the_cost_of_a_plan_that_no_array_can_hold_is_known():
    old = Tiling(*[[2] * 100] * 12, origin=[-100] * 12)
    new = Tiling(*[[200]] * 12, origin=[-100] * 12)
    plan = old.retile_plan(new)
    assert plan.count == 100**12
    assert plan.cost().elements == 200**12
    assert plan.cost().fan_in == plan.fan_in((0,) * 12) == 100**12
    assert plan.fan_out((99,) * 12) == 1
    for call in (plan.pieces, plan.fan_ins, plan.fan_outs, lambda: plan.batches(3)):
        with pytest.raises(SizeOverflowError, match="64 bits"):
            call()


def test_a_large_plan_is_read_in_batches():
    old = Tiling([1] * 3000, [1] * 3000)
    plan = old.retile_plan(Tiling([3000], [3000]))
    batch = next(plan.batches(5))
    assert batch.old_tiles.tolist() == [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: OLD.retile_plan(Tiling([8])), RankError, "one rank, not 2 and 1"),
        (
            lambda: OLD.retile(Tiling([8], [6])),
            ExtentError,
            r"retile .*mode 1 reaches over \[0, 5\) and over \[0, 6\)",
        ),
        (lambda: OLD.retile_plan(OLD.translate_by((1, 0))), ExtentError, r"mode 0 .*\[0, 8\).*\[1, 9\)"),
        (lambda: OLD.intersect(Tiling([8], [6])), ExtentError, "intersect .*mode 1"),
        (lambda: OLD.retile_plan(((8,), (5,))), ConversionError, "needs a Tiling"),
        (lambda: OLD.retile_plan(NEW).pieces_of((3, 0)), OutOfBoundsError, r"tile 3 .*\[0, 3\) of mode 0"),
        (lambda: OLD.retile_plan(NEW).fan_out((0, 2)), OutOfBoundsError, r"tile 2 .*\[0, 2\) of mode 1"),
        (lambda: OLD.retile_plan(NEW).fan_in((0,)), RankError, "has 1 entry"),
        (lambda: OLD.retile_plan(NEW).batches(0), ExtentError, "at least one piece"),
        (lambda: OLD.retile_plan(NEW).cost(itemsize=-8), ExtentError, "-8"),
        (lambda: OLD.retile_plan(NEW).cost(itemsize=0.5), ConversionError, r"0\.5"),
        (lambda: Overlaps(OLD.partitions[0], OLD.partitions[1]), ExtentError, r"\[0, 8\) and \[0, 5\)"),
    ],
)
def test_what_retiling_refuses(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_a_plan_is_a_value():
    plan = OLD.retile_plan(NEW)
    assert plan == OLD.retile_plan(NEW)
    assert plan != NEW.retile_plan(OLD)
    assert repr(plan) == "RetilePlan((3, 2) tiles to (3, 3) tiles, 16 pieces)"
    for twin in (copy.copy(plan), copy.deepcopy(plan), pickle.loads(pickle.dumps(plan))):
        assert twin == plan
        assert hash(twin) == hash(plan)
        assert tokenize(twin) == tokenize(plan)
        assert not any(a.flags.writeable for o in twin.overlaps for a in (o.old_tiles, o.starts, o.extents))


def test_pieces_are_read_only_also_after_a_pickle():
    pieces = OLD.retile_plan(NEW).pieces()
    for twin in (pieces, copy.deepcopy(pieces), pickle.loads(pickle.dumps(pieces))):
        assert list(twin.slices()) == list(pieces.slices())
        with pytest.raises(ValueError, match="read-only"):
            twin.starts[0, 0] = 7
