"""What tensors of strings are made of, and what makes none."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.buffer import StringData
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    StringDataError,
)

WORDS = [["a", "bc"], ["", "héllo"]]


TEXT = np.dtypes.StringDType()


NULLABLE = np.dtypes.StringDType(na_object=None)


@pytest.mark.parametrize(
    ("values", "shape", "elements"),
    [
        ("one", Shape(), "one"),
        (b"one", Shape(), b"one"),
        (None, Shape(), None),
        ([], Shape(0), []),
        (["a", "b"], Shape(2), ["a", "b"]),
        (("a", None), Shape(2), ["a", None]),
        (iter("ab"), Shape(2), ["a", "b"]),
        (WORDS, Shape(2, 2), WORDS),
        ([[], []], Shape(2, 0), [[], []]),
        ([[[b"a"]], [[b"b"]]], Shape(2, 1, 1), [[[b"a"]], [[b"b"]]]),
        ([["a"], [], ["b", "c"]], Shape.jagged([1, 0, 2]), [["a"], [], ["b", "c"]]),
        ([[["a"], []], [["b", "c"]]], Shape.jagged([[1, 0], [2]]), [[["a"], []], [["b", "c"]]]),
        ([[], [["a"]]], Shape.jagged([[], [1]]), [[], [["a"]]]),
        (np.array(WORDS), Shape(2, 2), WORDS),
        (np.array(WORDS).T, Shape(2, 2), [["a", ""], ["bc", "héllo"]]),
        (np.array([b"a", b"bc"]), Shape(2), [b"a", b"bc"]),
        (np.array("a"), Shape(), "a"),
        (np.str_("a"), Shape(), "a"),
        (np.array(WORDS, dtype=TEXT), Shape(2, 2), WORDS),
        (np.array(["a", None], dtype=NULLABLE), Shape(2), ["a", None]),
        (np.array([["a", None]], dtype=object), Shape(1, 2), [["a", None]]),
        ([np.array(["a"]), ["b", "c"]], Shape.jagged([1, 2]), [["a"], ["b", "c"]]),
        (StringData.from_list(["a", None]), Shape(2), ["a", None]),
        (tw.strings(WORDS)[:, 1], Shape(2), ["bc", "héllo"]),
    ],
)
def test_strings_are_made_of(values, shape, elements):
    tensor = tw.strings(values)

    assert tensor.shape == shape
    assert tensor.tolist() == elements


@pytest.mark.parametrize(
    ("values", "options", "error", "text"),
    [
        (5, {}, ConversionError, "not from 5"),
        ([1, 2], {}, ConversionError, "element 0 is 1"),
        (["a", b"b"], {}, ConversionError, "all must be of one kind"),
        (["a", ["b"]], {}, ConversionError, "at depth 1, item 1 is a list and item 0 is not"),
        ([["a"], [["b"]]], {}, ConversionError, "at depth 2, item 1 is a list and item 0 is not"),
        (["a"], {"kind": "binary"}, ConversionError, "not 'binary'"),
        (
            np.array(["a"]),
            {"kind": "binary"},
            ConversionError,
            "kind 'binary' are wanted, not of kind 'utf8'",
        ),
        (np.array([b"a"]), {"kind": "utf8"}, ConversionError, "as_utf8"),
        (["a"], {"kind": "latin1"}, StringDataError, "'utf8' or 'binary'"),
        (["a", "\ud800"], {}, StringDataError, "element 1 is .* lone surrogate"),
        (["a", None], {"nullable": False}, ConversionError, "element 1 is a null"),
        (["a"], {"shape": (2,)}, BufferSizeError, "has 2 elements, but 1 strings"),
        (np.ma.array(["a"], mask=[True]), {}, ConversionError, "mask"),
        ([np.array("a")], {}, ConversionError, "a row is a list"),
        (np.array([1.5]), {}, ConversionError, "float64 has no strings"),
        (tw.as_tensor([1.5]), {}, ConversionError, "float64 has no strings"),
    ],
)
def test_what_is_no_string_of_the_kind_is_refused(values, options, error, text):
    with pytest.raises(error, match=text):
        tw.strings(values, **options)


def test_rows_of_text_may_be_tensors_views_and_arrays_of_libraries():
    words, more = tw.strings(["a"]), tw.strings(["b", None])
    rows = [[words, more], [sel.as_view(words), more], [words, ["b", None]], [["a"], more]]
    rows += [[pa.array(["a"]), pa.array(["b", None])], [pd.Series(["a"]), pd.Series(["b", None])]]
    for given in rows:
        assert tw.strings(given).tolist() == tw.jagged(given).tolist() == [["a"], ["b", None]]
    assert tw.strings([tw.strings([["a"], []]), [["b"]]]).tolist() == [[["a"], []], [["b"]]]
    assert tw.jagged([tw.strings([b"a"]), tw.strings([b"b", b"c"])]).tolist() == [[b"a"], [b"b", b"c"]]
