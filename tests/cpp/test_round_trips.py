"""What we write the C++ reader reads, index by index, and what it writes of it anew are our bytes."""

import itertools
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper.transport import Socket
from tests.support.wire.golden import CPP, PY, frames_of
from tests.support.wire.sent_shapes import filled
from tests.wire.packings.test_jagged import SHAPES
from tests.wire.packings.test_tiled import TILINGS

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def flat(nested):
    """The elements of nested lists, in the order of their indices."""
    return [e for part in nested for e in flat(part)] if isinstance(nested, list) else [nested]


def there_and_back(peer, tensors, *, exact=True, **keys):
    """Send tensors, compare what was seen with their elements, and what came back with what was sent."""
    tensors = [tw.as_tensor(tensor) for tensor in tensors]
    frames = [bytes(frame) for frame in wire.encode(tensors, layout="keep", **keys)]
    report, seen, echo = peer.ask(frames)
    assert report == {**report, "reason": None, "refused": [""] * len(tensors)}
    for tensor, elements in zip(tensors, seen, strict=True):
        expected = np.array(flat(tensor.tolist()), tensor.dtype)
        assert np.frombuffer(elements, tensor.dtype).tolist() == expected.tolist()
    if not exact:  # where a mode has one index, several orders are true
        echoed = wire.decode(echo).tensors
        assert [(t.shape, t.dtype, t.tolist()) for t in echoed] == [
            (t.shape, t.dtype, t.tolist()) for t in tensors
        ]
        return frames
    assert echo == frames
    return frames


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_element_type(peer, dtype):
    shapes = [
        Shape(),
        Shape(7),
        Shape(2, 3),
        Shape(0, 3),
        Shape.jagged([3, 0, 2]),
        Shape.tiled([1, 2], [2, 1]),
    ]
    there_and_back(peer, [filled(shape, dtype) for shape in shapes])


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_every_order_and_direction(peer, order):
    base = np.arange(24.0).reshape([(2, 3, 4)[k] for k in order[::-1]]).transpose(np.argsort(order[::-1]))
    flips = itertools.product([slice(None), slice(None, None, -1)], repeat=3)
    said = there_and_back(peer, [base[flip] for flip in flips])[0]
    assert (b'"order":' in said) == (order != (2, 1, 0))
    assert b'"ascend":' in said


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows(peer, shape):
    there_and_back(peer, [filled(shape)])


@pytest.mark.parametrize("tiling", TILINGS, ids=repr)
def test_tiles(peer, tiling):
    under = tw.from_buffer(np.arange(18.0), tiling.elements)
    tiled = under.tiled(tiling)
    there_and_back(
        peer, [tiled, tw.from_buffer(np.arange(18.0), tiling.shape), tiled.window(tiled.shape[1:])]
    )


def test_origins_metadata_and_header_fields(peer):
    moved = tw.from_buffer(np.arange(6, dtype="u2"), Shape(2, 3, origin=(-4, 2**61)))
    beside = {"name": '\u00e9\n\u0001"', "n": 2**63, "x": -1.5e-300, "yes": True}
    keys = {"metadata": {"run": [1, {"deep": None}]}, "label": {"reply": "me"}, "level": 3, "form": "FLOW"}
    there_and_back(peer, [moved, np.array(1)], tensor_metadata=[beside, None], seqno=2**64 - 1, **keys)


def test_no_tensors_and_a_tensor_of_metadata_alone(peer):
    there_and_back(peer, [])
    label = b'ZIO0TENS{"TENS":{"tensors":[{"dtype":"?","metadata":{"a":1},"part":0,"shape":[],"word":0}]}}'
    report, seen, echo = peer.ask([label, bytes(24), b""])
    assert (report["reason"], seen, echo) == (None, [b""], [label, bytes(24), b""])


@given(
    st.lists(
        hnp.arrays(
            st.sampled_from(DTYPES).map(np.dtype),
            hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
            elements=st.integers(0, 1),
        ).flatmap(lambda a: st.permutations(range(a.ndim)).map(a.transpose)),
        max_size=5,
    ),
    st.lists(st.lists(st.lists(st.integers(-9, 9), max_size=3), max_size=3), max_size=3),
)
def test_any_tensors(peer, arrays, rows):
    rows = tw.from_buffer(
        np.array(flat(rows), "i4"), Shape.jagged([[len(r) for r in row] for row in rows], rank=3)
    )
    there_and_back(peer, [*arrays, rows], exact=False)


def test_recorded_messages(peer):
    read, refused = 0, {}
    for case in [*CPP.values(), *PY.values()]:
        frames = frames_of(case)
        report, seen, _ = peer.ask(frames)
        try:
            ours = [np.asarray(t) for t in wire.decode(frames).tensors if t.dtype is not None]
        except tw.errors.RemoteProtocolError as error:
            refused[case["name"]] = report["reason"] or "unsupported", error.reason
            continue
        # The program is compiled for four modes.
        assert seen == [tensor.tobytes() if tensor.ndim <= 4 else b"" for tensor in ours]
        read += bool(seen)
    assert read > 60
    assert all(theirs == ours for theirs, ours in refused.values()), refused


def test_check_sums(peer):
    frames = [bytes(f) for f in wire.encode([np.arange(5), tw.jagged([[1], []])], checksum="crc32")]
    assert peer.reason(frames) is None
    frames[-1] = frames[-1][:-1] + b"\1"
    assert peer.reason(frames) == "integrity"


def test_streams(compiled):
    messages = [
        [bytes(f) for f in wire.encode([np.arange(n * 100.0), tw.jagged([[n]])], seqno=n)] for n in range(9)
    ]
    whole = b"".join(piece for frames in messages for piece in wire.stream_pieces(frames))
    run = subprocess.run([compiled[0], "stream"], input=whole, capture_output=True, check=True)
    assert run.stdout == whole
    for cut, reason in (
        (whole[:-1], b"frame"),
        (whole[:4], b"frame"),
        (bytes(8), b"frame"),
        (b"\xff" * 8, b"limit"),
    ):
        run = subprocess.run([compiled[0], "stream"], input=cut, capture_output=True, check=False)
        assert (run.returncode, run.stderr) == (3, reason)


@pytest.mark.parametrize("road", ["tcp://127.0.0.1:*", "ipc://{}/peer"])
def test_sockets(compiled, tmp_path, road):
    program, speaks = compiled
    if not speaks:
        pytest.skip("libzmq has no headers here: the frames go over pipes alone")
    table = tw.as_tensor(np.arange(12.0).reshape(3, 4))
    sent = [table, table.tiled(Tiling([1, 2], [3, 1])), tw.jagged([[1, 2], [], [3]]), np.arange(300_000)]
    with Socket("PAIR", timeout=30) as socket:
        address = socket.bind(road.format(tmp_path))
        with subprocess.Popen([program, "socket", address], stderr=subprocess.PIPE) as process:
            for tensors in ([np.array(2.5)], sent, []):
                frames = [bytes(frame) for frame in wire.encode(tensors, layout="keep")]
                socket.send(frames)
                assert [bytes(frame) for frame in socket.receive().to_frames()] == frames
            assert process.communicate(timeout=30)[1] == b""
        assert process.returncode == 0
