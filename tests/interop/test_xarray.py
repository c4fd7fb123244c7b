"""Arrays of xarray, both ways, and duck arrays that read nothing before they are asked."""

import warnings

import dask.array as da
import numpy as np
import pytest
import xarray as xr

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, LossWarning


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


KEYS = [
    (0, 1),
    (slice(None), 1),
    (slice(0, 1), slice(1, 3)),
    ([2, 0], 1),
    ([0, 2], [1, 1]),
    (slice(None, None, -2), 2),
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("wrapped", [np.asarray, lambda x: da.from_array(x, chunks=2)])
@pytest.mark.parametrize("dims", [("i", "i"), ("i", "j")])
@pytest.mark.filterwarnings("ignore:Duplicate dimension names:UserWarning")  # so does xarray say it
def test_a_key_reaches_each_of_two_modes_of_one_name(dims, wrapped, key):
    x = np.arange(9).reshape(3, 3)
    array = xr.DataArray(wrapped(x), dims=dims)

    assert np.array_equal(sel.as_view(array)[key].compute(), x[key])


COORDINATES = {
    "floats": ({"x": [0.5, 1.5, 2.5]}, "'x'"),
    "times": ({"x": np.arange(3).astype("M8[D]")}, "'x'"),
    "texts": ({"x": list("abc")}, "'x'"),
    "steps": ({"x": [0, 2, 4]}, "'x'"),
    "two": ({"x": [0.0, 1.0, 2.0], "y": [0.5, 0.7]}, "'x' and 'y'"),
    "beside": ({"x": [5, 6, 7], "mass": ("y", [1.0, 2.0])}, "'mass'"),
    "of none": ({"run": 7}, "'run'"),
    "indices": ({"x": [5, 6, 7], "y": [0, 1]}, None),
    "none": ({}, None),
}


@pytest.mark.parametrize("read", [tw.as_tensor, sel.as_view])
@pytest.mark.parametrize(("coords", "named"), COORDINATES.values(), ids=COORDINATES)
def test_coordinates_that_have_no_place_are_named_by_a_warning(coords, named, read):
    array = xr.DataArray(np.zeros((3, 2)), coords, ("x", "y"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = read(array)

    assert made.shape.names == ("x", "y")
    said = [str(one.message) for one in caught if one.category is LossWarning]
    assert len(caught) == len(said) == (named is not None)
    assert all(
        f" {named} " in text and one.filename == __file__ for text, one in zip(said, caught, strict=True)
    )
