"""Pieces that are one view become one, and the elements stay where they were."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.expressions._axis_pieces import Piece
from tensorwrapper.selection.expressions._routing import merged

ROW = tw.as_tensor(np.arange(12))


def view(key):
    return sel.as_view(ROW)[key].normal_form()


CASES = {
    "what continues": ([(0, 1, slice(0, 4)), (4, 1, slice(4, 9))], 1),
    "single positions one step apart": ([(0, 1, slice(2, 3)), (1, 1, slice(5, 6)), (2, 1, slice(8, 9))], 1),
    "a gap": ([(0, 1, slice(0, 4)), (4, 1, slice(5, 9))], 2),
    "another step": ([(0, 1, slice(0, 6, 2)), (3, 1, slice(6, 9))], 2),
    "turns": ([(0, 2, slice(0, 12, 4)), (1, 2, slice(2, 12, 4))], 1),
    "turns out of step": ([(0, 2, slice(0, 12, 4)), (1, 2, slice(3, 12, 4))], 2),
}


@pytest.mark.parametrize(("rows", "count"), CASES.values(), ids=CASES)
def test_pieces_that_one_layout_says_are_one(rows, count):
    pieces = [Piece(start, step, view(key)) for start, step, key in rows]
    found = merged(pieces, 0)

    assert len(found) == count
    assert elements(found) == elements(pieces)


def elements(pieces):
    """The element at each position."""
    return {
        position: int(sel.View(piece.view).compute()[k].item())
        for piece in pieces
        for k, position in enumerate(piece.positions(0))
    }


def test_a_constant_goes_on_where_it_is_the_same():
    one, other = sel.full((3,), 1).normal_form(), sel.full((2,), 2).normal_form()

    assert [piece.count(0) for piece in merged([Piece(0, 1, one), Piece(3, 1, one)], 0)] == [6]
    assert len(merged([Piece(0, 1, one), Piece(3, 1, other)], 0)) == 2
