"""Pieces of a mode: runs of a move, and which operand each part of a run is of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import selection as sel
from tensorwrapper.layout import Cycle, Stride
from tensorwrapper.selection.expressions._axis_pieces import Piece, parts_in_a_row, runs_of

SMALL = st.integers(-4, 4)
MOVES = st.builds(Stride, st.integers(0, 9), SMALL) | st.builds(
    Cycle, st.integers(0, 12), SMALL, SMALL.filter(bool), st.integers(1, 7), st.just(1), SMALL
)


@given(MOVES, SMALL)
def test_runs_have_the_positions_of_the_move(move, constant):
    runs = runs_of(constant, move)
    found = [(start + k, first + step * k) for start, count, first, step in runs or [] for k in range(count)]

    assert runs is not None
    assert found == [(j, constant + move.at(j)) for j in range(move.extent)]


@pytest.mark.parametrize("move", [Cycle(1000, 0, 1, 2, 1, 1), Cycle(8, 0, 1, 8, 2, 1)])
def test_a_move_of_too_many_runs_has_none(move):
    assert runs_of(0, move) is None


@pytest.mark.parametrize("run", [(0, 9, 0, 1), (3, 4, 7, -2), (0, 3, 1, 3), (5, 0, 2, 1)])
def test_parts_of_a_run_lie_in_the_operand_that_has_the_position(run):
    operands = [sel.full((count,), count).expression for count in (2, 0, 4, 3)]
    offsets = np.array([0, 2, 2, 6, 9])
    start, count, first, step = run
    found = []
    for part in parts_in_a_row(offsets, operands, run):
        number = operands.index(part.operand)
        for k in range(part.count):
            inside = part.first + part.stride * k
            assert 0 <= inside < offsets[number + 1] - offsets[number]
            found.append((part.start + part.step * k, offsets[number] + inside))

    assert found == [(start + k, first + step * k) for k in range(count)]


def test_a_piece_has_evenly_spaced_positions():
    assert list(Piece(1, 3, sel.full((4, 2), 0).expression).positions(0)) == [1, 4, 7, 10]
