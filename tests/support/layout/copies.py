"""Layouts of one shape to copy between: strided, of axis maps, tile-major, and over jagged shapes."""

import numpy as np
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, Tiling


def places(layout):
    """The offsets of all elements in row-major order: what copies are judged by."""
    return np.asarray(layout.to_numpy()).reshape(-1)


def moves(source, target):
    """From where to where each element goes, by the definition: target offset to source offset."""
    return dict(zip(places(target).tolist(), places(source).tolist(), strict=True))


def least_runs(source, target):
    """How many runs there are at least: where neither side goes on in memory, a new one begins."""
    order = np.argsort(places(target))
    jumps = [np.diff(places(side)[order]) != 1 for side in (source, target)]
    return len(order) and 1 + int((jumps[0] | jumps[1]).sum())


@st.composite
def strided(draw, extents):
    """Packed in any order and direction, at times with gaps; any origin."""
    rank = len(extents)
    options = {
        "order": draw(st.permutations(range(rank))),
        "ascend": draw(st.lists(st.booleans(), min_size=rank, max_size=rank)),
    }
    gaps = draw(st.lists(st.integers(0, 2), min_size=rank, max_size=rank))
    wide = Layout(Shape(*[n + gap for n, gap in zip(extents, gaps, strict=True)]), **options)
    part = wide[tuple(slice(n) for n in extents)]
    origin = draw(st.lists(st.integers(-3, 3), min_size=rank, max_size=rank))
    return Layout(Shape(*extents, origin=origin), strides=part.strides, offset=part.offset)


@st.composite
def separable(draw, extents):
    """A strided layout with modes that are turned round, reversed, or permuted position by position."""
    layout = draw(strided(extents))
    for mode, extent in enumerate(extents):
        change = draw(st.sampled_from(["rotate", "permute", "reverse", "stay"]))
        if change == "rotate":
            layout = layout.rotate(
                [draw(st.integers(-4, 4)) if m == mode else 0 for m in range(len(extents))]
            )
        elif change == "permute":
            layout = layout.gather(mode, np.array(draw(st.permutations(range(extent))), dtype=np.int64))
        elif change == "reverse":
            layout = layout.reverse(mode)
    return layout


@st.composite
def repeated(draw, extents):
    """A layout that has fewer elements than indices: whole modes or positions come again."""
    times = [draw(st.sampled_from([k for k in range(1, n + 1) if n % k == 0] or [1])) for n in extents]
    layout = draw(separable([n // k for n, k in zip(extents, times, strict=True)]))
    if draw(st.booleans()):
        return layout.repeat(times)
    for mode, k in enumerate(times):
        layout = layout.repeat_each(mode, k)
    return layout


@st.composite
def cuts(draw, extent):
    """Sizes of tiles, of one size but for the last, or any."""
    if extent and draw(st.booleans()):
        size = draw(st.integers(1, extent))
        return [size] * (extent // size) + [extent % size] * (extent % size > 0)
    marks = [0, *sorted(draw(st.lists(st.integers(0, extent), max_size=4))), extent]
    return np.diff(marks).tolist()


@st.composite
def tile_major(draw, extents):
    """Tile after tile, in any order among and in tiles, at times aligned."""
    rank = len(extents)
    orders = [draw(st.permutations(range(rank))) for _ in range(2)]
    return Layout.tiled(
        Tiling(*[draw(cuts(n)) for n in extents]),
        order=orders[0],
        tile_order=orders[1],
        alignment=draw(st.sampled_from([1, 1, 2, 4])),
        offset=draw(st.integers(0, 3)),
    )


@st.composite
def tiles_in_memory(draw, extents):
    """A part of tile-major storage, with a step in some modes."""
    steps = [draw(st.sampled_from([1, 1, 2, -1])) for _ in extents]
    wide = [(n - 1) * abs(step) + 2 if n else 1 for n, step in zip(extents, steps, strict=True)]
    ends = [
        slice(1, None, step) if step > 0 else slice(n - 1, None, -1)
        for n, step in zip(extents, steps, strict=True)
    ]
    ends = [end if n else slice(0) for n, end in zip(extents, ends, strict=True)]
    return draw(tile_major(wide))[tuple(ends)]


@st.composite
def box_pairs(draw, rank=3, most=7):
    """Two layouts of one box, of which the second has a place of its own for each element."""
    extents = draw(st.lists(st.integers(0, most), max_size=rank))
    kinds = [strided(extents), separable(extents), tile_major(extents), tiles_in_memory(extents)]
    return draw(st.one_of(*kinds, repeated(extents))), draw(st.one_of(*kinds))


@st.composite
def jagged_pairs(draw):
    """Two layouts of one jagged shape: packed, aligned, padded, and views of a tiled box."""
    if draw(st.booleans()):
        tiling = Tiling(*[draw(cuts(draw(st.integers(0, 6)))) for _ in range(draw(st.integers(1, 2)))])
        shape = tiling.shape
        under = draw(strided(tiling.elements.extents))
        kinds = [Layout(tiling.elements, strides=under.strides, offset=under.offset).as_tiled(tiling)]
    else:
        cell = st.builds(Shape, st.integers(0, 3), st.integers(0, 3))
        rows = st.lists(st.integers(0, 4), min_size=1, max_size=4)
        lengths = draw(
            st.one_of(st.lists(cell, min_size=1, max_size=4), rows, st.lists(rows, min_size=1, max_size=3))
        )
        shape, kinds = Shape.jagged(lengths), []
    kinds += [
        Layout(shape, offset=draw(st.integers(0, 3))),
        Layout.packed(shape, alignment=3),
        Layout.padded(shape),
        Layout.padded(shape, order="F"),
    ]
    return draw(st.sampled_from(kinds)), draw(st.sampled_from(kinds))


def pairs():
    """Two layouts of one shape of any kind."""
    return st.one_of(box_pairs(), jagged_pairs())


def room(layout):
    """How many elements a buffer needs at least."""
    return max(layout.bounds()[1] + 1, 0)
