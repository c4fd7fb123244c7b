"""Views of rows, by a table: what each expression gives, and how many bytes are read for it."""

import ast
from typing import Any

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError
from tests.support.selection.counting_source import CountingSource
from tests.support.selection.kinds import REFUSALS

X = np.arange(12).reshape(3, 4)
NAMES: dict[str, Any] = {
    "a": tw.jagged([[1, 2], [3], [], [4, 5, 6]]),
    "b": tw.jagged([[7], [], [8, 9, 10]]),
    "f": tw.jagged([[0.5, 1.5], [2.5], [], [3.5, 4.5, 5.5]], dtype="f4"),
    "q": tw.jagged([[9, 1], [1], [], [5, 5, 5]]),
    "y": np.array([10, 20, 30, 40]),
    "d": tw.jagged([[[1, 2], [3]], [], [[], [4, 5, 6]]]),
    "c": tw.jagged([np.array([[1, 2], [3, 4]]), np.array([[5, 6, 7]]), np.zeros((0, 2), int)]),
    "x": X,
    "z": tw.jagged([[], [], []], dtype="i8"),
    "T": tw.as_tensor(X).tiled(tw.Tiling([1, 2], [2, 2])),
    "tri": tw.from_buffer(np.arange(6), tw.Shape.triangular(3)),
    "w": tw.strings(["a", None, "bc", ""]),
    "N": tw.from_buffer(np.arange(12), tw.Shape.nested(tw.Shape(4, 3), layers=(1, 1))),
    "ones": tw.sparse([(0, 1)], [5], tw.Shape(3, 4), fill_value=1),
    "s": tw.sparse([(0, 1), (2, 0), (2, 3)], [5, 7, 9], tw.Shape(3, 4)),
}
MASK = tw.jagged([[True, False], [True], [], [False, True, True]])


def rows_of(view):
    return tw.jagged([row.tolist() for row in view.compute()])


FUNCTIONS: dict[str, Any] = {
    "Elsewhere": CountingSource,
    "array": np.array,
    "as_view": sel.as_view,
    "concat": sel.concat,
    "interleave": sel.interleave,
    "jagged": tw.jagged,
    "mask": MASK,
    "maximum": sel.maximum,
    "minimum": sel.minimum,
    "pad": sel.pad,
    "pad_rows": sel.pad_rows,
    "rows_of": rows_of,
    "stack": sel.stack,
    "strings": tw.strings,
    "where": sel.where,
}


def view_of(expression: str) -> sel.View[Any]:
    views = {name: sel.as_view(value) for name, value in NAMES.items()}
    return eval(expression, {**FUNCTIONS, **views})


# Number, expression, result, bytes that its plan reads besides masks: of a where, only what is chosen; of
# strings, their text; of sparse tensors, what is stored.
TABLE: list[tuple[int, str, str, int]] = [
    (1, "a", "[[1, 2], [3], [], [4, 5, 6]]", 48),
    (2, "a[3:0:-2]", "[[4, 5, 6], [3]]", 32),
    (3, "a[:, ::-1]", "[[2, 1], [3], [], [6, 5, 4]]", 48),
    (4, "a[:, :1]", "[[1], [3], [], [4]]", 24),
    (5, "a[:, -2:]", "[[1, 2], [3], [], [5, 6]]", 40),
    (6, "a[:, -2:][:, :1]", "[[1], [3], [], [5]]", 24),
    (7, "a[:, 5:]", "[[], [], [], []]", 0),
    (8, "a[:, ::-1][:, ::-1]", "[[1, 2], [3], [], [4, 5, 6]]", 48),
    (9, "a[2:2]", "[]", 0),
    (10, "a[3, -1]", "6", 8),
    (11, "a[[3, 0]]", "[[4, 5, 6], [1, 2]]", 40),
    (12, "a[[3, 3, -1]]", "[[4, 5, 6], [4, 5, 6], [4, 5, 6]]", 24),
    (13, "a[[]]", "[]", 0),
    (14, "a[[True, False, True, True]]", "[[1, 2], [], [4, 5, 6]]", 40),
    (15, "a[jagged([[1, 0], [0], [], [2]])]", "[[2, 1], [3], [], [6]]", 32),
    (16, "a[jagged([[-1], [0, 0], [], []])]", "[[2], [3, 3], [], []]", 16),
    (17, "a[mask]", "[[1], [3], [], [5, 6]]", 32),
    (18, "a[mask & ~mask]", "[[], [], [], []]", 0),
    (19, "a.rotate((1, 0))", "[[4, 5, 6], [1, 2], [3], []]", 48),
    (20, "a.repeat((2, 1))", "[[1, 2], [3], [], [4, 5, 6], [1, 2], [3], [], [4, 5, 6]]", 48),
    (21, "a.repeat_each(0, 2)", "[[1, 2], [1, 2], [3], [3], [], [], [4, 5, 6], [4, 5, 6]]", 48),
    (22, "a.flatten()", "[1, 2, 3, 4, 5, 6]", 48),
    (23, "concat([a, b])", "[[1, 2], [3], [], [4, 5, 6], [7], [], [8, 9, 10]]", 80),
    (24, "concat([a, b])[3:5]", "[[4, 5, 6], [7]]", 32),
    (25, "concat([a, a])[::-1]", "[[4, 5, 6], [], [3], [1, 2], [4, 5, 6], [], [3], [1, 2]]", 48),
    (26, "concat([a[:2], a[2:]])", "[[1, 2], [3], [], [4, 5, 6]]", 48),
    (27, "concat([a, q], mode=1)", "[[1, 2, 9, 1], [3, 1], [], [4, 5, 6, 5, 5, 5]]", 96),
    (28, "concat([a, a[:, ::-1]], mode=1)[:, 1:-1]", "[[2, 2], [], [], [5, 6, 6, 5]]", 24),
    (29, "concat([x, b])", "[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [7], [], [8, 9, 10]]", 128),
    (30, "concat([x, rows_of(x[:, 1:])])[2:4]", "[[8, 9, 10, 11], [1, 2, 3]]", 56),
    (
        31,
        "concat([a, f])",
        "[[1.0, 2.0], [3.0], [], [4.0, 5.0, 6.0], [0.5, 1.5], [2.5], [], [3.5, 4.5, 5.5]]",
        72,
    ),
    (32, "interleave([a, b])", "[[1, 2], [7], [3], [], [], [8, 9, 10], [4, 5, 6]]", 80),
    (33, "interleave([a, b])[::2]", "[[1, 2], [3], [], [4, 5, 6]]", 48),
    (34, "stack([a, q])", "[[[1, 2], [3], [], [4, 5, 6]], [[9, 1], [1], [], [5, 5, 5]]]", 96),
    (35, "stack([a, q])[1, 3, ::-1]", "[5, 5, 5]", 24),
    (36, "stack([a, q])[:, 0:1]", "[[[1, 2]], [[9, 1]]]", 32),
    (37, "stack([a, q], mode=1)", "[[[1, 2], [9, 1]], [[3], [1]], [[], []], [[4, 5, 6], [5, 5, 5]]]", 96),
    (37, "stack([a, q], mode=2)", "[[[1, 9], [2, 1]], [[3, 1]], [], [[4, 5], [5, 5], [6, 5]]]", 96),
    (37, "stack([a, q], mode=-1)[::-1, :, 1]", "[[5, 5, 5], [], [1], [9, 1]]", 48),
    (37, "stack([a, q, a], mode=2)[3:, :2]", "[[[4, 5, 4], [5, 5, 5]]]", 32),
    (38, "pad_rows(a, 2)", "[[1, 2], [3, 0], [0, 0], [4, 5, 6]]", 48),
    (39, "pad_rows(a, 2)[:, :2]", "[[1, 2], [3, 0], [0, 0], [4, 5]]", 40),
    (40, "pad_rows(a, 2, clip=True)[:, -1]", "[2, 0, 0, 5]", 16),
    (41, "where(mask, a, -1)", "[[1, -1], [3], [], [-1, 5, 6]]", 32),
    (42, "where(mask, a, q)", "[[1, 1], [3], [], [5, 5, 6]]", 48),
    (43, "where(mask, a, y)", "[[1, 10], [3], [], [40, 5, 6]]", 48),
    (44, "minimum(a, q)", "[[1, 1], [1], [], [4, 5, 5]]", 96),
    (45, "minimum(a, a)", "[[1, 2], [3], [], [4, 5, 6]]", 48),
    (46, "minimum(a, y)", "[[1, 2], [3], [], [4, 5, 6]]", 72),
    (47, "y.broadcast(a.shape)", "[[10, 10], [20], [], [40, 40, 40]]", 24),
    (48, 'f.astype("i8")[[3]]', "[[3, 4, 5]]", 12),
    (49, "d[:, ::-1]", "[[[3], [1, 2]], [], [[4, 5, 6], []]]", 48),
    (50, "d[:, :, ::-1]", "[[[2, 1], [3]], [], [[], [6, 5, 4]]]", 48),
    (51, "d[:, :, 1:]", "[[[2], []], [], [[], [5, 6]]]", 24),
    (52, "d[[2, 0, 2]]", "[[[], [4, 5, 6]], [[1, 2], [3]], [[], [4, 5, 6]]]", 48),
    (53, "d[2, 1]", "[4, 5, 6]", 24),
    (54, "d[1:2]", "[[]]", 0),
    (55, "d.flatten()", "[[1, 2], [3], [], [4, 5, 6]]", 48),
    (
        56,
        "concat([d, d[::-1]], mode=1)",
        "[[[1, 2], [3], [], [4, 5, 6]], [], [[], [4, 5, 6], [1, 2], [3]]]",
        48,
    ),
    (57, "d[::2, ::-1, -1:]", "[[[3], [2]], [[6], []]]", 24),
    (58, "c[:, :, ::-1]", "[[[2, 1], [4, 3]], [[7, 6, 5]], []]", 56),
    (59, "c[:, 0:1]", "[[[1, 2]], [[5, 6, 7]], []]", 40),
    (60, "c.permute((0, 2, 1))", "[[[1, 3], [2, 4]], [[5], [6], [7]], [[], []]]", 56),
    (61, "c[[1, 1]]", "[[[5, 6, 7]], [[5, 6, 7]]]", 24),
    (62, "c[:2, :, -1]", "[[2, 4], [7]]", 24),
    (63, "concat([c, c[:1]])", "[[[1, 2], [3, 4]], [[5, 6, 7]], [], [[1, 2], [3, 4]]]", 56),
    (64, "T[0:1]", "[[[[0, 1]], [[2, 3]]]]", 32),
    (65, "T[:, 1:]", "[[[[2, 3]]], [[[6, 7], [10, 11]]]]", 48),
    (66, "T[::-1]", "[[[[4, 5], [8, 9]], [[6, 7], [10, 11]]], [[[0, 1]], [[2, 3]]]]", 96),
    (67, "T[[1, 1]]", "[[[[4, 5], [8, 9]], [[6, 7], [10, 11]]], [[[4, 5], [8, 9]], [[6, 7], [10, 11]]]]", 64),
    (68, "T[:, :, ::-1]", "[[[[0, 1]], [[2, 3]]], [[[8, 9], [4, 5]], [[10, 11], [6, 7]]]]", 96),
    (69, "T[:, :, :, 1:]", "[[[[1]], [[3]]], [[[5], [9]], [[7], [11]]]]", 48),
    (70, "T.untiled()", "[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]", 96),
    (71, "concat([T[0:1], T[0:1]])", "[[[[0, 1]], [[2, 3]]], [[[0, 1]], [[2, 3]]]]", 32),
    (72, "tri[::-1]", "[[3, 4, 5], [1, 2], [0]]", 48),
    (73, "tri[:, 0]", "[0, 1, 3]", 24),
    (74, "concat([tri, a])", "[[0], [1, 2], [3, 4, 5], [1, 2], [3], [], [4, 5, 6]]", 96),
    (
        75,
        "concat([T, T[:, 1:]])",
        "[[[[0, 1]], [[2, 3]]], [[[4, 5], [8, 9]], [[6, 7], [10, 11]]], [[[2, 3]]], [[[6, 7], [10, 11]]]]",
        96,
    ),
    (76, "w[::-1]", '["", "bc", None, "a"]', 3),
    (77, "w[[0, 0]]", '["a", "a"]', 1),
    (78, 'concat([w, strings(["é"])])', '["a", None, "bc", "", "é"]', 5),
    (79, 'where(array([1, 0, 1, 0], bool), w, strings(["-"] * 4))', '["a", "-", "bc", "-"]', 5),
    (80, "w.unflatten([1, 0, 3])", '[["a"], [], [None, "bc", ""]]', 3),
    (81, "w.unflatten([1, 0, 3])[::-1, ::-1]", '[["", "bc", None], [], ["a"]]', 3),
    (
        82,
        "concat([w.unflatten([1, 0, 3]), w.unflatten([4])])",
        '[["a"], [], [None, "bc", ""], ["a", None, "bc", ""]]',
        3,
    ),
    (83, "s[:, ::-1]", "[[0, 0, 5, 0], [0, 0, 0, 0], [9, 0, 0, 7]]", 24),
    (84, "s[[2, 2, 1]]", "[[7, 0, 0, 9], [7, 0, 0, 9], [0, 0, 0, 0]]", 16),
    (85, "s[1:2]", "[[0, 0, 0, 0]]", 0),
    (86, "concat([s, s[:1]])", "[[0, 5, 0, 0], [0, 0, 0, 0], [7, 0, 0, 9], [0, 5, 0, 0]]", 24),
    (87, "s.rotate((0, 1))[0:1]", "[[0, 0, 5, 0]]", 8),
    (88, "interleave([s[:2], s[2:]])", "[[0, 5, 0, 0], [7, 0, 0, 9], [0, 0, 0, 0]]", 24),
    (129, "pad(a, [(0, 0), (0, 1)])", "[[1, 2, 0], [3, 0], [0], [4, 5, 6, 0]]", 48),
]


@pytest.mark.parametrize(
    ("expression", "result", "nbytes"), [row[1:] for row in TABLE], ids=[f"row{n}" for n, *_ in TABLE]
)
def test_row(expression, result, nbytes):
    view = view_of(expression)
    expected = ast.literal_eval(result)
    computed = view.compute()
    assert view.shape == computed.shape
    dense = computed.to_dense() if computed.is_sparse else computed
    assert dense.tolist() == expected
    assert sum(own.nbytes for own in view.plan().reads if own.source.dtype != bool) == nbytes
    if view.shape.rank:
        assert sel.concat([view]).compute().array_equal(computed)


@pytest.mark.parametrize(
    "expression", [pytest.param(e, id=f"row{n}-{k}") for n, es in REFUSALS.items() for k, e in enumerate(es)]
)
def test_refused(expression):
    with pytest.raises(TensorWrapperError):
        view_of(expression)
