"""Files of other kinds, and what is written to them and read."""

from functools import partial

import numpy as np

import tensorwrapper as tw
from tensorwrapper import store

convert = partial(store.convert, overwrite=True)


ARRAYS = {
    "table": np.arange(12, dtype="f4").reshape(3, 4),
    "Fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "scalar": np.array(2.5),
    "empty": np.zeros((3, 0), "i2"),
    "bool": np.array([True, False]),
    "long": np.arange(5, dtype="u8"),
    "short": np.arange(7, dtype="i1"),
    "half": np.arange(3, dtype="f2"),
    "complex": np.arange(3, dtype="c8"),
}


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def read(path):
    with tw.open(path) as f:
        return {name: np.array(tensor) for name, tensor in f.items()}, f.metadata


def assert_equal(got, want):
    assert sorted(got) == sorted(want)
    for name, array in want.items():
        assert got[name].dtype == array.dtype.newbyteorder("<"), name
        assert got[name].shape == array.shape, name
        assert np.array_equal(got[name], array), name
