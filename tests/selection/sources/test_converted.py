"""A source at another type is the source, but for its elements."""

import pickle

import dask.array as da
import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.sources._read_source import Converted


def test_it_is_the_source_at_another_type():
    source = sel.ArraySource(da.arange(12.0, chunks=5))
    narrow = Converted(source, np.dtype("i2"))
    assert (narrow.shape, narrow.version, narrow.dtype) == (tw.Shape(12), "", np.dtype("i2"))
    assert narrow == Converted(source, np.dtype("i2"))
    assert hash(narrow) != hash(Converted(source, np.dtype("f4")))
    assert narrow.abilities == source.abilities
    wanted = sel.Outer([range(3, 9)])
    assert narrow.cost(wanted) * 4 == source.cost(wanted)
    out = np.empty(6, "i2")
    assert list(narrow.read([wanted], [out]).completed()) == [0]
    assert out.tolist() == [3, 4, 5, 6, 7, 8]
    again = pickle.loads(pickle.dumps(narrow))
    assert again.dtype == narrow.dtype
