"""What is computed cell by cell: windows, blocks and points have the elements of the whole."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError
from tensorwrapper.selection.execution._read_sources import brought_here
from tensorwrapper.selection.execution._write_in_memory import ALONE

X = np.arange(30.0).reshape(5, 6)
VIEWS = {
    "chosen": (sel.where(X % 3 == 0, X, -X), np.where(X % 3 == 0, X, -X)),
    "least": (sel.minimum(X, X[::-1] - 3), np.minimum(X, X[::-1] - 3)),
    "counted": (sel.iota((5, 6), step=2), np.broadcast_to(np.arange(0, 12, 2), (5, 6))),
    "cast": (sel.maximum(X, 7.0).astype("i4"), np.maximum(X, 7).astype("i4")),
}


@pytest.mark.parametrize("name", VIEWS)
def test_windows_and_points_are_those_of_the_whole(name):
    view, expected = VIEWS[name]
    runner = ALONE.elements(brought_here(view.normal_form()))
    out = np.empty((3, 2), dtype=expected.dtype)

    runner.fill((slice(1, 4), slice(4, 6)), out)

    assert runner.extents == (5, 6)
    assert runner.dtype == expected.dtype
    assert np.array_equal(out, expected[1:4, 4:6])
    places = (np.array([4, 0, 4]), np.array([5, 0, 1]))
    assert np.array_equal(runner.points(places), expected[places])


@pytest.mark.parametrize("casting", ["checked", "unsafe"])
def test_text_with_nulls_becomes_text_without_where_there_are_none(casting):
    words = sel.as_view(tw.strings(["a", None, "c"])).astype(np.dtypes.StringDType(), casting=casting)
    assert words[::2].compute().tolist() == ["a", "c"]
    for view in (words, sel.concat([words, words[::-1]])):
        with pytest.raises(ConversionError, match="nulls"):
            view.compute()
