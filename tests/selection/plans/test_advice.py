"""What leaves a source: each element that is needed once, whatever a view does with it afterwards."""

import numpy as np
import pytest

from tensorwrapper import selection as sel
from tests.support.selection.counting_source import CountingSource

X = np.arange(24).reshape(4, 6)

# A view of a source of 4 by 6 elements, and how many of them it must read.
ROWS = {
    "all": (lambda s: s[...], 24),
    "slice": (lambda s: s[1:3, ::2], 6),
    "chip": (lambda s: s[2], 6),
    "one element": (lambda s: s[2, 3], 1),
    "positions that come twice": (lambda s: s.oindex[[3, 0, 3], [5, 5, 0]], 4),
    "a mask of a mode": (lambda s: s[:, np.arange(6) > 3], 8),
    "broadcast": (lambda s: s[1].broadcast((1000, 6)), 6),
    "repeat": (lambda s: s[:, :2].repeat([3, 50]), 8),
    "repeat each": (lambda s: s[:1].repeat_each(1, 100), 6),
    "a slice of a repeat": (lambda s: s.repeat([1, 50])[:, 4:10:3], 8),
    "pad, edge": (lambda s: s.pad([(50, 50), (0, 0)], boundary="edge"), 24),
    "pad, wrap": (lambda s: s[:, 1:3].pad([(0, 0), (50, 3)], boundary="wrap"), 8),
    "pad, reflect": (lambda s: s[0].pad([(9, 9)], boundary="reflect"), 6),
    "the edge of a pad": (lambda s: s.pad([(50, 50), (0, 0)], boundary="edge")[:40], 6),
    "pad, constant": (lambda s: sel.pad(s, [(50, 50), (7, 7)]), 24),
    "outside of a constant pad": (lambda s: sel.pad(s, [(50, 50), (7, 7)])[:20], 0),
    "inside of a constant pad": (lambda s: sel.pad(s, [(50, 50), (7, 7)])[51:52, 7:13], 6),
    "permute": (lambda s: s.permute([1, 0])[:2], 8),
    "reverse and rotate": (lambda s: s.reverse(0).rotate([1, 2])[0], 6),
    "sliding window": (lambda s: s.sliding_window(1, 3), 24),
    "diagonal of a corner": (lambda s: s[:2, :2].diagonal(), 4),
    "reshape": (lambda s: s.reshape((8, 3))[2:4], 6),
    "one part of a concat": (lambda s: sel.concat([sel.zeros((3, 6), dtype="i8"), s])[:4], 6),
    "none of a concat": (lambda s: sel.concat([sel.zeros((3, 6), dtype="i8"), s])[:3], 0),
    "every other of turns": (lambda s: sel.interleave([s, sel.ones((4, 6), dtype="i8")])[1::2], 0),
    "one of a stack": (lambda s: sel.stack([sel.iota((4, 6)), s])[1, 0], 6),
    "a branch that is not taken": (lambda s: sel.where(sel.full((4, 6), False), s, 0), 0),
    "a branch that is the other": (lambda s: sel.where(X > 3, s, s), 24),
    "cast": (lambda s: s.astype("f8")[::2], 12),
    "joined with itself": (lambda s: sel.concat([s, s, s]), 24),
    "a generator": (lambda s: sel.iota((1000, 1000))[5, :s.rank], 0),
    "nothing": (lambda s: s[:0], 0),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_each_element_that_is_needed_is_read_once(row):
    make, elements = row
    source = CountingSource(X)
    view = make(sel.as_view(source))
    found = np.asarray(view.compute())
    np.testing.assert_array_equal(found, np.asarray(make(sel.as_view(X)).compute()))
    assert source.nbytes == elements * 8
