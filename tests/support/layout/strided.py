"""Strided layouts, and the NumPy arrays that have them."""

import numpy as np
from hypothesis import strategies as st

from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape


@st.composite
def strided_layouts(draw, *, most_rank=4, most=4, reach=9, origins=True):
    """Any strided layout from place 0 on or beyond: extents from 0, strides of either sign and 0."""
    rank = draw(st.integers(0, most_rank))
    modes = st.lists(st.integers(0, most), min_size=rank, max_size=rank)
    extents = draw(modes)
    origin = draw(st.lists(st.integers(-3, 3), min_size=rank, max_size=rank)) if origins else [0] * rank
    if draw(st.booleans()):
        flags = draw(st.lists(st.booleans(), min_size=rank, max_size=rank))
        layout = Layout(
            Shape(*extents, origin=origin), order=draw(st.permutations(range(rank))), ascend=flags
        )
        strides = layout.strides
    else:
        strides = draw(st.lists(st.integers(-reach, reach), min_size=rank, max_size=rank))
    low = sum(min(step, 0) * max(n - 1, 0) for n, step in zip(extents, strides, strict=True))
    offset = draw(st.integers(0, 5)) - low
    return Layout(Shape(*extents, origin=origin), strides=strides, offset=offset)


def array_of(layout, dtype=np.int16, room=0):
    """An array over a buffer of its own that has this layout, and the buffer's values are the places."""
    end = layout.bounds()[1] + 1 if layout.shape.size else 0
    buffer = np.arange(end + room).astype(dtype)
    size = buffer.dtype.itemsize
    return np.ndarray(
        layout.shape.extents,
        buffer.dtype,
        buffer=buffer,
        offset=layout.offset * size if layout.shape.size else 0,
        strides=[step * size for step in layout.strides],
    )
