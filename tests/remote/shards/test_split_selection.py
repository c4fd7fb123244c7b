"""Selections cut where tiles end: the pieces together are the selection."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Tiling
from tensorwrapper.remote.shards._split_selection import asked_nbytes, cuts_of
from tensorwrapper.selection import Outer, Runs

SIZES = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@st.composite
def cases(draw):
    tiling = Tiling(*draw(st.lists(SIZES, min_size=1, max_size=3)))
    extents = tiling.elements.extents
    if draw(st.booleans()):
        modes = []
        for extent in extents:
            own = (
                draw(st.lists(st.integers(0, max(extent - 1, 0)), unique=True).map(sorted)) if extent else []
            )
            modes.append(own)
        return tiling, Outer(modes)
    size = tiling.elements.size
    chosen = draw(st.lists(st.integers(0, max(size - 1, 0)), unique=True).map(sorted)) if size else []
    return tiling, Runs(chosen)


def taken(array, wanted):
    if isinstance(wanted, Runs):
        return array.ravel()[wanted.numbers()]
    return array[np.ix_(*[np.asarray(own, dtype=np.int64) for own in wanted.modes])]


@given(cases())
def test_pieces_are_the_selection_and_none_comes_twice(case):
    tiling, wanted = case
    x = np.arange(tiling.elements.size).reshape(tiling.elements.extents)
    out = np.full(wanted.extents, -1)
    seen, size = set(), 0
    for piece in cuts_of(wanted, tiling.marks):
        index = tiling.grid.index(piece.tile)
        box = tuple([slice(int(m[k]), int(m[k + 1])) for m, k in zip(tiling.marks, index, strict=True)])
        target = piece.target(out)
        target[...] = taken(x[box], piece.local)
        piece.settle(target, out)
        assert piece.tile not in seen
        assert piece.local.size
        seen.add(piece.tile)
        size += piece.local.size
    assert np.array_equal(out, taken(x, wanted))
    assert size == wanted.size


@given(cases())
def test_what_is_asked_of_the_tiles_of_a_box_is_counted_without_the_pieces(case):
    tiling, wanted = case
    if isinstance(wanted, Outer) and wanted.size:
        pieces = cuts_of(wanted, tiling.marks)
        kinds = [isinstance(own, range) for own in wanted.modes]
        told = sum(
            24 if is_range else 8 * len(own)
            for piece in pieces
            for own, is_range in zip(piece.local.modes, kinds, strict=True)
        )
        assert asked_nbytes(wanted, tiling.marks) == told
