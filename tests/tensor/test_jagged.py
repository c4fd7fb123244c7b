"""Jagged tensors from nested lists and arrays."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ConversionError, DTypeError, RankError, SizeOverflowError
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import as_tensor, jagged


@pytest.mark.parametrize(
    ("rows", "shape"),
    [
        ([[1, 2, 3], [4], [5, 6]], Shape.jagged([3, 1, 2])),
        ([[1, 2, 3], [], [5, 6]], Shape.jagged([3, 0, 2])),
        ([[], []], Shape.jagged([0, 0])),
        ([[]], Shape.jagged([0])),
        ([[[1], [2, 3]], [[4, 5, 6]]], Shape.jagged([[1, 2], [3]])),
        ([[[1], [2, 3]], []], Shape.jagged([[1, 2], []])),
        ([[], [[1], [2, 3]]], Shape.jagged([[], [1, 2]])),
        ([[[]], [[1, 2]]], Shape.jagged([[0], [2]])),
        ([[], [[]]], Shape.jagged([[], [0]])),
        ([[[], []], [[1]]], Shape.jagged([[0, 0], [1]])),
        ([[[[1]], []], [[[2, 3], [4]]]], Shape.jagged([[[1], []], [[2, 1]]])),
        ([[[[1, 2]]], [], [[], [[3]]]], Shape.jagged([[[2]], [], [[], [1]]])),
        (((1, 2), (3,)), Shape.jagged([2, 1])),
        ([range(3), range(1)], Shape.jagged([3, 1])),
    ],
)
def test_nested_lists_of_any_depth(rows, shape):
    t = jagged(rows)
    assert t.shape == shape
    assert t.rank == shape.rank

    def plain(value):
        return [plain(v) for v in value] if hasattr(value, "__iter__") else value

    assert t.tolist() == plain(rows)
    assert t.elements().tolist() == list(flatten(rows))


def flatten(value):
    if hasattr(value, "__iter__"):
        for item in value:
            yield from flatten(item)
    else:
        yield value


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_arrays_of_one_rank_are_the_cells(rank):
    cells = [np.arange(float(np.prod([k] * rank))).reshape([k] * rank)[..., ::-1] for k in (2, 0, 3)]
    with count_copies() as count:
        t = jagged(cells)
    assert (count.nbytes, count.copies) == (t.nbytes, 1)
    assert t.shape == Shape.from_cells((3,), [[2] * rank, [0] * rank, [3] * rank])
    for k, cell in enumerate(cells):
        assert np.array_equal(np.asarray(t[k]), cell)
        assert not np.shares_memory(np.asarray(t[k]), cell)


def test_lists_of_lists_of_arrays():
    rows = [[np.ones((1, 2)), np.zeros((2, 1))], [], [np.full((2, 2), 7.0)]]
    t = jagged(rows)
    assert t.shape == Shape.jagged([[Shape(1, 2), Shape(2, 1)], [], [Shape(2, 2)]])
    assert t.tolist() == [[[[1.0, 1.0]], [[0.0], [0.0]]], [], [[[7.0, 7.0], [7.0, 7.0]]]]


def test_lists_and_arrays_may_be_mixed():
    assert jagged([np.array([1, 2]), [3], ()]).tolist() == [[1, 2], [3], []]


@pytest.mark.parametrize(
    ("rows", "dtype"),
    [
        ([[1, 2], [3]], np.int64),
        ([[1, 2], []], np.int64),
        ([[], [True]], np.bool_),
        ([[True], [2]], np.int64),
        ([[1], [2.5]], np.float64),
        ([[1], [2j]], np.complex128),
        ([[], []], np.float64),
        ([np.zeros(1, np.int8), np.zeros(1, np.uint8)], np.int16),
        ([np.zeros(1, np.float32), np.zeros(0, np.float64)], np.float32),
        ([np.zeros(0, np.int8), np.zeros(0, np.int8)], np.int8),
        ([np.zeros(1, "M8[s]"), np.zeros(1, "M8[ms]")], np.dtype("M8[ms]")),
    ],
)
def test_the_type_is_the_common_one_and_empty_lists_have_none(rows, dtype):
    assert jagged(rows).dtype == dtype


def test_dtype_is_taken_as_numpy_takes_it():
    t = jagged([[1, 2], [3]], dtype=np.float32)
    assert (t.dtype, t.tolist()) == (np.dtype(np.float32), [[1.0, 2.0], [3.0]])
    assert jagged([[1.9], [2.1]]).astype("i2").tolist() == [[1], [2]]
    assert jagged([[]], dtype=">i4").dtype == np.dtype(">i4")


@pytest.mark.parametrize(
    ("rows", "dtype", "error"),
    [
        ([[300], [1]], "u1", SizeOverflowError),
        ([[-1]], "u2", SizeOverflowError),
        ([[np.nan]], int, DTypeError),
        ([[1e30]], "i8", DTypeError),
        ([np.array([300]), np.array([1])], "i1", SizeOverflowError),
        ([np.array([300]), np.array([1])], "u1", DTypeError),
        ([[[1], [2, 300]]], "i1", SizeOverflowError),
    ],
)
def test_numbers_that_the_type_cannot_say_are_refused(rows, dtype, error):
    with pytest.raises(error, match="elements of type"):
        jagged(rows, dtype=dtype)


def test_tensors_and_generators_make_rows():
    tensors = [as_tensor([1, 2]), as_tensor(np.arange(6))[::2]]
    assert jagged(tensors).tolist() == [[1, 2], [0, 2, 4]]
    cells = jagged([np.ones((2, 2)), np.zeros((1, 3))])
    assert jagged(cell for _, cell in cells.cells()).array_equal(cells)
    assert jagged(range(n) for n in range(3)).tolist() == [[], [0], [0, 1]]


def test_no_rows_and_no_sequence_are_refused_in_words_that_help():
    with pytest.raises(RankError, match="from_buffer makes a tensor of no rows"):
        jagged([])
    for value in (None, 3):
        with pytest.raises(ConversionError, match="sequence of rows, not"):
            jagged(value)


def test_a_million_short_lists_take_no_step_each():
    rows = [[1, 2, 3]] * 100_000
    with count_copies() as count:
        t = jagged(rows)
    assert (t.size, t.dtype) == (300_000, np.dtype(int))
    assert count.copies <= 1  # none where the compiled loop reads the lists


def test_it_can_be_written_to():
    t = jagged([[1, 2], [3]])
    t[0] = [7, 8]
    t[1, 0] = 9
    assert t.tolist() == [[7, 8], [9]]


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        ([], RankError, "rank"),
        ([[1], [[2]]], RankError, "different ranks"),
        ([np.zeros(2), np.zeros((2, 2))], RankError, "different ranks"),
        ([[np.zeros(2)], [[[1]]]], RankError, "different ranks"),
        ([np.zeros((1, 2)), np.zeros((1, 1, 2))], RankError, "rank"),
        ([1, 2], ConversionError, "a list or an array, not 1"),
        ("ab", ConversionError, "a list or an array, not 'a'"),
        ([[1], None], ConversionError, "null_rows='empty'"),
        ([[1], "ab"], ConversionError, "not 'ab'"),
        ([np.array(1)], ConversionError, "at least one mode"),
        ([[1, [2]]], ConversionError, "mixes numbers and lists"),
        ([[[1], 2]], ConversionError, "mixes numbers and lists"),
        ([{1, 2}], ConversionError, "a list or an array"),
        ([["a"], ["b"]], DTypeError, "not supported"),
        ([[None]], DTypeError, "no type"),
        ([[2**70]], DTypeError, "object"),
        ([np.array(["a"])], DTypeError, "not supported"),
        ([np.zeros(1, "i4,i4")], DTypeError, "not supported"),
    ],
)
def test_what_makes_no_jagged_tensor_is_refused(rows, error, text):
    with pytest.raises(error, match=text):
        jagged(rows)


def test_dtype_does_not_read_text():
    with pytest.raises(DTypeError, match="not supported"):
        jagged([["1", "2"]], dtype=int)
    with pytest.raises(DTypeError, match="object"):
        jagged([[1]], dtype=object)


def test_no_rows_are_flattened_whatever_was_cut_off():
    """The lengths of cut off rows were equal, and of none of them this cannot be told."""
    equal = tw.from_buffer(np.arange(10), Shape.from_uniform(2, 5))
    assert equal[:0].unflatten([0]).flatten(2).tolist() == [[]]
    with tw.serve({"x": jagged([[[1, 2], [3, 4]]])}) as server, tw.connect(server.address) as remote:
        none = remote["x"][1:]
        for own in (none, tw.concat([none, none])):
            assert own.flatten(2).compute().tolist() == []
            assert own.flatten(2).shape.rank == 2
