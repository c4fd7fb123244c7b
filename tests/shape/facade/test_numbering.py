"""Indices of shapes with more elements than 64 bits count: what can be answered is, exactly and at once."""

import itertools

import numpy as np
import pytest

from tensorwrapper.errors import OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape import Shape

BITS = Shape(*[2] * 100)
SQUARE = Shape(2**40, 2**40)
CELLS = Shape.from_cells((2,), [(2**40, 2**40), (3, 2**40)])
TILES = Shape.tiled([2**40, 1], [2**40])
TRIANGLE = Shape.triangular(2**40)
HUGE = {"bits": BITS, "square": SQUARE, "cells": CELLS, "tiles": TILES, "triangle": TRIANGLE}


@pytest.mark.parametrize("name", HUGE)
def test_length_access_slices_and_reversal(name):
    shape = HUGE[name]
    run = shape.indices()
    size = shape.size
    assert run.size == size > 2**63
    assert run
    with pytest.raises(SizeOverflowError, match=rf"{size} indices has no len"):
        len(run)
    for place in (0, 1, 2**63, size // 3, size - 1):
        index = run[place]
        assert index == shape.index(place)
        assert index in run
        assert run.index(index) == place
        assert run[place - size] == index
        part = run[place : place + 3]
        assert list(part) == [run[k] for k in range(place, min(place + 3, size))]
        assert part.to_numpy().tolist() == [list(i) for i in part]
        assert list(itertools.islice(iter(run[place:]), 3)) == list(part)
        assert list(itertools.islice(reversed(run[: place + 1]), 2)) == list(run[: place + 1][:-3:-1])
    strided = run[:: size // 3]
    assert list(strided) == [run[k * (size // 3)] for k in range(strided.size)]
    assert strided.size in {3, 4}
    assert list(itertools.islice(run, 3)) == [run[0], run[1], run[2]]
    assert list(itertools.islice(reversed(run), 2)) == [run[-1], run[-2]]
    assert run.places == range(size)
    for place in (size, -size - 1):
        with pytest.raises(OutOfBoundsError, match=f"a run of {size} indices"):
            run[place]


@pytest.mark.parametrize("name", HUGE)
def test_arrays_come_a_batch_at_a_time(name):
    run = HUGE[name].indices()
    first, second = itertools.islice(run.batches(4), 2)
    assert first.dtype == second.dtype == np.int64
    assert np.concatenate([first, second]).tolist() == [list(run[k]) for k in range(8)]
    with pytest.raises(SizeOverflowError, match=f"{run.size} rows"):
        run.to_numpy()


@pytest.mark.parametrize("shape", [BITS, SQUARE, Shape(2**70, 3, origin=(-5, 2))])
def test_the_first_mode_of_a_box_runs_fastest(shape):
    run, mirror = shape.indices(order="F"), shape.permute(range(shape.rank)[::-1]).indices()
    for place in (0, 1, 2**63 + 5, shape.size - 1):
        assert run[place] == mirror[place][::-1]
        assert run.index(run[place]) == place
    assert list(itertools.islice(run, 4)) == [i[::-1] for i in itertools.islice(mirror, 4)]
    assert list(itertools.islice(reversed(run), 4)) == [
        i[::-1] for i in itertools.islice(reversed(mirror), 4)
    ]
    assert list(itertools.islice(run[2**65 :], 2)) == [run[2**65], run[2**65 + 1]]


def test_the_first_mode_of_a_jagged_shape_runs_fastest():
    run = CELLS.indices(order="F")
    assert list(itertools.islice(run, 8)) == [
        (0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 2, 0), (1, 2, 0), (0, 3, 0), (0, 4, 0),
    ]  # fmt: skip
    assert list(itertools.islice(reversed(run), 1)) == [(0, 2**40 - 1, 2**40 - 1)]
    per_column = 2**40 + 3
    for index, place in (((1, 2, 7), 7 * per_column + 5), ((0, 9, 2**39), 2**39 * per_column + 12)):
        assert run[place] == index
        assert run.index(index) == place
        assert list(itertools.islice(run[place:], 1)) == [index]
    assert list(itertools.islice(TRIANGLE.indices(order="F"), 2)) == [(0, 0), (1, 0)]


def test_equality_needs_no_walk():
    run = SQUARE.indices()
    assert run == Shape(2**40, 2**40).indices()
    assert run == Shape.nested(SQUARE, layers=(1, 1)).indices()
    assert run != Shape(2**40, 2**40, origin=(1, 0)).indices()
    assert run != Shape(2**41, 2**39).indices()
    assert hash(run) == hash(Shape(2**40, 2**40).indices())
    # A part of one shape and the whole of another.
    whole, rows = SQUARE[2:].indices(), run[2**41 :]
    assert rows == whole
    assert hash(rows) == hash(whole)
    assert rows[::-1] == whole[::-1]
    assert rows[1:] == whole[1:]
    assert rows[1:] != whole[:-1]
    columns = SQUARE[:, 2:].indices(order="F")
    assert SQUARE.indices(order="F")[2**41 :] == columns
    assert columns != run[2**41 :]
    # The same ends and the same number, but the second mode comes round elsewhere.
    a, b = Shape(3, 2**70).indices(), Shape(3, 2**70, origin=(0, 1)).indices()
    assert a[1:-1] != b[0 : b.size - 2]
    inside = Shape(2**70, 7).indices()[3:5]
    assert inside == Shape(1, 9).indices()[3:5]


def test_runs_that_wrap_differently_are_not_equal():
    # First, last and number agree: 3 x 4 = 12 places in both.
    a = Shape(4, 5).indices()[1:14]
    b = Shape(4, 6).indices()[1:14]
    assert a != b
    assert Shape(2, 6).indices()[2:10] != Shape(2, 6).indices(order="F")[2:10]
    assert Shape(3, 3).indices()[::2] == Shape(3, 3).indices()[::2]
    assert Shape(3, 4).indices()[::4] == Shape(3, 8).indices()[::8]
    assert Shape(3, 4).indices()[::4] != Shape(3, 4).indices()[::5]


@pytest.mark.parametrize("origin", [2**70, -(2**70), 2**63 - 2])
def test_entries_beyond_64_bits_are_tuples_and_no_arrays(origin):
    shape = Shape(5, 2, origin=(origin, 0))
    for order in ("C", "F"):
        run = shape.indices(order=order)
        assert [(i - origin, j) for i, j in run] == list(Shape(5, 2).indices(order=order))
        assert [(i - origin, j) for i, j in run[::3]] == list(Shape(5, 2).indices(order=order)[::3])
        assert [(i - origin, j) for i, j in reversed(run)] == list(reversed(Shape(5, 2).indices(order=order)))
        for call in (run.to_numpy, lambda run=run: run.batches(3)):
            with pytest.raises(SizeOverflowError, match="64 bits"):
                call()


def test_the_first_index_does_not_wait_for_the_last():
    assert next(iter(Shape(3, 10**12).indices(order="F"))) == (0, 0)
    assert next(reversed(Shape(10**12, 3).indices())) == (10**12 - 1, 2)
    assert next(iter(Shape(10**12, 10**12).indices()[10**12 + 7 :])) == (1, 7)
    assert list(itertools.islice(Shape(2**21, 2**21).indices(), 2**21 - 1, 2**21 + 1)) == [
        (0, 2**21 - 1),
        (1, 0),
    ]
    assert list(Shape(10**12, 0).indices()) == []
    assert list(Shape(0, 2**70).indices()) == []
    assert next(iter(Shape.jagged([10**12, 10**12]).indices(order="F"))) == (0, 0)
    assert list(itertools.islice(Shape.jagged([10**12, 2]).indices(order="F"), 5)) == [
        (0, 0), (1, 0), (0, 1), (1, 1), (0, 2),
    ]  # fmt: skip


def test_text():
    assert repr(SQUARE.indices()) == "Indices([(0, 0), (0, 1), (0, 2), (0, 3), ...])"
    assert repr(SQUARE.indices()[-2:]).startswith("Indices([(1099511627775, 1099511627774)")
