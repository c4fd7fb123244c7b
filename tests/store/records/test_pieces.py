"""Runs of rows become the tensor that they were cut from; what does not fit is refused."""

import itertools

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.records._pieces import join_pieces

BOX = tw.as_tensor(np.arange(24).reshape(6, 4))
ROWS = tw.jagged([[1, 2], [], [3], [4, 5, 6], [7]])


@pytest.mark.parametrize(
    "whole",
    [BOX, ROWS, BOX.named("row", "column"), ROWS.named("row", None)],
    ids=["box", "rows", "named box", "named rows"],
)
@pytest.mark.parametrize("cuts", [(), (2,), (1, 1, 4)])
def test_pieces_join_to_the_whole(whole, cuts):
    ends = [0, *cuts, len(whole)]
    pieces = [whole.window(whole.shape.slice_outer(a, b)) for a, b in itertools.pairwise(ends)]

    assert join_pieces(pieces).array_equal(whole)
    assert join_pieces(pieces).shape == whole.shape


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([BOX, BOX], "a piece 1 that begins at row 0 instead of 6"),
        ([BOX, ROWS.copy()], "piece 1"),
        ([tw.as_tensor(np.array(1))], "without rows"),
        ([BOX, tw.zeros(Shape(2, 3, origin=(6, 0)))], "after one of"),
        ([BOX.named("a", "b"), tw.zeros(Shape(2, 4, origin=(6, 0)))], "other mode names"),
    ],
)
def test_pieces_that_do_not_fit_are_refused(pieces, text):
    with pytest.raises(DataFileError, match=text):
        join_pieces(pieces)
