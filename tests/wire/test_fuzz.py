"""Any bytes at all: decoding succeeds, or raises the one error; and takes no more memory than it was sent."""

import contextlib
import json
import os
import random
import sys
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import CPP, PY

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.errors import RemoteProtocolError, TensorWrapperError
from tensorwrapper.wire import (
    Limits,
    StreamReader,
    decode,
    decode_frames,
    encode,
    encode_frames,
    stream_pieces,
)

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("TENSORWRAPPER_FUZZ_SECONDS", "1"))
"""For each seed and way; docs/contributing.md says how long it ran at most."""
ODD = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        3,
        7,
        8,
        64,
        65,
        2**31,
        2**32,
        2**40,
        2**48,
        2**62,
        2**63,
        2**64,
        -(2**63),
    ),
    *(
        10**30,
        0.0,
        0.5,
        -0.0,
        1e300,
        "",
        "0",
        "f",
        "i",
        "dense",
        "jagged",
        "tiled",
        "tiles",
        "box",
        "é",
        "\0",
    ),
    *([], [0], [1, 0], [0, 0], [True], [[0]], [2**40, 2**40], {}, {"part": 0}, {"part": 1}, {"version": 1}),
]
KEYS = [
    "dtype",
    "word",
    "shape",
    "part",
    "metadata",
    "order",
    "ascend",
    "packing",
    "pointer",
    "origin",
    "jagged",
    "tiled",
    "version",
    "splits",
    "cells",
    "cell_rank",
    "origins",
    "marks",
    "first",
    "storage",
    "tensors",
    "TENS",
]
NUMBERS = [0, 1, -1, 2, 7, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63)]


def samples():
    recorded = [*CPP.values(), *PY.values()]
    found = [[bytes.fromhex(f) for f in case["frames"]] for case in recorded if "frames" in case]
    table = tw.as_tensor(np.arange(12.0).reshape(3, 4))
    tiling = Tiling([1, 2], [3, 0, 1])
    tensors = [
        tw.jagged([[1, 2, 3], [], [4]]),
        tw.jagged([[[1], [2, 3]], [], [[4, 5, 6]]]).window(Shape.jagged([[1, 2], [], [3]])[1:]),
        tw.from_buffer(np.arange(12.0), Shape.jagged([Shape(2, 3, origin=(1, k)) for k in (0, 4)])),
        table.tiled(tiling),
        tw.from_buffer(np.arange(12), tiling.shape),
        table.window(Shape(2, 2, origin=(1, 1))),
        np.array([True, False]),
    ]
    found += [[bytes(f) for f in encode([tensor])] for tensor in tensors]
    found.append([bytes(f) for f in encode(tensors, metadata={"run": 1}, parts=[3, 1, 0, 2, 6, 5, 4])])
    return found


SAMPLES = samples()


def places_of(value, place=()):
    """Every place in a JSON value, as the keys that lead there."""
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places_of(item, (*place, key))


def swap_value(frames, rng):
    """Put something else at one place of the label, or add a key, or take one away."""
    try:
        label = json.loads(frames[0][8:])
    except ValueError:
        return
    place = rng.choice(list(places_of(label)))
    if not place:
        return
    inner = label
    for key in place[:-1]:
        inner = inner[key]
    choice = rng.random()
    if choice < 0.15:
        del inner[place[-1]]
    elif choice < 0.3 and isinstance(inner, dict):
        inner[rng.choice(KEYS)] = rng.choice(ODD)
    else:
        inner[place[-1]] = rng.choice(ODD)
    frames[0] = frames[0][:8] + json.dumps(label).encode()


def swap_number(frames, rng):
    """Put another int64 into an index array."""
    place = rng.randrange(len(frames))
    if len(frames[place]) >= 8:
        numbers = np.frombuffer(frames[place], "<i8", len(frames[place]) // 8).copy()
        numbers[rng.randrange(len(numbers))] = rng.choice(NUMBERS)
        frames[place] = numbers.tobytes()


def flip(frames, rng):
    place = rng.randrange(len(frames))
    if frames[place]:
        spoilt = bytearray(frames[place])
        spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
        frames[place] = bytes(spoilt)


def cut(frames, rng):
    place = rng.randrange(len(frames))
    frames[place] = frames[place][: rng.randrange(len(frames[place]) + 1)]


def rearrange(frames, rng):
    choice = rng.randrange(4)
    if choice == 0:
        frames.pop(rng.randrange(len(frames)))
    elif choice == 1:
        frames.insert(rng.randrange(len(frames) + 1), rng.choice(frames))
    elif choice == 2:
        rng.shuffle(frames)
    else:
        place = rng.randrange(len(frames))
        frames[place] += frames[rng.randrange(len(frames))]


SPOIL = [swap_value, swap_value, swap_value, swap_number, swap_number, flip, cut, rearrange]


def use(message):
    """Do with a message what its reader would: what was let through must hold what it says."""
    for place in range(len(message.tensors)):
        try:
            tensor = message.tensors[place]
        except RemoteProtocolError as error:
            if error.reason != "unsupported":
                raise
            continue
        elements = tensor.elements()
        assert len(elements) == tensor.size
        assert tensor.is_readonly
        repr(tensor)
        hash(tensor.shape)
        if 0 < tensor.size < 1000:
            last = tensor.shape.index(tensor.size - 1)
            assert last in tensor.shape
            assert tensor.shape.ordinal(last) == tensor.size - 1
            assert (
                sum(cell.size for _, cell in tensor.cells()) == tensor.size
                if tensor.shape.kind == "jagged"
                else True
            )
    with contextlib.suppress(TensorWrapperError):
        assert decode(encode(message.tensors)).tensors is not None


def read_frames(frames, _rng):
    return [decode(frames)]


def read_single_frame(frames, rng):
    whole = [encode_frames(frames)]
    if rng.random() < 0.5:
        rng.choice([flip, cut])(whole, rng)
    return [decode(decode_frames(whole[0]))]


def read_stream(frames, rng):
    whole = [b"".join(stream_pieces(frames)) * rng.choice((1, 2))]
    if rng.random() < 0.5:
        rng.choice([flip, cut])(whole, rng)
    reader, messages, place = StreamReader(), [], 0
    while place < len(whole[0]):
        step = rng.choice((1, 7, 100, 10_000))
        reader.feed(whole[0][place : place + step])
        messages += reader.messages()
        place += step
    return messages


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("read", [read_frames, read_single_frame, read_stream], ids=lambda f: f.__name__)
def test_spoilt_messages_are_read_or_refused(read, seed):
    rng = random.Random(f"{seed} {SECONDS}")
    until = time.monotonic() + SECONDS
    tried = accepted = 0
    while time.monotonic() < until:
        frames = list(rng.choice(SAMPLES))
        for _ in range(rng.choice((1, 1, 2, 3))):
            if frames:
                rng.choice(SPOIL)(frames, rng)
        tried += 1
        try:
            messages = read(frames, rng)
        except RemoteProtocolError:
            continue
        accepted += 1
        for message in messages:
            use(message)
    sys.stdout.write(f"{tried} messages tried, {accepted} read\n")
    # Both ends are reached: neither is everything refused, nor everything let through.
    assert 0 < accepted < tried
    assert tried > 50


def test_refusing_and_reading_take_little_memory():
    rng = random.Random(99)
    tracemalloc.start()
    try:
        for _ in range(400):
            frames = list(rng.choice(SAMPLES))
            for _ in range(rng.choice((1, 2))):
                if frames:
                    rng.choice(SPOIL)(frames, rng)
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            with contextlib.suppress(RemoteProtocolError):
                decode(frames)
            assert tracemalloc.get_traced_memory()[1] - before < 2**20 + 50 * sum(map(len, frames)), frames
    finally:
        tracemalloc.stop()


@given(frames=st.lists(st.binary(max_size=80), max_size=5))
def test_random_frames_are_refused(frames):
    with contextlib.suppress(RemoteProtocolError):
        assert decode(frames).to_frames()[0][:3] == b"ZIO"


JSON = st.recursive(
    st.sampled_from([v for v in ODD if not isinstance(v, list | dict)]) | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@given(tensors=st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=8), max_size=3), beside=JSON)
def test_random_descriptions_are_read_or_refused(tensors, beside):
    label = json.dumps({"TENS": {"tensors": tensors, "metadata": beside}}, allow_nan=False)
    with contextlib.suppress(RemoteProtocolError):
        use(decode([b"ZIO0TENS" + label.encode("utf-8", "surrogatepass"), bytes(24), bytes(8), bytes(16)]))


@given(text=st.text(max_size=60) | st.binary(max_size=60), form=st.sampled_from([b"TENS", b"TEXT", b"    "]))
def test_random_labels_are_read_or_refused(text, form):
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    with contextlib.suppress(RemoteProtocolError):
        assert decode([b"ZIO0" + form + raw, bytes(24)]).label.encode() == raw


@pytest.mark.parametrize(("left", "right", "core"), [("[", "]", '"\\u0041"'), ('{"\\u0041":', "}", "1")])
def test_a_reader_without_a_depth_limit_gets_the_one_error_too(left, right, core):
    # Every depth around the interpreter's own limit: what it can parse, it must be able to check as well.
    for depth in (100, *range(800, 1010), 5000):
        text = left * depth + core + right * depth
        with contextlib.suppress(RemoteProtocolError):
            decode([b"ZIO0JSON" + text.encode(), bytes(24)], limits=Limits(depth=10**6))
