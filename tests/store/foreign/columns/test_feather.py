"""Feather files: memory where they are not compressed."""

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError


def test_feather_that_is_not_compressed_is_memory(tmp_path):
    array = np.arange(10_000.0)
    shape = tw.Shape.from_offsets(np.arange(0, 10_001, 10))
    tw.save(tmp_path / "a.feather", {"x": array[:1000], "rows": tw.from_buffer(array, shape)})
    f = tw.open(tmp_path / "a.feather")
    before = pa.total_allocated_bytes()
    assert all(isinstance(tensor, tw.Tensor) for tensor in f.values())
    for name in f:
        one, two = f[name].elements(), f[name].elements()
        assert np.shares_memory(one, two)
        assert not one.flags.writeable
    # Footers alone: the elements have 88 000 bytes.
    assert pa.total_allocated_bytes() < before + 8_000


def test_offsets_that_leave_their_elements_are_refused(tmp_path):
    path = tmp_path / "a.feather"
    pf.write_feather(pa.table({"rows": pa.array([[7, 8], [9]])}), path, compression="uncompressed")
    raw = path.read_bytes()
    offsets = np.array([0, 2, 3], "i4").tobytes()
    assert raw.count(offsets) == 1
    path.write_bytes(raw.replace(offsets, np.array([0, 2, 2**30], "i4").tobytes()))
    with pytest.raises(DataFileError):
        tw.open(path)["rows"]
