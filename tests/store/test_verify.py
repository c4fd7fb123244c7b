"""`verify` reads every byte: whatever is changed in a file is told."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def test_a_sound_file_has_no_problems(path):
    tw.save(
        path, {"x": np.arange(100), "rows": tw.jagged([[1], [2, 3]])}, metadata={"run": 3}, piece_bytes=80
    )
    found = tw.store.verify(path)

    assert (found.ok, found.tensors, found.indexed, found.problems) == (True, 2, True, ())
    assert found.records == 1 + 10 + 1 + 1
    assert found.nbytes == path.stat().st_size


def test_a_file_without_its_index_is_sound(path):
    with tw.open(path, "a") as f:
        f["x"] = [1]
        found = tw.store.verify(path)

    assert (found.ok, found.tensors, found.indexed) == (True, 1, False)


@pytest.mark.slow
def test_every_byte_that_is_changed_is_told(path):
    tw.save(path, {"x": np.arange(3)})
    raw = bytearray(path.read_bytes())
    for place in range(len(raw)):
        raw[place] ^= 1
        path.write_bytes(raw)
        try:
            assert not tw.store.verify(path).ok, place
        except DataFileError:
            assert place < 8, place
        raw[place] ^= 1


def test_damage_in_the_middle_leaves_the_others_readable(path):
    tw.save(path, {"a": np.arange(3), "b": np.arange(2.0), "c": [7]})
    with tw.open(path) as f:
        start = f.describe("b").start
    raw = bytearray(path.read_bytes())
    raw[start + 9] ^= 1
    path.write_bytes(raw)
    found = tw.store.verify(path)

    assert found.tensors == 2
    assert found.problems[0] == f"the record at {start} has a header with a wrong checksum"
    with tw.open(path) as f:
        assert (f["a"].tolist(), f["c"].tolist()) == ([0, 1, 2], [7])
        with pytest.raises(DataFileError, match="checksum"):
            f["b"]


def test_an_unfinished_record_is_told(path):
    tw.save(path, {"a": np.arange(3)})
    with path.open("ab") as stream:
        stream.write(b"\x89TEN")
    found = tw.store.verify(path)

    assert (found.tensors, found.indexed) == (1, False)
    assert "is truncated after 4 of the 32 bytes of its header" in found.problems[0]


def test_a_file_that_is_not_there_or_of_another_kind(path):
    with pytest.raises(DataFileError, match="No such file"):
        tw.store.verify(path)
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(DataFileError, match=r"is not a \.tens file"):
        tw.store.verify(path)


def test_it_tells_how_far_it_is(path):
    tw.save(path, {"a": np.arange(3), "b": np.arange(300)})
    told = []

    assert tw.store.verify(path, progress=lambda *now: told.append(now)).ok
    assert told == sorted(told)
    assert told[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_file_without_a_byte_is_none(tmp_path):
    (tmp_path / "a.tens").touch()
    with pytest.raises(DataFileError, match="is empty"):
        tw.store.verify(tmp_path / "a.tens")
    tw.save(tmp_path / "b.tens", {})
    assert tw.store.verify(tmp_path / "b.tens").ok
