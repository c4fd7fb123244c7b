"""Every source keeps the contract of sources."""

import dask.array as da
import h5py
import numpy as np
import pytest
import tensorstore as ts
import xarray
import zarr

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.testing import SourceContract
from tests.support.selection.counting_source import CountingSource, SlowSource

EXTENTS = (6, 5, 4)
VALUES = np.arange(120, dtype="i4").reshape(EXTENTS)
ROWS = tw.jagged([[1, 2], [3], [], [4, 5, 6], [7, 8, 9, 10]])


class OfValues(SourceContract):
    """A source of the values above."""

    def expected(self):
        return VALUES


class TestTensor(OfValues):
    def source(self):
        return sel.TensorSource(tw.as_tensor(VALUES[::-1].copy())[::-1])


class TestRowsOfTensor(SourceContract):
    def source(self):
        return sel.TensorSource(ROWS)

    def expected(self):
        return ROWS


class TestTilesOfTensor(SourceContract):
    def source(self):
        return sel.TensorSource(self.expected())

    def expected(self):
        return tw.tensor.from_buffer(np.arange(20), tw.Shape.tiled([1, 3], [2, 2, 1]))


class TestCounting(OfValues):
    def source(self):
        return CountingSource(VALUES, origin=(3, -1, 0))


class TestSlow(OfValues):
    def source(self):
        return SlowSource(VALUES, abilities=())


class TestSlowRows(SourceContract):
    def source(self):
        return SlowSource(ROWS)

    def expected(self):
        return ROWS


class TestScalar(SourceContract):
    def source(self):
        return CountingSource(np.array(2.5))

    def expected(self):
        return np.array(2.5)


class TestNothing(SourceContract):
    def source(self):
        return CountingSource(np.empty((0, 3)))

    def expected(self):
        return np.empty((0, 3))


class TestHdf5(OfValues):
    chunks = None

    @pytest.fixture(autouse=True)
    def _file(self, tmp_path):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            self.dataset = file.create_dataset("x", data=VALUES, chunks=self.chunks)
            yield

    def source(self):
        return sel.ArraySource(self.dataset)


class TestHdf5InChunks(TestHdf5):
    chunks = (4, 2, 3)


class TestZarr(OfValues):
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path):
        self.array = zarr.create_array(tmp_path / "a.zarr", shape=EXTENTS, chunks=(4, 2, 3), dtype="i4")
        self.array[...] = VALUES

    def source(self):
        return sel.ArraySource(self.array)


class TestDask(OfValues):
    def source(self):
        return sel.ArraySource(da.from_array(VALUES, chunks=(4, 2, 3)))

    def test_it_cannot_be_written_to(self):
        assert "write" not in self.source().abilities


class TestTensorStore(OfValues):
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path):
        spec = {
            "driver": "zarr3",
            "kvstore": {"driver": "file", "path": str(tmp_path / "b.zarr")},
            "metadata": {
                "shape": EXTENTS,
                "data_type": "int32",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (4, 2, 3)}},
            },
        }
        store = ts.open(spec, create=True).result()
        store[...] = VALUES
        self.store = store.translate_to[2, 0, -3]

    def source(self):
        return sel.ArraySource(self.store)


class TestXarray(OfValues):
    def source(self):
        return sel.ArraySource(xarray.DataArray(VALUES))


class TestAlternatives(OfValues):
    def source(self):
        return sel.Alternatives([Dead(VALUES), CountingSource(VALUES)])


class Dead(CountingSource):
    """A holder that is not there any more."""

    def start(self, *_):
        raise OSError("nobody is there")


class TestWritten(OfValues):
    """A source whose writes are all or nothing."""

    def source(self):
        return Memory(VALUES.copy())


class Memory(CountingSource):
    def __init__(self, array):
        super().__init__(array, abilities=("runs", "write", "atomic", "threads"))
        self.writes = 0

    def write(self, selections, values):
        self.writes += 1
        for selection, given in zip(selections, values, strict=True):
            if isinstance(selection, sel.Runs):
                self.flat[selection.numbers()] = given
            else:
                self.array[np.ix_(*[np.asarray(mode, dtype=np.int64) for mode in selection.modes])] = given
