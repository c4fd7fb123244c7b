"""What may be added to a tensor in a file, and how it is taken."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    LayerError,
    LocalProtocolError,
    ModeNameError,
    RankError,
    SizeOverflowError,
    TensorWrapperError,
)
from tensorwrapper.store import verify


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


BOX = tw.as_tensor(np.zeros((2, 3), "i4"))
ROWS = tw.jagged([[1, 2], [3]])
AWAY = tw.from_buffer(np.arange(3), Shape.jagged([2, 1], origin=(5, -1)))


@pytest.mark.parametrize(
    ("has", "given", "error", "said"),
    [
        (BOX, [1, 2, 3], RankError, "have rank 2"),
        (BOX, 1, RankError, "have rank 2"),
        (BOX, np.zeros((2, 4), "i4"), ExtentMismatchError, "mode 1 of 'x' has extent 3, but 4"),
        (BOX, np.zeros((0, 4), "i4"), ExtentMismatchError, "mode 1 of 'x'"),
        (BOX, tw.jagged([[1, 2, 3], [4]]), ConversionError, r"is jagged; use to_padded\(\)"),
        (
            BOX,
            BOX.unflatten([1, 1]) if hasattr(BOX, "nothing") else np.zeros((2, 3, 1)),
            RankError,
            "rank 2",
        ),
        (
            BOX,
            tw.from_buffer(np.zeros(6, "i4"), Shape(2, 3, origin=(0, 1))),
            ExtentMismatchError,
            "starts at",
        ),
        (
            BOX,
            tw.from_buffer(np.zeros(6, "i4"), Shape.nested(Shape(2, 3), layers=(1, 1))),
            LayerError,
            "layers",
        ),
        (BOX, BOX.named("row", "column"), ModeNameError, "mode 0 of 'x' is named None, but 'row'"),
        (BOX.named("a", "b"), BOX.named("a", "c"), ModeNameError, "mode 1 of 'x' is named 'b', but 'c'"),
        (BOX, np.zeros((1, 3)), DTypeError, "cannot append these rows"),
        (BOX, [[1.5, 0.0, 0.0]], DTypeError, "cannot append these rows"),
        (BOX, [[2**40, 0, 0]], SizeOverflowError, "do not fit"),
        (BOX, tw.strings([["a", "b", "c"]]), DTypeError, "do not fit"),
        (BOX, tw.sparse([[0, 1]], [1], (2, 3)), ConversionError, r"dense: to_dense\(\)"),
        (tw.sparse([[0, 1]], [1], (2, 3)), BOX, ConversionError, "sparse, and these rows are dense"),
        (tw.sparse([[0, 1]], [1], (2, 3)), tw.sparse([[0, 1]], [1.0], (2, 3)), DTypeError, "float64"),
        (
            tw.sparse([[0, 1]], [1], (2, 3)),
            tw.sparse([[0, 1]], [1], (2, 3), fill_value=7),
            ConversionError,
            "with the fill 0, not 7",
        ),
        (tw.strings(["a"]), tw.strings([b"a"]), DTypeError, "do not fit"),
        (tw.strings(["a"]), [1], DTypeError, "do not fit"),
        (ROWS, tw.jagged([[[1]]]), RankError, "rank 2"),
        (ROWS, tw.jagged([[1.5]]), DTypeError, "cannot append these rows"),
        (ROWS, [[1.5], [1, 2]], DTypeError, "cannot append these rows"),
        (ROWS, [[1], 2], ConversionError, "not 2"),
        (ROWS, [["a"]], DTypeError, "not supported"),
        (BOX, [[1, 2, 3], [4]], ConversionError, r"is jagged; use to_padded\(\)"),
        (BOX, [[]], ExtentMismatchError, "mode 1 of 'x' has extent 3, but 0"),
        (BOX, np.zeros(0), RankError, "rank 2"),
        (AWAY, ROWS, ExtentMismatchError, r"'x' starts at \(-1,\) in the modes from 1 on, .* at \(0,\)"),
        (AWAY, tw.as_tensor([[1, 2]]), ExtentMismatchError, "starts at"),
        (AWAY, sel.as_view(ROWS), ExtentMismatchError, "starts at"),
        (ROWS, AWAY, ExtentMismatchError, "starts at"),
        (tw.strings(["a"]), [b"b"], DTypeError, "do not fit"),
        (tw.strings(["a"]), np.zeros(0), DTypeError, "do not fit"),
        (tw.strings(["a"]), [["b"]], RankError, "rank 1"),
        (np.array(1), [1], RankError, "extend the scalar"),
        (None, 5, RankError, "extend the scalar"),
        (None, {1: 2}, TensorWrapperError, "text, not 1"),
        (np.zeros((1, 2**20, 0)), np.zeros((64, 2**20, 0)), LocalProtocolError, "empty_elements"),
    ],
)
def test_rows_that_do_not_fit_are_refused_before_anything_is_written(path, has, given, error, said):
    with tw.open(path, "a") as f:
        if has is not None:
            f["x"] = has
        size = path.stat().st_size
        for _ in range(2):
            with pytest.raises(error, match=said):
                f.extend("x", given)
            assert path.stat().st_size == size
    with tw.open(path) as f:
        assert list(f) == ([] if has is None else ["x"])
    assert verify(path).ok


def test_elements_are_taken_as_by_assign(path):
    with tw.open(path, "a") as f:
        f.extend("f4", np.zeros(1, "f4"))
        f.extend("f4", [1, 2])
        f.extend("f4", np.array([1.25]))
        f.extend("f4", np.array([7], ">f4"))
        f.extend("i1", np.zeros(1, "i1"))
        f.extend("i1", [127])
        f.extend("i1", np.array([100], "i8"))
        f.extend("rows", tw.jagged([[1.5]]))
        f.extend("rows", tw.jagged([[2, 3], []]))
        f.extend("box in rows", ROWS)
        f.extend("box in rows", [[1, 2], [3, 4]])
        f.extend("maybe", tw.strings(["a"]))
        f.extend("maybe", tw.strings([None, "b"]))
        assert f["f4"].dtype == np.float32
        assert f["f4"].tolist() == [0, 1, 2, 1.25, 7]
        assert (f["i1"].dtype, f["i1"].tolist()) == (np.int8, [0, 127, 100])
        assert f["rows"].tolist() == [[1.5], [2.0, 3.0], []]
        assert f["box in rows"].tolist() == [[1, 2], [3], [1, 2], [3, 4]]
        assert f["maybe"].tolist() == ["a", None, "b"]


@pytest.mark.parametrize(
    ("has", "given", "expected"),
    [
        (np.arange(2), [], [0, 1]),
        (BOX, [], [[0] * 3] * 2),
        (ROWS, (), [[1, 2], [3]]),
        (ROWS, [[]], [[1, 2], [3], []]),
        (ROWS, [[], []], [[1, 2], [3], [], []]),
        (ROWS, [[4, 5], [6]], [[1, 2], [3], [4, 5], [6]]),
        (ROWS, [np.array([4, 5]), np.array([6])], [[1, 2], [3], [4, 5], [6]]),
        (tw.jagged([[[1], []]]), [[[2, 3]], []], [[[1], []], [[2, 3]], []]),
        (tw.strings(["a"]), ["b", None], ["a", "b", None]),
        (tw.strings(["a"]), np.array(["b"]), ["a", "b"]),
        (tw.strings(["a"]), [None], ["a", None]),
        (tw.strings(["a"]), [], ["a"]),
        (tw.strings([b"a"]), [b"b"], [b"a", b"b"]),
        (tw.strings([["a", "b"], ["c"]]), [[], ["d"]], [["a", "b"], ["c"], [], ["d"]]),
        (tw.strings([["a", "b"], ["c"]]), [[]], [["a", "b"], ["c"], []]),
    ],
)
def test_lists_are_read_as_what_the_tensor_has(path, has, given, expected):
    with tw.open(path, "a") as f:
        f.extend("x", has)
        size = path.stat().st_size
        f.extend("x", given)
        assert (path.stat().st_size == size) == (len(given) == 0)
        f.extend("x", [])
    with tw.open(path) as f:
        assert f["x"].tolist() == expected


def test_rows_of_any_lengths_have_one_origin(path):
    with tw.open(path, "a") as f:
        f.extend("x", AWAY)
        f.extend("x", [[4, 5, 6]])
        f.extend("x", [[7], []])
        f.extend("x", tw.from_buffer(np.arange(1), Shape.jagged([1], origin=(70, -1))))
    with tw.open(path) as f:
        assert f["x"].shape == Shape.jagged([2, 1, 3, 1, 0, 1], origin=(5, -1))
        assert f["x"].tolist() == [[0, 1], [2], [4, 5, 6], [7], [], [0]]


def test_lists_get_the_origin_and_the_names_that_are_there(path):
    with tw.open(path, "a") as f:
        f.extend("x", tw.from_buffer(np.arange(4), Shape(2, 2, origin=(7, -1))).named("row", "column"))
        f.extend("x", [[4, 5]])
        f.extend("x", tw.from_buffer(np.arange(6, 8), Shape(1, 2, origin=(70, -1))).named("row", "column"))
    with tw.open(path) as f:
        assert f["x"].shape == Shape(4, 2, origin=(7, -1)).named("row", "column")
        assert f["x"].tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
