"""The structural verbs of jagged tensors: Awkward Array is the oracle."""

import awkward as ak
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ConversionError, ExtentError, JaggedModeError, RankError
from tests.support.tensor.awkward_arrays import tensors, to_awkward


@given(tensors(), st.data())
def test_flatten_merges_a_mode_into_the_one_before(t, data):
    mode = data.draw(st.integers(1, t.rank - 1))
    with count_copies() as count:
        flat = t.flatten(mode)

    assert count.copies == 0
    assert flat.tolist() == ak.flatten(to_awkward(t), axis=mode).to_list()
    assert flat.elements().tolist() == t.elements().tolist()


@given(tensors(), st.data())
def test_num_and_local_index_come_from_the_shape(t, data):
    mode = data.draw(st.integers(0, t.rank - 1))

    assert t.row_lengths(mode).tolist() == ak.to_list(ak.num(to_awkward(t), axis=mode))
    assert t.local_index(mode).tolist() == ak.local_index(to_awkward(t), axis=mode).to_list()
    assert t.local_index(mode - t.rank).tolist() == t.local_index(mode).tolist()
    assert t.row_lengths(mode).dtype == t.local_index(mode).dtype == np.int64


@given(tensors(), st.data())
def test_unflatten_is_undone_by_flatten_and_undoes_it(t, data):
    mode = data.draw(st.integers(1, t.rank - 1))
    flat, counts = t.flatten(mode), t.row_lengths(mode).copy()
    with count_copies() as count:
        again = flat.unflatten(counts, mode - 1)

    assert count.copies == 0
    assert again.shape.is_congruent(t.shape)
    assert again.tolist() == t.tolist()


@given(tensors(), st.data())
def test_unflatten_deals_a_mode_to_rows_of_these_lengths(t, data):
    mode = data.draw(st.integers(0, t.rank - 1))
    counts = []
    for extent in t.row_lengths(mode).elements().tolist():
        # No count of 0: to which of two prefixes such a row belongs, is ours to say.
        left = extent
        while left:
            counts.append(data.draw(st.integers(1, left)))
            left -= counts[-1]
    wanted = ak.unflatten(to_awkward(t), np.array(counts, dtype=np.int64), axis=mode)

    assert t.unflatten(counts, mode).tolist() == wanted.to_list()
    assert t.unflatten(counts, mode).flatten(mode + 1).tolist() == t.tolist()


@given(st.lists(st.integers(0, 3)), st.sampled_from([1, 2, 3]), st.sampled_from([1, -1, 2]))
def test_unflatten_of_boxes(counts, rank, step):
    n = sum(counts)
    x = np.arange(n * 2 ** (rank - 1)).reshape(n, *[2] * (rank - 1))
    x = np.repeat(x, abs(step), axis=0)[::step]
    t = tw.as_tensor(x).unflatten(counts)

    assert t.tolist() == ak.unflatten(x, np.array(counts, dtype=np.int64)).to_list()
    assert all(np.shares_memory(row.to_numpy(), x) for row in t if row.size)
    assert t.flatten().tolist() == x.tolist()


@pytest.mark.parametrize(
    ("counts", "mode", "text"),
    [
        ([2, 2], 0, "add up to 4 do not fit mode 0, which has 5 indices"),
        ([2, 2, 2], 0, "add up to 6 do not fit mode 0, which has 5 indices"),
        ([-1, 6], 0, "must not be negative, but row 0 has -1"),  # Awkward makes rows of 4 and 1 of it
        ([3, 3, 1], 1, "mode 1 under the prefix .0,. has 2 indices, but no run of counts"),
        ([2, 1, 3], 1, "add up to 6 do not fit mode 1, which has 7 indices"),
        (2, 0, "mode 0|makes no rows of 2"),
        (0, 0, "makes no rows of 0"),
    ],
)
def test_counts_that_do_not_fit_are_refused_and_say_where(counts, mode, text):
    t = tw.jagged([[1, 2], [], [3, 4, 5], [6], [7]])
    with pytest.raises(ExtentError, match=text):
        t.unflatten(counts, mode)


def test_counts_of_another_number_of_prefixes_are_refused():
    t = tw.jagged([[1, 2], [3, 4, 5]])
    with pytest.raises(ExtentError, match="counts for 3 rows, but mode 1 has 2 prefixes"):
        t.unflatten(tw.jagged([[2], [3], []]), 1)
    with pytest.raises(RankError, match="counts of rank 3 do not cut mode 1"):
        t.unflatten(tw.jagged([[[2]], [[3]]]), 1)
    with pytest.raises(RankError, match="one axis"):
        t.unflatten([[1], [1]])
    with pytest.raises(ConversionError):
        t.unflatten([1.0, 1.0])


def test_rows_without_an_index_at_the_end_of_a_prefix_go_to_the_next_unless_the_counts_say():
    t = tw.jagged([[1, 2], [3]])

    assert t.unflatten([2, 0, 1, 0], 1).tolist() == [[[1, 2]], [[], [3], []]]
    assert t.unflatten(tw.jagged([[2, 0], [1, 0]]), 1).tolist() == [[[1, 2], []], [[3], []]]


def test_rows_of_one_length():
    assert tw.as_tensor(np.arange(6)).unflatten(3).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tw.as_tensor(np.arange(6)).unflatten(3).shape == Shape(2, 3)
    assert tw.jagged([[1, 2, 3, 4], [], [5, 6]]).unflatten(2, 1).tolist() == [[[1, 2], [3, 4]], [], [[5, 6]]]
    with pytest.raises(ExtentError, match="extent of mode 1 that makes no rows of 3"):
        tw.jagged([[1, 2, 3], [4]]).unflatten(3, 1)


@given(tensors(values=2))
def test_run_lengths_of_each_row(t):
    assert t.run_lengths().tolist() == ak.run_lengths(to_awkward(t)).to_list()


def test_run_lengths_of_boxes_and_of_numbers_that_equal_nothing():
    assert tw.as_tensor([1, 1, 2, 2, 2]).run_lengths().tolist() == [2, 3]
    assert tw.as_tensor(np.array([[1, 1], [2, 3]])).run_lengths().tolist() == [[2], [1, 1]]
    assert tw.jagged([[np.nan, np.nan], [1.0]]).run_lengths().tolist() == [[1, 1], [1]]
    assert tw.as_tensor(np.empty(0)).run_lengths().tolist() == []
    assert tw.as_tensor(np.empty((2, 0))).run_lengths().tolist() == [[], []]


def test_verbs_of_boxes_are_those_of_rows_of_one_length():
    t = tw.as_tensor(np.arange(24).reshape(2, 3, 4))

    assert t.flatten().tolist() == t.to_numpy().reshape(6, 4).tolist()
    assert t.flatten(2).tolist() == t.to_numpy().reshape(2, 12).tolist()
    assert t.permute((2, 0, 1)).flatten().tolist() == t.to_numpy().transpose(2, 0, 1).reshape(8, 3).tolist()
    assert t.row_lengths().tolist() == [3, 3]
    assert t.row_lengths(0).item() == 2
    assert t.row_lengths(2).tolist() == [[4] * 3] * 2
    assert t.local_index().tolist() == [[[0, 1, 2, 3]] * 3] * 2
    assert t.local_index(0).tolist() == [0, 1]


def test_flatten_needs_a_mode_before_it():
    with pytest.raises(RankError, match="mode 0 has no mode before it"):
        tw.jagged([[1], [2]]).flatten(0)
    with pytest.raises(RankError, match="mode 1 does not exist"):
        tw.as_tensor([1, 2]).flatten()


def test_flatten_and_unflatten_can_be_written_through():
    t = tw.jagged([[[1, 2], [3]], [[4]]])
    t.flatten(2)[0, 2] = 30
    t.reverse(2).flatten().flatten()[0] = 20
    t.flatten().flatten().unflatten([1, 3])[0, 0] = 10

    assert t.tolist() == [[[10, 20], [30]], [[4]]]


def test_a_nested_tensor_loses_its_layers_first():
    shape = Shape.nested(Shape.jagged([[1, 2], [3]]), layers=(2, 1))
    t = tw.from_buffer(np.arange(6), shape)

    assert t.flatten().shape == shape.flatten()
    assert t.flatten(1).tolist() == [[0], [1, 2], [3, 4, 5]]
    assert t.row_lengths(2).tolist() == [[1, 2], [3]]
    assert t.rows().reduce(np.add).tolist() == [[0, 3], [12]]


@pytest.mark.parametrize(
    "shape",
    [
        Shape(2, 4),
        Shape(0, 4),
        Shape(2, 0),
        Shape(2, 3, 2),
        Shape.jagged([2, 1]),
        Shape.jagged([[1, 2], [3]]),
    ],
)
@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("mode", [-1, 0])
def test_layers_stay_where_rows_are_made_longer(shape, clip, mode):
    flat = tw.from_buffer(np.arange(shape.size), shape)
    t = tw.from_buffer(np.arange(shape.size), Shape.nested(shape, layers=(1, shape.rank - 1)))
    if not mode and shape.kind == "jagged":
        for given in (flat, t, sel.as_view(t)):
            with pytest.raises(JaggedModeError, match="nothing says how long they are"):
                given.pad_rows(5, mode=mode, clip=clip)
        return
    for length in (1, 5):
        expected = flat.pad_rows(length, mode=mode, fill_value=9, clip=clip)
        view = sel.as_view(t).pad_rows(length, mode=mode, fill_value=9, clip=clip)
        read = sel.from_json(sel.to_json(view), sources=sel.sources(view))
        for found in (t.pad_rows(length, mode=mode, fill_value=9, clip=clip), view.compute(), read.compute()):
            assert found.shape == Shape.nested(expected.shape, layers=t.shape.layers)
            assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("n", [10**5])
def test_no_step_is_taken_for_each_row(n):
    counts = np.arange(n) % 7
    t = tw.as_tensor(np.arange(counts.sum())).unflatten(counts)
    with count_copies() as count:
        assert t.flatten().size == counts.sum()
        assert np.array_equal(t.row_lengths().to_numpy(), counts)
    assert count.copies == 0
    rows = ak.unflatten(np.arange(counts.sum()), counts)
    assert np.array_equal(t.local_index().elements(), ak.to_numpy(ak.flatten(ak.local_index(rows))))
    assert np.array_equal(
        t.pad_rows(3, clip=True).to_numpy(), ak.to_numpy(ak.fill_none(ak.pad_none(rows, 3, clip=True), 0))
    )


def test_counts_without_a_prefix_are_refused():
    empty = tw.jagged([[1, 2]])[:0]

    assert empty.unflatten([], 1).tolist() == []
    with pytest.raises(ExtentError, match="no prefix to which a row could belong"):
        empty.unflatten([0, 0], 1)


def test_tiled_and_sparse_tensors_have_rows_as_well():
    tiles = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(Tiling([1, 2], [2, 1]))
    assert tiles.flatten(2).tolist() == [[[0, 1], [2]], [[3, 4], [6, 7], [5], [8]]]
    assert tiles.flatten(3).tolist() == [[[0, 1], [2]], [[3, 4, 6, 7], [5, 8]]]
    assert tiles[tw.jagged([[1], [0, 0]])].tolist() == [[[[2]]], [[[3, 4], [6, 7]], [[3, 4], [6, 7]]]]
    few = tw.sparse([(0, 1), (2, 3)], [5, 7], Shape(3, 4)).flatten().unflatten([3, 0, 5, 4])
    assert few.is_sparse
    assert few.tolist() == [[0, 5, 0], [], [0] * 5, [0, 0, 0, 7]]
    assert few[tw.jagged([[1], [], [-1], [3, 0]])].tolist() == [[5], [], [0], [7, 0]]


def test_more_elements_than_are_looked_up_at_a_time():
    n = (1 << 20) + 4
    flat = np.arange(n + 70, dtype=np.int32)
    t = tw.as_tensor(flat).unflatten([5, n, 60, 5])
    turned = t[:, ::-1].copy()

    assert turned[1].tolist() == flat[5 : n + 5][::-1].tolist()
    assert turned[2].tolist() == flat[n + 5 : n + 65][::-1].tolist()
    many = tw.as_tensor(flat).unflatten(np.full(n // 5 + 14, 5))
    assert np.array_equal(many[::-1].copy().elements(), flat.reshape(-1, 5)[::-1].reshape(-1))
