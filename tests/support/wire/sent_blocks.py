"""Blocks of tensors, and assemblers that take them."""

import numpy as np
import pytest
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import (
    RemoteProtocolError,
)
from tensorwrapper.wire import Block

MUCH = 2**20


def reason(call):
    with pytest.raises(RemoteProtocolError) as caught:
        call()
    return caught.value.reason


@st.composite
def boxes(draw, low, high):
    """A random partition of a box into boxes, some of them empty."""
    modes = [k for k, (a, b) in enumerate(zip(low, high, strict=True)) if b - a > 1]
    if not modes or draw(st.integers(0, 3)) == 0:
        return [(low, high)]
    mode = draw(st.sampled_from(modes))
    cut = draw(st.integers(low[mode], high[mode]))
    middle = [*high], [*low]
    middle[0][mode] = middle[1][mode] = cut
    return draw(boxes(low, tuple(middle[0]))) + draw(boxes(tuple(middle[1]), high))


@st.composite
def cut_tensors(draw, name):
    rank = draw(st.integers(0, 3))
    extents = tuple(draw(st.lists(st.integers(0, 6), min_size=rank, max_size=rank)))
    origin = tuple(draw(st.lists(st.integers(-3, 3), min_size=rank, max_size=rank)))
    shape = Shape(*extents, origin=origin)
    dtype = draw(st.sampled_from(["f4", "i8", "?", "c16"]))
    whole = tw.from_buffer(np.arange(shape.size).astype(dtype), shape)
    high = tuple(o + n for o, n in zip(origin, extents, strict=True))
    parts = draw(boxes(origin, high))
    regions = [Shape(*(b - a for a, b in zip(*part, strict=True)), origin=part[0]) for part in parts]
    return whole, [Block(whole.window(region), name, shape) for region in regions]
