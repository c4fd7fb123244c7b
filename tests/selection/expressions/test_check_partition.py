"""Pieces that share out a mode: against lists of the positions of each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import selection as sel
from tensorwrapper.errors import SelectionError
from tensorwrapper.selection.expressions import _axis_pieces
from tensorwrapper.selection.expressions._axis_pieces import Piece, check_cover

ROWS = st.tuples(st.integers(0, 8), st.integers(1, 3), st.integers(0, 4))
TURNS = st.integers(1, 4).flatmap(
    lambda many: st.integers(0, 3).map(lambda count: [(start, many, count) for start in range(many)])
)


def covers(rows):
    positions = sorted(p for start, step, count in rows for p in range(start, start + step * count, step))
    return positions == list(range(len(positions)))


@pytest.mark.parametrize("paired", [0, 256])
@given(rows=st.lists(ROWS, max_size=4) | TURNS)
def test_pieces_cover_a_mode_exactly_where_lists_do(paired, rows):
    pieces = [Piece(start, step, sel.full((count,), 0).expression) for start, step, count in rows]
    total = sum(count for *_, count in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_axis_pieces, "_PAIRED", paired)
        if covers(rows):
            assert check_cover(pieces, 0, "here", lambda _: None) == total
        else:
            with pytest.raises(SelectionError, match="here: "):
                check_cover(pieces, 0, "here", lambda _: None)
