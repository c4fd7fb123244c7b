"""A tensor is a source: it reads selections, and delivers each once."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection import Outer

X = np.arange(240.0).reshape(12, 20)


def test_a_tensor_reads_selections_as_a_source():
    source = sel.TensorSource(tw.as_tensor(X))
    selections = [Outer([[0, 3, 4], range(1, 20, 3)]), Outer([range(2), range(5)])]
    out = [np.zeros(own.extents) for own in selections]
    assert sorted(source.read(selections, out).completed()) == [0, 1]
    np.testing.assert_array_equal(out[0], X[np.ix_([0, 3, 4], range(1, 20, 3))])
    np.testing.assert_array_equal(out[1], X[:2, :5])
    assert source.cost(selections[0]) == 3 * 7 * 8
    assert isinstance(source, sel.Source)
