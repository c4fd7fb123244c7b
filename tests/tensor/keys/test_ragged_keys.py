"""Keys that are jagged tensors: each row is masked, or gathered from, by itself; as Awkward Array does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    OutOfBoundsError,
    RankError,
    ReadOnlyError,
    SizeOverflowError,
)
from tests.support.tensor.awkward_arrays import tensors, to_awkward


@given(tensors(), st.data())
def test_a_mask_keeps_what_it_says_in_each_row(t, data):
    rank = data.draw(st.integers(2, t.rank))
    shape = t.shape.leading(rank)
    bools = data.draw(st.lists(st.booleans(), min_size=shape.size, max_size=shape.size))
    mask = tw.from_buffer(np.array(bools, dtype=bool), shape)
    chosen = t[mask]

    assert chosen.tolist() == to_awkward(t)[to_awkward(mask)].to_list()
    assert t.oindex[mask].tolist() == chosen.tolist()
    assert not np.shares_memory(chosen.elements(), t.elements())


@given(tensors(), st.data())
def test_positions_gather_from_each_row(t, data):
    rank = data.draw(st.integers(2, t.rank))
    extents = t.row_lengths(rank - 1).elements().tolist()
    rows = [data.draw(st.lists(st.integers(-n, n - 1), max_size=3)) if n else [] for n in extents]
    flat = np.array([k for row in rows for k in row], dtype=data.draw(st.sampled_from(["i8", "i1", ">i4"])))
    key = tw.as_tensor(flat).unflatten([len(row) for row in rows])
    for mode in range(rank - 2, 0, -1):
        key = key.unflatten(t.row_lengths(mode).elements())
    if not extents:
        return  # Awkward's empty arrays have lost their depth
    chosen = t[key]

    wide = tw.from_buffer(flat.astype(np.int64), key.shape)
    assert chosen.tolist() == to_awkward(t)[to_awkward(wide)].to_list()
    assert chosen.shape.leading(rank).is_congruent(key.shape)


def test_a_box_is_chosen_from_row_by_row():
    t = tw.as_tensor(np.arange(6).reshape(2, 3))

    assert t[tw.jagged([[2, 0], [-1]])].tolist() == [[2, 0], [5]]
    assert t.permute((1, 0))[tw.jagged([[1], [], [0, 0]])].tolist() == [[3], [], [2, 2]]


ROWS = [[1, 2, 3], [], [4, 5]]
DEEP = [[[1, 2], [3]], [], [[4]]]


@pytest.mark.parametrize(
    ("rows", "key", "error", "text"),
    [
        (ROWS, [[0], []], ExtentMismatchError, "the key has 2 rows, but the tensor has 3"),
        (
            ROWS,
            [[0], [0], [1]],
            OutOfBoundsError,
            r"position 0 is outside mode 1 under the prefix \(1,\), .* 0$",
        ),
        (
            ROWS,
            [[3], [], [0]],
            OutOfBoundsError,
            r"position 3 is outside mode 1 under the prefix \(0,\), .* 3$",
        ),
        (ROWS, [[-4], [], [0]], OutOfBoundsError, r"position -4 is outside mode 1 under the prefix \(0,\)"),
        (
            ROWS,
            [[True] * 3, [True], [True, False]],
            ExtentMismatchError,
            r"1 bools for .*\(1,\), .* extent 0",
        ),
        (ROWS, [[True] * 2, [], [True] * 3], ExtentMismatchError, r"2 bools for .*\(0,\), .* extent 3"),
        (ROWS, [[True], []], ExtentMismatchError, "the key has 2 rows, but the tensor has 3"),
        (ROWS, [[0.5], [], [1]], ConversionError, "positions or a mask, not float64"),
        (ROWS, [[[0]], [], [[1]]], RankError, "a key of rank 3 does not choose from a tensor of rank 2"),
        (DEEP, [[[0]], [], [[0]]], ExtentMismatchError, r"1 rows for mode 1 under the prefix \(0,\), .* 2"),
        (DEEP, [[[2], [0]], [], [[0]]], OutOfBoundsError, r"position 2 .* mode 2 under the prefix \(0, 0\)"),
    ],
)
def test_keys_that_do_not_fit_are_refused_and_say_where(rows, key, error, text):
    with pytest.raises(error, match=text):
        tw.jagged(rows)[tw.jagged(key)]


def test_positions_beyond_64_bits_are_outside():
    with pytest.raises(OutOfBoundsError, match="position 18446744073709551615"):
        tw.jagged([[1, 2]])[tw.jagged([np.array([2**64 - 1], dtype=np.uint64)])]


def test_values_are_written_where_a_key_chooses():
    t = tw.jagged([[1, 2, 3], [], [4, 5]])
    t[tw.jagged([[True, False, True], [], [False, True]])] = 0
    assert t.tolist() == [[0, 2, 0], [], [4, 0]]
    t[tw.jagged([[-1, 0], [], [1]])] = tw.jagged([[7, 8], [], [9]])
    assert t.tolist() == [[8, 2, 7], [], [4, 9]]
    with pytest.raises(ReadOnlyError):
        t[tw.jagged([[0, 0], [], []])] = 1
    with pytest.raises(ExtentMismatchError):
        t[tw.jagged([[0], [], [1]])] = tw.jagged([[1, 2], [], []])
    assert t.tolist() == [[8, 2, 7], [], [4, 9]]


def test_outer_indexing_is_a_view():
    t = tw.jagged([[1, 2, 3], [], [4, 5]])
    view = t.oindex[tw.jagged([[2, 0], [], [1]])]
    view.assign(0)

    assert view.shape == Shape.jagged([2, 0, 1])
    assert t.tolist() == [[0, 2, 0], [], [4, 0]]


@pytest.mark.parametrize("key", [np.s_[:, :2], np.s_[:, ::-1], np.s_[:, -1:], np.s_[1:, 1:5], np.s_[::2, :1]])
def test_slices_within_rows_are_views_and_clip_each_row(key):
    t = tw.jagged([[1, 2, 3], [], [4, 5], [6]])
    part = t[key]

    assert part.tolist() == to_awkward(t)[key].to_list()
    part.assign(0)
    assert t.elements().tolist().count(0) == part.size


def test_a_position_that_a_row_does_not_have_is_refused():
    # Awkward refuses it, too; the name of the row is ours.
    with pytest.raises(OutOfBoundsError, match=r"position 0 is outside mode 1 under the prefix \(1,\)"):
        tw.jagged([[1, 2], []])[:, 0]


@given(tensors(), st.data())
def test_a_number_is_written_where_a_mask_says_in_each_row(t, data):
    given_as = data.draw(st.sampled_from(["as it is", "reversed", "a part"]))
    whole = t.copy()
    t = {"as it is": whole, "reversed": whole[::-1], "a part": whole[1:]}[given_as]
    bools = data.draw(st.lists(st.booleans(), min_size=t.size, max_size=t.size))
    mask = tw.from_buffer(np.array(bools, dtype=bool), t.shape)
    value = data.draw(st.sampled_from([7, True, np.int8(3)]))
    wanted, before = np.where(bools, value, t.elements()), whole.copy()
    t[mask] = value
    assert t.elements().tolist() == wanted.tolist()
    if given_as == "a part":
        assert whole[:1].tolist() == before[:1].tolist()


@pytest.mark.parametrize(
    ("value", "error"), [("x", DTypeError), (10**30, SizeOverflowError), (1j, DTypeError)]
)
def test_a_number_that_does_not_fit_changes_no_row(value, error):
    t = tw.jagged([[1, 2], [3]])
    with pytest.raises(error):
        t[t > 1] = value
    assert t.tolist() == [[1, 2], [3]]


def test_rows_that_are_read_only_refuse_a_mask():
    array = np.arange(3)
    array.flags.writeable = False
    t = tw.from_buffer(array, tw.jagged([[1, 2], [3]]).shape)
    with pytest.raises(ReadOnlyError):
        t[t > 1] = 0
