"""Records: each call beside the right answer, by Awkward, Arrow, polars or written out."""

import numpy as np
import pytest

import tensorwrapper as tw

R = tw.jagged([[5, 1, 7], [], [2, 9]])
NAMES = {
    "np": np,
    "tw": tw,
    "R": R,
    "E": tw.records({"t": R, "q": tw.jagged([[0.5, 1.5, 2.5], [], [3.5, 4.5]]), "run": [10, 20, 30]}),
    "M": np.arange(9).reshape(3, 3),
    "B": tw.records({"x": np.array([[3, 1, 2], [9, 8, 7]]), "y": np.arange(6).reshape(2, 3)}),
}
T, F = True, False
RUN = [10, 20, 30]
TABLE = [
    ("[E.names, len(E), E.shape == R.shape]", [("t", "q", "run"), 3, T]),
    ("E[[2, 0]].to_dict()", {"t": [[2, 9], [5, 1, 7]], "q": [[3.5, 4.5], [0.5, 1.5, 2.5]], "run": [30, 10]}),
    ("E[E['t'] > 4].to_dict()", {"t": [[5, 7], [], [9]], "q": [[0.5, 2.5], [], [4.5]], "run": RUN}),
    (
        "E[E['q'].rows().argmax(keepdims=True)].to_dict()",
        {"t": [[7], [], [9]], "q": [[2.5], [], [4.5]], "run": RUN},
    ),
    (
        "E.sort_by('t', descending=True).to_dict()",
        {"t": [[7, 5, 1], [], [9, 2]], "q": [[2.5, 0.5, 1.5], [], [4.5, 3.5]], "run": RUN},
    ),
    ("E.sort_by('t', descending=True)[:, :1]['q'].tolist()", [[2.5], [], [4.5]]),
    ("[E.drop('run').shape == R.shape, E.drop('run').names]", [T, ("t", "q")]),
    ("[E.drop('t', 'q').shape, E[['run', 't']].names]", [tw.Shape(3), ("run", "t")]),
    (
        "E.tolist()",
        [
            {"t": [5, 1, 7], "q": [0.5, 1.5, 2.5], "run": 10},
            {"t": [], "q": [], "run": 20},
            {"t": [2, 9], "q": [3.5, 4.5], "run": 30},
        ],
    ),
    ("E[2].tolist()", [{"t": 2, "q": 3.5, "run": 30}, {"t": 9, "q": 4.5, "run": 30}]),
    ("E[2, 1].tolist()", {"t": 9, "q": 4.5, "run": 30}),
    ("E[2].sort_by('t', descending=True).to_dict()", {"t": [9, 2], "q": [4.5, 3.5], "run": 30}),
    (
        "E[2].with_field('w', [1, 2]).group_by('t').to_dict()",
        {"t": [2, 9], "q": [[3.5], [4.5]], "run": 30, "w": [[1], [2]]},
    ),
    ("tw.stack([E, E])[1].compute()[2, :1].to_dict()", {"t": [2], "q": [3.5], "run": 30}),
    ("E[None][0].flatten()['run'].tolist()", [10, 10, 10, 30, 30]),
    (
        "E.flatten().to_dict()",
        {"t": [5, 1, 7, 2, 9], "q": [0.5, 1.5, 2.5, 3.5, 4.5], "run": [10, 10, 10, 30, 30]},
    ),
    (
        "tw.records({'x': [1, 2], 'y': tw.jagged([[1], [2, 3]]), 'z': tw.jagged([[1, 2], []])}).shape",
        tw.Shape(2),
    ),
    (
        "tw.records({'x': tw.jagged([[1], [2, 3]]), 'p': tw.as_tensor(M).unflatten([1, 2])}).shape",
        tw.Shape.jagged([1, 2]),
    ),
    ("tw.records({'e': [1., 2.], 'xyz': np.zeros((2, 3))}).shape", tw.Shape(2)),
    ("tw.records({'a': np.zeros((2, 3)), 'b': np.ones((2, 3))}).shape", tw.Shape(2, 3)),
    ("tw.records({'a': np.zeros((2, 3)), 'b': np.ones((2, 3))}, shape=(2,)).shape", tw.Shape(2)),
    (
        "tw.records({'event': [7, 7, 3, 7, 3], 'adc': [1, 2, 3, 4, 5]}).group_by('event').to_dict()",
        {"event": [3, 7], "adc": [[3, 5], [1, 2, 4]]},
    ),
    (
        "tw.records({'adc': [1, 2, 3], 'n': tw.strings(['b', 'a', 'b'])}).group_by('n').to_dict()",
        {"adc": [[2], [1, 3]], "n": ["a", "b"]},
    ),
    ("tw.records({'k': [2, 1, 2]}).group_by('k').to_dict()", {"k": [1, 2]}),
    (
        "tw.records({'k': [2, 1, 2], 'r': tw.jagged([[1], [], [2, 3]])}, shape=(3,)).group_by('k').to_dict()",
        {"k": [1, 2], "r": [[[]], [[1], [2, 3]]]},
    ),
    ("E.flatten().group_by('run').drop('q').to_dict()", {"t": [[5, 1, 7], [2, 9]], "run": [10, 30]}),
    ("E.sort_by('run', descending=True)['t'].tolist()", [[2, 9], [], [5, 1, 7]]),
    ("B.sort_by('x').to_dict()", {"x": [[1, 2, 3], [7, 8, 9]], "y": [[1, 2, 0], [5, 4, 3]]}),
    ("B.top_k('x', 2).to_dict()", {"x": [[3, 2], [9, 8]], "y": [[0, 2], [3, 4]]}),
    ("B.top_k('x', 1, largest=False)['y'].tolist()", [[1], [5]]),
    ("B.flatten().to_dict()", {"x": [3, 1, 2, 9, 8, 7], "y": [0, 1, 2, 3, 4, 5]}),
    ("E.top_k('q', 1).to_dict()", {"t": [[7], [], [9]], "q": [[2.5], [], [4.5]], "run": RUN}),
    ("E.rename({'t': 'time', 'q': 't'}).names", ("time", "t", "run")),
    ("E.with_field('w', [1, 2, 3]).drop('q')[:1].to_dict()", {"t": [[5, 1, 7]], "run": [10], "w": [1]}),
    ("[E.get('nope'), E.get('nope', 3), E.get('run').tolist()]", [None, 3, RUN]),
    ("[E.size, E.rank, E.nbytes, E.is_lazy]", [5, 2, 104, F]),
    ("[str(dtype) for dtype in E.dtypes.values()]", ["int64", "float64", "int64"]),
    (
        "tw.concat([E, E[['run', 'q', 't']][:1]]).compute().drop('q').tolist()[2:]",
        [{"t": [2, 9], "run": 30}, {"t": [5, 1, 7], "run": 10}],
    ),
    ("tw.concat([E, E]).names", ("t", "q", "run")),
    ("tw.concat([E.drop('run')] * 2, mode=1).compute()['t'].tolist()", [[5, 1, 7] * 2, [], [2, 9] * 2]),
    ("tw.concat(iter([E, E])).shape == tw.concat([R, R]).shape", T),
    ("tw.stack([E, E]).compute()['run'].tolist()", [RUN, RUN]),
    ("tw.stack([E, E]).rank", 3),
    ("tw.where([T, F, T], E, E.with_field('t', R * 0)).compute()['t'].tolist()", [[5, 1, 7], [], [2, 9]]),
    ("tw.where([F, T, T], E, E.with_field('t', R * 0)).compute()['t'].tolist()", [[0, 0, 0], [], [2, 9]]),
    (
        "tw.where(R > 4, E.drop('run'), E.drop('run').with_field('t', -R)).compute()['t'].tolist()",
        [[5, -1, 7], [], [-2, 9]],
    ),
    ("tw.where([T, F], B, B.with_field('x', B['x'] * 0)).compute()['x'].tolist()", [[3, 1, 2], [0, 0, 0]]),
]
NAMES |= {"T": T, "F": F}


@pytest.mark.parametrize(("text", "wanted"), TABLE, ids=[text for text, _ in TABLE])
def test_records_give_what_is_right(text, wanted):
    assert eval(text, dict(NAMES)) == wanted
