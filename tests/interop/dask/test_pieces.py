"""Selections cut at the ends of chunks: every element once, and what is put together is the view."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError
from tensorwrapper.interop.dask._pieces import Placed, Recipe, cut, cuts_of, put_together
from tensorwrapper.selection import Outer, Runs

X = np.arange(10 * 7).reshape(10, 7)
sizes = st.lists(st.integers(0, 5), min_size=1, max_size=5)


@given(sizes, sizes, st.data())
def test_pieces_of_boxes(a, b, data):
    x = np.arange(sum(a) * sum(b)).reshape(sum(a), sum(b))
    marks = [np.cumsum((0, *own)) for own in (a, b)]
    modes = []
    for own in x.shape:
        picks = data.draw(st.lists(st.integers(0, max(own - 1, 0)), unique=True, max_size=own))
        start = data.draw(st.integers(0, own))
        modes.append(data.draw(st.sampled_from([sorted(picks), range(start, own), range(start, own, 3)])))
    selection = Outer(modes)
    found = np.full(selection.extents, -1)
    for piece in cuts_of(selection, marks):
        i, j = piece.chunk
        chunk = x[marks[0][i] : marks[0][i + 1], marks[1][j] : marks[1][j + 1]]
        assert piece.size
        assert (found[piece.place] == -1).all()
        found[piece.place] = cut(chunk, piece.local)
    assert np.array_equal(found, x[np.ix_(*[np.asarray(own, int) for own in selection.modes])])


@given(sizes, st.data())
def test_pieces_of_rows(parts, data):
    flat, marks = np.arange(sum(parts)), np.cumsum((0, *parts))
    numbers = sorted(data.draw(st.sets(st.integers(0, max(len(flat) - 1, 0)), max_size=len(flat))))
    selection = Runs(numbers)
    found = np.full(len(numbers), -1)
    for piece in cuts_of(selection, [marks]):
        (k,) = piece.chunk
        assert piece.size
        found[piece.place] = cut(flat[marks[k] : marks[k + 1]], piece.local)
    assert found.tolist() == numbers


def test_a_small_piece_does_not_keep_its_chunk():
    chunk = np.zeros((100, 100))
    small, large = cut(chunk, Outer([range(1), range(100)])), cut(chunk, Outer([range(99), range(100)]))

    assert small.base is None
    assert np.shares_memory(large, chunk)
    assert not small.flags.writeable
    assert not large.flags.writeable
    assert chunk.flags.writeable


def test_pieces_are_put_together():
    placed = Placed(0, Shape(10, 7), X.dtype)
    view = sel.concat([sel.as_view(placed)[2:5, ::-2], tw.as_tensor(X)[:1, :4]])
    (read,) = [own for own in view.plan().reads if own.source == placed]
    marks = [np.array([0, 4, 10]), np.array([0, 3, 7])]
    wanted = tuple([(0, own) for own in read.selections])
    cuts = [(k, piece) for k, (_, own) in enumerate(wanted) for piece in cuts_of(own, marks)]
    chunks = [X[marks[0][i] : marks[0][i + 1], marks[1][j] : marks[1][j + 1]] for i in (0, 1) for j in (0, 1)]
    recipe = Recipe(view, wanted, tuple([(k, piece.place, piece.local) for k, piece in cuts]), as_array=True)
    given_chunks = [chunks[2 * piece.chunk[0] + piece.chunk[1]] for _, piece in cuts]

    made = put_together(recipe, given_chunks)
    assert made.tolist() == [*X[2:5, ::-2].tolist(), X[0, :4].tolist()]
    with pytest.raises(ConversionError, match="arrived"):
        put_together(Recipe(view, wanted, (), as_array=True), [])
