"""Check sums of parts: named, compared before anything is read, and refused if they are not understood."""

import json
import sys
import zlib

import numpy as np
import pytest
import xxhash

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError

TENSORS = [np.arange(6.0), tw.jagged([[1], [2, 3]]), np.empty((0, 3))]
ALGORITHMS = {"crc32": (zlib.crc32, 8), "xxh3": (xxhash.xxh3_64_intdigest, 16)}


def frames_with(name, **options):
    return [bytes(frame) for frame in wire.encode(TENSORS, checksum=name, **options)]


def amended(frames, change):
    label = json.loads(frames[0][8:])
    change(label["TENS"]["checksums"], label["TENS"])
    return [b"ZIO0TENS" + json.dumps(label).encode(), *frames[1:]]


def reason(frames):
    with pytest.raises(RemoteProtocolError) as caught:
        wire.decode(frames)
    return caught.value.reason


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_part_has_its_sum_under_the_name_of_the_algorithm(name):
    frames = frames_with(name, extra_parts=[b"mine"])
    algorithm, digits = ALGORITHMS[name]
    sums = wire.decode(frames).label_object["TENS"]["checksums"]
    assert sums == {"algorithm": name, "parts": [f"{algorithm(part):0{digits}x}" for part in frames[2:]]}
    assert len(sums["parts"]) == 5
    assert [t.tolist() for t in wire.decode(frames).tensors] == [tw.as_tensor(t).tolist() for t in TENSORS]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_bit_counts(name):
    frames = frames_with(name, extra_parts=[b"mine"])
    for number in range(2, len(frames)):
        for place in range(0, 8 * len(frames[number]), 5):
            spoilt = bytearray(frames[number])
            spoilt[place // 8] ^= 1 << place % 8
            assert reason([*frames[:number], bytes(spoilt), *frames[number + 1 :]]) == "integrity"
    assert reason([*frames[:-1], frames[-1] + b"x"]) == "integrity"


def test_a_message_is_summed_as_it_is():
    message = wire.decode(wire.encode(TENSORS))
    again = wire.decode(wire.encode(message, checksum="crc32"))
    assert len(again.label_object["TENS"]["checksums"]["parts"]) == len(message.parts)


def test_parts_that_are_not_named_are_not_covered():
    frames = amended(frames_with("crc32"), lambda sums, _: sums["parts"].__setitem__(0, None))
    frames[2] = np.arange(6.0)[::-1].tobytes()
    assert wire.decode(frames).tensors[0].tolist() == [5, 4, 3, 2, 1, 0]
    fewer = amended(frames, lambda sums, _: sums["parts"].pop())
    assert len(wire.decode([*fewer, b"more"]).parts) == 5
    assert len(wire.decode(frames).append(np.arange(3)).tensors) == 4


@pytest.mark.parametrize(
    ("key", "values", "expected"),
    [
        ("algorithm", ["md5", "", "CRC32", "xxh64", "x" * 10_000], "unsupported"),
        ("algorithm", [None, 1, True, ["crc32"]], "schema"),
        ("parts", [None, {}, "00000000", 5], "schema"),
        (
            "parts",
            [[1], [True], [[]], ["0"], ["000000000"], [""], ["x" * 10_000], ["zzzzzzzz"], ["0x000000"]],
            "schema",
        ),
        ("parts", [["00000000"]], "integrity"),
        ("parts", [["00000000"] * 100, [None] * 5], "layout"),
    ],
)
def test_descriptions_that_are_wrong(key, values, expected):
    for value in values:
        frames = amended(frames_with("crc32"), lambda sums, _, value=value: sums.__setitem__(key, value))
        assert reason(frames) == expected, value


def test_checksums_are_an_object_or_absent():
    for value in (True, 1, "crc32", [], ["00000000"]):
        spoilt = amended(
            frames_with("crc32"), lambda _, tens, value=value: tens.__setitem__("checksums", value)
        )
        assert reason(spoilt) == "schema"
    absent = amended(frames_with("crc32"), lambda _, tens: tens.__setitem__("checksums", None))
    assert len(wire.decode(absent).tensors) == 3


def test_an_algorithm_that_is_not_here_is_named(monkeypatch):
    frames = frames_with("xxh3")
    monkeypatch.setitem(sys.modules, "xxhash", None)
    assert reason(frames) == "unsupported"
    with pytest.raises(LocalProtocolError, match="xxhash"):
        frames_with("xxh3")
    for name in ("md5", "", True, 3):
        with pytest.raises(LocalProtocolError):
            frames_with(name)
