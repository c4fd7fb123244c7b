"""Files that are open: their first bytes are read once, and small ones are read instead of mapped."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DataFileError, DataFileNotFoundError
from tensorwrapper.store.system._map import FileBytes, FileMap
from tensorwrapper.store.system._system import HEAD_BYTES, OpenedFile

SIZES = [1, 7, HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + 1, 3 * HEAD_BYTES]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("opened"), np.random.default_rng(0)
    for size in SIZES:
        (folder / str(size)).write_bytes(rng.bytes(size))
    return folder


@given(size=st.sampled_from(SIZES), place=st.integers(0, 20_000), count=st.integers(0, 20_000))
def test_bytes_are_those_of_the_file(files, size, place, count):
    path = files / str(size)
    raw = path.read_bytes()
    with OpenedFile(path) as opened:
        assert opened.read_at(place, count) == raw[place : place + count]
        assert opened.read_at(0, 8) == raw[:8]
        assert opened.stream().read() == raw


@pytest.mark.parametrize("size", SIZES)
def test_memory_is_the_file_and_outlives_it(files, size):
    with OpenedFile(files / str(size)) as opened:
        memory = opened.memory()
    assert isinstance(memory, FileBytes if size <= HEAD_BYTES else FileMap)
    assert bytes(memory) == (files / str(size)).read_bytes()
    assert memory.filename == files / str(size)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(DataFileNotFoundError, match="does not exist"):
        OpenedFile(tmp_path / "x")
    with pytest.raises(DataFileError, match="is a folder"):
        OpenedFile(tmp_path)


@pytest.mark.parametrize("kind", ["npy", "safetensors"])
@pytest.mark.parametrize("rows", [3, 3000])
def test_tensors_of_small_files_and_of_larger_ones_hold_no_descriptor_of_a_closed_file(tmp_path, kind, rows):
    path, array = tmp_path / f"x.{kind}", np.arange(4.0 * rows).reshape(rows, 4)
    tw.save(path, {"array": array})
    descriptors = Path("/proc/self/fd")
    before = len([*descriptors.iterdir()]) if descriptors.is_dir() else None
    tensor = tw.open(path)["array"]
    assert tensor.is_readonly
    np.testing.assert_array_equal(np.asarray(tensor), array)
    if before is not None:
        # A map keeps a descriptor of its own.
        assert len([*descriptors.iterdir()]) == before + (path.stat().st_size > HEAD_BYTES)


def test_an_origin_is_of_the_file_that_was_opened(tmp_path):
    path = tmp_path / "x.safetensors"
    tw.save(path, {"x": np.arange(4.0)})
    file = tw.open(path)
    tw.save(tmp_path / "y.safetensors", {"x": np.arange(5.0)})
    (tmp_path / "y.safetensors").replace(path)
    view = tw.selection.as_view(file["x"])[1:]
    # The path has another file by now, which a stored view would refer to instead.
    with pytest.raises(ConversionError, match="was replaced"), tw.open(tmp_path / "v.tens", "w") as out:
        out.append("v", view, keep_view=True)
