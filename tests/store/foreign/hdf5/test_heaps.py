"""Heaps on which HDF5 would look for ever are refused; others are read."""

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError


def written(path):
    """A file of text as others write it, which lies on a heap."""
    with h5py.File(path, "w") as file:
        file.create_dataset("t", data=["a", "b" * 100], dtype=h5py.string_dtype())
        file.create_dataset("x", data=np.arange(6), chunks=(2,))
        file["x"].dims[0].label = "hit"
        file.attrs["metadata"] = '{"run": 3}'
    return path


def spoilt(path, size):
    """The same, where the free end of a heap has another size."""
    raw = bytearray(written(path).read_bytes())
    heap = raw.find(b"GCOL")
    assert heap > 0
    place = heap + 16
    while raw[place : place + 2] != b"\0\0":
        place += 16 + (int.from_bytes(raw[place + 8 : place + 16], "little") + 7) // 8 * 8
    raw[place + 8 : place + 16] = size.to_bytes(8, "little")
    path.write_bytes(raw)
    return path


def test_text_on_heaps_is_read(tmp_path):
    f = tw.open(written(tmp_path / "a.h5"))
    assert f.metadata == {"run": 3}
    assert f["t"].tolist() == ["a", "b" * 100]
    assert f["x"].shape.names == ("hit",)


@pytest.mark.parametrize("size", [0, 64, 2**64 - 16, 2**63])
def test_a_heap_without_an_end_is_refused(tmp_path, size):
    path = spoilt(tmp_path / "a.h5", size)
    with pytest.raises(DataFileError, match="never ends"):
        tw.open(path)


def test_what_is_written_here_has_no_heap(tmp_path):
    path = tmp_path / "a.h5"
    rows = tw.jagged([[1, 2], [3]])
    tw.save(path, {"g/rows": rows, "x": np.arange(3)}, metadata={"run": 3, "long": "ü" * 100})
    assert b"GCOL" not in path.read_bytes()
    assert tw.open(path).metadata == {"run": 3, "long": "ü" * 100}
    tw.save(path, {"x": np.arange(3)}, metadata={"long": "x" * 61_000})
    assert len(tw.open(path).metadata["long"]) == 61_000
