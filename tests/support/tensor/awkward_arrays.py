"""Jagged tensors to try verbs on, and the same as Awkward arrays, which are the oracle."""

import awkward as ak
import numpy as np
from hypothesis import strategies as st

from tensorwrapper import Shape, from_buffer


def to_awkward(t):
    """The rows of a tensor of rank 2 or more as lists of Awkward's, built from the splits of its shape."""
    layout = ak.contents.NumpyArray(np.array(t.elements()))
    shape = t.shape if t.shape.kind == "jagged" else t.shape.as_jagged()
    for mode in range(t.rank - 1, 0, -1):
        layout = ak.contents.ListOffsetArray(ak.index.Index64(np.array(shape.splits(mode))), layout)
    return ak.Array(layout)


def nested_lengths(rank):
    """Lengths of rows as `Shape.jagged` takes them, for a shape of this rank."""
    lengths = st.lists(st.integers(0, 3), max_size=3)
    for _ in range(rank - 2):
        lengths = st.lists(lengths, max_size=3)
    return lengths


@st.composite
def jagged_shapes(draw, ranks=(2, 3, 4)):
    """Jagged shapes of these ranks whose modes start at zero: nested rows, or cells of any extents."""
    rank = draw(st.sampled_from(ranks))
    if draw(st.booleans()):
        n = draw(st.integers(0, 4))
        cells = draw(st.lists(st.tuples(*[st.integers(0, 3)] * (rank - 1)), min_size=n, max_size=n))
        return Shape.from_cells((n,), np.array(cells, dtype=np.int64).reshape(n, rank - 1))
    return Shape.jagged(draw(nested_lengths(rank)), rank=rank)


@st.composite
def tensors(draw, ranks=(2, 3, 4), values=9):
    """Jagged tensors: packed, runs of rows, rows in another order, rows turned round or cut short."""
    shape = draw(jagged_shapes(ranks))
    numbers = draw(st.lists(st.integers(0, values), min_size=shape.size, max_size=shape.size))
    t = from_buffer(np.array(numbers, dtype=np.int64), shape)
    n = shape.extent(0)
    sort = draw(st.sampled_from(["packed", "run", "turned", "cut", "gathered"]))
    if sort == "run":
        first = draw(st.integers(0, n))
        return t[first : draw(st.integers(first, n))]
    if sort == "turned":
        return t.reverse(shape.rank - 1)
    if sort == "cut":
        return t[..., 1:]
    if sort == "gathered" and n:
        return t.oindex[draw(st.lists(st.integers(0, n - 1), max_size=4))]
    return t
