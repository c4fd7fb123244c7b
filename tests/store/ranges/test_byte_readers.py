"""Doors: what they call the file, and which versions they tell apart."""

import io
import os

import pytest

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.ranges._byte_readers import FileObjectReader, FsspecReader, MemoryReader, PathReader


def test_a_path_has_another_version_when_it_was_written_to(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"abc")
    before = PathReader(path).version
    os.utime(path, ns=(5, 5))
    assert PathReader(path).version != before


def test_only_regular_files_have_ranges(tmp_path):
    with pytest.raises(DataFileError, match="is a folder"):
        PathReader(tmp_path)
    with pytest.raises(DataFileError, match="cannot open"):
        PathReader(tmp_path / "none")


def test_an_open_file_that_is_closed_since_says_so():
    file = io.BytesIO(b"abc")
    door = FileObjectReader(file)
    file.close()
    with pytest.raises(DataFileError, match="cannot read"):
        door.fetch([(0, 1)])


def test_memory_is_not_copied_when_it_is_opened():
    raw = bytearray(b"abc")
    door = MemoryReader(raw, "<memory>")
    raw[0:1] = b"x"
    assert door.fetch([(0, 2)]) == [b"xb"]


def test_file_systems_of_fsspec_say_what_is_missing():
    pytest.importorskip("fsspec")
    with pytest.raises(DataFileError, match="memory://none does not exist"):
        FsspecReader("memory://none", "memory://none")
    with pytest.raises(DataFileError, match="cannot open"):
        FsspecReader("nobody-knows-this://x", "nobody-knows-this://x")
