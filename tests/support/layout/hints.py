"""What hints say of a layout, held against all of its offsets."""

import functools
import itertools
import math

from hypothesis import strategies as st

from tensorwrapper.layout import Layout
from tests.support.layout.blocks import blocks, depths, runs


def is_one_run(offsets):
    """Whether a block is one run; one that repeats its elements is if its places are."""
    return runs(offsets) <= 1


def check_block(hint, found, *, exact):
    sizes = [len(offsets) for offsets in found.values()]
    filled = [offsets for offsets in found.values() if offsets]
    counted = sum(map(runs, filled))
    assert hint.count == len(found)
    assert (hint.least, hint.greatest) == (min(sizes, default=0), max(sizes, default=0))
    assert hint.alignment == functools.reduce(math.gcd, map(min, filled), 0)
    assert hint.runs == counted if exact else hint.runs >= counted
    assert hint.is_one_run == all(map(is_one_run, filled))
    assert all(type(n) is int for n in (hint.count, hint.least, hint.greatest, hint.runs, hint.alignment))


def check(layout, *, exact=True):
    hints = layout.hints()
    shape = layout.shape
    offsets = [layout.offset_of(index) for index in shape.indices()]
    assert hints.shape == shape
    assert sorted(hints.order) == list(range(shape.rank))
    assert hints.row_runs == sum(b != a + 1 for a, b in itertools.pairwise(offsets)) + bool(offsets)
    assert hints.row_run == (len(offsets) // hints.row_runs if offsets else 0)
    check_block(hints.whole, blocks(layout, 0), exact=exact)
    assert len(hints.layers) == len(shape.layers)
    for hint, depth in zip(hints.layers, depths(shape), strict=True):
        check_block(hint, blocks(layout, depth), exact=exact)
    return hints


@st.composite
def layers(draw, rank):
    marks = sorted(draw(st.lists(st.integers(0, rank), max_size=2)))
    return [b - a for a, b in itertools.pairwise([0, *marks, rank])]


def nested(data, layout):
    return Layout.nested(layout, layers=data.draw(layers(layout.shape.rank)))
