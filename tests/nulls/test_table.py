"""Operations on nulls, row by row of the table: by Arrow, polars and Awkward, or written out."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel

T, F, nan = True, False, float("nan")
R = tw.jagged([[5, 1, 7], [], [2, 9]])
N = tw.jagged([[3, None, 1], [], [None], [2, 2]])
X = tw.jagged([[1.5, None, nan], [None], [4.0]])
K = tw.jagged([[T, None], [None, F], []])
W = tw.strings([["b", "a", "é", "Z"], [], ["a", None, "b"]])

ROWS = {
    "N03": (lambda n: n.is_valid(), [[T, F, T], [], [F], [T, T]]),
    "N04": (lambda n: n.fill_null(0), [[3, 0, 1], [], [0], [2, 2]]),
    "N06": (lambda n: n + 1, [[4, None, 2], [], [None], [3, 3]]),
    "N07": (lambda n: n > 1, [[T, None, F], [], [None], [T, T]]),
    "N08": (lambda n: n[n > 1], [[3], [], [], [2, 2]]),
    "N13": (lambda n: tw.where(n > 1, n, 0), [[3, None, 0], [], [None], [2, 2]]),
    "N14": (lambda n: np.sum(n, axis=-1), [4, 0, 0, 4]),
    "N16": (lambda n: n.rows().mean(empty=None), [2.0, None, None, 2.0]),
    "N17": (lambda n: n.rows().argmax(empty=None), [0, None, None, 0]),
    "N18": (lambda n: n.rows().sort(), [[1, 3, None], [], [None], [2, 2]]),
    "N19": (lambda n: n.rows().argsort(), [[2, 0, 1], [], [0], [0, 1]]),
    "N20": (lambda n: n.rows().sort(descending=True), [[3, 1, None], [], [None], [2, 2]]),
    "N21": (lambda n: n.rows().cumsum(), [[3, None, 4], [], [None], [2, 4]]),
    "N26": (lambda n: n.rows().unique(), [[1, 3, None], [], [None], [2]]),
    "N27": (lambda n: n.rows().rankdata("min"), [[2, None, 1], [], [None], [1, 1]]),
    "N28": (lambda n: n.rows().first(empty=-1), [3, -1, None, 2]),
    "N30": (lambda n: tw.concat([n, R]), [[3, None, 1], [], [None], [2, 2], [5, 1, 7], [], [2, 9]]),
    "N31": (lambda n: n.pad_rows(2, fill_value=0, clip=True), [[3, None], [0, 0], [None, 0], [2, 2]]),
    "last": (lambda n: n.rows().last(empty=None), [1, None, None, 2]),
    "diff": (lambda n: n.rows().diff(), [[None, None], [], [], [0]]),
    "top": (lambda n: n.rows().top_k(2), [[0, 2], [], [0], [0, 1]]),
    "distinct": (lambda n: n.rows().n_unique(), [3, 0, 1, 1]),
    "counts": (lambda n: n.rows().unique_counts()[1], [[1, 1, 1], [], [1], [2]]),
    "valid": (lambda n: n.rows().count(), [2, 0, 0, 2]),
    "greatest": (lambda n: n[n.rows().argmax(keepdims=True)], [[3], [], [], [2]]),
    "pad": (
        lambda n: n.pad_rows(2, fill_value=None, clip=True),
        [[3, None], [None, None], [None, None], [2, 2]],
    ),
    "dropped": (lambda n: n.drop_null(), [[3, 1], [], [], [2, 2]]),
    "cast": (lambda n: n.astype("f4"), [[3.0, None, 1.0], [], [None], [2.0, 2.0]]),
    "numpy": (lambda n: np.sort(n, axis=-1), [[1, 3, None], [], [None], [2, 2]]),
    "medians": (lambda n: n.rows().median(empty=None), [2.0, None, None, 2.0]),
}


@pytest.mark.parametrize("view", [False, True], ids=["tensor", "view"])
@pytest.mark.parametrize("name", ROWS)
def test_row_of_the_table(name, view):
    call, right = ROWS[name]
    n = tw.concat([N[:2], N[2:]]) if view else N
    assert call(n).tolist() == right


OTHERS = {
    "N02": (lambda: [N.null_count, N.is_nullable, R.is_nullable], [2, T, F]),
    "N09": (lambda: K | True, [[T, T], [T, T], []]),
    "N11": (lambda: K & K[:, ::-1], [[None, None], [F, F], []]),
    "kleene or": (lambda: K | K[:, ::-1], [[T, T], [None, None], []]),
    "logical": (lambda: np.logical_and(K, False), [[F, F], [F, F], []]),
    "not": (lambda: ~K, [[F, None], [None, T], []]),
    "C19": (lambda: tw.as_tensor([5, None, 7, 8]), [5, None, 7, 8]),
    "strings": (lambda: W == "a", [[F, T, F, F], [], [T, None, F]]),
    "strings alike": (lambda: W == W, [[T, T, T, T], [], [T, None, T]]),  # noqa: PLR0124
    "strings in order": (lambda: W < "b", [[F, T, F, T], [], [T, None, F]]),
    "strings joined": (lambda: W + "x", [["bx", "ax", "éx", "Zx"], [], ["ax", None, "bx"]]),
    "strings ranked": (lambda: W.rows().rankdata("min"), [[3, 2, 4, 1], [], [1, None, 2]]),
    "strings dropped": (W.drop_null, [["b", "a", "é", "Z"], [], ["a", "b"]]),
    "mask of strings": (lambda: W[W == "a"], [["a"], [], ["a"]]),
    "all": (
        lambda: [np.sum(N).item(), np.max(N).item(), int(np.argmax(N)), np.mean(N).item()],
        [8, 3, 0, 2.0],
    ),
    "min": (lambda: sel.minimum(N, 2), [[2, None, 1], [], [None], [2, 2]]),
    "empty": (lambda: R.rows().max(empty=None), [7, None, 9]),
    "filled by rows": (lambda: N.fill_null([7, 8, 9, 10]), [[3, 7, 1], [], [9], [2, 2]]),
    "contains": (lambda: [None in N, 3 in N, 4 in N, None in R], [T, T, F, F]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_rows(name):
    call, right = OTHERS[name]
    found = call()
    assert (found if isinstance(found, list) else found.tolist()) == right


def test_nan_is_a_value_and_no_null():
    sums = np.sum(X, axis=-1).tolist()
    assert np.isnan(sums[0])
    assert sums[1:] == [0.0, 4.0]
    assert (X == X).tolist() == [[T, None, F], [None], [T]]  # noqa: PLR0124
    assert not tw.as_tensor([1.0, nan]).is_nullable
    assert np.isnan(X.rows().max(empty=None).tolist()[0])


def test_a_box_is_reduced_along_any_mode():
    box = tw.as_tensor([[1, None, 5], [2, 3, None]])
    assert np.sum(box, axis=0).tolist() == [3, 3, 5]
    assert np.max(box, axis=1).tolist() == [5, 3]
    assert np.mean(box, axis=0).tolist() == [1.5, 3.0, 5.0]
    assert np.add.reduce(box, axis=(0, 1)).tolist() == 11
    assert np.add.reduce(box, axis=1, keepdims=True).tolist() == [[6], [5]]
    assert np.add.reduce(box, axis=1, where=box > 1).tolist() == [5, 5]
    assert np.cumsum(box, axis=0).tolist() == [[1, None, 5], [3, 3, None]]
    assert np.add.accumulate(box, axis=1).tolist() == [[1, None, 6], [2, 5, None]]
    with pytest.raises(tw.errors.ExtentError, match="initial="):
        np.maximum.reduce(tw.as_tensor([[1, None], [2, None]]), axis=0)
    assert np.maximum.reduce(tw.as_tensor([[1, None], [2, None]]), axis=0, initial=0).tolist() == [2, 0]


def test_what_stands_under_a_null_warns_of_nothing():
    t = tw.nullable(np.array([1.0, 0.0, np.inf, -1.0]), [T, F, F, F])
    with np.errstate(all="raise"):
        assert (1 / t).tolist() == [1.0, None, None, None]
        assert np.log(t).tolist() == [0.0, None, None, None]
        assert (t - t).tolist() == [0.0, None, None, None]
        assert t.rows().diff().tolist() == [None, None, None]
    with pytest.warns(RuntimeWarning, match="divide"):
        assert (1 / tw.nullable(np.zeros(2), [T, F])).tolist() == [np.inf, None]
    large = tw.nullable(np.array([1, 2**40]), [T, F])
    assert large.astype("i2").tolist() == [1, None]
    assert tw.concat([large, large]).astype("i2").tolist() == [1, None] * 2


REFUSED = {
    "array": np.asarray,
    "elements": tw.Tensor.elements,
    "int": lambda t: int(t[1]),
    "bool": lambda t: bool(t[1]),
    "dot": lambda t: np.dot(t, t),
    "outer": lambda t: np.add.outer(t, t),
    "item": lambda t: t[1].item(),
    "searched": lambda t: t.rows().searchsorted(t),
}


@pytest.mark.parametrize("name", REFUSED)
def test_nulls_are_no_array(name):
    t = tw.as_tensor([1, None, 3])
    with pytest.raises(tw.errors.ConversionError, match="fill_null"):
        REFUSED[name](t)
    assert REFUSED["array"](t[::2]).tolist() == [1, 3]


def test_dlpack_is_refused_as_a_buffer_error():
    with pytest.raises(BufferError, match="fill_null"):
        np.from_dlpack(tw.as_tensor([1, None]))


def test_bad_input_is_named():
    with pytest.raises(tw.errors.ExtentMismatchError, match="truth values"):
        tw.nullable([1, 2], [True])
    with pytest.raises(tw.errors.DTypeError, match="truth values"):
        tw.nullable([1, 2], [1, 0])
    with pytest.raises(tw.errors.DTypeError, match="strings"):
        tw.nullable(tw.strings(["a"]))
    with pytest.raises(tw.errors.ConversionError, match="to_dense"):
        tw.nullable(tw.sparse([(0,)], [1], (2,)))
    with pytest.raises(tw.errors.ConversionError, match="null_rows"):
        tw.as_tensor([[1], None])
    with pytest.raises(tw.errors.DTypeError, match="no type"):
        tw.as_tensor([None, None])
    assert tw.as_tensor([[1], None, [2, None]], null_rows="empty").tolist() == [[1], [], [2, None]]
    assert tw.as_tensor([1, 2], null_rows="empty").tolist() == [1, 2]


def test_a_plain_tensor_takes_no_null():
    for t in (tw.as_tensor([1, 2]), tw.jagged([[1], [2]]), tw.concat([[1], [2]])):
        for value in (None, tw.nullable(t, [True, False])):
            with pytest.raises(tw.errors.ConversionError, match="null"):
                t[...] = value
        assert t.elements().tolist() == [1, 2]


def test_writing_is_whole_or_not_at_all():
    t = tw.as_tensor([1, None, 3])
    with pytest.raises(tw.errors.DTypeError):
        t[...] = [2.5, None, 1]
    with pytest.raises(tw.errors.ExtentMismatchError):
        t[:2] = [None, 1, 2]
    assert t.tolist() == [1, None, 3]
    t[1] = 5
    t[[0, 2]] = [None, 7]
    assert t.tolist() == [None, 5, 7]
    t[...] = t[::-1]
    assert t.tolist() == [7, 5, None]
    t.vindex[[0, 1],] = [None, 8]
    assert t.tolist() == [None, 8, None]
    t[t > 1] = None
    assert t.null_count == 3
    n = N.copy()
    n[0] = [9, 9, None]
    n[1:] = tw.jagged([[], [4], [None, 5]])
    assert n.tolist() == [[9, 9, None], [], [4], [None, 5]]
    a, b = tw.as_tensor([1, None]), tw.as_tensor([3, 4])
    joined = tw.concat([a, b])
    with pytest.raises(tw.errors.ConversionError, match="cannot be null"):
        joined[1:] = [7, None, 1]
    assert (a.tolist(), b.tolist()) == ([1, None], [3, 4])
    joined[...] = [None, 6, 7, 8]
    assert (a.tolist(), b.tolist()) == ([None, 6], [7, 8])
