"""A server may say anything: whoever asks it gets what is right, or an error, and in time."""

import contextlib
import json
import struct
import threading

import numpy as np
import pytest
import zmq

import tensorwrapper as tw
from tensorwrapper.errors import (
    RemoteProtocolError,
    RequestRefusedError,
    TransportTimeoutError,
    VersionChangedError,
)
from tensorwrapper.remote.client import _lookup

X = np.arange(24.0).reshape(4, 6)
SHAPE = '{"kind":"smooth","extents":[4,6],"origin":[0,0]}'
HELLO = {"server": "s", "version": 1, "caps": ["rows", "reduce"], "answer_bytes": 2**20, "in_flight": 8}
FACTS = {"name": "x", "version": "v", "kind": "smooth", "rank": 2, "size": 24, "dtype": "<f8", "shape": SHAPE}
ROWS = {**FACTS, "kind": "jagged", "shape": None, "rows": 4, "size": 6, "dtype": "<i8"}
SPARSE = {**FACTS, "entries": 2, "fill": "00" * 8}
WORDS = {**FACTS, "dtype": "string"}


def facts_of(**other):
    return {"facts": [{key: own for key, own in {**FACTS, **other}.items() if own is not None}]}


def integers(*numbers, dtype="<i8"):
    return np.array(numbers, dtype).tobytes()


def rows_of(starts, lengths, **other):
    said = {"rows": {"version": "v", "as": "i8", **other}}
    return {"facts": (facts_of(**ROWS),), "rows": (said, integers(*starts), integers(*lengths))}


def entries_of(counts, numbers, values):
    parts = integers(*counts), integers(*numbers), integers(*values, dtype="<f8")
    return {"facts": (facts_of(**SPARSE),), "entries": ({"entries": "v"}, *parts)}


def tiles_of(box, shape='{"grid_origin":[0,0],"kind":"tiled","sizes":[[1,3],[6]]}', **other):
    facts = facts_of(**{**FACTS, "kind": "jagged", "rank": 4, "shape": None, "box": box, **other})
    return {"facts": (facts,), "shape": ({"shape": "v"}, shape.encode())}


@contextlib.contextmanager
def answering(lies):
    """Serve what the protocol says, but for the verbs that are answered by these labels and parts."""
    truth = {
        "hello": ({"hello": HELLO},),
        "ping": ({"pong": "s"},),
        "facts": (facts_of(),),
        "names": ({"names": {"names": ["x"], "more": False}},),
        "read": ({"read": "v"}, X.tobytes()),
    }
    over = threading.Event()
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.linger = 0
        port = socket.bind_to_random_port("tcp://127.0.0.1")

        def work():
            while not over.is_set():
                if not socket.poll(20):
                    continue
                peer, _, label, head, *_ = socket.recv_multipart()
                [(verb, what)] = json.loads(label[8:])["tw"].items()
                found = lies.get(verb, truth.get(verb))
                if found is None:
                    # `cancel` has no answer.
                    continue
                if getattr(found, "__name__", "") == "chatter":
                    found(socket, peer, over)
                    continue
                said, *parts = found(what) if callable(found) else found
                number = struct.unpack("<Q", head[:8])[0]
                answer = b"ZIO0JSON" + (said if isinstance(said, str) else json.dumps({"tw": said})).encode()
                frames = [peer, b"", answer, struct.pack("<QQQ", number, 0, 0), *parts]
                socket.send_multipart(frames, copy=False)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield f"tcp://127.0.0.1:{port}"
        finally:
            over.set()
            thread.join()


LIES = {
    "another protocol": {"hello": ({"hello": {**HELLO, "version": 2}},)},
    "answers of nothing": {"hello": ({"hello": {**HELLO, "answer_bytes": 0}},)},
    "another tensor": {"facts": (facts_of(name="y"),)},
    "two tensors": {"facts": ({"facts": facts_of()["facts"] * 2},)},
    "no tensor": {"facts": ({"facts": []},)},
    "another size": {"facts": (facts_of(size=25),)},
    "another rank": {"facts": (facts_of(rank=3),)},
    "objects": {"facts": (facts_of(dtype="|O"),)},
    "all of memory": {
        "facts": (facts_of(shape='{"kind":"smooth","extents":[4611686018427387904],"origin":[0]}'),)
    },
    "deep shape": {"facts": (facts_of(shape="[" * 9000),)},
    "entries of nothing": {"facts": (facts_of(entries=-1, fill="00" * 8),)},
    "few bytes": {"read": ({"read": "v"}, X.tobytes()[:-1])},
    "many bytes": {"read": ({"read": "v"}, X.tobytes() + b"0")},
    "no bytes": {"read": ({"read": "v"},)},
    "two parts": {"read": ({"read": "v"}, X.tobytes(), b"")},
    "another answer": {"read": (facts_of(),)},
    "a sign of life": {"read": ({"pong": "s"},)},
    "no answer": {"read": ({"lied": 1},)},
    "no reason": {"read": ({"refused": {"reason": "mood", "text": ""}},)},
    "rows below nothing": rows_of([0], [3, -2, 4, 1]),
    "rows of more": rows_of([0], [3, 0, 2, 2]),
    "rows of all": rows_of([0], [2**62] * 4),
    "rows of nearly all": rows_of([0], [2**62, 2**62, 2**62 - 1, 1]),
    "rows too few": rows_of([0], [3, 3]),
    "rows elsewhere": rows_of([2**62], [3, 0, 2, 1]),
    "rows begun twice": rows_of([0, 0], [3, 0, 2, 1]),
    "rows of a width": rows_of([0], [3, 0, 2, 1], **{"as": "u9"}),
    "entries below": entries_of([2], [-1, 9], [1, 2]),
    "entries beyond": entries_of([2], [1, 24], [1, 2]),
    "entries in disorder": entries_of([2], [9, 1], [1, 2]),
    "entries twice": entries_of([2], [9, 9], [1, 2]),
    "entries that lack": entries_of([3], [1, 9], [1, 2]),
    "a box of no tiles": {"facts": (facts_of(box=[0, 0]),)},
    "a box of another rank": tiles_of([0]),
    "a box beyond 64 bits": tiles_of([2**63 - 2, 0]),
    "a box that begins with text": tiles_of(["0", 0]),
    "a box of many modes": tiles_of([0] * 40),
    "tiles of more": tiles_of([0, 0], '{"grid_origin":[0,0],"kind":"tiled","sizes":[[1,4],[6]]}'),
    "rows as tiles": tiles_of(
        [0], '{"extents":[4,[6,6,6,6]],"kind":"jagged","origin":[0,0],"outer_rank":1}', rank=2
    ),
    "text too short": {"facts": (facts_of(**WORDS),), "read": ({"read": "v"}, b"\1\0\0\0" * 24, b"a" * 23)},
    "text that is none": {
        "facts": (facts_of(**WORDS),),
        "read": ({"read": "v"}, b"\1\0\0\0" * 24, b"\xff" * 24),
    },
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_is_an_error(lie):
    with (
        answering(lie) as address,
        pytest.raises(RemoteProtocolError),
        tw.connect(address, timeout=20, deadline=20) as remote,
    ):
        remote["x"].compute()


def test_what_is_no_lie_is_read():
    with answering({}) as address, tw.connect(address) as remote:
        assert remote["x"].compute().tolist() == X.tolist()


def test_tiles_that_are_no_lie_are_read():
    with answering(tiles_of([5, -1])) as address, tw.connect(address) as remote:
        assert remote["x"].untiled().tolist() == X.tolist()
        assert remote["x"].tiling == tw.Tiling([1, 3], [6], origin=(5, -1))


def test_another_version_is_never_taken_for_the_one_that_was_asked_for():
    with (
        answering({"read": ({"read": "w"}, X.tobytes())}) as address,
        tw.connect(address) as remote,
        pytest.raises(VersionChangedError),
    ):
        remote["x"].compute()


@pytest.mark.parametrize("what", ["busy", "replayed", "draining"])
def test_that_it_is_there_is_no_answer(what):
    """It was held for ever by a server that only says so: `timeout` is for silence."""
    with (
        answering({"read": ({"refused": {"reason": what, "text": ""}},)}) as address,
        tw.connect(address, timeout=20, idle=0.8) as remote,
        pytest.raises((TransportTimeoutError, RequestRefusedError), match=r"idle=|busy|draining"),
    ):
        remote["x"].compute()


def test_who_answers_a_hello_by_signs_of_life_is_no_server_of_tensors():
    with (
        answering({"hello": ({"refused": {"reason": "busy", "text": ""}},)}) as address,
        pytest.raises((TransportTimeoutError, RequestRefusedError)),
    ):
        tw.connect(address, timeout=0.6)


def test_who_talks_without_end_does_not_keep_the_client_from_looking_at_the_time():
    def chatter(socket, peer, over):
        head = struct.pack("<QQQ", 1, 0, 0)
        while not over.wait(0.0005):
            socket.send_multipart([peer, b"", b'ZIO0JSON{"tw":{"pong":"s"}}', head])

    with (
        answering({"read": chatter}) as address,
        tw.connect(address, timeout=20, deadline=0.5) as remote,
        pytest.raises(TransportTimeoutError),
    ):
        remote["x"].compute()


@pytest.mark.parametrize("verb", ["read", "facts"])
def test_an_answer_that_is_far_too_large_is_not_taken_at_all(verb):
    """A quarter of the memory was, before anybody compared it with what was asked for."""
    lie = {verb: ({"read": "v"}, memoryview(bytearray(2**27)))}
    with answering(lie) as address, tw.connect(address, timeout=20) as remote:
        with pytest.raises(RemoteProtocolError, match="limit") as caught:
            remote["x"].compute()
        assert "was closed" in str(caught.value)
        assert remote.counters.bytes_received < 2**16
        # The thread has another connection then.
        assert list(remote) == ["x"]


def test_an_error_about_a_limit_does_not_name_what_nobody_can_set():
    with (
        answering({"facts": ('{"tw":{"facts":[' + "1," * 20_000 + "1]}}",)}) as address,
        tw.connect(address) as remote,
        pytest.raises(RemoteProtocolError, match="the limit of clients") as caught,
    ):
        remote["x"]
    assert caught.value.reason == "limit"
    assert "Limits(" not in str(caught.value)


def test_names_without_end_are_given_up(monkeypatch):
    monkeypatch.setattr(_lookup, "_MOST_NAMES", 50)

    def more(what):
        return ({"names": {"names": [what["after"] + "a"], "more": True}},)

    with (
        answering({"names": more}) as address,
        tw.connect(address) as remote,
        pytest.raises(RemoteProtocolError, match="limit"),
    ):
        list(remote)


@pytest.mark.parametrize(("extents", "dtype"), [([7], "<f8"), ([4], "<i8"), ([4, 1], "<f8"), ([], "<f8")])
def test_a_reduction_has_the_numbers_that_were_asked_for(extents, dtype):
    said = {"reduce": {"version": "v", "dtype": dtype, "extents": extents}}
    answer = (said, bytes(8 * int(np.prod(extents))))
    with (
        answering({"reduce": answer}) as address,
        tw.connect(address) as remote,
        pytest.raises(RemoteProtocolError),
    ):
        remote.reduce(np.add, remote["x"], 1)
