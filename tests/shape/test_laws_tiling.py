"""Laws of tilings, against plain lists of boundaries."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.shape import Partition, Shape, Tiling

marks = st.lists(st.integers(-9, 12), min_size=1, max_size=7).map(sorted)
tilings = st.lists(marks, max_size=3).map(lambda m: Tiling.from_marks(*m))
lines = marks.map(Tiling.from_marks)


@st.composite
def tilings_of_one_box(draw, count, most=2):
    """Several tilings of one box, with empty tiles, some at the ends."""
    modes = []
    for _ in range(draw(st.integers(0, most))):
        low = draw(st.integers(-5, 5))
        high = low + draw(st.integers(0, 9))
        inner = st.lists(st.integers(low, high), max_size=5).map(sorted)
        modes.append([[low, *draw(inner), high] for _ in range(count)])
    return [Tiling.from_marks(*[cuts[k] for cuts in modes]) for k in range(count)]


@st.composite
def boxes_in(draw, tiling):
    ends = [
        sorted((draw(st.integers(o, o + n)), draw(st.integers(o, o + n))))
        for o, n in zip(tiling.origin, tiling.elements.extents, strict=True)
    ]
    return tiling.elements.slice([a for a, _ in ends], [b for _, b in ends])


def lists_of(tiling):
    return [m.tolist() for m in tiling.marks]


# Lookups.


@given(tilings, st.data())
def test_a_box_touches_the_tiles_of_its_elements(tiling, data):
    box = data.draw(boxes_in(tiling))
    found = tiling.tile_range(box)
    for mode, m in enumerate(lists_of(tiling)):
        low, n = box.origin[mode], box.extents[mode]
        touched = [k for k, (a, b) in enumerate(itertools.pairwise(m)) if max(a, low) < min(b, low + n)]
        if touched:
            assert (found.origin[mode], found.extents[mode]) == (touched[0], touched[-1] - touched[0] + 1)
        else:
            assert not found.extents[mode]
            assert 0 <= found.origin[mode] <= len(m) - 1
            # The tile of the position is the last that starts there or before.
            if low < m[-1]:
                assert (low,) in Tiling.from_marks(m).tile((found.origin[mode],))
    assert tiling.is_aligned(box) == all(
        {low, low + n} <= set(m) for low, n, m in zip(box.origin, box.extents, lists_of(tiling), strict=True)
    )
    around = tiling.element_range(found)
    if box.size:
        assert all(i in around for i in box.indices())
        assert tiling.is_aligned(around)


@given(tilings)
def test_boundary_predicates_are_those_of_the_tiles(tiling):
    places = itertools.product(*[range(m[0] - 1, m[-1] + 2) for m in lists_of(tiling)])
    tiles = [t for t in tiling.tiles() if t.size]
    starts = {t.origin for t in tiles}
    stops = {tuple(np.add(t.origin, t.extents).tolist()) for t in tiles}
    assume(tiling.elements.size and tiling.rank)
    table = np.array(list(itertools.islice(places, 500)), dtype=np.int64).reshape(-1, tiling.rank)
    for index in map(tuple, table.tolist()):
        assert tiling.is_tile_start(index) == (index in starts)
        assert tiling.is_tile_stop(index) == (index in stops)
    assert tiling.are_tile_starts(table).tolist() == [tuple(i) in starts for i in table.tolist()]
    assert tiling.are_tile_stops(table).tolist() == [tuple(i) in stops for i in table.tolist()]


@given(lines, st.integers(1, 40), st.randoms(use_true_random=False))
def test_many_lookups_and_one_find_the_same_tiles(line, count, random):
    low, n = line.origin[0], line.elements.size
    assume(n)
    wanted = [random.randrange(low, low + n) for _ in range(count)]
    expected = [line.tile_of((i,)) for i in wanted]
    assert line.tiles_of([[i] for i in wanted]).tolist() == [list(k) for k in expected]
    assert line.tiles_of(np.array(wanted).reshape(1, -1, 1)).shape == (1, count, 1)
    for i, k in zip(wanted, expected, strict=True):
        assert line.find((i,)) == line.tile(k)
        assert (i,) in line.tile(k)


@given(lines, st.integers(-30, 30))
def test_what_is_outside_is_in_no_tile(line, i):
    if (i,) in line.elements:
        return
    assert line.find((i,)) is None
    for call in (lambda: line.tile_of((i,)), lambda: line.tiles_of([[i]]), lambda: line.tiles_of([[i]] * 99)):
        with pytest.raises(OutOfBoundsError):
            call()


# Parts and sums.


@given(tilings, st.data())
def test_a_slice_has_the_tiles_cut_to_its_box(tiling, data):
    box = data.draw(boxes_in(tiling))
    part = tiling.slice(box)
    assert part.elements == box
    assert [t for t in part.tiles() if t.size] == [
        cut for cut in (t.intersect(box) for t in tiling.tiles()) if cut.size
    ]
    ends = [o + n for o, n in zip(box.origin, box.extents, strict=True)]
    assert part == tiling.slice(box.origin, ends)
    assert part == tiling[tuple(slice(a, b) for a, b in zip(box.origin, ends, strict=True))]
    assert tiling.slice(tiling.elements) == tiling[...] == tiling


@given(lines, st.data())
def test_slices_that_follow_one_another_are_joined_to_what_they_were_cut_from(line, data):
    low, n = line.origin[0], line.elements.size
    a, b, c = sorted(data.draw(st.integers(low, low + n)) for _ in range(3))
    assume(n)
    joined = Tiling.concat([line.slice((a,), (b,)), line.slice((b,), (c,))])
    assert joined == line.slice((a,), (c,)).refine((b,))


@given(st.lists(marks, min_size=2, max_size=3), st.data())
def test_an_integer_drops_its_mode(boundaries, data):
    tiling = Tiling.from_marks(*boundaries)
    first = boundaries[0]
    i = data.draw(st.integers(first[0] - 1, first[-1]))
    if first[0] <= i < first[-1]:
        assert tiling[i] == Tiling.from_marks(*boundaries[1:])
    else:
        with pytest.raises(OutOfBoundsError, match=f"index {i}"):
            tiling[i]


@given(st.lists(marks, min_size=3, max_size=3), st.data())
def test_concat_is_associative_and_adds_tiles_up(boundaries, data):
    a, b, c = (Tiling.from_marks(m) for m in boundaries)
    assert Tiling.concat([Tiling.concat([a, b]), c]) == Tiling.concat([a, b, c])
    assert Tiling.concat([a, b]).sizes[0].tolist() == [*a.sizes[0], *b.sizes[0]]
    assert Tiling.concat([a, b]).origin == a.origin
    by = data.draw(st.integers(-5, 5))
    assert Tiling.concat([a, b.translate_by((by,))]) == Tiling.concat([a, b])
    assert Tiling.concat([a.translate_by((by,)), b]) == Tiling.concat([a, b]).translate_by((by,))


@given(tilings, st.data())
def test_concat_along_a_mode_leaves_the_others(tiling, data):
    assume(tiling.rank)
    mode = data.draw(st.integers(0, tiling.rank - 1))
    longer = Tiling.concat([tiling, tiling], mode=mode)
    for k, (m, before) in enumerate(zip(lists_of(longer), lists_of(tiling), strict=True)):
        extra = np.diff(before).tolist() if k == mode else []
        assert np.diff(m).tolist() == np.diff(before).tolist() + extra


@given(tilings, st.data())
def test_a_moved_tiling_is_congruent(tiling, data):
    by = [data.draw(st.integers(-5, 5)) for _ in range(tiling.rank)]
    moved = tiling.translate_by(by)
    assert moved.is_congruent(tiling)
    assert tiling.is_congruent(moved)
    assert (moved == tiling) == (not any(by))
    assert moved.translate_to(tiling.origin) == tiling
    assert [t.translate_by([-b for b in by]) for t in moved.tiles()] == list(tiling.tiles())


@given(tilings, tilings)
def test_congruent_tilings_have_equal_sizes(a, b):
    assert a.is_congruent(b) == (a.chunks == b.chunks)


@given(st.lists(marks, min_size=3, max_size=3), st.permutations(range(3)), st.permutations(range(3)))
def test_permutations_compose(boundaries, first, second):
    tiling = Tiling.from_marks(*boundaries)
    assert tiling.permute(first).permute(second) == tiling.permute([first[k] for k in second])
    assert tiling.permute(first).permute(np.argsort(first)) == tiling
    assert lists_of(tiling.permute(first)) == [boundaries[k] for k in first]


# Finer and coarser.


@given(tilings_of_one_box(3))
def test_the_common_refinement_is_a_lattice_join(three):
    a, b, c = three
    both = a.intersect(b)
    assert a.intersect(a) == a
    assert both == b.intersect(a)
    assert both.intersect(c) == a.intersect(b.intersect(c))
    assert both.is_refinement_of(a)
    assert both.is_refinement_of(b)
    # As multisets of boundaries: the least that has all of both.
    for m, x, y in zip(lists_of(both), lists_of(a), lists_of(b), strict=True):
        assert Counter(m) == Counter(x) | Counter(y)


@given(tilings_of_one_box(2))
def test_the_tiles_of_the_common_refinement_are_the_overlaps(two):
    a, b = two
    overlaps = [x.intersect(y) for x in a.tiles() for y in b.tiles()]
    found = [t for t in a.intersect(b).tiles() if t.size]
    assert sorted(found, key=lambda t: t.origin) == sorted(
        (t for t in overlaps if t.size), key=lambda t: t.origin
    )


@given(tilings_of_one_box(2, most=1))
def test_a_tiling_refines_what_it_can_be_coarsened_to(two):
    fine, coarse = two
    groups = []
    for m, boundaries in zip(lists_of(fine), lists_of(coarse), strict=True):
        places = [m.index(x) for x in boundaries if x in m]
        # The last boundary is reached through all tiles, empty ones at the end included.
        places[-1] = len(m) - 1
        places[0] = 0
        groups.append(np.diff(places).tolist() if len(places) == len(boundaries) else None)
    if None in groups or any(g < 0 for gs in groups for g in gs):
        assert None not in groups or not fine.is_refinement_of(coarse)
        return
    assert fine.is_refinement_of(coarse)
    assert fine.coarsen(*groups) == coarse


@given(lines, st.data())
def test_what_was_coarsened_is_refined(line, data):
    left, groups = line.grid.size, []
    while left:
        groups.append(data.draw(st.integers(0, left)))
        left -= groups[-1]
    assume(groups)
    coarse = line.coarsen(groups)
    assert line.is_refinement_of(coarse)
    assert coarse.is_refinement_of(line) == (set(lists_of(line)[0]) == set(lists_of(coarse)[0]))


@given(tilings_of_one_box(1), st.data())
def test_boundaries_are_inserted_once(one, data):
    (tiling,) = one
    points = data.draw(
        st.lists(
            st.tuples(*[st.integers(m[0], m[-1]) for m in lists_of(tiling)]),
            max_size=4,
        )
    )
    finer = tiling.refine(*points)
    assert finer.is_refinement_of(tiling)
    assert finer.elements == tiling.elements
    for mode, (m, before) in enumerate(zip(lists_of(finer), lists_of(tiling), strict=True)):
        new = {p[mode] for p in points} - set(before)
        assert m == sorted([*before, *new])
    assert finer.refine(*points) == finer


# Evenness.


@given(st.integers(-20, 20), st.integers(0, 60), st.integers(1, 12))
def test_uniform_tiles_differ_by_one_at_most_and_are_as_few_as_can_be(low, n, target):
    box = Shape(n, origin=(low,))
    tiling = Tiling.make_uniform(box, target)
    sizes = tiling.sizes[0].tolist()
    assert tiling.elements == box
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == -(-n // target)
    assert not sizes or (max(sizes) <= target and max(sizes) - min(sizes) <= 1)
    assert Tiling.make_uniform(box, count=len(sizes)) == tiling
    # The pieces of NumPy's own, which knows no origin.
    if sizes:
        assert sizes == [len(part) for part in np.array_split(np.arange(n), len(sizes))]


def test_tilings_of_rank_0_have_one_tile_with_one_element():
    tiling = Tiling()
    assert (tiling.rank, tiling.origin, tiling.marks, tiling.chunks) == (0, (), (), ())
    assert list(tiling.tiles()) == [Shape()] == [tiling.tile(())] == [tiling.find(())]
    assert (tiling.tile_of(()), tiling.tiles_of(np.empty((4, 0), dtype=int)).shape) == ((), (4, 0))
    assert tiling.is_tile_start(())
    assert tiling.tile_range(Shape()) == tiling.element_range(Shape()) == Shape()
    for same in (
        tiling.translate_by(()),
        tiling.permute(()),
        tiling.refine(()),
        tiling.coarsen(),
        tiling.intersect(Tiling()),
        tiling.retile(Tiling()),
        tiling.slice((), ()),
        tiling[...],
        Tiling.from_marks(),
        Tiling.make_uniform((), 3),
    ):
        assert same == tiling
        assert hash(same) == hash(tiling)
    assert tiling.is_refinement_of(Tiling())
    assert (tiling.smallest_tile, tiling.largest_tile, repr(tiling)) == ((), (), "Tiling()")


def test_a_partition_with_a_position_answers_without_tiles():
    line = Partition.of_marks([7])
    assert (line.count, line.extent, line.origin, line.end) == (0, 0, 7, 7)
    assert line.tile_run(7, 7) == (0, 0)
    assert line.has_mark(7)
