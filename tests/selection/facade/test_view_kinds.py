"""What a view cannot be asked is refused before anything is read."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.selection.counting_source import CountingSource


def test_what_no_element_of_a_view_can_be_asked_reads_nothing():
    source = CountingSource(np.arange(4.0))
    view = sel.as_view(source)
    for name in ("nnz", "density", "fill_value"):
        with pytest.raises(tw.errors.ConversionError, match=name):
            getattr(view, name)
    for name in ("coords", "csr", "to_scipy", "to_pydata", "values", "to_tf_strings"):
        with pytest.raises(tw.errors.ConversionError, match=name):
            getattr(view, name)()
    for name in ("cells", "group_by_shape"):
        with pytest.raises(tw.errors.JaggedModeError, match=name):
            getattr(view, name)()
    assert source.calls == 0


def test_kinds_are_those_of_what_is_put_together():
    sparse = tw.sparse([(0, 1), (2, 3)], [5, 7], tw.Shape(3, 4))
    view = sel.concat([sparse, sparse[::-1]])[1:, ::-1]
    assert view.is_sparse
    assert view.coords().tolist() == view.compute().coords().tolist()
    assert not sel.as_view(tw.jagged([[1], [2, 3]])).is_sparse
    assert not sel.concat([tw.jagged([[1]]), tw.jagged([[2, 3]])]).is_sparse
    text = sel.concat([tw.strings(["a", None]).unflatten([2]), tw.strings(["bc"]).unflatten([0, 1])])
    assert text.fill_null("-").tolist() == [["a", "-"], [], ["bc"]]
    assert text.byte_lengths().tolist() == [[1, 0], [], [2]]
