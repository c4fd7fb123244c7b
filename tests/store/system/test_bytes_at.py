"""Bytes at places of a file: all of them, however little the system takes or gives at a time."""

import os

import pytest

from tensorwrapper.store.system import _bytes_at
from tensorwrapper.store.system._bytes_at import lock_for_writing, read_at, size_of, write_at


@pytest.fixture
def file(tmp_path):
    found = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    yield found
    os.close(found)


def test_what_is_written_in_parts_is_read_in_parts(file, monkeypatch):
    write, read = os.pwrite, os.pread
    monkeypatch.setattr(os, "pwrite", lambda f, data, place: write(f, data[:7], place))
    monkeypatch.setattr(os, "pread", lambda f, size, place: read(f, min(size, 5), place))
    monkeypatch.setattr(_bytes_at, "_SMALL", 10)
    write_at(file, 3, [b"ab", b"c" * 20, memoryview(b"de"), b""])

    assert read_at(file, 3, 24) == b"ab" + b"c" * 20 + b"de"
    assert read_at(file, 20, 100) == b"ccccc" + b"de"
    assert read_at(file, 50, 4) == b""
    assert size_of(file) == 27


def test_a_file_has_one_writer(file, tmp_path):
    other = os.open(tmp_path / "file", os.O_RDWR)

    assert lock_for_writing(file)
    assert not lock_for_writing(other)
    os.close(other)
