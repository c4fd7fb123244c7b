"""Layouts over jagged shapes to try laws on: packed, aligned, padded, and cells that lie anywhere."""

import numpy as np
from hypothesis import strategies as st

from tensorwrapper import Layout
from tensorwrapper.testing import shapes

JAGGED = shapes(["jagged"])  # made once: a strategy for each draw costs more than all the rest


@st.composite
def cell_layouts(draw, drawn=JAGGED):
    """What `Layout` holds over a jagged shape."""
    shape = draw(drawn)
    sort = draw(st.sampled_from(["packed", "aligned", "padded", "apart", "anywhere", "anywhere"]))
    offset = draw(st.integers(-5, 5))
    rows = shape.implementation.rows
    count, width = len(rows.cell_offsets()) - 1, rows.columns.leaf_rank
    if sort == "packed":
        return Layout(shape, offset=offset).implementation
    if sort == "aligned":
        order = draw(st.permutations(range(width)))
        return Layout.packed(
            shape, order=order, alignment=draw(st.integers(1, 5)), offset=offset
        ).implementation
    if sort == "padded":
        return Layout.padded(
            shape, order=draw(st.permutations(range(shape.rank))), offset=offset
        ).implementation
    step, numbers = (40, st.integers(0, 2)) if sort == "apart" else (1, st.integers(-9, 9))
    starts = step * np.array(draw(st.permutations(range(count))), dtype=np.int64)
    starts += np.array(draw(st.lists(numbers, min_size=count, max_size=count)), dtype=np.int64)
    row = st.lists(st.integers(-4, 4), min_size=width, max_size=width)
    if draw(st.booleans()):
        strides = np.array([draw(row) for _ in range(count)], dtype=np.int64).reshape(count, width)
    else:
        strides = draw(row)
    return Layout.from_block_offsets(shape, starts, strides=strides).implementation


def absolute(layout):
    """The offset of every index, asked for one by one."""
    return {index: layout.offset_of(index) for index in layout.shape.indices()}
