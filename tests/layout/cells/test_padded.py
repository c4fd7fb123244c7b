"""Padded layouts: every element at its place in the box around all rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout.cells._blocked import Blocked
from tensorwrapper.layout.cells._padded import Padded
from tests.support.layout.cells import JAGGED
from tests.support.layout.trees import check_layout


@given(JAGGED, st.integers(-5, 5), st.data())
def test_padded_elements_lie_at_their_places_in_the_box(shape, offset, data):
    order = data.draw(st.permutations(range(shape.rank)))
    layout = Layout.padded(shape, order=order, offset=offset)
    box = Layout(shape.as_smooth(), order=order, offset=offset)
    homes = check_layout(layout, {index: box.offset_of(index) for index in shape.indices()})
    assert layout.is_injective
    assert layout.padding == layout.span - shape.size
    for place in range(offset - 1, offset + box.span + 1):
        if place not in homes:
            with pytest.raises(OutOfBoundsError, match="no element"):
                layout.index_of(place)


def test_rows_of_one_length_make_padded_rows_a_packed_layout():
    layout = Layout.padded(Shape.jagged([2, 2, 2]))
    assert layout.is_contiguous
    assert layout.padding == 0
    assert isinstance(Layout.padded(Shape.jagged([3, 1, 2]))[1:].implementation, Padded)
    assert isinstance(Layout.padded(Shape.triangular(4, "upper"))[1:].implementation, Blocked)
