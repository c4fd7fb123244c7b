"""Texts beside a collection: what the call of the rows computes, or its error."""

import operator

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DTypeError

ROWS = tw.jagged([[1, 0], [], [2]])
TEXTS = {
    "rows": tw.strings([["a", ""], [], ["c"]]),
    "one for each row": np.array(["a", "b", ""]),
    "texts of NumPy": np.array(["a", "b", ""], np.dtypes.StringDType()),
    "a list": ["a", "", "b"],
    "one": "a",
    "bytes": b"a",
}


@pytest.mark.parametrize("texts", TEXTS)
@pytest.mark.parametrize("most", [1, 100])
@pytest.mark.parametrize("function", [np.logical_and, np.logical_or, np.logical_xor])
def test_texts_are_true_or_false_as_beside_the_rows(function, most, texts):
    other, collection = TEXTS[texts], ROWS.to_dask(max_elements=most)
    for call in (lambda rows: function(rows, other), lambda rows: function(other, rows)):
        expected = call(ROWS)
        found = call(collection).compute()
        assert (found.shape, found.dtype, found.tolist()) == (
            expected.shape,
            expected.dtype,
            expected.tolist(),
        )


@pytest.mark.parametrize("texts", TEXTS)
@pytest.mark.parametrize("call", [operator.add, operator.eq, operator.and_])
def test_what_the_rows_refuse_is_refused_in_words_of_the_call(call, texts):
    for rows in (ROWS, ROWS.to_dask(max_elements=1)):
        with pytest.raises(DTypeError, match=r"^(add|equal|bitwise_and): "):
            call(rows, TEXTS[texts])
