"""Strings are compared as Python does."""

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError, TensorWrapperError
from tensorwrapper.tensor.operators import _strings
from tests.support.advice import code_in

COMPARED = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
PARTS = [b"\x00", b"a", b"\xff", b"0123456", b"01234567", b"x" * 30]
PIECES = st.lists(st.sampled_from(PARTS), max_size=4)
BYTES = PIECES.map(b"".join)
# From NumPy 2.3 on, functions that make texts ask what they are given, as its other functions do.
NUMPY_ASKS_TEXTS = np.lib.NumpyVersion(np.__version__) >= "2.3.0"


@given(
    words=st.lists(st.text("aé\U0001f600b", max_size=4), min_size=1, max_size=6),
    other=st.text("aéb", max_size=3),
)
@pytest.mark.parametrize("op", COMPARED)
def test_strings_are_compared_as_python_does(op, words, other):
    t, back = tw.strings(words), tw.strings(words[::-1])
    assert op(t, other).tolist() == [op(word, other) for word in words]
    assert op(t, back).tolist() == [op(*pair) for pair in zip(words, words[::-1], strict=True)]


@given(data=st.data(), n=st.integers(1, 40), block=st.sampled_from([1, 3, 16, 2**15]), cuts=st.integers(0, 3))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("op", COMPARED)
def test_bytes_are_compared_alike_wherever_they_lie(op, data, n, block, cuts):
    """Packed strings and those with gaps, evenly spaced, at the end of all bytes, with zeros and nulls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_strings, "_BLOCK", block)
        patch.setattr(_strings, "_MOST_CUTS", cuts)
        length = data.draw(st.sampled_from([None, None, 1, 8, 22]))
        lengths = st.binary(min_size=length, max_size=length) if length else BYTES
        pool = data.draw(st.lists(lengths, min_size=1, max_size=4))
        words = data.draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
        others = data.draw(st.lists(st.sampled_from([*words, *pool]), min_size=n, max_size=n))
        order = data.draw(st.permutations(range(n)))
        t, u = tw.strings(words), tw.strings(others)
        one = data.draw(st.sampled_from(others))
        wanted = [op(*pair) for pair in zip(words, others, strict=True)]
        assert op(t, u).tolist() == wanted
        assert op(t, one).tolist() == [op(word, one) for word in words]
        assert op(t[order], u[order]).tolist() == [wanted[k] for k in order]
        if op in (operator.eq, operator.ne):
            some = [None if data.draw(st.booleans()) else word for word in words]
            found = (op(tw.strings(some, kind="binary"), u)).tolist()
            assert found == [
                None if pair[0] is None else op(*pair) for pair in zip(some, others, strict=True)
            ]


@pytest.mark.parametrize("times", [-1, 10**18, np.array([-1, 2, 10**18, 0])])
def test_texts_without_characters_are_not_repeated_for_ever(times):
    """NumPy does so one by one, 2^64 - 1 times for -1."""
    words = tw.strings(["", "ab", "", ""]) if isinstance(times, np.ndarray) else tw.strings([""] * 4)
    expected = ["", "abab", "", ""] if isinstance(times, np.ndarray) else [""] * 4
    assert (words * times).tolist() == (times * words).tolist() == expected


TEXTS = [
    (np.strings.upper, ()),
    (np.strings.lower, ()),
    (np.strings.title, ()),
    (np.strings.strip, ("a",)),
    (np.strings.replace, ("a", "xyz")),
    (np.strings.center, (5,)),
    (np.strings.zfill, (4,)),
    (np.strings.count, ("a",)),
]


@pytest.mark.skipif(not NUMPY_ASKS_TEXTS, reason="NumPy makes an array of what it is given")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("function", "more"), TEXTS, ids=lambda case: getattr(case, "__name__", ""))
def test_functions_of_texts_take_rows(function, more, lazy):
    rows = [["ab", "Ca"], [], ["aé"]]
    t = tw.strings(rows)
    given_rows = sel.as_view(t) if lazy else t
    expected = [
        function(np.array(row, np.dtypes.StringDType()), *more).tolist() if row else [] for row in rows
    ]
    found = function(given_rows, *more)
    assert isinstance(found, tw.Tensor)
    assert found.shape == t.shape
    assert found.tolist() == expected


@pytest.mark.skipif(not NUMPY_ASKS_TEXTS, reason="NumPy makes an array of what it is given")
def test_functions_of_texts_take_one_operand_per_row_and_options_by_name():
    t = tw.strings([["aa", "ba"], ["ab"]])
    assert np.strings.replace(t, "a", tw.strings(["x", "y"])).tolist() == [["xx", "bx"], ["yb"]]
    assert np.strings.replace(t, "a", "x", count=1).tolist() == [["xa", "bx"], ["xb"]]
    assert np.strings.center(t, np.array([3, 4]), fillchar="-").tolist() == [
        [np.strings.center("aa", 3, "-").item(), np.strings.center("ba", 3, "-").item()],
        [np.strings.center("ab", 4, "-").item()],
    ]
    head, mark, tail = np.strings.partition(t, "b")
    assert head.tolist() == [["aa", ""], ["a"]]
    assert mark.tolist() == [["", "b"], ["b"]]
    assert tail.shape == t.shape


@pytest.mark.skipif(not NUMPY_ASKS_TEXTS, reason="NumPy makes an array of what it is given")
def test_texts_that_are_not_taken_say_why():
    with pytest.raises(ConversionError, match=r"np\.strings\.upper: a null is not text; fill_null\(\)"):
        np.strings.upper(tw.strings([["a", None], []]))
    with pytest.raises(DTypeError, match="ufuncs of bytes are comparisons"):
        np.strings.upper(tw.strings([[b"a"], []]))
    with pytest.raises(DTypeError, match=r"np\.strings\.upper"):
        np.strings.upper(tw.jagged([[1.0], []]))


@pytest.mark.parametrize("rows", [["ab", "c"], [["ab", "c"], []]])
def test_strings_are_not_reduced_and_what_joins_them_runs(rows):
    st = tw.strings(rows)
    with pytest.raises(DTypeError, match="which NumPy does not reduce") as caught:
        np.add.reduce(st, axis=-1)
    (code,) = code_in(str(caught.value))
    assert eval(code, {"st": st}) == "abc"


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])
@pytest.mark.parametrize("items", [["b", None, "a"], [b"b", None, b"a"]], ids=["text", "bytes"])
def test_boxes_of_strings_with_nulls_answer_as_rows_of_them(of, items):
    box = of(tw.strings(items))
    rows = tw.strings([items, []])[:1]
    for call in (
        lambda t: np.isin(t, [items[2]]),
        lambda t: np.sort(t, axis=-1),
        lambda t: np.argsort(t, axis=-1),
        lambda t: np.argmax(t, axis=-1),
    ):
        of_box, of_rows = (
            own.compute() if hasattr(own, "compute") else own for own in (call(box), call(rows))
        )
        assert of_box.tolist() == of_rows.tolist()[0]
    assert np.max(tw.strings(["a", "b"], nullable=True)) == "b"


def test_lists_and_arrays_of_text_are_joined_with_strings():
    words = tw.strings(["a"])
    for more in (["b", "c"], np.array(["b", "c"])):
        assert np.concatenate([words, more]).tolist() == tw.concat([words, more]).tolist() == ["a", "b", "c"]
        assert np.concatenate([more, words]).tolist() == ["b", "c", "a"]
    assert np.concatenate([tw.strings([b"a"]), [b"b"]]).tolist() == [b"a", b"b"]
    assert np.stack([words, ["b"]], axis=1).tolist() == [["a", "b"]]
    for odd in ([b"b"], [1]):
        with pytest.raises(TensorWrapperError):
            np.concatenate([words, odd])


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])
def test_text_is_looked_for_as_it_is(of):
    """`np.isin` of NumPy 2.4 drops NULs at the end of what it looks for."""
    words = of(tw.strings(["a\0", "a"]))
    for tests in (["a\0"], "a\0", tw.strings(["a\0"]), ["a\0", None], tw.strings(["a\0", None])):
        assert np.isin(words, tests).tolist() == [True, False]
        assert np.isin(words, test_elements=tests, invert=True).tolist() == [False, True]
    assert np.isin(of(tw.strings(["a", None])), ["a"]).tolist() == [True, None]
    assert np.isin(of(tw.as_tensor([1, 2])), tw.as_tensor([1, None])).tolist() == [True, False]
    assert np.isin(of(tw.as_tensor([1, 2])), [1, None]).tolist() == [True, False]
