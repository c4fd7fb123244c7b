"""The C++ reader refuses what ours refuses, for the same reason, under the sanitizers of its compiler."""

import random

import pytest

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import decode, encode_frames
from tests.fuzz.messages import samples
from tests.fuzz.mutate import mutate_frames, pack, unpack
from tests.support.wire.messages import GOOD, PAYLOAD, described, message, tensor
from tests.support.wire.spoilt_packings import CELLS, DROP, ROWS, TILED, integers
from tests.wire.packings import test_hostile
from tests.wire.test_bad_inputs import PEERS, READ, REFUSED

LONG = 2**20  # a label of so many bytes takes seconds under the sanitizers


def table(test):
    """The rows that a test of ours is parametrised with."""
    return next(mark.args[1] for mark in test.pytestmark if mark.name == "parametrize")


def is_short(frames):
    return sum(map(len, frames)) < LONG and len(frames) < 1000


@pytest.mark.parametrize(
    "name", sorted({reason for _, reason, _ in [*REFUSED, *PEERS] if isinstance(reason, str)})
)
def test_bad_input_is_refused(peer, name):
    rows = [(row, frames) for row, reason, frames in REFUSED if reason == name and is_short(frames)]
    rows += [(what, frames) for what, frames, reason in PEERS if reason == name]
    assert {row: peer.reason(frames) for row, frames in rows} == {row: name for row, _ in rows}


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", [row for row in REFUSED if not is_short(row[2])], ids=lambda row: f"row {row[0]}"
)
def test_long_bad_input_is_refused(peer, row):
    _, reason, frames = row
    assert peer.reason(frames) == reason


def test_odd_input_is_read(peer):
    for row, frames, n_tensors in READ:
        report, _, _ = peer.ask(frames)
        assert (report["reason"], len(report.get("refused", []))) == (None, n_tensors), row


KEYS = [(test_hostile.test_keys_of_jagged_tensors, ROWS), (test_hostile.test_keys_of_tiled_tensors, TILED)]
ARRAYS = [
    (test_hostile.test_arrays_of_rows, ROWS),
    (test_hostile.test_arrays_of_cells, CELLS),
    (test_hostile.test_arrays_of_tiles, TILED),
]


def test_keys_of_packings(peer):
    for test, spoilt in KEYS:
        for key, values, reason in table(test):
            for value in values:
                changed = {"first": DROP, key: value} if key == "marks" else {key: value}
                # A part of three numbers, where one number must stand: two rules are broken.
                either = {reason, "schema"} if value == [{"part": 3}, 0, 0] else {reason}
                assert peer.reason(spoilt.frames(**changed)) in either, changed


@pytest.mark.parametrize(("test", "spoilt"), ARRAYS, ids=["rows", "cells", "tiles"])
def test_arrays_of_packings(peer, test, spoilt):
    for parts, reason in table(test):
        assert peer.reason(spoilt.frames(parts=parts)) == reason, parts


def test_only_the_name_of_an_element_type_is_bounded(peer):
    for frames in (tensor(dtype="f" * 64), tensor(dtype="f" * 65), tensor(packing="g" * 65)):
        with pytest.raises(RemoteProtocolError) as caught:
            list(decode(frames).tensors)
        assert peer.reason(frames) == caught.value.reason


def test_numbers_of_nodes_do_not_wrap(peer):
    # 2**62 nodes of four extents each are no numbers in 64 bits, and none is there.
    keys = {"splits": [1], "cells": 2, "cell_rank": 4, "shape": [0], "origins": DROP}
    assert peer.reason(ROWS.frames(**keys, parts={0: b"", 1: [0, 2**62], 2: b""})) == "size"
    # 2**36 to the 31st, empty at its end or not.
    keys = {"cell_rank": 31, "origins": DROP, "shape": [0]}
    empty, wrapping = [2**36] * 30 + [0], [2**32, 2**32] + [1] * 29
    assert peer.reason(CELLS.frames(**keys, parts={0: b"", 1: empty + wrapping})) in {"size", "limit"}
    assert peer.reason(CELLS.frames(**keys, parts={0: b"", 1: [0, *empty[:-1]] * 2})) is None


def test_ten_thousand_tensors_share_what_was_looked_at(peer):
    cells = integers(*[1, 2] * 1000)
    entry = {"dtype": "u", "word": 1, "part": 0, "shape": [2000], "packing": "jagged"}
    entry["jagged"] = {"version": 1, "cell_rank": 2, "splits": [], "cells": 1}
    report, seen, _ = peer.ask(message(described(*[entry] * 20), bytes(2000), cells))
    assert (report["reason"], len(seen)) == (None, 20)


@pytest.mark.parametrize(
    "whole", [b"", b"\xff", b"\xff\0\0\1", b"\5ZIO0", encode_frames(message(described(GOOD), PAYLOAD))[:-1]]
)
def test_a_spoilt_single_frame_is_refused(peer, whole):
    assert peer.ask_about(whole)[0]["reason"] == "frame"


def test_labels_that_are_nearly_json(peer):
    for text in (
        *(
            "",
            " ",
            "{",
            "[",
            '"',
            '"\\',
            '"\\u12',
            '"\\ud800\\u0041"',
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "tru",
            "nulll",
        ),
        *(
            "{1:2}",
            '{"a"}',
            '{"a":}',
            '{"a":1,}',
            "[,]",
            "[1,]",
            "[1 2]",
            "1e400",
            "1e-400",
            "0.1e310",
            "\u00e9",
        ),
        *(
            "[" * 64 + "]" * 64,
            "[" * 65 + "]" * 65,
            "1" * 1000,
            "1" * 1001,
            "9" * 400 + ".5",
            "\x0c1",
            "-0",
            "-01",
        ),
        *(
            '"\\ud83d\\ude00 \\/"',
            '"\x7f"',
            "[" + "1," * 10 + "1]",
            '"' + "," * 1000 + '"',
            "2",
            "0x1",
            "1_0",
        ),
    ):
        frames = message(text)
        try:
            expected = [decode(frames), None][1]
        except RemoteProtocolError as error:
            expected = error.reason
        assert peer.reason(frames) == expected, text


UNREAD = (
    "sparse",
    "string",
    "zlib",
    "zstd",
    "blosc2",
    "triangular",
    "layers",
    "mode_names",
    "records",
    "logical",
    "xxh3",
    "block",
)


@pytest.mark.slow
def test_mutated_messages_do_not_crash_it(peer):
    chance = random.Random(20)
    for _ in range(1500):
        frames = unpack(mutate_frames(pack(chance.choice(samples())), chance, pack(chance.choice(samples()))))
        try:
            list(decode(frames).tensors)
            expected = None
        except RemoteProtocolError as error:
            expected = error.reason
        found = peer.reason(frames)
        if not any(word.encode() in bytes(frames[0]) for word in UNREAD if frames):
            assert (found is None) == (expected is None), (found, expected, [bytes(f)[:600] for f in frames])
