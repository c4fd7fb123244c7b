"""The rows of a tensor: a sequence of views, and what a ufunc makes of each."""

import copy
import pickle

import awkward as ak
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, RankError
from tensorwrapper.tensor import TensorRows
from tests.support.tensor.awkward_arrays import tensors, to_awkward


def innermost(rows, depth):
    """The innermost lists, one after the other."""
    return rows if depth == 1 else [row for inner in rows for row in innermost(inner, depth - 1)]


@given(tensors())
def test_rows_are_a_sequence_of_views(t):
    rows, expected = t.rows(), innermost(t.tolist(), t.rank - 1)

    assert len(rows) == len(expected) == rows.shape.size
    assert [row.tolist() for row in rows] == expected
    assert [rows[k].tolist() for k in range(len(rows))] == expected
    assert [rows[k - len(rows)].tolist() for k in range(len(rows))] == expected
    assert all(np.shares_memory(row.to_numpy(), t.buffer.flat) for row in rows if row.size)
    assert all(row.shape.origin == (0,) for row in rows)


@given(
    tensors(), st.sampled_from([np.add, np.maximum, np.multiply, np.bitwise_or]), st.sampled_from([None, 3])
)
def test_rows_reduce_as_numpy_reduces_each(t, ufunc, initial):
    extra = {} if initial is None else {"initial": initial}
    parts = innermost(t.tolist(), t.rank - 1)
    if initial is None and ufunc.identity is None and [] in parts:
        with pytest.raises(ExtentError, match=r"row .* is empty and maximum has no identity: give initial="):
            t.rows().reduce(ufunc)
        return
    reduced = t.rows().reduce(ufunc, **extra)

    assert reduced.shape == t.shape.leading(t.rank - 1)
    assert reduced.elements().tolist() == [ufunc.reduce(np.array(p, dtype=np.int64), **extra) for p in parts]


@given(tensors())
def test_sums_are_those_of_awkward_and_keep_the_outer_structure(t):
    assert t.rows().reduce(np.add).tolist() == ak.sum(to_awkward(t), axis=-1).to_list()


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
    st.sampled_from([np.add, np.minimum, np.logical_and]),
    st.sampled_from(["i1", "u8", "f4", "?"]),
    st.sampled_from([None, 1]),
)
def test_rows_of_boxes_reduce_along_the_last_mode(extents, ufunc, dtype, initial):
    x = np.arange(np.prod(extents)).reshape(extents).astype(dtype)
    t, extra = tw.as_tensor(x), {} if initial is None else {"initial": initial}
    if not extents[-1] and 0 not in extents[:-1] and ufunc.identity is None and initial is None:
        with pytest.raises(ExtentError, match="row"):
            t.rows().reduce(ufunc)
        return
    # NumPy refuses the reduction of no row at all, too.
    expected = ufunc.reduce(x, axis=-1, **({"initial": 0} if 0 in extents and not extra else extra))
    reduced = t.rows().reduce(ufunc, **extra)

    assert reduced.shape.extents == expected.shape
    assert reduced.dtype == expected.dtype
    if 0 not in extents:
        assert reduced.tolist() == expected.tolist()


def test_rows_of_strided_tiled_and_repeated_tensors():
    x = np.arange(24).reshape(4, 6)
    t = tw.as_tensor(x)

    assert [row.tolist() for row in t.permute((1, 0)).rows()] == x.T.tolist()
    assert [row.tolist() for row in t.gather(1, [5, 0, 3]).rows()] == x[:, [5, 0, 3]].tolist()
    assert [row.tolist() for row in t[0].rows()] == [x[0].tolist()]
    assert t[0].rows().reduce(np.add).item() == 15
    tiles = t.tiled(Tiling([1, 3], [4, 2]))
    assert [row.tolist() for row in tiles.rows()][:3] == [[0, 1, 2, 3], [4, 5], [6, 7, 8, 9]]
    assert tiles.rows().reduce(np.add).elements().sum() == x.sum()
    assert all(row.is_readonly for row in t.broadcast((2, 4, 6)).rows())


def test_rows_can_be_written_to():
    t = tw.jagged([[1, 2], [3]])
    t.rows()[0].assign(7)
    t[:, ::-1].rows()[0][0] = 8

    assert t.tolist() == [[7, 8], [3]]


def test_origins_stay_with_the_prefixes():
    t = tw.from_buffer(np.arange(3), Shape.jagged([2, 1], origin=(5, 7)))

    assert t.rows().shape == Shape(2, origin=(5,))
    assert t.rows().reduce(np.add).shape == Shape(2, origin=(5,))
    assert t.rows()[1].shape == Shape(1)


def test_what_is_no_row_is_refused():
    rows = tw.jagged([[1, 2], []]).rows()
    for k in (2, -3):
        with pytest.raises(OutOfBoundsError, match=f"row {k} is outside the 2 rows"):
            rows[k]
    with pytest.raises(ConversionError, match="not the bool"):
        rows[True]
    with pytest.raises(RankError, match="rank 0 has no rows"):
        len(tw.as_tensor(1).rows())
    with pytest.raises(ConversionError, match="a ufunc such as"):
        rows.reduce(sum)
    with pytest.raises(ExtentError, match=r"row \(1,\) is empty and maximum"):
        rows.reduce(np.maximum)


def test_text_and_type():
    rows = tw.jagged([[1, 2], []]).rows()

    assert isinstance(rows, TensorRows)
    assert repr(rows) == "<2 rows of (2, 2|0)>"


def test_iteration_over_many_rows_agrees_with_each():
    n = 20_000
    counts = np.arange(n) % 5
    t = tw.as_tensor(np.arange(counts.sum())).unflatten(counts)
    assert sum(len(row) for row in t) == t.size
    assert [len(row) for row in t][n - 1] == counts[-1]
    assert [row.tolist() for row in t[9_000:9_003]] == [t[k].tolist() for k in range(9_000, 9_003)]


def test_a_gather_of_rows_knows_whether_it_repeats_one():
    t = tw.jagged([[1, 2], [], [3]])[0:]
    once, twice = t.oindex[[2, 0]], t.oindex[[2, -1]]

    assert (once.is_readonly, twice.is_readonly) == (False, True)
    assert (once.tolist(), twice.tolist()) == ([[3], [1, 2]], [[3], [3]])
    assert not t.oindex[[1, 1]].is_readonly  # rows without an element share nothing
    once[0, 0] = 9
    assert t.tolist() == [[1, 2], [], [9]]
    assert t[1:].oindex[[1, 0]].tolist() == [[9], []]


def test_pickled_rows_are_those_of_the_tensor_alone():
    rows = tw.jagged([[1, 2], [], [3]]).rows()
    before = len(pickle.dumps(rows))
    assert rows[0].tolist() == [1, 2]  # from here on it is known where the rows lie
    assert len(pickle.dumps(rows)) == before
    for same in (pickle.loads(pickle.dumps(rows)), copy.copy(rows), copy.deepcopy(rows)):
        assert [row.tolist() for row in same] == [[1, 2], [], [3]]


@pytest.mark.parametrize("which", [max, min])
@pytest.mark.parametrize("as_view", [False, True])
@given(
    rows=st.lists(st.lists(st.none() | st.text("ab\0é", max_size=3), max_size=3), max_size=4),
    encoded=st.booleans(),
)
def test_extremes_of_strings_are_those_of_python(which, as_view, rows, encoded):
    if encoded:
        rows = [[own if own is None else own.encode() for own in row] for row in rows]
    kind = "binary" if encoded else "utf8"
    nullable = any(own is None for row in rows for own in row)
    tensor = tw.strings([own for row in rows for own in row], kind=kind, nullable=nullable).unflatten(
        [len(row) for row in rows]
    )
    given_rows = sel.as_view(tensor) if as_view else tensor
    expected = [which((own for own in row if own is not None), default=None) for row in rows]
    method = getattr(given_rows.rows(), which.__name__)
    assert method(empty=None).tolist() == expected
    short = getattr(np, which.__name__)
    if None in expected:
        with pytest.raises(ExtentError, match="is empty"):
            short(given_rows, axis=-1)
        return
    assert method().tolist() == expected
    assert np.asarray(short(given_rows, axis=-1)).tolist() == expected


@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_extremes_of_boxes_of_strings_along_each_axis(axis, nullable):
    words = [["b", "a\0c"], ["a\0b", "c"]]
    box, model = tw.strings(words, nullable=nullable), np.array(words, dtype=object)
    for call in (np.max, np.min):
        assert np.asarray(call(box, axis=axis)).tolist() == np.asarray(call(model, axis=axis)).tolist()
    some = tw.strings([["b", None], ["a", None]])
    assert np.max(some, axis=1).tolist() == ["b", "a"]
    with pytest.raises(ExtentError, match="is empty"):
        np.max(some, axis=0)
