"""Targets that read TENS: frames, single frames, streams, files."""

import atexit
import contextlib
import os
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper.errors import DataFileError, RemoteProtocolError, TensorWrapperError
from tensorwrapper.selection import View
from tensorwrapper.store.records._checksum import checksum_of, choose
from tensorwrapper.store.records._format import pack_header
from tests.fuzz.mutate import mutate_bytes, mutate_frames, mutate_text, pack, unpack
from tests.fuzz.target import Target
from tests.support.store.files import tensors_of_every_kind
from tests.support.wire.golden import CPP, PY

LIMITS = wire.Limits(decompressed_bytes=2**24, received_bytes=2**24)


def seal(raw: bytes) -> bytes:
    """Return the bytes of a `.tens` file, the checksums of all records made to fit."""
    spoilt, place = bytearray(raw), 0
    while place + 32 <= len(spoilt):
        length = int.from_bytes(spoilt[place + 8 : place + 16], "little")
        if place + 32 + length > len(spoilt):
            break
        body = bytes(spoilt[place + 32 : place + 32 + length])
        algorithm = choose(length)
        spoilt[place : place + 32] = pack_header(length, algorithm, checksum_of([body], algorithm))
        place += 32 + length
    return bytes(spoilt)


def mutate_records(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change bytes, lines of 64 bytes, or letters of a label, then mostly the checksums: as attackers do."""
    how = rng.randrange(4)
    if how == 0 and len(data) >= 64:
        spoilt = bytearray(data)
        place, other = (rng.randrange(len(data)) // 64 * 64 for _ in range(2))
        spoilt[place : place + 64] = data[other : other + 64] if rng.random() < 0.7 else b""
        data = bytes(spoilt)
    elif how == 1 and b"{" in data:
        begins = [k for k, byte in enumerate(data) if byte == ord("{")]
        begin = rng.choice(begins)
        end = max(data.find(b"\0", begin), begin + 1)
        label = mutate_text(data[begin:end], rng, donor[:100])
        # The record keeps its length: what stands behind the label is cut off or filled.
        data = data[:begin] + label[: end - begin].ljust(end - begin) + data[end:]
    else:
        data = mutate_bytes(data, rng, donor)
    return seal(data) if rng.random() < 0.6 else data


EVENTS = tw.records(
    {
        "t": tw.jagged([[5, 1, 7], [], [2, 9]]),
        "q": tw.jagged([[0.5, 1.5, 2.5], [], [3.5, 4.5]]),
        "run": [10, 20, 30],
    }
)


@cache
def samples() -> list[list[bytes]]:
    """Return messages that exercise every packing, codec, checksum and kind of shape."""
    found = [
        [bytes.fromhex(f) for f in case["frames"]]
        for case in [*CPP.values(), *PY.values()]
        if "frames" in case
    ]
    a = np.arange(200, dtype="<i4").reshape(20, 10)
    rows = tw.from_buffer(np.arange(30.0), Shape.jagged([Shape(10), Shape(0), Shape(20)]))
    words = tw.strings([["a", None], ["bc", "d"]])
    found += [wire.encode([tensor], metadata={"run": 1}) for tensor in tensors_of_every_kind().values()]
    triangle = Shape.triangular(4)
    found.append(wire.encode([tw.from_buffer(np.arange(triangle.size), triangle)]))
    nested = Shape.from_layers(Shape(2), Shape(3, 2))
    found.append(wire.encode([tw.from_buffer(np.arange(12), nested)]))
    three = [a, rows, tw.as_tensor(a).tiled(Tiling([5, 15], [5, 5]))]
    found += [wire.encode(three, compress=codec) for codec in ("zlib", "zstd", "blosc2")]
    found.append(wire.encode([words, a], checksum="crc32"))
    found.append(wire.encode([tw.strings([["a"], [], ["bc", "d"]]), a], strings="tf_string", checksum="xxh3"))
    found.append(wire.encode([tw.sparse([(1, 1)], [1], Shape.jagged([1, 2])), a[:2]], parts=[1, 0]))
    found.append(wire.encode([*wire.split_blocks(a, "x", max_bytes=200)], compress="zlib"))
    found.append(wire.encode([EVENTS, a], metadata={"run": 1}))
    found.append(wire.encode([tw.records({"x": a, "n": np.arange(20)}), EVENTS[:1]], compress="zlib"))
    for tensor in [*tensors_of_every_kind().values(), words, tw.from_buffer(np.arange(12), nested)]:
        found.append(
            wire.encode([*wire.split_blocks(tensor, "x"), *wire.split_blocks(tensor, "y", max_bytes=32)])
        )
    return [[bytes(frame) for frame in frames] for frames in found]


def use_message(message: wire.Message) -> None:
    """Touch all that a message holds; what was let through must hold what it says."""
    for place in range(len(message.tensors)):
        with contextlib.suppress(RemoteProtocolError):
            use_tensor(message.tensors[place])
    for place in range(len(message.records)):
        with contextlib.suppress(RemoteProtocolError):
            records = message.records[place]
            wire.decode(wire.encode([records])).records[0].array_equal(records)
    with contextlib.suppress(TensorWrapperError):
        wire.decode(wire.encode(message.tensors))
    for tensor in wire.Assembler(2**20, 1).add(message).values():
        repr(tensor)
        tensor = tensor.compute() if isinstance(tensor, View) else tensor  # noqa: PLW2901 - a file that grew
        assert tensor.is_sparse or len(tensor.elements()) == tensor.size


def use_tensor(tensor: tw.Tensor, *, as_file: bool = True) -> None:
    repr(tensor)
    hash(tensor.shape)
    computed = isinstance(tensor, View)
    tensor = tensor.compute() if computed else tensor
    if tensor.is_sparse:
        assert len(tensor.coords()) == len(tensor.values()) == tensor.nnz
        return
    assert len(tensor.elements()) == tensor.size
    assert computed or not as_file or tensor.is_readonly
    if 0 < tensor.size < 1000:
        last = tensor.shape.index(tensor.size - 1)
        assert tensor.shape.ordinal(last) == tensor.size - 1
        tensor.tolist()


def _stream(data: bytes) -> list[wire.Message]:
    reader, found, place = wire.StreamReader(limits=LIMITS), [], 1
    step = (1, 7, 100, 10_000)[data[0] % 4] if data else 1
    while place < len(data):
        reader.feed(data[place : place + step])
        found += reader.messages()
        place += step
    return found


def _each(messages: list[wire.Message]) -> None:
    for message in messages:
        use_message(message)


@cache
def _folder() -> Path:
    # In memory where that is: thousands of files a second are no work for a disk.
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="tens-fuzz-", dir=shared if shared.is_dir() else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def file_of(data: bytes, name: str) -> Path:
    """Return a file that holds these bytes; each process has one of each name."""
    path = _folder() / f"{os.getpid()}{name}"
    path.write_bytes(data)
    return path


def _read_file(data: bytes) -> Path:
    path = file_of(data, ".tens")
    with tw.open(path, limits=LIMITS) as f:
        assert isinstance(f.metadata, dict)
        for name in f:
            f.describe(name)
            f.tensor_metadata(name)
            # Elements that are compressed are checked when they are touched.
            with contextlib.suppress(DataFileError, RemoteProtocolError):
                use_tensor(f[name])
        for name in f.record_fields:
            with contextlib.suppress(DataFileError, RemoteProtocolError):
                f.records(name).compute()
    return path


def _use_file(path: Path) -> None:
    with contextlib.suppress(TensorWrapperError):
        tw.store.verify(path)
    with tw.open(path, "a", limits=LIMITS) as f:
        f["a new one"] = [1]
        assert f["a new one"].tolist() == [1]
        for name in ("x", "rows", "words", "a"):
            with contextlib.suppress(TensorWrapperError):
                f.extend(name, f[name])
                f[name].tolist()
        with contextlib.suppress(TensorWrapperError):
            f.extend("ev", f.records("ev"))
            f.records("ev").to_dict()
    with contextlib.suppress(TensorWrapperError):
        tw.store.compact(path, limits=LIMITS)


def _files() -> list[bytes]:
    path = file_of(b"", "s.tens")
    path.unlink()
    with tw.open(path, "a", metadata={"run": 3}, piece_bytes=64) as f:
        f["a"] = np.arange(6, dtype="f4").reshape(2, 3)
        f["rows"] = tw.jagged([[1, 2, 3], [], [4]])
        f.flush()
        f["cut"] = np.arange(20).reshape(10, 2)
    found = [path.read_bytes()]
    path.unlink()
    for name, tensor in tensors_of_every_kind().items():
        tw.save(path, {name: tensor})
        found.append(path.read_bytes())
    with tw.open(path, "w", compress="zlib") as f:
        f["z"] = np.arange(500)
    found.append(path.read_bytes())
    path.unlink()
    with tw.open(path, "a", piece_bytes=64) as f:
        for k in range(3):
            f.extend("x", np.full((6, 2), k))
            f.extend("rows", tw.jagged([[k], [k, k]]))
            f.extend("words", tw.strings(["a" * k]))
    found.append(path.read_bytes())
    path.unlink()
    for piece_bytes in (2**20, 64):
        with tw.open(path, "a", piece_bytes=piece_bytes) as f:
            for k in range(20 if piece_bytes > 64 else 2):
                f.extend("ev", EVENTS)
                if k == 0:
                    f.flush()
            f["x"] = [1, 2]
        found.append(path.read_bytes())
        path.unlink()
    return found


TARGETS = [
    Target(
        "message",
        lambda data: wire.decode(unpack(data), limits=LIMITS),
        lambda: [pack(frames) for frames in samples()],
        ("wire.decode", "wire.blocks_of", "wire.Assembler.add", "transport.Socket.receive"),
        use_message,
        (RemoteProtocolError,),
        mutate_frames,
    ),
    Target(
        "single-frame",
        lambda data: wire.decode(wire.decode_frames(data, limits=LIMITS), limits=LIMITS),
        lambda: [bytes(wire.encode_frames(frames)) for frames in samples()],
        ("wire.decode_frames",),
        use_message,
        (RemoteProtocolError,),
    ),
    Target(
        "stream",
        _stream,
        lambda: [
            bytes([k % 256]) + b"".join(wire.stream_pieces(frames)) for k, frames in enumerate(samples())
        ],
        ("wire.StreamReader.feed",),
        _each,
        (RemoteProtocolError,),
        mutate_bytes,
    ),
    Target(
        "tens-file",
        _read_file,
        _files,
        ("open", "store.verify", "store.convert", "store.compact"),
        _use_file,
        (DataFileError,),
        mutate_records,
    ),
]
