"""A tensor that is not understood is refused when it is touched; its neighbours are read."""

import copy
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import decode, encode
from tests.support.wire.messages import GOOD, PAYLOAD, described, message

NUMBERS = np.array([0, 2], dtype="<i8").tobytes()
ROWS = {"dtype": "u", "word": 1, "shape": [2], "part": 1, "packing": "jagged"}
TILES = {**ROWS, "packing": "tiled"}
UNKNOWN = {
    "packing": {**GOOD, "packing": "from the future"},
    "nothing but a packing": {"packing": "quaternion"},
    "version of jagged": {**ROWS, "jagged": {"version": 2, "cell_rank": 1, "splits": [], "cells": 2}},
    "version of tiled": {**TILES, "tiled": {"version": 10**30, "marks": [2]}},
    "storage of tiled": {**TILES, "tiled": {"version": 1, "marks": [2], "storage": "spiral"}},
    "element type": {**GOOD, "dtype": "?"},
    "element type of no bytes": {**GOOD, "dtype": "?", "word": 0},
    "bytes of an element": {**GOOD, "word": 3},
    "long double": {**GOOD, "word": 16},
    "logical type": {**GOOD, "logical": "decimal"},
    "logical type of another word": {**GOOD, "dtype": "i", "logical": "datetime64[s]"},
    "logical type in odd units": {
        **GOOD,
        "dtype": "i",
        "word": 8,
        "shape": [3],
        "logical": "datetime64[25s]",
    },
}


def refusal(call):
    with pytest.raises(RemoteProtocolError) as caught:
        call()
    return caught.value


def frames_of(*tensors):
    return message(described(*tensors), PAYLOAD, b"\x01\x02", NUMBERS)


@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN.keys())
@pytest.mark.parametrize("place", [0, 1, 2])
def test_its_neighbours_are_read(unknown, place):
    told = [GOOD, GOOD]
    told.insert(place, unknown)
    read = decode(frames_of(*told))
    assert len(read.tensors) == 3
    for k in range(3):
        if k != place:
            assert read.tensors[k].tolist() == [[0, 1, 2], [3, 4, 5]]
            assert read.tensors[k - 3].tolist() == [[0, 1, 2], [3, 4, 5]]
    for touch in (
        lambda: read.tensors[place],
        lambda: read.tensors[place - 3],
        lambda: list(read.tensors),
        lambda: read.tensors[place:][0],
    ):
        error = refusal(touch)
        assert error.reason == "unsupported"
        assert f"tensors[{place}]" in str(error)


@pytest.mark.parametrize(
    "also",
    [{"shape": [3]}, {"shape": None}, {"part": 9}, {"mode_names": 3}, {"layers": [9]}, {"order": [0]}],
    ids=str,
)
@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_what_else_is_wrong_is_of_no_meaning(unknown, also):
    """A later version of a packing may have another shape, other parts and other keys."""
    read = decode(frames_of(GOOD, {**unknown, **also}))
    assert read.tensors[0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert refusal(lambda: read.tensors[1]).reason == "unsupported"


@pytest.mark.parametrize(
    "two",
    [
        {"dtype": "q", "packing": 1},
        {"word": 3, "packing": "jagged"},
        {"logical": "decimal", "packing": True},
        {"packing": "gzip", "logical": 1},
        {"packing": "string", "string": {"version": 1, "form": "rope"}, "shape": [1, 1]},
        {"packing": "zstd", "zstd": {"version": 1, "packing": "tiled"}, "tiled": {"version": 2}},
    ],
    ids=str,
)
def test_one_thing_that_is_not_known_is_enough(two):
    read = decode(frames_of(GOOD, {**GOOD, **two}))
    assert refusal(lambda: read.tensors[1]).reason == "unsupported"


@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_a_strict_reader_refuses_the_message(unknown):
    error = refusal(lambda: decode(frames_of(GOOD, unknown), strict=True))
    assert error.reason == "unsupported"
    assert decode(frames_of(GOOD), strict=True).tensors[0].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_the_message_says_what_it_said():
    frames = frames_of(GOOD, {**GOOD, "packing": "x", "metadata": {"a": 1}}, {**GOOD, "metadata": {"b": 2}})
    read = decode(frames)
    assert read.tensor_metadata == (None, {"a": 1}, {"b": 2})
    assert read.to_frames() == frames == encode(read)
    assert "unsupported" in repr(read.tensors)
    for clone in (copy.copy(read), copy.deepcopy(read), pickle.loads(pickle.dumps(read))):
        assert clone == read
        assert clone.tensors[2].tolist() == [[0, 1, 2], [3, 4, 5]]
        assert refusal(lambda clone=clone: clone.tensors[1]).reason == "unsupported"


def test_slices_know_what_they_are_of():
    read = decode(frames_of(GOOD, {"packing": "x"}, GOOD))
    assert [len(read.tensors[k:]) for k in range(4)] == [3, 2, 1, 0]
    assert [t.tolist()[0] for t in read.tensors[::2]] == [[0, 1, 2], [0, 1, 2]]
    with pytest.raises(IndexError):
        read.tensors[3]


def test_a_message_with_such_a_tensor_can_be_appended_to():
    read = decode(frames_of({"packing": "x", "secret": [1]}, GOOD))
    built = read.append(np.arange(2, dtype="u1"))
    assert built.label_object["TENS"]["tensors"][0] == {"packing": "x", "secret": [1]}
    assert [built.tensors[k].tolist() for k in (1, 2)] == [[[0, 1, 2], [3, 4, 5]], [0, 1]]


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({**GOOD, "packing": 1}, "schema"),
        ({**GOOD, "logical": 1}, "schema"),
        ({**GOOD, "logical": ["datetime64[s]"]}, "schema"),
        ({**GOOD, "packing": "x", "pointer": 1}, "unsupported"),
        ({**ROWS, "jagged": {"version": "2"}}, "schema"),
        ({**GOOD, "part": 7}, "layout"),
    ],
)
def test_what_is_wrong_is_refused_at_once(spoilt, reason):
    assert refusal(lambda: decode(frames_of(GOOD, spoilt))).reason == reason


def test_what_is_not_understood_holds_on_to_nothing():
    read = decode(frames_of({"packing": "x"}))
    first, second = refusal(lambda: read.tensors[0]), refusal(lambda: read.tensors[0])
    assert first is not second
    assert first.args == second.args


def test_other_peers_can_skip_what_they_do_not_know():
    # What this library packs is refused tensor by tensor by a reader that knows dense ones only.
    frames = encode([np.arange(2), tw.jagged([[1, 2], [3]])])
    spoilt = [bytes(frames[0]).replace(b'"packing":"jagged"', b'"packing":"ragged"'), *frames[1:]]
    assert decode(spoilt).tensors[0].tolist() == [0, 1]
