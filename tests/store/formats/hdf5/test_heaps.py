"""Heaps on which HDF5 would look for ever are refused; others are read.

HDF5 2.0.0 goes on and on where the free end of a heap has the size 0, or one that leads to such a
place: `h5py` then never returns. No such file is here. The walker reads bytes that are no file of HDF5; and
a file has a picture of such a heap among the elements of a dataset, where only the walker takes it for one.
"""

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats.hdf5._heaps import Heaps
from tensorwrapper.store.system._map import map_file

FREE = 80
"""Bytes at the end of the heap that `heap` makes, behind its one object."""


def number(value):
    return value.to_bytes(8, "little")


def heap(free):
    """128 bytes as a heap has them: a head, an object of 5 bytes, and free bytes of the given size."""
    first = b"\1\0\1\0" + bytes(4) + number(5) + b"hello" + bytes(3)
    raw = b"GCOL\1" + bytes(3) + number(128) + first + bytes(8) + number(free)
    return raw.ljust(128, b"\0")


def heaps_of(path, raw):
    path.write_bytes(raw)
    with path.open("rb") as file:
        return Heaps(map_file(file.fileno(), 0, path))


def written(path, elements=b""):
    """A file of text as others write it, which lies on a heap, beside bytes."""
    with h5py.File(path, "w") as file:
        file.create_dataset("t", data=["a", "b" * 100], dtype=h5py.string_dtype())
        file.create_dataset("x", data=np.arange(6), chunks=(2,))
        file["x"].dims[0].label = "hit"
        file.attrs["metadata"] = '{"run": 3}'
        if elements:
            file["bytes"] = np.frombuffer(elements, np.uint8)
    return path


def test_text_on_heaps_is_read(tmp_path):
    f = tw.open(written(tmp_path / "a.h5", b"no heap"))
    assert f.metadata == {"run": 3}
    assert f["t"].tolist() == ["a", "b" * 100]
    assert f["x"].shape.names == ("hit",)


@pytest.mark.parametrize("before", [0, 1, 200])
def test_a_heap_that_ends_is_walked_to_its_end(tmp_path, before):
    heaps_of(tmp_path / "heap", bytes(before) + heap(FREE) + b"behind it").check()


@pytest.mark.parametrize("size", [0, 64, 2**64 - 16, 2**63])
def test_a_heap_without_an_end_is_refused(tmp_path, size):
    for raw in (heap(size), b"before it" + heap(FREE) + heap(size)):
        with pytest.raises(DataFileError, match="never ends"):
            heaps_of(tmp_path / "heap", raw).check()


@pytest.mark.parametrize("end", range(1, 128, 9))
def test_a_heap_that_is_cut_off_is_walked_as_far_as_it_is_there(tmp_path, end):
    heaps_of(tmp_path / "heap", heap(FREE)[:end]).check()


def test_all_heaps_of_a_file_are_walked_before_hdf5_reads_text(tmp_path):
    assert tw.open(written(tmp_path / "a.h5", heap(FREE)))["t"].tolist() == ["a", "b" * 100]
    with pytest.raises(DataFileError, match="never ends"):
        tw.open(written(tmp_path / "b.h5", heap(0)))


def test_what_is_written_here_has_no_heap(tmp_path):
    path = tmp_path / "a.h5"
    rows = tw.jagged([[1, 2], [3]])
    tw.save(path, {"g/rows": rows, "x": np.arange(3)}, metadata={"run": 3, "long": "ü" * 100})
    assert b"GCOL" not in path.read_bytes()
    assert tw.open(path).metadata == {"run": 3, "long": "ü" * 100}
    tw.save(path, {"x": np.arange(3)}, metadata={"long": "x" * 61_000})
    assert len(tw.open(path).metadata["long"]) == 61_000


@pytest.mark.parametrize("kind", [h5py.string_dtype(), h5py.vlen_dtype(np.int32)], ids=str)
def test_heaps_are_walked_before_hdf5_is_asked_anything_of_what_lies_on_them(tmp_path, kind):
    """What fills such a dataset lies there too, and HDF5 reads it with the chunks and the filters."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("t", (2,), kind)
        file["bytes"], file["x"] = np.frombuffer(heap(0), np.uint8), np.arange(3)
    f = tw.open(tmp_path / "a.h5")
    assert (list(f), f["x"].tolist()) == (["bytes", "x"], [0, 1, 2])
    assert [(loss.name, loss.code) for loss in f.losses] == [("t", "damage")]
