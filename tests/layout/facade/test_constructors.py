"""Layouts that are made by name: rows that are aligned, in any order, where the shape lies."""

from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape


def aligned(extents, order, multiple):
    """The strides by the definition: the fastest mode rounded up, the rest without gaps."""
    strides, step = {}, 1
    for place, mode in enumerate(order):
        strides[mode] = step
        step *= extents[mode] if place else -(-extents[mode] // multiple) * multiple
    return tuple(strides[mode] for mode in range(len(extents)))


@given(st.data(), st.lists(st.integers(0, 6), max_size=4), st.integers(1, 9))
def test_rows_are_aligned_in_any_order(data, extents, multiple):
    order = data.draw(st.permutations(range(len(extents))))
    layout = Layout.aligned(Shape(*extents), multiple, order=order, offset=3)
    assert layout.offset == 3
    assert layout.strides == aligned(extents, order, multiple)
    rows = [step for mode, step in enumerate(layout.strides) if mode != (order or [0])[0]]
    assert not any(step % multiple for step in rows)
    assert layout.is_injective
    if multiple == 1:
        assert layout == Layout(Shape(*extents), order=order, offset=3)


def test_aligned_rows_keep_the_origin():
    layout = Layout.aligned(Shape(2, 3, origin=(5, 5)), 4)
    assert (layout.shape, layout.offset_of((6, 7))) == (Shape(2, 3, origin=(5, 5)), 6)
