"""What records refuse: errors of the library that name a field, and advice that works."""

import operator
import re

import attrs
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import errors
from tensorwrapper import selection as sel

R = tw.jagged([[5, 1, 7], [], [2, 9]])


@attrs.frozen
class Hits:
    t: "tw.Tensor[np.int64]"


@attrs.frozen
class Floats:
    t: tw.Tensor[np.float64]
    more: tw.Tensor[np.float64]


def names():
    return {
        "np": np,
        "operator": operator,
        "tw": tw,
        "sel": sel,
        "R": R,
        "r": tw.records({"t": R, "q": tw.jagged([[0.5, 1.5, 2.5], [], [3.5, 4.5]]), "run": [10, 20, 30]}),
        "b": tw.records({"x": np.arange(6).reshape(2, 3), "n": [7, 8]}, shape=(2, 3)),
        "Hits": Hits,
        "Floats": Floats,
    }


BAD = [
    ("tw.records({})", errors.ConversionError, ["field"]),
    ("tw.records(5)", errors.ConversionError, ["mapping", "5"]),
    ("tw.records([1])", errors.ConversionError, ["mapping"]),
    ("tw.records({'a': 5})", errors.RankError, ["'a'"]),
    ("tw.records({'a': [1, 2], 'b': [1, 2, 3]})", errors.ExtentMismatchError, ["'b'", "3", "2", "'a'"]),
    ("tw.records({'a': [1, 2]}, shape=R.shape)", errors.ExtentMismatchError, ["'a'", "2", "3"]),
    ("tw.records({'a': R}, shape=R[::-1].shape)", errors.ExtentMismatchError, ["'a'", "3", "2", "(0,)"]),
    ("tw.records({'a': [1, 2, 3]}, shape=R.shape)", errors.RankError, ["2 modes"]),
    (
        "tw.records({'a': R, 'b': tw.sparse([(0, 1)], [1.5], (3, 3))}, shape=R.shape)",
        errors.ExtentMismatchError,
        ["'b'"],
    ),
    ("tw.records({'a': R.translate_to((1, 0)), 'b': R})", errors.ExtentMismatchError, ["'b'", "origin"]),
    ("tw.records({'': [1]})", errors.TensorNameError, ["''"]),
    ("tw.records({'a/b': [1]})", errors.TensorNameError, ["'a/b'"]),
    ("tw.records({3: [1]})", errors.TensorNameError, ["3"]),
    ("r[['t', 't']]", errors.TensorNameError, ["'t'"]),
    ("r['nope']", errors.TensorNameError, ["'nope'", "['t', 'q', 'run']"]),
    ("r.field('nope')", errors.TensorNameError, ["'nope'"]),
    ("r.drop('nope')", errors.TensorNameError, ["'nope'"]),
    ("r.rename({'t': 'q'})", errors.TensorNameError, ["'q'"]),
    ("r.rename({'nope': 'x'})", errors.TensorNameError, ["'nope'"]),
    ("r.rename({'t': 'a/b'})", errors.TensorNameError, ["'a/b'"]),
    ("r.rename(3)", errors.ConversionError, ["mapping"]),
    ("r[:, :1, 0]", errors.TooManyIndicesError, ["select a field"]),
    ("r[R[..., None]]", errors.TooManyIndicesError, ["select a field"]),
    ("tw.records({'z': [1, 2, 3], 't': R}, shape=(3,))[R > 1]", errors.TooManyIndicesError, ["r['t']"]),
    ("r[..., ...]", errors.RankError, ["ellipsis"]),
    ("r[R[1:] > 2]", errors.ExtentMismatchError, ["rows"]),
    ("r[R[::-1] > 2]", errors.ExtentMismatchError, ["rows", "(0,)"]),
    ("r[[True, False]]", errors.OutOfBoundsError, ["2"]),
    ("r[7]", errors.OutOfBoundsError, ["7"]),
    ("r['t', 'q']", errors.IndexTypeError, ["'t'"]),
    ("b[b['x'] > 2]", errors.ExtentMismatchError, ["'n'", "drop"]),
    ("b[[[0], [1]], [1, 2]]", errors.ExtentMismatchError, ["'n'", "drop"]),
    ("r.with_field('z', [1, 2])", errors.ExtentMismatchError, ["'z'", "2", "3"]),
    ("r.with_field('z', R[::-1])", errors.ExtentMismatchError, ["'z'"]),
    ("'t' in r", errors.ConversionError, ["r.names", "field"]),
    ("r + 1", errors.ConversionError, ["field", "r['t']"]),
    ("1 + r", errors.ConversionError, ["field"]),
    ("-r", errors.ConversionError, ["field"]),
    ("r == r", errors.ConversionError, ["array_equal", "field"]),
    ("r < r", errors.ConversionError, ["field"]),
    ("r['t'] + r", errors.ConversionError, ["field"]),
    ("np.add(r, 1)", errors.ConversionError, ["field"]),
    ("np.concatenate([r, r])", errors.ConversionError, ["field"]),
    ("np.asarray(r)", errors.ConversionError, ["field"]),
    ("tw.as_tensor(r)", errors.ConversionError, ["field"]),
    ("sel.as_view(r)", errors.ConversionError, ["field"]),
    ("r.drop('t', 'q', 'run')", errors.ConversionError, ["field"]),
    ("r.group_by('t')", errors.RankError, ["2"]),
    ("r.drop('t', 'q').flatten()", errors.RankError, ["one"]),
    ("r[0, 0].flatten()", errors.RankError, ["flatten"]),
    ("r.sort_by('nope')", errors.TensorNameError, ["'nope'"]),
    ("tw.records({'x': R}, shape=(3,)).sort_by('x')", errors.RankError, ["'x'"]),
    ("r.top_k('t', -1)", errors.ExtentError, ["-1"]),
    ("r.field('t', 'f4')", errors.DTypeError, ["'t'", "int64", "float32"]),
    ("tw.concat([r, r]).field('t', 'i8')", errors.ConversionError, ["'t'", "view"]),
    ("tw.concat([r, r.drop('t')])", errors.TensorNameError, ["'t'", "operand 0"]),
    ("tw.concat([r, r.with_field('z', [1, 2, 3])])", errors.TensorNameError, ["'z'", "operand 1"]),
    ("tw.concat([r, 3])", errors.ConversionError, ["concat", "3"]),
    ("tw.concat([r, r], mode=1)", errors.RankError, ["'run'", "drop"]),
    ("tw.concat([r, r], mode=2)", errors.RankError, ["2"]),
    (
        "tw.concat([r.drop('run'), r[['run']].rename({'run': 't'}).with_field('q', [1, 2, 3])])",
        errors.RankError,
        ["modes"],
    ),
    (
        "tw.concat([tw.records({'a': R}, shape=(3,)), tw.records({'a': [1, 2, 3]})])",
        errors.RankError,
        ["'a'"],
    ),
    ("tw.stack([r, r], mode=2)", errors.RankError, ["'run'"]),
    ("tw.where(True, r, r)", errors.ExtentMismatchError, ["mask"]),
    ("tw.where([1, 0, 1], r, r)", errors.DTypeError, ["bool"]),
    ("tw.where([True, False], r, r)", errors.ExtentMismatchError, ["mask"]),
    ("tw.where([True, False, True], r, r[::-1])", errors.ExtentMismatchError, ["shape"]),
    ("tw.where(R > 4, r, r)", errors.RankError, ["'run'", "drop"]),
    ("tw.where([True, False, True], r, 0)", errors.ConversionError, ["where", "0"]),
    ("r.unpack(int)", errors.ConversionError, ["dataclass"]),
    ("r.unpack(Floats)", errors.DTypeError, ["'t'", "int64", "float64"]),
    ("r.with_field('t', R * 1.0).unpack(Floats)", errors.TensorNameError, ["'more'"]),
    ("tw.concat([r, r]).unpack(Hits)", errors.ConversionError, ["'t'", "compute()"]),
    ("r.array_equal(3)", errors.ConversionError, ["3"]),
    ("operator.setitem(r, 't', R)", errors.ConversionError, ["with_field"]),
    ("operator.delitem(r, 't')", errors.ConversionError, ["drop"]),
    ("len(r[0, 0])", errors.ConversionError, ["rank 0"]),
]


@pytest.mark.parametrize(("text", "kind", "parts"), BAD, ids=[text for text, _, _ in BAD])
def test_it_is_refused_by_an_error_that_says_why(text, kind, parts):
    with pytest.raises(kind) as caught:
        eval(text, names())
    message = str(caught.value)

    assert type(caught.value) is kind
    assert [part for part in parts if part not in message] == [], message
    for code in re.findall("`([^`]+)`", message):
        if code != "in" and "named(" not in code:
            known = names()
            run = eval if "= 0" not in code else exec
            run(code, known | {"r": known["b"] if text.startswith("b[") else known["r"], "t": R})


def test_a_field_that_is_no_tensor_is_named():
    with pytest.raises(errors.TensorWrapperError) as caught:
        tw.records({"a": [1], "b": object()})

    assert caught.value.__notes__ == ["in the field 'b'"]
    with pytest.raises(TypeError, match="unhashable"):
        hash(tw.records({"a": [1]}))
