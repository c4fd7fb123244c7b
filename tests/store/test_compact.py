"""A compacted file has the same tensors in fewer records, and is the old one until it is the new one."""

import os
import tracemalloc

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DataFileError, LocalProtocolError
from tensorwrapper.store import _compact, compact, verify
from tensorwrapper.wire import Limits
from tests.support.store.files import assert_same, tensors_of_every_kind


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def grow(path, **options):
    parts = {
        "box": [np.full((3, 2), k) for k in range(5)],
        "rows": [tw.jagged([[k] * k, [k]]) for k in range(5)],
        "words": [tw.strings([str(k)] * k or [None]) for k in range(5)],
        "few": [tw.sparse([[0, k]], [k + 0.5], (2, 5)) for k in range(5)],
        "origin": [tw.from_buffer(np.arange(2), tw.Shape(1, 2, origin=(4, -1))) for _ in range(3)],
        "once": [np.arange(3)],
    }
    with tw.open(path, "a", metadata={"run": {"deep": [3]}}, **options) as f:
        for k in range(5):
            for name, own in parts.items():
                if k < len(own):
                    f.extend(name, own[k])
        f.append("said", [1], metadata={"unit": {"of": "kg"}}, metadata_depth=3)
    return {name: tw.concat(own) for name, own in parts.items()}


@pytest.mark.parametrize("codec", [None, "zlib"])
@pytest.mark.parametrize("piece_bytes", [2**26, 40])
def test_the_same_tensors_are_there_in_fewer_records(path, codec, piece_bytes):
    wanted = grow(path, compress=codec)
    with tw.open(path) as f:
        names, packings = list(f), [f.describe(name).packing for name in f]
        before = f["box"]
    size = path.stat().st_size
    found = compact(path, piece_bytes=piece_bytes)
    assert found.records == 4 * 5 + 3 + 1 + 1
    assert (found.nbytes, found.nbytes - found.saved) == (size, path.stat().st_size)
    assert verify(path).ok
    with tw.open(path) as f:
        assert (list(f), [f.describe(name).packing for name in f]) == (names, packings)
        assert f.metadata == {"run": {"deep": [3]}}
        assert f.tensor_metadata("said") == {"unit": {"of": "kg"}}
        for name, tensor in wanted.items():
            assert f[name].shape == tensor.shape
            assert f[name].tolist() == tensor.tolist()
        for name in ("box", "rows", "origin", "once"):
            assert isinstance(f[name], tw.Tensor)
        assert isinstance(f["words"], tw.Tensor if piece_bytes > 40 else sel.View)
        assert sum(f.describe(name).pieces for name in f) == found.kept
        assert (found.kept == 7) == (piece_bytes > 40)
    # Who has the old file open keeps it.
    assert before.tolist() == wanted["box"].tolist()
    again = compact(path, piece_bytes=piece_bytes)
    assert (again.records, again.kept, again.saved) == (found.kept, found.kept, 0)


def test_every_kind_of_tensor_stays_what_it_is(path):
    every = tensors_of_every_kind()
    tw.save(path, every | {"told": tw.no_elements({"datatype": "frame"})})
    compact(path)
    with tw.open(path) as f:
        for name, tensor in every.items():
            assert_same(f[name], tensor)
        assert f.tensor_metadata("told") == {"datatype": "frame"}


def test_what_comes_after_it_goes_on(path):
    grow(path)
    compact(path)
    with tw.open(path, "a") as f:
        f.extend("box", [[7, 7]])
        assert len(f["box"]) == 16


def test_memory_is_that_of_a_piece(path):
    with tw.open(path, "a") as f:
        for k in range(64):
            f.extend("x", np.full(2**15, k))
    tracemalloc.start()
    try:
        compact(path, piece_bytes=2**20)
        assert tracemalloc.get_traced_memory()[1] < 6 * 2**20
    finally:
        tracemalloc.stop()
    with tw.open(path) as f:
        assert f.describe("x").pieces == 16
        assert f["x"][:: 2**15].tolist() == list(range(64))


def test_damage_is_not_made_sound(path):
    grow(path)
    raw = bytearray(path.read_bytes())
    place = raw.index(np.full((3, 2), 2).tobytes())
    raw[place] ^= 1
    path.write_bytes(raw)
    with pytest.raises(DataFileError, match=r"is not compacted: the record at .* checksum"):
        compact(path)
    path.write_bytes(raw[:-1000])
    with pytest.raises(DataFileError, match="is not compacted"):
        compact(path)
    assert path.read_bytes() == raw[:-1000]
    assert [own.name for own in path.parent.iterdir()] == [path.name]


def test_a_writer_and_a_compaction_keep_each_other_out(path, monkeypatch):
    grow(path)
    with tw.open(path, "a"), pytest.raises(DataFileError, match="being written by another process"):
        compact(path)
    real = _compact._copy

    def meanwhile(*arguments):
        with pytest.raises(DataFileError, match="being written by another process"):
            tw.open(path, "a")
        return real(*arguments)

    monkeypatch.setattr(_compact, "_copy", meanwhile)
    compact(path)
    with tw.open(path, "a") as f:
        f.extend("box", [[1, 1]])


def test_a_file_that_grew_or_went_since_it_was_opened_is_left_alone(path):
    grow(path)
    with tw.open(path) as f:
        with tw.open(path, "a") as other:
            other.extend("box", [[1, 1]])
        with pytest.raises(DataFileError, match="written to or replaced"):
            f._lock()
    with tw.open(path) as f:
        path.rename(path.with_name("elsewhere.tens"))
        with pytest.raises(DataFileError, match="written to or replaced"):
            f._lock()
    with pytest.raises(DataFileError, match="No such file"):
        compact(path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="dies in a child of fork")
def test_a_compaction_that_dies_leaves_the_old_file(path):
    grow(path)
    raw = path.read_bytes()
    child = os.fork()
    if not child:
        _compact._count = lambda _: os._exit(9)
        compact(path)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert path.read_bytes() == raw
    assert compact(path).saved > 0


def test_limits_are_those_of_the_reader(path):
    raised = Limits(extent=2**40)
    with tw.open(path, "a", limits=raised) as f:
        for _ in range(2):
            f.extend("x", tw.sparse([[0, 5]], [1.0], (1, 2**39)))
    with pytest.raises((DataFileError, LocalProtocolError), match="extent"):
        compact(path)
    assert compact(path, limits=raised).kept == 1


def test_conversions_take_what_grew(path):
    grow(path)
    with tw.open(path) as f:
        wanted = {name: f[name].tolist() for name in f}
    tw.store.convert(path, path.with_name("copy.tens"))
    with tw.open(path.with_name("copy.tens")) as f:
        assert {name: f[name].tolist() for name in f} == wanted
        assert all(isinstance(f[name], tw.Tensor) for name in f)
    with tw.open(path.with_name("one.tens"), "a") as f:
        f.extend("x", [1.0])
        f.extend("x", [2.0])
    for end in (".npy", ".npz", ".safetensors"):
        tw.store.convert(path.with_name("one.tens"), path.with_name("one" + end))
    assert np.load(path.with_name("one.npy")).tolist() == [1.0, 2.0]


def test_save_takes_what_grew(path):
    grow(path)
    with tw.open(path) as f:
        tw.save(path.with_name("copy.tens"), f)
        with tw.open(path.with_name("copy.tens")) as copy:
            assert {name: copy[name].tolist() for name in copy} == {name: f[name].tolist() for name in f}


@pytest.mark.parametrize("made", ["saved", "compacted"])
def test_a_symmetric_tensor_is_one_record_of_any_size(tmp_path, made):
    path, s = tmp_path / "a.tens", tw.from_packed(np.arange(6.0), "s2", (3, 3))
    tw.save(path, {"s": s, "part": s[1:, 1:], "line": s[0]}, piece_bytes=16 if made == "saved" else 10**9)
    if made == "compacted":
        compact(path, piece_bytes=16)
    with tw.open(path) as f:
        assert [str(f[name].symmetry) for name in ("s", "part")] == [str(s.symmetry)] * 2
        assert f["s"].packed_values().tolist() == s.packed_values().tolist()
        assert [f[name].tolist() for name in f] == [s.tolist(), s[1:, 1:].tolist(), s[0].tolist()]
