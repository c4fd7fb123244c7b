"""The table of bad inputs for a decoder, row after row; the number is the row's.

Compressed and sparse tensors (55, 56, 57), check sums (64), tensors in blocks (73) and files (74, 75) have
tests beside their code. Flows (69) and selections on a server (70, 71, 72) are no part of a message.
"""

import json
import tracemalloc

import numpy as np
import pytest

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import Limits, decode, decode_frames, encode_frames
from tests.support.wire.messages import COORDINATES, GOOD, PAYLOAD, described, message, reason_of, tensor

FINE = described(GOOD)
TEXT = json.dumps(FINE)
DEEP = 100_000


def one(payload=PAYLOAD, **fields):
    return message(described({"dtype": "f", "word": 4, "part": 0, **fields}), payload)


REFUSED = [
    (1, "frame", []),
    (2, "frame", [b"ZIO0TENS"]),
    *[(3, "frame", [b"ZIO0TENS"[:n], COORDINATES]) for n in range(8)],
    *[
        (4, "frame", [start + TEXT.encode(), COORDINATES])
        for start in (b"ZIP0TENS", b"zio0TENS", b"\0IO0TENS")
    ],
    *[(5, "frame", [b"ZIO" + level + b"TENS", COORDINATES]) for level in (b"9", b"-", b"\0", b"a", b" ")],
    *[(7, "frame", [b"ZIO0TENS", bytes(n)]) for n in (0, 12, 23, 25)],
    (9, "header", message(b'{"a":"\xff"}')),
    (10, "header", message(TEXT.encode("utf-16"))),
    (10, "header", message(b"\xef\xbb\xbf" + TEXT.encode())),
    *[(11, "header", message(TEXT[:n])) for n in (1, 10, len(TEXT) - 1)],
    *[(12, "header", message(TEXT + rest, PAYLOAD)) for rest in ("x", "{}", TEXT, "\0", ",")],
    *[
        (14, "header", message(text))
        for text in (
            '{"a":1,"a":1}',
            '{"TENS":{"tensors":[],"tensors":[]}}',
            '{"TENS":{"tensors":[{"part":0,"part":0}]}}',
            '{"TENS":{"tensors":[{"metadata":{"k":1,"k":2}}]}}',
            '{"TENS":{"tensors":[],"metadata":{"k":{"m":1,"m":2}}}}',
        )
    ],
    *[(15, "header", message(f'{{"a":[{name}]}}')) for name in ("NaN", "Infinity", "-Infinity", "1e999")],
    (16, "header", message("[" * DEEP + "]" * DEEP)),
    (16, "header", message('{"a":' * DEEP + "1" + "}" * DEEP)),
    (17, "header", message('{"a":' + "1" * 4301 + "}")),
    (17, "limit", message('{"a":' + "1" * 4300 + "}")),
    (17, "limit", message('{"TENS":{"tensors":[{"shape":[' + "1" * 4300 + "]}]}}")),
    (18, "limit", message('{"a":"' + "x" * 2**24 + '"}')),
    (19, "limit", message("[" + "[]," * 3_300_000 + "[]]")),
    (20, "header", message('{"a":"\\ud800"}')),
    (20, "header", message('{"\\udc00":1}')),
    *[(21, "header", message(b'{"a' + bytes([c]) + b'b":1}')) for c in (0, 1, 10, 31)],
    *[(22, "schema", message({"TENS": value})) for value in (1, "x", [], True, [GOOD])],
    *[(23, "schema", message({"TENS": value})) for value in ({"tensors": None}, {"tensors": {"0": GOOD}})],
    *[(24, "schema", message(described(value))) for value in (None, 1, "x", [], [GOOD])],
    *[(25, "schema", tensor(**{key: ...})) for key in ("shape", "word", "dtype")],
    *[(26, "schema", tensor(shape=value)) for value in ("33", 6, None, [[2, 3]], {"0": 6})],
    *[(27, "schema", tensor(shape=[2, value])) for value in (True, False)],
    (28, "schema", tensor(shape=[2.0, 3])),
    (28, "schema", message(TEXT.replace("[2, 3]", "[1e3]"), PAYLOAD)),
    (29, "schema", tensor(shape=[2, "4"])),
    (30, "schema", tensor(shape=[-1])),
    (30, "schema", tensor(shape=[2, -1])),
    (31, "schema", tensor(shape=[-2, 3])),
    (32, "limit", one(b"", shape=[2**32, 2**32])),
    (32, "limit", one(b"", shape=[2**16, 2**16, 2**16, 2**16])),
    (33, "limit", one(b"", shape=[2**32, 2**32, 0])),
    (33, "limit", one(b"", shape=[0, 2**40])),
    (33, "limit", one(b"", dtype="u", word=1, shape=[0, 2**40])),
    *[(34, "limit", tensor(shape=[value])) for value in (2**63, 2**64, 10**30)],
    *[(35, "limit", tensor(shape=[1] * rank)) for rank in (65, 100_000)],
    *[(36, "unsupported", tensor(word=value)) for value in (0, -4, 3, 10**9)],
    *[(36, "schema", tensor(word=value)) for value in (True, 4.0, "4")],
    (37, "unsupported", one(bytes(8), dtype="O", word=8, shape=[1])),
    *[(38, "unsupported", tensor(dtype=value)) for value in ("V", "?", "", "ff", "f ")],
    *[(39, "unsupported", tensor(dtype=value)) for value in ("f4,i", "(2,3)f", ">f", "<f", "float6")],
    *[
        (40, "unsupported", one(bytes(word), dtype=dtype, word=word, shape=[1]))
        for dtype, word in (("f", 3), ("i", 16), ("c", 4), ("f", 16), ("c", 32))
    ],
    *[(41, "schema", tensor(dtype=value)) for value in (None, 4, ["f"], {"f": 4}, True)],
    (41, "limit", tensor(dtype="f" * 1_000_000)),
    *[(42, "layout", tensor(part=value)) for value in (-1, -2)],
    *[(43, "layout", tensor(part=value)) for value in (1, 7, 10**30)],
    *[(44, "schema", tensor(part=value)) for value in (True, 1.0, 0.9, "0", None)],
    (46, "layout", message(described(GOOD, {k: v for k, v in GOOD.items() if k != "part"}), PAYLOAD)),
    *[(48, "size", one(bytes(n), shape=[2, 3])) for n in (23, 25, 48)],
    (49, "size", one(b"", shape=[2, 3])),
    (49, "size", one(bytes(4), shape=[0, 3])),
    *[(50, "size", one(bytes(n), shape=[])) for n in (0, 8)],
    *[
        (51, "layout", tensor(order=value))
        for value in ([0], [0, 1, 2], [0, 0], [0, 2], [-1, 0], [True, False], [0.0, 1.0], "01", 1, {}, None)
    ],
    *[(52, "layout", tensor(ascend=value)) for value in ([True], [0, 1], ["true", "true"], None, True)],
    (53, "layout", one(bytes(4), shape=[], order=[0])),
    (53, "layout", one(bytes(4), shape=[], ascend=[True])),
    (54, "unsupported", tensor(packing="gzip")),
    *[(54, "schema", tensor(packing=value)) for value in (1, True, ["dense"], {})],
    *[
        (58, "unsupported", tensor(pointer=value))
        for value in (1, -1, 2**64, "0x7f0000000000", "", True, [0])
    ],
    (59, "header", tensor(metadata=json.loads("[" * 70 + "]" * 70))),
    (59, "limit", message(described({**GOOD, "metadata": {"a": "x" * 2**24}}), PAYLOAD)),
    (61, "limit", message(described(*[GOOD] * 65_537), PAYLOAD)),
    (61, "limit", message('{"TENS":{"tensors":[' + "{}," * 200_000 + "{}]}}")),
    *[(62, "integrity", one(bytes([b, 0]), dtype="b", word=1, shape=[2])) for b in (2, 128, 255)],
    *[
        (63, "unsupported", one(bytes(8), dtype=d, word=w, shape=[1]))
        for d, w in (("S", 8), ("U", 8), ("U", 4))
    ],
    (66, "limit", message(FINE, PAYLOAD, *[b""] * 1_000_000)),
    (67, "limit", message(described(*[{**GOOD, "part": k, "shape": [2**35]} for k in range(9)]), *[b""] * 9)),
    (68, "unsupported", tensor(shape=[6], packing="jagged", jagged={"version": 2})),
    (68, "unsupported", tensor(packing="tiled", tiled={"version": 2})),
]


@pytest.mark.parametrize(("row", "reason", "frames"), REFUSED, ids=[f"row {row}" for row, *_ in REFUSED])
def test_bad_input_is_refused(row, reason, frames):
    assert reason_of(frames) == reason, row


SPARSE = {"shape": [2], "packing": "sparse", "sparse": {"version": 1, "shape": [2, 2], "addresses": 1}}
TEXTS = {
    "dtype": "u",
    "word": 1,
    "shape": [2],
    "packing": "string",
    "string": {"version": 1, "shape": [2, 1], "kind": "utf8", "offsets": 1},
}
HELD = [
    (SPARSE, [bytes(8), np.arange(2, dtype="<i8").tobytes()]),
    (TEXTS, [b"ab", np.arange(3, dtype="<i8").tobytes()]),
]


@pytest.mark.parametrize(("keys", "parts"), HELD, ids=["sparse", "string"])
@pytest.mark.parametrize("key", ["order", "ascend"])
def test_elements_in_an_order_of_their_own_are_refused_beside_another_order(keys, parts, key):
    for value in ([0, 1], [1, 0], [True, True], [True, False], [], None, "C"):
        frames = message(described({**GOOD, **keys, key: value}), *parts)
        assert reason_of(frames) == "unsupported"
    (read,) = decode(message(described({**GOOD, **keys, "origin": [5, 6]}), *parts)).tensors
    assert read.shape.origin == (5, 6)


READ = [
    # Rulings: what says nothing of tensors has none.
    (6, message({"a": 1}, form="TEXT"), 0),
    (6, message({"a": 1}, form="    "), 0),
    (6, message("free text", form="TEXT"), 0),
    (8, message(""), 0),
    (8, message(" \n"), 0),
    *[(13, message(text), 0) for text in ("[1,2]", "5", "null", '"text"', "true")],
    (22, message({"tens": FINE["TENS"]}), 0),
    (22, message({"TENS": None}), 0),
    (23, message({"TENS": {}}), 0),
    # Any metadata, shared parts, parts of nobody, keys of the application, and a pointer to nothing.
    (45, message(described(GOOD, {**GOOD, "dtype": "u", "shape": [6]}), PAYLOAD), 2),
    (47, message(FINE, PAYLOAD, b"", b"more"), 1),
    (58, tensor(pointer=None), 1),
    (58, tensor(pointer=0), 1),
    (59, tensor(metadata={"nested": [{"deep": [None]}]}), 1),
    (59, tensor(metadata=[1, "two"]), 1),
    (60, tensor(reserved={"looking": 1}, __class__="x", version=9), 1),
    (68, message(described(GOOD, version=9), PAYLOAD), 1),
]


@pytest.mark.parametrize(("row", "frames", "n_tensors"), READ, ids=[f"row {row}" for row, *_ in READ])
def test_odd_input_is_read(row, frames, n_tensors):
    read = decode(frames, strict=True)
    assert len(read.tensors) == n_tensors, row
    assert read.to_frames() == frames
    for one_of_them in read.tensors:
        assert one_of_them.size == 6


def test_row_40_long_doubles_are_read_when_allowed():
    for dtype, word in (("f", 16), ("c", 32)):
        frames = one(bytes(word), dtype=dtype, word=word, shape=[1])
        assert decode(frames, allow_longdouble=True).tensors[0].tolist() == [0]


def test_row_45_ten_thousand_tensors_on_one_part_are_one_memory():
    part = bytes(2**20)
    label = described(*[{"dtype": "u", "word": 1, "shape": [2**20], "part": 0}] * 10_000)
    tracemalloc.start()
    try:
        read = decode(message(label, part))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(read.tensors) == 10_000
    assert peak < 40 * 2**20
    assert np.shares_memory(np.asarray(read.tensors[0]), np.asarray(read.tensors[9_999]))


@pytest.mark.parametrize("shift", range(1, 8))
def test_row_65_a_part_at_an_odd_address_is_copied(shift):
    room = np.zeros(64, np.uint8)
    room[shift : shift + 24] = np.frombuffer(PAYLOAD, np.uint8)
    (read,) = decode([*message(FINE), room[shift : shift + 24]]).tensors
    assert np.asarray(read).flags.aligned
    assert read.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_row_67_limits_are_those_of_the_reader():
    frames = message(described(GOOD, {**GOOD, "part": 1}), PAYLOAD, PAYLOAD)
    total = sum(map(len, frames))
    assert len(decode(frames, limits=Limits(total_bytes=total)).tensors) == 2
    assert reason_of(frames, limits=Limits(total_bytes=total - 1)) == "limit"
    # Both are in one part: what they hold together counts once.
    shared = message(described(*[GOOD] * 1000), PAYLOAD)
    assert len(decode(shared, limits=Limits(total_bytes=sum(map(len, shared)))).tensors) == 1000


PEERS = [
    # What the reference implementations do with malformed input, and what we do instead.
    ("no frames", [], "frame"),
    ("one frame", [b"ZIO0TENS"], "frame"),
    ("short prefix", [b"ZIO0", COORDINATES], "frame"),
    ("bad magic", [b"OIZ0TENS", COORDINATES], "frame"),
    ("level 9", [b"ZIO9TENS", COORDINATES], "frame"),
    ("form no text", [b"ZIO0\xff\xff\xff\xff", COORDINATES], "frame"),
    ("label no text", message(b"\xff"), "header"),
    ("label with trailing NUL", message(TEXT + "\0", PAYLOAD), "header"),
    ("label with a mark of byte order", message("\ufeff" + TEXT, PAYLOAD), "header"),
    ("NaN", message('{"a":NaN}'), "header"),
    ("duplicate keys", message('{"a":1,"a":2}'), "header"),
    ("nested 5000 deep", message("[" * 5000 + "]" * 5000), "header"),
    ("coordinates of 23 bytes", [b"ZIO0TENS", bytes(23)], "frame"),
    ("no object", message(described(1)), "schema"),
    ("no shape", tensor(shape=...), "schema"),
    ("no such part", tensor(part=1), "layout"),
    ("part -1", tensor(part=-1), "layout"),
    *[(f"part {value!r}", tensor(part=value), "schema") for value in (0.5, "0", None, True)],
    ("part 2^64", tensor(part=2**64), "layout"),
    ("short payload", one(PAYLOAD[:-1], shape=[2, 3]), "size"),
    ("long payload", one(PAYLOAD + b"x", shape=[2, 3]), "size"),
    ("negative extent", tensor(shape=[-1]), "schema"),
    ("overflowing shape", tensor(shape=[2**32, 2**32]), "limit"),
    *[(f"word {value!r}", tensor(word=value), "schema") for value in ("4", 4.0)],
    *[(f"word {value!r}", tensor(word=value), "unsupported") for value in (0, 3)],
    *[(f"dtype {d}", tensor(dtype=d), "unsupported") for d in ("V", "S", "M", ">f", "float32")],
]


@pytest.mark.parametrize(("what", "frames", "reason"), PEERS, ids=[what for what, *_ in PEERS])
def test_what_peers_let_through_is_refused(what, frames, reason):
    assert reason_of(frames) == reason, what


@pytest.mark.parametrize("space", [" ", "\n", "\r\n", "\t "])
def test_white_space_around_a_label_is_accepted(space):
    assert decode(message(TEXT + space, PAYLOAD)).tensors[0].size == 6
    assert decode(message("null" + space)).tensors == ()


@pytest.mark.parametrize(
    "whole", [b"", encode_frames([b"ZIO0TENS"]), encode_frames(message(FINE))[:-1], b"\xff"]
)
def test_a_spoilt_single_frame_is_refused(whole):
    with pytest.raises(RemoteProtocolError) as caught:
        decode(decode_frames(whole))
    assert caught.value.reason == "frame"


def test_an_empty_part_at_the_end_of_a_single_frame_is_accepted():
    whole = encode_frames(one(b"", shape=[0, 3]))
    assert decode(decode_frames(whole)).tensors[0].shape.extents == (0, 3)
