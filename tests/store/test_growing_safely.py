"""Tensors that grow when the writer dies, the file is another's, or there are very many records."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import DataFileError, TensorWrapperError
from tensorwrapper.store import verify
from tensorwrapper.store.records._directory import Directory
from tensorwrapper.store.records._index_rows import Place, pack_rows
from tensorwrapper.store.records._read_tail import hashes_of
from tensorwrapper.store.records._record import encode_index, encode_tensor
from tensorwrapper.store.system import _bytes_at
from tests.support.store.grown_files import TWO, crafted, grown_in_steps, record, whole


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def kept(ends, size):
    counts = {name: sum(end <= size for end in own) for name, own in ends.items()}
    return {name: whole(name, count) for name, count in counts.items() if count}


@pytest.mark.slow
def test_a_file_cut_off_at_any_byte_has_all_extensions_before_it(path):
    raw, ends = grown_in_steps(path)
    read = None
    for size in range(8, len(raw) + 1, 8):  # without a byte it is no such file
        path.write_bytes(raw[:size])
        wanted = kept(ends, size)
        if wanted != read:
            with tw.open(path) as f:
                assert {name: f[name].tolist() for name in f} == wanted
                read = wanted


@pytest.mark.slow
def test_a_file_cut_off_at_any_byte_grows_on(path):
    raw, ends = grown_in_steps(path)
    for size in range(0, len(raw) + 1, 211):
        path.write_bytes(raw[:size])
        wanted = kept(ends, size)
        with tw.open(path, "a", piece_bytes=32) as f:
            f.extend("x", [7])
            f.extend("cut", np.full((3, 2), 8))
        wanted["x"] = [*wanted.get("x", []), 7]
        wanted["cut"] = [*wanted.get("cut", []), [8, 8], [8, 8], [8, 8]]
        with tw.open(path) as f:
            assert {name: f[name].tolist() for name in f} == wanted
        assert verify(path).ok


WRITER = """
    import sys
    import numpy as np
    import tensorwrapper as tw

    with tw.open(sys.argv[1], "a") as f:
        k = len(f["x"]) if "x" in f else 0
        while True:
            f.extend("x", np.arange(k, k + k % 5 + 1))
            k += k % 5 + 1
            if k % 7 == 0:
                f.flush()
            print(k, flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_writer_that_is_killed_loses_at_most_the_unfinished_extension(path):
    for round_ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITER), str(path)], stdout=subprocess.PIPE, text=True
        )
        with process:
            for _ in range(30 + 41 * round_):
                said = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            process.stdout.read()
        with tw.open(path) as f:
            assert len(f["x"]) >= said
            assert f["x"].tolist() == list(range(len(f["x"])))


class Work:
    """Counts what is read and written, and how many records are opened."""

    def __init__(self, monkeypatch):
        self.read = self.written = 0
        for name in ("pread", "write"):
            monkeypatch.setattr(_bytes_at.os, name, self.counted(name, getattr(_bytes_at.os, name)))

    def counted(self, name, real):
        def call(*arguments):
            done = real(*arguments)
            if name == "write":
                self.written += done
            else:
                self.read += len(done)
            return done

        return call


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, 3000])
def test_an_extension_costs_the_same_however_many_there_are(path, monkeypatch, count):
    with tw.open(path, "a") as f:
        for k in range(count):
            f.extend("x", [k])
        work = Work(monkeypatch)
        f.extend("x", [count])
        assert work.read == 0
        assert work.written < 1000
        monkeypatch.undo()
    work = Work(monkeypatch)
    with tw.open(path, "a") as f:
        # All are in one index, which is read once; the records are not.
        before = work.read
        f.extend("x", [count + 1])
        first = work.read - before
        f.extend("x", [count + 2])
        assert work.read - before == first
    # 44 bytes of a row, 9 of its name and number, and what an index has besides.
    assert work.read < 53 * count + 20_000
    monkeypatch.undo()
    with tw.open(path) as f:
        assert f["x"].tolist() == list(range(count + 3))


@pytest.mark.slow
def test_extending_in_a_file_that_is_opened_each_time_costs_little_each(path, monkeypatch):
    with tw.open(path, "a") as f:
        for k in range(2000):
            f.extend("x", [k])
            f.extend("y", [k])
    work = Work(monkeypatch)
    for k in range(2000, 2100):
        with tw.open(path, "a") as f:
            f.extend("x", [k])
            # The one large index was read the first time; the rest is small.
            assert k == 2000 or f._directory._find is not None
    assert work.written < 100 * 4000
    assert work.read < 300_000 + 100 * 25_000
    monkeypatch.undo()
    with tw.open(path) as f:
        assert f["x"].tolist() == list(range(2100))


def test_the_shape_of_a_box_needs_its_first_record_and_its_last(path):
    with tw.open(path, "a") as f:
        for k in range(50):
            f.extend("x", np.full((k % 3 + 1, 2), k))
    with tw.open(path) as f:
        view = f["x"]
        records = view._expression.node.tensor.buffer.records
        assert view.shape == tw.Shape(sum(k % 3 + 1 for k in range(50)), 2)
        assert list(records._opened) == [49]
        assert view[10:12].tolist() == [[5, 5], [5, 5]]
        assert sorted(records._opened) == [5, 49]


BOX = np.zeros((2, 3))


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        ([(TWO, None), (TWO, 3)], "at row 3, which has 2 rows before it"),
        ([(TWO, None), (TWO, 0)], "at row 0, which has 2 rows before it"),
        ([(TWO, None), (TWO, 2), (TWO, 5)], "has 2 rows instead of 3"),
        ([(TWO, None), (TWO, 2), (TWO, 3)], "has 2 rows instead of 1"),
        ([(TWO, None), (TWO, 2), (TWO, 2**61)], "has 2 rows instead of 2305843009213693950"),
        ([(TWO, None), (TWO, 2), (TWO, 2**62)], "over"),
        ([(TWO, None), (np.arange(2.0), 2)], "has elements float64, but the tensor int64"),
        ([(TWO, None), (np.array(5), 2)], "which has 2 rows before it"),
        ([(np.array(5), None), (TWO, 1)], "which has 0 rows before it"),
        ([(BOX, None), (np.zeros((2, 4)), 2)], "which cannot extend"),
        ([(BOX, None), (np.zeros(2), 2)], "which cannot extend"),
        ([(BOX, None), (tw.jagged([[1.0], [2.0, 3.0]]), 2)], "which cannot extend"),
        ([(TWO, None), (tw.sparse([[0]], [1], (2,)), 2)], "has elements"),
        ([(TWO, None), (tw.strings(["a", "b"]), 2)], "has elements"),
        ([(tw.jagged([[1]]), None), (tw.jagged([[[1]]]), 1)], "do not match"),
        (
            [(tw.jagged([[1]]), None), (tw.jagged([[1], [2]]), 1), (tw.jagged([[1]]), 2)],
            "has 2 rows instead of 1",
        ),
        ([(tw.strings(["a"]), None), (tw.strings([b"a"]), 1)], "has elements object"),
        ([(tw.strings(["a"]), None), (TWO[:1], 1)], "has elements int64"),
        ([(tw.sparse([[0]], [1], (2,)), None), (TWO, 2)], "has elements int64, but the tensor int64 with"),
        (
            [(tw.sparse([[0]], [1], (2,)), None), (tw.sparse([[0]], [1], (2,), fill_value=3), 2)],
            "with the fill 3",
        ),
        (
            [(np.zeros((2, 0)), None), (np.zeros((3, 0)), 2), (np.zeros((2, 0)), 2**40)],
            "instead of",
        ),
    ],
)
@pytest.mark.parametrize("indexed", [False, True])
def test_records_that_do_not_fit_are_refused_when_they_are_first_used(path, tensors, said, indexed):
    crafted(path, tensors, [after for _, after in tensors] if indexed else None)
    with tw.open(path) as f:
        with pytest.raises(DataFileError, match=said):
            f["x"].compute()
        assert list(f) == ["x"]
    assert any("'x' cannot be read" in problem for problem in verify(path).problems)


def test_an_index_that_lies_about_rows_is_found_when_the_record_is_opened(path):
    crafted(path, [(TWO, None), (TWO, 2), (TWO, 4)], [None, 2, 3])
    with tw.open(path) as f, pytest.raises(DataFileError, match="has the facts"):
        f["x"].compute()


def test_claims_are_compared_with_bytes_before_memory_is_taken(path):
    crafted(path, [(TWO, None), (TWO, 2), (TWO, 2**50)])
    tracemalloc.start()
    try:
        with tw.open(path) as f, pytest.raises(DataFileError, match="instead of"):
            f["x"]
        assert tracemalloc.get_traced_memory()[1] < 2**21
    finally:
        tracemalloc.stop()


def test_a_damaged_record_in_the_middle_costs_its_own_rows(path):
    with tw.open(path, "a") as f:
        for k in range(5):
            f.extend("x", [k, k])
        (_, place, *_), *_ = f._directory.extensions["x"][2:]
    raw = bytearray(path.read_bytes())
    raw[place.start + 20] ^= 1
    path.write_bytes(raw)
    with tw.open(path) as f:
        assert f["x"][:6].tolist() == [0, 0, 1, 1, 2, 2]
        assert f["x"][8:].tolist() == [4, 4]
        with pytest.raises(DataFileError, match="header with a wrong checksum"):
            f["x"].compute()
    assert not verify(path).ok


@pytest.mark.slow
def test_very_many_records_of_one_name_cost_what_their_bytes_do(path):
    body = record(encode_tensor(TWO, "x"))
    count = 8_000
    more = record(encode_tensor(TWO, "x", extends=2))  # and the index says otherwise
    rows = [("x", Place(0, len(body) - 32), 0, 1, None)]
    rows += [("x", Place(len(body) + k * len(more), len(more) - 32), 0, 1, 2 + k) for k in range(count)]
    table, names, grown = pack_rows(rows)
    raw = body + more * count
    path.write_bytes(
        raw + record(encode_index(table, names, None, len(raw), hashes=hashes_of(rows), grown=grown))
    )
    tracemalloc.start()
    try:
        with tw.open(path) as f, pytest.raises(DataFileError, match="has the facts"):
            f["x"].compute()
        assert tracemalloc.get_traced_memory()[1] < 20 * len(raw)
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_spoilt_files_that_grew_are_read_or_refused(path):
    raw, _ = grown_in_steps(path)
    rng = random.Random(5)
    accepted = 0
    for _ in range(int(os.environ.get("TRIES", "60"))):
        spoilt = bytearray(raw)
        place = rng.randrange(len(spoilt))
        if rng.random() < 0.5:
            spoilt[place] ^= 1 << rng.randrange(8)
        else:
            at = raw.index(b'"extends":', rng.randrange(len(raw) // 3)) + 10
            spoilt[at] = rng.randrange(48, 58)
        path.write_bytes(spoilt)
        with contextlib.suppress(TensorWrapperError), tw.open(path) as f:
            for name in f:
                with contextlib.suppress(TensorWrapperError):
                    assert f[name].tolist() is not None
                    f.describe(name)
            accepted += 1
        with contextlib.suppress(TensorWrapperError):
            verify(path)
        with contextlib.suppress(TensorWrapperError), tw.open(path, "a") as f:
            f.extend("x", [1])
    assert accepted


def test_what_a_reader_of_messages_sees_of_a_record_is_its_rows(path):
    with tw.open(path, "a") as f:
        f.extend("x", [[1, 2]])
        f.extend("x", [[3, 4], [5, 6]])
        (_, place, *_) = f._directory.newest("x")
    body = path.read_bytes()[place.start + 32 : place.stop]
    message = wire.decode(wire.decode_frames(body))
    assert message.tensors[0].tolist() == [[3, 4], [5, 6]]
    assert message.label_object["record"] == {"kind": "tensor", "name": "x", "extends": 1}


@pytest.mark.parametrize("mode", ["a", "w"])
def test_after_an_interrupted_write_nothing_more_is_written_and_nothing_is_lost(path, monkeypatch, mode):
    tw.save(path, {"a": [1]})
    take = Directory.take

    def interrupted(*_):
        monkeypatch.setattr(Directory, "take", take)
        raise KeyboardInterrupt

    f = tw.open(path, mode)
    f["b"] = [1, 2]
    monkeypatch.setattr(Directory, "take", interrupted)
    with pytest.raises(KeyboardInterrupt):
        f["c"] = [3]
    with pytest.raises(DataFileError, match="open it again to continue"):
        f["d"] = [4]
    if mode == "a":
        f.close()
        # The record was written before the exception came.
        expected = {"a": [1], "b": [1, 2], "c": [3]}
    else:
        with pytest.raises(DataFileError, match="the old file is kept"):
            f.close()
        expected = {"a": [1]}
    with tw.open(path, "a") as f:
        f["d"] = [4]
    with tw.open(path) as f:
        assert {name: tensor.tolist() for name, tensor in f.items()} == {**expected, "d": [4]}
    assert verify(path).ok
