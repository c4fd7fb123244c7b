"""Two modes counted as one and one in two: every element keeps its offset, in the same order."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape


@st.composite
def layouts(draw):
    """Draw layouts of boxes and of rows: packed, padded, reversed, gathered, repeated."""
    if draw(st.booleans()):
        extents = draw(st.lists(st.integers(0, 4), min_size=2, max_size=4))
        layout = Layout(Shape.smooth(extents)).permute(tuple(draw(st.permutations(range(len(extents))))))
    else:
        layout = Layout(Shape.jagged(draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))))
    if draw(st.booleans()):
        layout = layout.reverse(draw(st.integers(0, layout.shape.rank - 1)))
    if draw(st.booleans()) and layout.shape.kind == "jagged":
        count = layout.shape.extent(0)
        layout = layout.gather(0, draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=4)))
    if draw(st.booleans()) and layout.shape.kind == "smooth":
        layout = layout.broadcast((2, *layout.shape.extents))
    return layout


@given(layouts(), st.data())
def test_merged_rows_keep_all_offsets_in_order(layout, data):
    mode = data.draw(st.integers(1, layout.shape.rank - 1))
    merged = layout.merge_rows(mode)

    assert merged.shape.rank == layout.shape.rank - 1
    assert merged.to_numpy().reshape(-1).tolist() == layout.to_numpy().reshape(-1).tolist()
    # Modes are counted from zero, and those before the merged two are as they were.
    assert elements_by_prefix(merged.shape, mode - 1) == elements_by_prefix(layout.shape, mode - 1)


def elements_by_prefix(shape, width):
    """Return how many elements each prefix of so many indices has."""
    return Counter(tuple(index)[:width] for index in shape.indices())


@given(layouts(), st.data())
def test_rows_that_are_dealt_and_merged_are_as_before(layout, data):
    flat = layout
    while flat.shape.rank > 1:
        flat = flat.merge_rows(1)
    rest, lengths = flat.shape.size, []
    while rest:
        lengths.append(data.draw(st.integers(0, rest)))
        rest -= lengths[-1]
    rows = flat.split_rows(lengths or [0])

    assert rows.shape.lengths(1).tolist() == (lengths or [0])
    assert rows.to_numpy().tolist() == flat.to_numpy().tolist()
    assert rows.merge_rows(1).to_numpy().tolist() == flat.to_numpy().tolist()


@given(layouts(), st.data())
def test_the_shape_does_not_depend_on_the_places(layout, data):
    for _ in range(3):
        packed = Layout(layout.shape)
        if layout.shape.rank > 1 and data.draw(st.booleans()):
            mode = data.draw(st.integers(1, layout.shape.rank - 1))
            layout, packed = layout.merge_rows(mode), packed.merge_rows(mode)
        else:
            cut = data.draw(st.integers(0, layout.shape.extent(0)))
            counts = [cut, layout.shape.extent(0) - cut]
            layout, packed = layout.split_rows(counts), packed.split_rows(counts)
        assert layout.shape == packed.shape
