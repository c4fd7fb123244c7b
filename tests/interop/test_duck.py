"""Duck arrays: arrays for others, over tensors and views."""

import dask.array as da
import numpy as np

import tensorwrapper as tw


def test_duck_arrays_are_computed_with_as_arrays_are():
    x = np.arange(6.0).reshape(2, 3)
    duck = tw.as_tensor(x).as_duck()

    assert (duck.shape, duck.ndim, duck.size, duck.nbytes, len(duck)) == ((2, 3), 2, 6, 48, 2)
    assert np.asarray(duck[:, 1:]).tolist() == x[:, 1:].tolist()
    assert (duck + 1).tolist() == (x + 1).tolist()
    assert (duck == x).all()
    assert np.concatenate([duck, x]).tolist() == np.concatenate([x, x]).tolist()
    assert np.mean(duck, axis=0).tolist() == x.mean(axis=0).tolist()
    assert (duck + da.ones((2, 3))).compute().tolist() == (x + 1).tolist()
