"""Strings are compared as Python does."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError
from tests.support.advice import code_in

# From NumPy 2.3 on, functions that make texts ask what they are given, as its other functions do.
NUMPY_ASKS_TEXTS = np.lib.NumpyVersion(np.__version__) >= "2.3.0"


@given(
    words=st.lists(st.text("aé\U0001f600b", max_size=4), min_size=1, max_size=6),
    other=st.text("aéb", max_size=3),
)
@pytest.mark.parametrize("op", [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
def test_strings_are_compared_as_python_does(op, words, other):
    t, back = tw.strings(words), tw.strings(words[::-1])
    assert op(t, other).tolist() == [op(word, other) for word in words]
    assert op(t, back).tolist() == [op(*pair) for pair in zip(words, words[::-1], strict=True)]


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
    with pytest.raises(ConversionError, match=r"np\.strings\.upper: a null is no text; fill_null\(\)"):
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
