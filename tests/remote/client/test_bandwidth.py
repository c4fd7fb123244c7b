"""What is known of a link decides how much is asked for at once, and whether it comes packed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.remote.client._bandwidth import Link
from tensorwrapper.remote.protocol._elements import pack_bytes, unpack_bytes

FAR = "tcp://192.0.2.1:5555"


@pytest.mark.parametrize(
    ("address", "is_local"),
    [
        ("tcp://127.0.0.1:5555", True),
        ("tcp://localhost:5555", True),
        ("tcp://[::1]:5555", True),
        ("ipc:///tmp/x", True),
        (FAR, False),
        ("tcp://example.org:1", False),
    ],
)
def test_what_stays_on_this_machine_is_known_by_its_address(address, is_local):
    link = Link(address)
    assert link.is_local == is_local
    link.note(1000, 10.0)
    assert link.packs != is_local
    assert (link.piece_bytes == 2**21) == is_local


def test_a_read_of_a_few_mib_on_this_machine_is_one_answer():
    near, far = Link("tcp://127.0.0.1:5555"), Link(FAR)
    assert [near.piece_of(total) for total in (1, 2**21, 3 * 2**20, 2**22)] == [
        2**21,
        2**21,
        3 * 2**20,
        2**22,
    ]
    assert near.piece_of(2**22 + 1) == 2**21
    assert far.piece_of(2**22) == far.piece_bytes == 2**17


@pytest.mark.parametrize("answer_bytes", [2**22, 2**19])
def test_a_read_of_a_few_mib_is_what_it_is_in_pieces(answer_bytes):
    x = np.arange(2**19, dtype="f8").reshape(-1, 1024)
    with (
        tw.serve({"x": x}, limits=tw.remote.ServeLimits(answer_bytes=answer_bytes)) as server,
        tw.connect(server.address) as remote,
    ):
        for part, expected in (
            (remote["x"][10:410], x[10:410]),
            (remote["x"][::2, ::-1], x[::2, ::-1]),
            (remote["x"].view(), x),
        ):
            before = remote.counters
            wanted = part.plan().bytes_on_wire
            np.testing.assert_array_equal(np.asarray(part.compute()), expected)
            after = remote.counters
            moved = (after.bytes_sent_on_wire + after.bytes_received_on_wire) - (
                before.bytes_sent_on_wire + before.bytes_received_on_wire
            )
            assert moved == wanted
            messages = after.messages_sent - before.messages_sent
            assert messages == (1 if answer_bytes == 2**22 else -(-expected.nbytes // 2**19))


@given(st.floats(1e4, 1e10), st.floats(1e-5, 0.5))
def test_what_is_on_the_way_lasts_for_a_moment(bandwidth, round_trip):
    link = Link(FAR)
    assert link.piece_bytes == 2**17
    link.note_round_trip(round_trip)
    for _ in range(40):
        link.note(int(bandwidth), 1.0)
    assert 2**14 <= link.piece_bytes <= 2**21
    on_the_way = 4 * link.piece_bytes / bandwidth
    assert on_the_way < 0.03 + 1.1 * round_trip or link.piece_bytes == 2**14
    assert on_the_way > 0.015 + 0.9 * round_trip or link.piece_bytes == 2**21


def test_packing_pays_over_slow_links_for_what_becomes_smaller():
    link = Link(FAR)
    link.note(10**8, 1.0)
    assert not link.packs
    for _ in range(30):
        link.note(10**6, 1.0)
    assert link.packs
    for _ in range(10):
        link.note_ratio(1, 1)
    assert not link.packs
    link.forget_ratio()
    assert link.packs


def test_a_moment_tells_nothing():
    link = Link(FAR)
    link.note(100, 1e-4)
    assert link.bandwidth is None


@given(st.binary(max_size=3000), st.integers(1, 50))
def test_what_is_packed_is_what_it_was(data, times):
    data = memoryview(data * times)
    packed = pack_bytes(data)
    if packed is not None:
        assert packed.nbytes * 1.2 <= data.nbytes
        assert unpack_bytes(packed, data.nbytes) == data


@pytest.mark.parametrize("change", [lambda own: own[:-1], lambda own: own + b"x", lambda _: b"nothing"])
def test_what_is_packed_wrong_is_refused(change):
    packed = bytes(pack_bytes(memoryview(bytes(10_000))))
    with pytest.raises(RemoteProtocolError):
        unpack_bytes(memoryview(change(packed)), 10_000)
    for nbytes in (9_999, 10_001, 1):
        with pytest.raises(RemoteProtocolError):
            unpack_bytes(memoryview(packed), nbytes)


@pytest.mark.parametrize("compress", [True, False, None])
def test_what_comes_packed_is_what_was_selected(compress):
    x = np.arange(60_000).reshape(200, 300) % 7
    noise = np.random.default_rng(1).random(20_000)
    given_ = {"x": x, "noise": noise, "words": tw.strings(["a", "bc"])}
    with tw.serve(given_) as server, tw.connect(server.address, compress=compress) as remote:
        assert np.array_equal(remote["x"].compute(), x)
        assert np.array_equal(remote["x"][::-3, [5, 1, 7]].compute(), x[::-3, [5, 1, 7]])
        assert (remote.counters.bytes_received < x.nbytes / 3) == bool(compress)
        assert np.array_equal(remote["noise"].compute(), noise)
        assert remote["words"].tolist() == ["a", "bc"]
        assert remote["x"].astype("f4")[3].compute().tolist() == x[3].tolist()
