"""Arrays of xarray, both ways, and duck arrays that read nothing before they are asked."""

import dask.array as da
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError


class Untouched:
    """A lazy array that counts what is read of it."""

    def __init__(self, array):
        self.array, self.read = array, 0
        self.shape, self.dtype = array.shape, array.dtype

    def __getitem__(self, key):
        part = self.array[key]
        self.read += part.size
        return part


def test_names_are_dims_and_origins_are_coordinates():
    x = np.arange(24.0).reshape(2, 3, 4)
    whole = tw.as_tensor(x).named("plane", None, "tick")
    part = whole.window(whole.shape[:, 1:, 2:])
    array = part.to_xarray()

    assert array.dims == ("plane", "dim_1", "tick")
    assert {name: values.to_numpy().tolist() for name, values in array.coords.items()} == {
        "dim_1": [1, 2],
        "tick": [2, 3],
    }
    assert np.shares_memory(array.data, x)
    assert tw.as_tensor(array).shape == part.shape
    assert np.shares_memory(tw.as_tensor(array).to_numpy(), x)


def test_a_view_is_not_read_by_xarray_and_dask():
    source = Untouched(np.arange(100.0).reshape(10, 10))
    view = sel.as_view(source)[2:]
    array, chunks = view.to_xarray(), da.from_array(view.as_duck(), chunks=4)

    assert source.read == 0
    assert np.asarray(array[1, 2:4].data).tolist() == [32.0, 33.0]
    assert chunks[0, 0].compute() == 20.0
    assert source.read < 40
    assert float(array.mean()) == source.array[2:].mean()


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (lambda: tw.jagged([[1], [2, 3]]), "to_padded"),
        (lambda: tw.strings(["a"]), "to_numpy_strings"),
        (lambda: tw.sparse([(0, 1)], [1.0], tw.Shape(2, 2)), "to_dense"),
        (lambda: sel.as_view(tw.jagged([[1], [2, 3]])), "to_padded"),
    ],
)
def test_what_is_no_array_is_refused_by_name(tensor, words):
    for call in ("as_duck", "to_xarray"):
        with pytest.raises(ConversionError, match=words):
            getattr(tensor(), call)()
