"""A stranger's packing in this one file: runs of equal elements, as one element and how often it comes.

Whoever has few distinct neighbours (masks, labels of cells, runs of zeros) sends a fraction of the bytes.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.buffer import Dense
from tensorwrapper.errors import ConversionError, DataFileError, LocalProtocolError
from tensorwrapper.testing import PackingContract
from tensorwrapper.wire.lowlevel import Field, PartReader, PartWriter, WriteOptions, refuse


class RunLength(wire.ElementPacking):
    """``{"lengths": 1, "shape": [..], "version": 1}``: part 1 has the lengths of the runs, as int64."""

    @property
    def name(self):
        return "run-length"

    def pack(
        self,
        tensor: tw.Tensor,
        parts: PartWriter,
        options: WriteOptions,  # noqa: ARG002 - the same whatever was asked for
    ) -> wire.Packed | None:
        if tensor.is_sparse or tensor.dtype.kind not in "biu" or not tensor.size:
            return None
        flat = tensor.elements()
        starts = np.flatnonzero(np.append(True, flat[1:] != flat[:-1]))
        if len(starts) * (8 + flat.itemsize) >= flat.nbytes:
            return None
        lengths = np.diff(np.append(starts, len(flat)))
        return wire.Packed(flat[starts], {"lengths": parts.add_indices(lengths)})

    def unpack(self, received: wire.Received) -> Dense:
        fields, values = received.fields, received.values
        lengths = checked_lengths(fields["lengths"], received.parts, len(values), received.size)
        received.parts.claim(received.size * received.dtype.itemsize, fields)
        return Dense(np.repeat(values, lengths)).as_readonly()


def checked_lengths(field: Field, parts: PartReader, runs: int, size: int) -> np.ndarray:
    lengths = parts.indices(field)
    if len(lengths) != runs:
        refuse("size", f"{field} are {len(lengths)}, for {runs} elements")
    if len(lengths) and not 0 < int(lengths.min()) <= int(lengths.max()) <= size:
        refuse("size", f"{field} leave 1 to {size}")
    # Python integers: what is added up here cannot wrap.
    if sum(lengths.tolist()) != size:
        refuse("size", f"{field} do not add up to {size}")
    return lengths


FLAGS = tw.as_tensor(np.repeat([True, False, True], [500, 300, 200]).reshape(10, 100))


@pytest.fixture
def known():
    wire.register_packing(RunLength())
    yield
    wire.unregister_packing("run-length")


class TestRunLength(PackingContract):
    name = "run-length"

    def tensors(self):
        rows = [np.zeros(200, "<i4"), [], np.ones(300, "<i4")]
        return [FLAGS, FLAGS.permute(1, 0)[:, :3], tw.jagged(rows), FLAGS.astype("<i8")]

    def packing(self):
        return RunLength()


@pytest.mark.usefixtures("known")
def test_it_is_used_where_it_saves_bytes():
    frames = wire.encode([FLAGS, np.zeros(1000, "u1"), np.arange(9), np.zeros(0, "u1")])
    named = [d.get("packing") for d in wire.decode(frames).label_object["TENS"]["tensors"]]

    assert named == ["run-length", "run-length", None, None]
    assert sum(len(bytes(frame)) for frame in frames[2:]) == 3 * 9 + 1 * 9 + 9 * 8
    assert wire.decode(frames).tensors[0].tolist() == FLAGS.tolist()


@pytest.mark.usefixtures("known")
def test_beside_compression_it_is_asked_first():
    frames = wire.encode([FLAGS, np.arange(30_000) % 7], compress="zlib")
    described = wire.decode(frames).label_object["TENS"]["tensors"]

    assert [d["packing"] for d in described] == ["run-length", "zlib"]
    assert [t.tolist() for t in wire.decode(frames).tensors] == [
        FLAGS.tolist(),
        (np.arange(30_000) % 7).tolist(),
    ]


@pytest.mark.usefixtures("known")
def test_a_file_has_it_too(tmp_path):
    path = tmp_path / "flags.tens"
    with tw.open(path, "w") as f:
        f["flags"] = FLAGS
        f["plain"] = [1, 2, 3]
    assert path.stat().st_size < 2 * FLAGS.nbytes
    with tw.open(path) as f:
        assert f["flags"].tolist() == FLAGS.tolist()

    wire.unregister_packing("run-length")
    with tw.open(path) as f:
        assert f["plain"].tolist() == [1, 2, 3]
        with pytest.raises(DataFileError, match=r"record at .* has the packing 'run-length'"):
            f["flags"].tolist()
    wire.register_packing(RunLength())


READER = """
import importlib.util, sys
from tensorwrapper import wire

if sys.argv[2] == "known":
    spec = importlib.util.spec_from_file_location("extension", sys.argv[1])
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    wire.register_packing(extension.RunLength())
message = wire.decode(wire.decode_frames(sys.stdin.buffer.read()))
print(message.tensors[1].tolist(), message.tensors[0].elements().sum())
"""


@pytest.mark.slow
@pytest.mark.usefixtures("known")
def test_a_second_process_reads_it_if_it_knows_it():
    frame = wire.encode_frames(wire.encode([FLAGS, np.arange(3)]))
    ran = {
        word: subprocess.run(
            [sys.executable, "-c", READER, str(Path(__file__)), word],
            input=bytes(frame),
            capture_output=True,
            timeout=120,
            check=False,
        )
        for word in ("known", "unknown")
    }

    assert ran["known"].stdout.decode().split() == ["[0,", "1,", "2]", "700"]
    assert (
        b"RemoteProtocolError: [unsupported] tensors[0] has the packing 'run-length'" in ran["unknown"].stderr
    )


@pytest.mark.usefixtures("known")
def test_a_name_is_taken_once():
    with pytest.raises(LocalProtocolError, match="there is a packing 'run-length' already"):
        wire.register_packing(RunLength())
    with pytest.raises(ConversionError, match="derives from ElementPacking or ShapePacking"):
        wire.register_packing("run-length")
    with pytest.raises(LocalProtocolError, match="no packing 'other' was registered"):
        wire.unregister_packing("other")
    for name in ("", "dense", "shape", "a b", "x" * 65):
        with pytest.raises(LocalProtocolError, match="no packing can have the name"):
            wire.register_packing(type("Odd", (RunLength,), {"name": name})())


def test_what_is_not_registered_changes_nothing():
    frames = wire.encode([FLAGS])

    assert "packing" not in wire.decode(frames).label_object["TENS"]["tensors"][0]
    assert b"run-length" not in b"".join(map(bytes, frames))
