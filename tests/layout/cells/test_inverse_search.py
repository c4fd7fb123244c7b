"""Cells that lie anywhere are searched for the first element at a place, and for all of them."""

import numpy as np
import pytest
from hypothesis import given, settings

from tensorwrapper.errors import OutOfBoundsError
from tests.support.layout.cells import absolute, cell_layouts


@given(cell_layouts())
@settings(max_examples=40)
def test_the_indices_at_each_place_are_those_that_were_told(held):
    table = held.as_blocked()
    at: dict[int, list[tuple[int, ...]]] = {}
    for index, place in absolute(table).items():
        at.setdefault(place, []).append(index)
    for place, indices in at.items():
        assert table.indices_of(place, len(indices)) == indices
        assert table.index_of(place) == indices[0]
    if at and table.is_injective and table.cells.has_digits:
        places = np.array(list(at), dtype=np.int64)
        assert [tuple(row) for row in table.indices_at(places).tolist()] == [own[0] for own in at.values()]
    for nowhere in (min(at, default=0) - 1, max(at, default=0) + 1):
        with pytest.raises(OutOfBoundsError):
            table.index_of(nowhere)
