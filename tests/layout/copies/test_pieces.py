"""Pieces of modes: they share out the positions, and inside each the offsets are regular."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.layout.copies._pieces import has_pieces, joint_pieces, pieces_of


@st.composite
def layouts(draw, extent):
    """A layout of one mode: strides, turned, by a table, or tile by tile."""
    layout = Layout(Shape(extent), strides=(draw(st.integers(-3, 3)),))
    match draw(st.sampled_from(["strides", "turned", "held", "table", "tiles"])):
        case "turned":
            layout = layout.rotate((draw(st.integers(0, extent - 1)),))
        case "held":
            layout = Layout(Shape(extent)).repeat_each(0, 2)[draw(st.integers(0, 1)) :][:extent]
        case "table":
            places = st.lists(st.integers(0, extent - 1), min_size=extent, max_size=extent)
            layout = layout.gather(0, draw(places))
        case "tiles":
            cut = draw(st.integers(0, extent))
            layout = Layout.tiled(Tiling([cut, extent - cut]))
    return layout


def are_regular(offsets, small):
    """Whether offsets in groups of a size have one step within groups, and one between them."""
    table = offsets.reshape(-1, small)
    inner, outer = np.diff(table, axis=1), np.diff(table[:, 0])
    return len(np.unique(inner)) <= 1 and len(np.unique(outer)) <= 1


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(layouts(n), layouts(n))))
def test_pieces_follow_one_another_and_are_regular_in_both_layouts(pair):
    sides = []
    for layout in pair:
        held = layout.implementation
        assert has_pieces(held)
        (pieces,) = pieces_of(held)
        ends = np.cumsum(pieces[:, 1] * pieces[:, 2])
        assert pieces[:, 0].tolist() == [0, *ends[:-1].tolist()]
        assert ends[-1] == layout.shape.size
        offsets = layout.to_numpy()
        for start, count, size in pieces.tolist():
            assert are_regular(offsets[start : start + count * size], size)
        sides.append(pieces)
    for start, extent, small, large in joint_pieces(*sides).tolist():
        assert large % small == 0
        assert extent % large == 0
        for layout in pair:
            offsets = layout.to_numpy()[start : start + extent]
            assert are_regular(offsets, small) or are_regular(offsets, large)
