"""Appending to a file costs the same however much is in it: bytes and calls are counted, not seconds."""

import zlib

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, TensorNameError
from tensorwrapper.store import verify
from tensorwrapper.store.records import _read_tail
from tensorwrapper.store.system import _bytes_at


class Work:
    """Counts calls that read and write, and their bytes."""

    def __init__(self, monkeypatch):
        self.calls = self.nbytes = 0
        for name in ("pread", "pwrite"):
            monkeypatch.setattr(_bytes_at.os, name, self.counted(getattr(_bytes_at.os, name)))

    def counted(self, real):
        def call(*arguments):
            done = real(*arguments)
            self.calls += 1
            self.nbytes += done if isinstance(done, int) else len(done)
            return done

        return call


def filled(path, count):
    with tw.open(path, "w") as f:
        for k in range(count):
            f[f"tensor {k}"] = np.arange(2)
    return path


@pytest.mark.parametrize("count", [1_000, 10_000])
def test_section_5_one_append_costs_the_same_in_a_file_of_any_size(count, tmp_path, monkeypatch):
    path = filled(tmp_path / "run.tens", count)
    work = Work(monkeypatch)
    with tw.open(path, "a") as f:
        assert "tensor 7" not in f._directory._entries
        f["new"] = np.arange(2)
    assert work.calls < 60
    assert work.nbytes < 25_000
    monkeypatch.undo()
    with tw.open(path) as f:
        assert len(f) == count + 1
        assert f["new"].tolist() == [0, 1]
    assert verify(path).ok


def test_section_5_many_appends_one_by_one_cost_little_each(tmp_path, monkeypatch):
    path = filled(tmp_path / "run.tens", 3_000)
    work = Work(monkeypatch)
    most = 0
    for k in range(300):
        before = work.nbytes
        with tw.open(path, "a") as f:
            f[f"new {k}"] = [k]
        most = max(most, work.nbytes - before)
    # An index of n rows is merged into one of 2 n: log n rows an append, in the mean.
    assert work.nbytes < 300 * 30_000
    assert work.calls < 300 * 150
    monkeypatch.undo()
    with tw.open(path) as f:
        assert len(f) == 3_300
        assert len(f._directory.chain) < 15
        assert [f[f"new {k}"].tolist() for k in (0, 150, 299)] == [[0], [150], [299]]
    assert verify(path).ok


def test_section_5_names_that_are_taken_are_refused_all_the_same(tmp_path):
    path = filled(tmp_path / "run.tens", 3_000)
    with tw.open(path, "a") as f:
        f["more"] = [1]
    for name in ("tensor 0", "tensor 1537", "tensor 2999", "more"):
        with tw.open(path, "a") as f:
            assert name in f
            with pytest.raises(TensorNameError, match="is taken"):
                f[name] = [1]
            assert f[name].size
    with tw.open(path, "a") as f:
        assert "nothing" not in f
        assert 5 not in f
        f["mine"] = [1]
        with pytest.raises(TensorNameError):
            f["mine"] = [2]
        # What was not read is read when it is asked for.
        assert len(f) == 3_002
        assert f.metadata == {}
        assert f["tensor 5"].tolist() == [0, 1]
    with tw.open(path) as f:
        assert [*f][-2:] == ["more", "mine"]


def test_names_with_one_number_are_two_names(tmp_path):
    # CRC-32 of these is the same.
    first, second = "plumless", "buckeroo"
    assert zlib.crc32(first.encode()) == zlib.crc32(second.encode())
    path = tmp_path / "run.tens"
    tw.save(path, {first: [1]})
    with tw.open(path, "a") as f:
        assert second not in f
        f[second] = [2]
    with tw.open(path) as f:
        assert (f[first].tolist(), f[second].tolist()) == ([1], [2])


@pytest.mark.parametrize("count", [0, 1, 5, 1023, 1024, 1025, 5000])
def test_every_name_is_found(count):
    rows = [(f"n{k}", None, 0, 1) for k in range(count)]
    numbers = _read_tail.hashes_of(rows)
    raw = numbers.tobytes()
    segment = _read_tail._Segment(0, count, 0, len(numbers))

    def has(name):
        return _read_tail._has(
            lambda place, size: raw[place : place + size], segment, zlib.crc32(name.encode())
        )

    assert all(has(name) for name, *_ in rows)
    assert not any(has(f"m{k}") for k in range(200))


def test_a_damaged_index_in_the_chain_costs_nothing_that_was_there(tmp_path):
    path = filled(tmp_path / "run.tens", 40)
    with tw.open(path, "a") as f:
        f["second"] = [2]
    raw = path.read_bytes()
    with tw.open(path) as f:
        names, chain = list(f), [start for start, _ in f._directory.chain]
    rng = np.random.default_rng(2)
    for _ in range(150):
        spoilt = bytearray(raw)
        start = int(rng.choice(chain))
        end = raw.index(b"TENSEND\n", start)
        spoilt[rng.integers(start, end)] ^= 1 << int(rng.integers(8))
        path.write_bytes(spoilt)
        try:
            with tw.open(path, "a") as f:
                f["new"] = [3]
        except DataFileError:
            # Refused for what it would cut off.
            assert path.read_bytes() == spoilt
            continue
        with tw.open(path) as f:
            assert list(f) == [*names, "new"]
            assert f["new"].tolist() == [3]
