"""Arrays that name their modes and number them."""

import dask.array as da
import numpy as np
import pytest
import xarray as xr
import zarr

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, LossWarning


def test_a_part_of_an_array_keeps_its_place():
    array = xr.DataArray(np.arange(6), dims="x", coords={"x": np.arange(10, 16)})

    assert tw.as_tensor(array[2:5]).shape == tw.Shape(3, origin=(12,)).named("x")
    with pytest.warns(LossWarning, match="the coordinates 'x'"):
        assert tw.as_tensor(array[::2]).shape == tw.Shape(3).named("x")


def test_lazy_arrays_stay_lazy_with_their_names_and_place():
    lazy = xr.DataArray(da.arange(12, chunks=5), dims="x", coords={"x": np.arange(3, 15)})
    view = sel.as_view(lazy)

    assert view.shape == tw.Shape(12, origin=(3,)).named("x")
    assert view.window(view.shape[5:7]).compute().tolist() == [2, 3]
    assert view.plan().bytes_read == 96


def test_a_dataset_is_several_tensors():
    with pytest.raises(ConversionError, match="Dataset"):
        tw.as_tensor(xr.Dataset({"a": ("x", [1, 2])}))


def test_names_that_no_mode_can_have_are_dropped():
    array = xr.DataArray(np.zeros((1, 1, 1)), dims=["no name", "_", "x"])
    twice = zarr.array(np.zeros((1, 1)), dimension_names=["x", "x"])

    assert tw.as_tensor(array).shape.names == sel.as_view(array).shape.names == (None, None, "x")
    assert tw.as_tensor(twice).shape == sel.as_view(twice).shape == tw.Shape(1, 1)


@pytest.mark.filterwarnings("ignore:Duplicate dimension names:UserWarning")
@pytest.mark.parametrize("lazy", [False, True])
def test_modes_of_one_name_are_read_by_their_places(lazy):
    # xarray applies the last key to all dimensions of a name.
    square = np.arange(9).reshape(3, 3)
    array = xr.DataArray(da.from_array(square, chunks=2) if lazy else square, dims=("i", "i"))
    view = sel.as_view(array)
    assert view[0, 1].compute().item() == 1
    assert view[1:, [2, 0]].tolist() == square[1:, [2, 0]].tolist()
    assert view[[2, 1], 0].tolist() == [6, 3]
