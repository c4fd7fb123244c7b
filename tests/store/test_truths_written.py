"""What NumPy takes for true is written as 1: no file, message or server has a bool that a reader refuses."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper import wire
from tensorwrapper.transport.transfer._source import source_of

ODD = np.array([2, 1, 0, 255, 0, 1], np.uint8).view(np.bool_)
RIGHT = bytes([1, 1, 0, 1, 0, 1])
SHAPES = {
    "box": lambda odd: odd,
    "matrix": lambda odd: odd.reshape(2, 3),
    "turned": lambda odd: tw.as_tensor(np.asfortranarray(odd.reshape(2, 3))),
    "strided": lambda odd: tw.as_tensor(np.repeat(odd, 2))[::2],
    "gathered": lambda odd: tw.as_tensor(odd[::-1].copy()).gather(0, [5, 4, 3, 2, 1, 0]),
    "view": lambda odd: sel.concat([odd[:2], odd[2:]]),
    "rows": lambda odd: tw.from_buffer(odd, tw.Shape.jagged([2, 0, 4])),
    "nullable": tw.nullable,
    "tiles": lambda odd: tw.as_tensor(odd.reshape(2, 3)).tiled(tw.Tiling([1, 1], [2, 1])).copy().untiled(),
}
KINDS = ["tens", "npy", "npz", "safetensors", "h5", "zarr", "parquet", "feather", "tar"]


def bytes_of(value):
    found = value.compute() if hasattr(value, "compute") else value
    return np.asarray(found.elements()).tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SHAPES)
def test_in_files(tmp_path, kind, name):
    if name in ("rows", "nullable") and kind in ("npy", "npz", "safetensors", "tar"):
        return
    if name == "nullable" and kind in ("h5", "zarr"):
        return
    path = tmp_path / f"a.{kind}"
    tw.save(path, {"array" if kind == "npy" else "x": SHAPES[name](ODD)})
    with tw.open(path) as f:
        (found,) = f.values()
        assert bytes_of(found) == RIGHT


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("options", [{}, {"compress": "zlib"}, {"checksum": "crc32"}], ids=str)
def test_in_messages(name, options):
    given = SHAPES[name](ODD)
    frames = [bytes(frame) for frame in wire.encode([given, np.arange(3)], **options)]
    assert bytes_of(wire.decode(frames).tensors[0]) == RIGHT


@pytest.mark.parametrize("name", SHAPES)
def test_at_servers(name):
    given = SHAPES[name](ODD)
    with tw.serve({"x": given}) as server, tw.connect(server.address) as remote:
        there = remote["x"]
        assert bytes_of(there) == RIGHT
        if name == "box":
            assert there[[3, 0]].compute().elements().tobytes() == bytes([1, 1])


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "nullable"])
def test_in_transfers(name):
    source = source_of(SHAPES[name](ODD), wire.DEFAULT_LIMITS)
    memory = bytearray(6)
    run = source.view(0, 0, 6)
    if run is None:
        source.gather(0, memoryview(memory))
    assert bytes(memory if run is None else run) == RIGHT


def test_in_rows_that_are_added_and_in_sparse_tensors(tmp_path):
    sparse = tw.sparse([(0,), (2,)], ODD[[0, 3]], (4,))
    with tw.open(tmp_path / "a.tens", "w") as f:
        f.append("x", ODD[:1])
        f.extend("x", ODD[1:])
        f.append("sparse", sparse)
        f.extend("records", {"x": tw.from_buffer(ODD, tw.Shape.jagged([2, 4]))})
    with tw.open(tmp_path / "a.tens") as f:
        assert bytes_of(f["x"]) == RIGHT
        assert f["sparse"].to_dense().tolist() == [True, False, True, False]
        assert bytes_of(f["records.x"]) == RIGHT
    (found,) = wire.decode([bytes(frame) for frame in wire.encode([sparse])]).tensors
    assert found.to_dense().tolist() == [True, False, True, False]
