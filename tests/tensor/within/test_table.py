"""Work within rows: each call beside the right answer, by NumPy row by row, Awkward, pandas or SciPy."""

import warnings
from math import isclose, isnan

import numpy as np
import pytest

import tensorwrapper as tw

nan = float("nan")
NAMES = {
    "np": np,
    "tw": tw,
    "R": tw.jagged([[5, 1, 7], [], [2, 9]]),
    "F": tw.jagged([[2.5, nan, -1.0], [], [0.0], [3.0, 3.0, 1.0]]),
    "G": tw.jagged([[1.5, 2.5], [4.0, 0.5, 4.0], []]).astype("f4"),
    "B": tw.jagged([[True, False], [], [True, True], [False]]),
    "D": tw.jagged([[[3, 1, 2], []], [], [[9], [4, 4]]]),
    "U": tw.jagged([[200, 100], [255, 1, 1]]).astype("u1"),
    "W": tw.strings([["b", "a", "é", "Z"], [], ["a", None, "b"]]),
    "Q": tw.jagged([[1, 6, 8], [0], [2, 9]]),
}
T, F = True, False
TABLE = [
    ("R.rows().sort()", [[1, 5, 7], [], [2, 9]]),
    ("R.rows().sort(descending=True)", [[7, 5, 1], [], [9, 2]]),
    ("R.rows().argsort()", [[1, 0, 2], [], [0, 1]]),
    ("R[R.rows().argsort()]", [[1, 5, 7], [], [2, 9]]),
    ("F.rows().sort()", [[-1.0, 2.5, nan], [], [0.0], [1.0, 3.0, 3.0]]),
    ("F.rows().sort(descending=True)", [[2.5, -1.0, nan], [], [0.0], [3.0, 3.0, 1.0]]),
    ("F.rows().argsort()", [[2, 0, 1], [], [0], [2, 0, 1]]),
    ("G.rows().argsort(descending=True)", [[1, 0], [0, 2, 1], []]),
    ("np.sort(R, axis=-1)", [[1, 5, 7], [], [2, 9]]),
    ("np.argsort(R, axis=1, kind='stable')", [[1, 0, 2], [], [0, 1]]),
    ("D.rows().sort()", [[[1, 2, 3], []], [], [[9], [4, 4]]]),
    ("W.rows().sort()", [["Z", "a", "b", "é"], [], ["a", "b", None]]),
    ("W.rows().sort(descending=True)", [["é", "b", "a", "Z"], [], ["b", "a", None]]),
    ("W.rows().argsort()", [[3, 1, 0, 2], [], [0, 2, 1]]),
    ("B.rows().sort()", [[F, T], [], [T, T], [F]]),
    ("tw.as_tensor([[3, 1], [2, 5]]).rows().sort()", [[1, 3], [2, 5]]),
    ("R[::-1].rows().sort()", [[2, 9], [], [1, 5, 7]]),
    ("R[:, ::-1].rows().argsort()", [[1, 2, 0], [], [1, 0]]),
    ("R.rows().argmax(empty=-1)", [2, -1, 1]),
    ("R.rows().argmin(empty=None)", [1, None, 0]),
    ("R.rows().max(empty=None)", [7, None, 9]),
    ("R.rows().quantile(0.25, empty=None)", [3.0, None, 3.75]),
    ("R.rows().first(empty=None)", [5, None, 2]),
    ("R.rows().argmax(keepdims=True)", [[2], [], [1]]),
    ("R[R.rows().argmax(keepdims=True)]", [[7], [], [9]]),
    ("F.rows().argmax(empty=-1)", [1, -1, 0, 0]),
    ("F.rows().argmin(empty=-1)", [1, -1, 0, 2]),
    ("D.rows().argmax(empty=-1)", [[0, -1], [], [0, 0]]),
    ("np.argmax(R)", 4),
    ("np.argmax(R, axis=-1, keepdims=True)", [[2], [], [1]]),
    ("np.max(R, axis=-1, initial=0)", [7, 0, 9]),
    ("np.sum(R, axis=-1)", [13, 0, 11]),
    ("np.sum(B, axis=-1)", [1, 0, 2, 0]),
    ("np.sum(U, axis=-1)", [300, 257]),
    ("np.prod(R, axis=-1)", [35, 1, 18]),
    ("np.mean(R, axis=-1)", [4.333333333333333, nan, 5.5]),
    ("R.rows().mean(empty=0.0)", [4.333333333333333, 0.0, 5.5]),
    ("np.var(R, axis=-1)", [6.222222222222221, nan, 12.25]),
    ("R.rows().std(ddof=1)", [3.055050463303893, nan, 4.949747468305833]),
    ("np.median(F, axis=-1)", [nan, nan, 0.0, 3.0]),
    ("R.rows().quantile(0.25, empty=-1)", [3.0, -1.0, 3.75]),
    ("np.any(B, axis=-1)", [T, F, T, F]),
    ("np.all(B, axis=-1)", [F, T, T, F]),
    ("np.cumsum(R, axis=-1)", [[5, 6, 13], [], [2, 11]]),
    ("F.rows().cumsum()", [[2.5, nan, nan], [], [0.0], [3.0, 6.0, 7.0]]),
    ("np.cumsum(U, axis=-1)", [[200, 300], [255, 256, 257]]),
    ("R.rows().cumprod()", [[5, 5, 35], [], [2, 18]]),
    ("R.rows().diff()", [[-4, 6], [], [7]]),
    ("R.rows().first(empty=0)", [5, 0, 2]),
    ("R.rows().last(empty=0)", [7, 0, 9]),
    ("W.rows().first(empty='-')", ["b", "-", "a"]),
    ("F.rows().unique()", [[-1.0, 2.5, nan], [], [0.0], [1.0, 3.0]]),
    ("W.rows().unique()", [["Z", "a", "b", "é"], [], ["a", "b", None]]),
    ("F.rows().n_unique()", [3, 0, 1, 2]),
    (
        "list(map(lambda t: t.tolist(), G.rows().unique_counts()))",
        [[[1.5, 2.5], [0.5, 4.0], []], [[1, 1], [1, 2], []]],
    ),
    ("G.rows().rankdata('average')", [[1.0, 2.0], [2.5, 1.0, 2.5], []]),
    ("G.rows().rankdata('min')", [[1, 2], [2, 1, 2], []]),
    ("G.rows().rankdata('max')", [[1, 2], [3, 1, 3], []]),
    ("G.rows().rankdata('dense')", [[1, 2], [2, 1, 2], []]),
    ("G.rows().rankdata('ordinal')", [[1, 2], [2, 1, 3], []]),
    ("G.rows().top_k(2)", [[1, 0], [0, 2], []]),
    ("R.rows().top_k(1, largest=False)", [[1], [], [0]]),
    (
        "list(map(lambda t: t.tolist(), R.rows().combinations(2)))",
        [[[0, 0, 1], [], [0]], [[1, 2, 2], [], [1]]],
    ),
    (
        "list(map(lambda t: t.tolist(), G.rows().combinations(3)))",
        [[[], [0], []], [[], [1], []], [[], [2], []]],
    ),
    (
        "list(map(lambda t: t.tolist(), R[1:].rows().combinations(2, replacement=True)))",
        [[[], [0, 0, 1]], [[], [0, 1, 1]]],
    ),
    (
        "list(map(lambda t: t.tolist(), R.rows().product(R)))",
        [
            [[0, 0, 0, 1, 1, 1, 2, 2, 2], [], [0, 0, 1, 1]],
            [[0, 1, 2, 0, 1, 2, 0, 1, 2], [], [0, 1, 0, 1]],
        ],
    ),
    ("R.rows().sort().rows().searchsorted(Q)", [[0, 2, 3], [0], [0, 1]]),
    ("R.rows().sort().rows().searchsorted(Q, side='right')", [[1, 2, 3], [0], [1, 2]]),
    ("R.rows().histogram([0, 3, 6, 9])", [[1, 1, 1], [0, 0, 0], [1, 0, 1]]),
    ("np.count_nonzero(B, axis=-1)", [1, 0, 2, 0]),
    (
        "[str(own.dtype) for own in (np.mean(G, axis=-1), np.cumsum(U, axis=-1), np.median(G, axis=-1))]",
        ["float32", "uint64", "float32"],
    ),
    (
        "[str(own.dtype) for own in (np.sum(B, axis=-1), R.rows().argsort())]",
        ["int64", "int64"],
    ),
    ("tw.as_tensor([5, 1, 7]).rows().sort()", [1, 5, 7]),
    ("np.nansum(F, axis=-1)", [1.5, 0.0, 0.0, 7.0]),
    ("np.nanmax(F, axis=-1, initial=-1)", [2.5, -1.0, 0.0, 3.0]),
    ("np.ptp(R[[0, 2]], axis=-1)", [6, 7]),
    ("np.percentile(R[[0, 2]], 25, axis=-1)", [3.0, 3.75]),
    ("np.sum(D, axis=(1, 2))", [6, 0, 17]),
    ("np.max(D[[0, 2]], axis=(1, 2))", [3, 9]),
    ("np.mean(R, axis=-1, where=R > 1)", [6.0, nan, 5.5]),
    ("np.diff(R, n=2, axis=-1)", [[10], [], []]),
    ("tw.concat([R, R]).rows().sort()", [[1, 5, 7], [], [2, 9]] * 2),
    ("np.sort(tw.concat([R, R]), axis=-1)", [[1, 5, 7], [], [2, 9]] * 2),
    ("R.rows().count()", [3, 0, 2]),
]


def same(found, wanted):
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, float):
        return isinstance(found, float) and (isnan(found) if isnan(wanted) else isclose(found, wanted))
    return found == wanted


@pytest.mark.parametrize(("text", "wanted"), TABLE, ids=[text for text, _ in TABLE])
def test_rows_give_what_numpy_gives_for_each(text, wanted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = eval(text, dict(NAMES))
    plain = found if isinstance(found, list) else found.tolist()
    assert same(plain, wanted), plain
