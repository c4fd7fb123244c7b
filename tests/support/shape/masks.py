"""Masks of every kind, each with the list of its indices, picked by brute force."""

import itertools

import numpy as np
from hypothesis import strategies as st

from tensorwrapper import Mask, Shape
from tensorwrapper.testing import shapes


@st.composite
def picks(draw, start, extent):
    """What is picked of one mode, in one of many forms, and the list of its indices."""
    whole = list(range(start, start + extent))
    form = draw(st.sampled_from(["whole", "slice", "range", "list", "array", "bools", "bool list"]))
    if form == "whole":
        return slice(None), whole
    if form in ("slice", "range"):
        a, b = sorted(draw(st.tuples(st.integers(0, extent), st.integers(0, extent))))
        step = draw(st.integers(1, 3))
        if draw(st.booleans()):
            found = range(start + a, start + b, step)
            return (slice(start + a, start + b, step) if form == "slice" else found), list(found)
        found = range(start + b - 1, start + a - 1, -step)
        return (slice(start + b - 1, start + a - 1, -step) if form == "slice" else found), list(found)
    chosen = draw(st.lists(st.sampled_from(whole), unique=True)) if whole else []
    if form in ("list", "array"):
        return (chosen if form == "list" else np.array(chosen, dtype=np.int32)), chosen
    bools = [i in chosen for i in whole]
    return (np.array(bools, dtype=bool) if form == "bools" or not bools else bools), sorted(chosen)


@st.composite
def mode_masks(draw):
    """A mask by modes, and the list of its indices in the order of the result."""
    rank = draw(st.integers(0, 3))
    extents = draw(st.lists(st.integers(0, 5), min_size=rank, max_size=rank))
    origin = draw(st.lists(st.integers(-3, 3), min_size=rank, max_size=rank))
    items, lists = [], []
    for start, extent in zip(origin, extents, strict=True):
        if extent and draw(st.booleans()):
            pin = draw(st.integers(start, start + extent - 1))
            item, found = (pin, [pin])
        else:
            item, found = draw(picks(start, extent))
        items.append(item)
        lists.append(found)
    return Mask(Shape.smooth(extents, origin=origin), *items), list(itertools.product(*lists))


@st.composite
def row_masks(draw):
    """A mask of the rows of a jagged shape, and the list of its indices."""
    shape = draw(shapes(kinds=["jagged"]))
    item, rows = draw(picks(shape.origin_at(()), shape.extent(0)))
    return Mask(shape, item), [i for row in rows for i in shape.indices() if i[0] == row]


@st.composite
def point_masks(draw):
    """A mask of points of any shape, and the list of its indices."""
    shape = draw(shapes())
    whole = list(shape.indices())
    chosen = draw(st.lists(st.sampled_from(whole), unique=True, max_size=8)) if whole else []
    if draw(st.booleans()):
        table = np.array(chosen, dtype=np.int64).reshape(len(chosen), shape.rank)
        return Mask.of_points(shape, table), chosen
    bools = np.array([i in chosen for i in whole], dtype=bool)
    return Mask.of_points(shape, bools), [i for i in whole if i in chosen]


masks = st.one_of(mode_masks(), row_masks(), point_masks())
