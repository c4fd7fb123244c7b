"""Chunks: those that the user wants, or what tiles, layers and memory say."""

import dask
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentError

X = np.arange(900.0).reshape(30, 30)


def computed(array):
    return array.compute(scheduler="sync")


def test_layers_are_chunks():
    x = np.arange(24.0).reshape(2, 3, 4)
    nested = tw.from_buffer(x.ravel(), Shape.nested(Shape(2, 3, 4), layers=(2, 1)))

    for each in (nested, sel.as_view(nested)):
        array = each.to_dask()
        assert array.chunks == ((1, 1), (1, 1, 1), (4,))
        assert np.array_equal(computed(array), x)
    assert nested.to_dask(chunks=(2, 3, 2)).chunks == ((2,), (3,), (2, 2))


def test_a_box_is_cut_as_it_lies_in_memory():
    x = np.arange(24.0).reshape(4, 6)
    tiling = Tiling([1, 3], [4, 2])
    with dask.config.set({"array.chunk-size": "48B"}):
        assert tw.as_tensor(x).to_dask().chunks == ((1, 1, 1, 1), (6,))
        assert tw.as_tensor(np.asfortranarray(x)).to_dask().chunks == ((4,), (1,) * 6)
        assert tw.as_tensor(x).to_layout(Layout.tiled(tiling)).to_dask().chunks == tiling.chunks
        assert sel.as_view(x)[::2].to_dask().chunks == ((1, 1), (6,))


def test_chunks_that_do_not_fit():
    with pytest.raises(ExtentError):
        tw.as_tensor(X).to_dask(chunks=((3, 4), -1))
    with pytest.raises(ExtentError):
        tw.as_tensor(X).to_dask(chunks=Tiling([3], [30]))
