"""All elements of a view one after the other: against NumPy, and without a copy where they lie so."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.rows._flat import in_order

X = np.arange(24).reshape(2, 3, 4)
VIEWS = {
    "a box": (sel.as_view(X), X),
    "a permuted box": (sel.as_view(X).permute(2, 0, 1), X.transpose(2, 0, 1)),
    "a part": (sel.as_view(X)[:, 1:, ::-2], X[:, 1:, ::-2]),
    "joined": (sel.concat([X, -X], mode=1), np.concatenate([X, -X], axis=1)),
    "nothing": (sel.as_view(X)[:0], X[:0]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_elements_come_in_row_major_order(name):
    view, expected = VIEWS[name]

    found = in_order(view.expression)

    assert found.extents == (expected.size,)
    assert np.array_equal(type(view)._make(found), expected.reshape(-1))


def test_rows_come_one_after_the_other():
    t = tw.jagged([[1, 2], [], [3]])
    view = sel.as_view(t)[::-1]

    assert type(view)._make(in_order(view.expression)).tolist() == [3, 1, 2]
