"""Section 2 and W9: one set of limits for what is written and read, and what costs no bytes is charged."""

import json
import tracemalloc

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire import DEFAULT_LIMITS, Limits, Message, decode, encode
from tests.support.wire.messages import GOOD, described, message, reason_of

OVER = {
    "extent": np.empty((0, 2**37), "u1"),
    "origin": tw.zeros(Shape(2, origin=(2**62 + 5,))),
    "empty_elements": np.empty((2**25, 0)),
    "total_bytes": np.empty((0, 2**25, 2**25)),
    "rank": tw.zeros(Shape(*[1] * 65)),
}
SAID = {
    "label_bytes": {"a": "x" * (17 * 2**20)},
    "digits": {"a": 10**1500},
    "label_items": {"a": [0] * 1_100_000},
}


@pytest.mark.parametrize("name", [*OVER, *SAID])
@pytest.mark.parametrize("way", ["encode", "append"])
def test_section_2_what_no_default_reader_takes_is_not_written(name, way):
    tensors = [OVER[name]] if name in OVER else [np.zeros(1)]
    said = SAID.get(name)

    def write(limits=DEFAULT_LIMITS):
        if way == "append" and said is None:
            return Message().append(tensors[0]).to_frames()
        return encode(tensors, metadata=said, limits=limits)

    with pytest.raises(LocalProtocolError, match="could not be read again") as caught:
        write()
    if name == "origin" or way == "append":
        return
    assert f"limits=Limits({name}=...) can raise it" in str(caught.value)
    raised = Limits(**{name: 2**61})
    assert decode(encode(tensors, metadata=said, limits=raised), limits=raised).metadata == (said or {})


@pytest.mark.parametrize("seed", range(6))
def test_section_2_whatever_is_written_is_read(seed):
    rng = np.random.default_rng(seed)
    numbers = [0, 1, 2, 2**10, 2**20, 2**31, 2**36, 2**36 + 1, 2**61]
    written = 0
    for _ in range(60):
        extents = [int(rng.choice(numbers)) for _ in range(rng.integers(1, 4))]
        origin = [int(rng.choice([0, 5, 2**61, 2**62, 2**62 + 1])) for _ in extents]
        if 0 not in extents:
            extents[int(rng.integers(len(extents)))] = 0
        try:
            frames = encode([tw.zeros(Shape(*extents, origin=origin))])
        except LocalProtocolError:
            continue
        written += 1
        assert decode(frames).tensors[0].shape == Shape(*extents, origin=origin)
    assert written


WIDE = {
    "what cells would be": Shape(0, 3, 2**36 + 1).as_jagged(),
    "cells": Shape.from_cells((1,), [(0, 2**36 + 1)]),
    "tiles": Tiling([2, 1], [2**36 + 1, 0])[0:0].shape,
}


@pytest.mark.parametrize("name", WIDE)
def test_section_2_extents_that_stand_in_parts_are_looked_at_when_written(name):
    tensor = tw.zeros(WIDE[name])
    with pytest.raises(LocalProtocolError, match=r"could not be read again.*limits=Limits\(extent=...\)"):
        encode([tensor])
    raised = Limits(extent=2**37)
    assert decode(encode([tensor], limits=raised), limits=raised).tensors[0].shape == tensor.shape


def test_section_2_two_limits_in_the_way_are_both_named():
    with pytest.raises(LocalProtocolError, match=r"Limits\(extent=..., empty_elements=...\)"):
        encode([np.empty((2**37, 0), "u1")])


def test_w9_places_without_elements_are_charged():
    wide = {"dtype": "f", "word": 8, "shape": [2**24, 0], "part": 0}
    assert reason_of(message(described(wide), b"")) == "limit"
    few = {**wide, "shape": [2**10, 0]}
    assert len(decode(message(described(*[few] * 1024), b"")).tensors) == 1024
    assert reason_of(message(described(*[few] * 1025), b"")) == "limit"
    tracemalloc.start()
    decode(message(described({**wide, "shape": [2**20, 0]}), b"")).tensors[0].tolist()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * 2**20


def test_w9_empty_cells_and_tiles_are_charged():
    for shape in (
        Shape.jagged([Shape(2, 1), Shape(2**36, 0)]),
        Shape.jagged([Shape(2**19 + 2, 0)] * 2),
        Shape.tiled([0] * 1500, [0] * 1500),
    ):
        tensor = tw.zeros(shape)
        with pytest.raises(LocalProtocolError, match=r"Limits\(empty_elements=...\)"):
            encode([tensor])
        frames = [bytes(f) for f in encode([tensor], limits=Limits(empty_elements=2**60))]
        assert reason_of(frames) == "limit"
        assert decode(frames, limits=Limits(empty_elements=2**60)).tensors[0].shape == shape
    rows = tw.jagged([[]] * 5000)
    assert decode(encode([rows])).tensors[0].shape == rows.shape


def test_w9_one_compressed_part_is_one_buffer():
    frames = encode([np.zeros(2**20)], compress="zlib")
    label = json.loads(bytes(frames[0])[8:])
    label["TENS"]["tensors"] *= 100
    read = decode(message(label, *frames[2:]), limits=Limits(decompressed_bytes=2**40))
    tracemalloc.start()
    assert all(tensor[0].item() == 0.0 for tensor in read.tensors)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23
    read = decode(message(label, *frames[2:]), limits=Limits(decompressed_bytes=100 * 2**23 - 1))
    with pytest.raises(RemoteProtocolError, match=r"Limits\(decompressed_bytes=...\) can raise it"):
        np.asarray(read.tensors[0])


def test_section_2_what_is_compressed_opens_everywhere_and_is_counted_when_it_is_made():
    n = 2**20
    frames = encode([np.arange(n), np.arange(n)], compress="zlib")
    first, second = decode(frames, limits=Limits(decompressed_bytes=3 * n * 4)).tensors
    # Reading the same again and again takes what one read takes.
    for start in range(0, n, n // 16):
        assert first[start : start + 3].tolist() == [start, start + 1, start + 2]
        assert second[start].item() == start
    assert np.asarray(first).tolist() == list(range(n)) == first.tolist()
    tracemalloc.start()
    for take in (
        np.asarray,
        lambda t: t.copy(),
        lambda t: t.tolist(),
        lambda t: t + 1,
        lambda t: t[::-1].copy(),
    ):
        with pytest.raises(
            RemoteProtocolError, match=r"Limits\(decompressed_bytes=...\) can raise it"
        ) as caught:
            take(second)
        assert caught.value.reason == "limit"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22
    assert second[5].item() == 5
    assert len(decode(frames, limits=Limits(decompressed_bytes=0)).tensors) == 2


def test_w9_what_is_allocated_is_a_share_of_the_memory():
    from tensorwrapper.wire._limits import memory_share

    share = memory_share()
    assert 2**28 <= share <= 2**36
    assert DEFAULT_LIMITS.decompressed_bytes == DEFAULT_LIMITS.received_bytes == share
    # All else is the same on every machine.
    assert (DEFAULT_LIMITS.extent, DEFAULT_LIMITS.total_bytes) == (2**36, 2**40)
    assert len(decode(message(described(GOOD), bytes(24))).tensors) == 1
    with pytest.raises(RemoteProtocolError):
        decode(message(described(GOOD), bytes(24)), limits=Limits(total_bytes=40))
