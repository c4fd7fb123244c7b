"""Laws of block patterns, against masks of NumPy over the grid."""

import copy
import pickle

import numpy as np
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.shape.patterns import _ordinals as sets
from tensorwrapper.testing import tilings

cuts = tilings(min_rank=0, max_rank=4)
numbers = st.lists(st.integers(0, 5000), max_size=90, unique=True)


@st.composite
def masked(draw, count=1):
    """A tiling, and for each of so many patterns the mask of it."""
    tiling = draw(cuts)
    size = tiling.grid.size
    bits = [draw(st.lists(st.booleans(), min_size=size, max_size=size)) for _ in range(count)]
    return tiling, *[np.array(b, dtype=bool).reshape(tiling.grid.extents) for b in bits]


@given(masked(2))
def test_operators_are_those_of_the_masks(case):
    tiling, a, b = case
    p, q = BlockPattern.from_mask(tiling, a), BlockPattern.from_mask(tiling, b)
    for found, method, right in [
        (p | q, p.union(q), a | b),
        (p & q, p.intersect(q), a & b),
        (p - q, p.difference(q), a & ~b),
        (p ^ q, p.symmetric_difference(q), a ^ b),
        (~p, p.complement(), ~a),
    ]:
        assert np.array_equal(found.mask(), right)
        assert found == method == BlockPattern.from_mask(tiling, right)
        assert hash(found) == hash(method)
    assert ~~p == p
    assert ~(p | q) == ~p & ~q
    assert (p <= q, p < q) == (not (a & ~b).any(), not (a & ~b).any() and bool((a != b).any()))
    assert (p >= q, p > q) == (q <= p, q < p)
    assert (p == q) == np.array_equal(a, b)


@given(masked())
def test_a_pattern_is_its_mask(case):
    tiling, mask = case
    p = BlockPattern.from_mask(tiling, mask)
    twins = [
        BlockPattern(tiling, p.tiles()),
        BlockPattern(tiling, list(p)[::-1]),
        BlockPattern(tiling, set(p)),
        BlockPattern.from_ordinals(tiling, np.flatnonzero(mask)[::-1]),
        pickle.loads(pickle.dumps(p)),
        copy.copy(p),
    ]
    for twin in twins:
        assert twin == p
        assert hash(twin) == hash(p)
        assert tokenize(twin) == tokenize(p)
    assert np.array_equal(p.mask(), mask)
    assert p.count == len(p) == len(list(p)) == mask.sum()
    assert set(p) == {tuple(k) for k in np.argwhere(mask).tolist()}
    assert bool(p) == bool(mask.any())
    assert BlockPattern(tiling) == BlockPattern.from_mask(tiling, np.ones_like(mask))
    assert p.density == (mask.mean() if mask.size else 0.0)


@given(masked())
def test_slots_count_the_present_tiles_before_each(case):
    tiling, mask = case
    p = BlockPattern.from_mask(tiling, mask)
    assert p.slots(p.tiles()).tolist() == list(range(p.count))
    assert p.slots_of_ordinals(p.ordinals()).tolist() == list(range(p.count))
    assert (p.slots((~p).tiles()) == -1).all()
    for slot, tile in enumerate(p):
        assert p.slot(tile) == slot
        assert tile in p
    for tile in ~p:
        assert p.slot(tile) is None
        assert tile not in p


@given(masked())
def test_sizes_are_those_of_the_tiles(case):
    tiling, mask = case
    p = BlockPattern.from_mask(tiling, mask)
    tiles = [tiling.tile(k) for k in p]
    volumes = [tile.size for tile in tiles]
    assert p.volumes().tolist() == volumes
    assert p.offsets().tolist() == [0, *np.cumsum(volumes, dtype=np.int64).tolist()]
    assert p.elements == sum(volumes)
    assert [tuple(e) for e in p.tile_extents().tolist()] == [tile.extents for tile in tiles]
    assert [tuple(e) for e in p.tile_origins().tolist()] == [tile.origin for tile in tiles]
    assert p.nonempty() == BlockPattern(tiling, [k for k, n in zip(p, volumes, strict=True) if n])


@given(masked(), st.data())
def test_a_pattern_permutes_as_its_mask(case, data):
    tiling, mask = case
    p = BlockPattern.from_mask(tiling, mask)
    order = data.draw(st.permutations(range(tiling.rank)))
    moved = p.permute(order)
    assert moved == p.permute(*order) if order else moved == p
    assert np.array_equal(moved.mask(), mask.transpose(order))
    assert moved.tiling == tiling.permute(order)
    assert moved.permute(np.argsort(order).tolist()) == p


@given(numbers, numbers)
def test_bitmaps_and_searches_agree(left, right):
    a, b = np.array(sorted(left), dtype=np.int64), np.array(sorted(right), dtype=np.int64)
    assert sets.union(a, b).tolist() == sorted({*left, *right})
    assert sets.symmetric_difference(a, b).tolist() == sorted({*left} ^ {*right})
    for size in (5001, 2**40):  # the first is marked in a bitmap unless the sets are small
        assert sets.intersection(a, b, size).tolist() == sorted({*left} & {*right})
        assert sets.difference(a, b, size).tolist() == sorted({*left} - {*right})


@given(numbers, numbers)
def test_lookups_agree_in_any_order(present, wanted):
    ordinals, lookups = np.array(sorted(present), dtype=np.int64), np.array(wanted * 5, dtype=np.int64)
    right = [sorted(present).index(k) if k in present else -1 for k in wanted * 5]
    assert sets.slots_in(ordinals, lookups).tolist() == right
    assert sets.slots_in_any_order(ordinals, lookups).tolist() == right
    assert sets.SlotIndex(ordinals, 5001).slots(lookups).tolist() == right


def test_many_lookups_make_an_index_and_change_no_answer():
    p = BlockPattern.from_ordinals(Tiling([1] * 100, [1] * 100), np.arange(0, 10**4, 3))
    tiles = np.indices((100, 100)).reshape(2, -1).T[::-1]
    right = p.slots(tiles[:5]).tolist()
    assert p._index is None
    assert p.slots(tiles).tolist()[:5] == right
    assert p._index is not None
    assert p.slots(tiles[:5].reshape(1, 5, 2)).tolist() == [right]
    assert p.slots(tiles).tolist() == p.slots_of_ordinals(tiles @ [100, 1]).tolist()
    assert np.flatnonzero(p.slots(tiles[::-1]) >= 0).tolist() == p.ordinals().tolist()
