"""Compressed, sparse, string and block messages, spoilt at random: read, or refused by the one error."""

import contextlib
import copy
import json
import random

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import Assembler, Limits, decode, encode, split_blocks

pytestmark = pytest.mark.slow

ODD = [None, True, 0, 1, -1, 2, 3, 8, 256, 2**24, 2**31, 2**62, 2**63, 10**30, 0.5, "", "utf8", "binary"]
ODD += ["dense", "jagged", "tiled", "sparse", "string", "zlib", "zstd", "blosc2", "tf_string", "crc32"]
ODD += [[], [0], [1, 0], [2, 2], [2**40, 2**40], [[0]], {}, {"version": 1}, {"part": 1}]
NUMBERS = [0, 1, -1, 2, 7, 255, 2**31, 2**62, 2**63 - 1, -(2**63)]
LIMITS = Limits(decompressed_bytes=2**20)


def samples():
    a = np.arange(4000, dtype="<i4").reshape(40, 100)
    rows = tw.from_buffer(np.arange(3000.0), Shape.jagged([Shape(1000), Shape(0), Shape(2000)]))
    few = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], Shape(3, 4), fill_value=1.5)
    words = tw.strings([["a", None], ["bc", "d"]])
    plain = tw.strings([["a"], [], ["bc", "d"]])
    for codec in ("zlib", "zstd", "blosc2"):
        yield encode([a, rows, tw.as_tensor(a).tiled(Tiling([10, 30], [50, 50]))], compress=codec)
    yield encode([few, words], checksum="crc32")
    yield encode([few.tiled(Tiling([1, 2], [4])), plain, tw.sparse([(1, 1)], [1], Shape.jagged([1, 2]))])
    yield encode([plain, a[:2]], strings="tf_string", checksum="xxh3")
    yield encode([*split_blocks(a, "x", max_bytes=2000)], compress="zlib")


SAMPLES = [[bytes(frame) for frame in frames] for frames in samples()]


def places_of(value, place=()):
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places_of(item, (*place, key))


def swap_value(frames, rng):
    """Put something else, or a copy of another place, at one place of the label."""
    label = json.loads(frames[0][8:])
    found = list(places_of(label))[1:]
    if not found:
        return
    place, other = rng.choice(found), rng.choice(found)
    inner, value = label, label
    for key in place[:-1]:
        inner = inner[key]
    for key in other:
        value = value[key]
    if rng.random() < 0.2:
        del inner[place[-1]]
    else:
        inner[place[-1]] = copy.deepcopy(value) if rng.random() < 0.3 else rng.choice(ODD)
    frames[0] = frames[0][:8] + json.dumps(label).encode()


def swap_number(frames, rng):
    place = rng.randrange(2, len(frames))
    if len(frames[place]) >= 8:
        numbers = np.frombuffer(frames[place], "<i8", len(frames[place]) // 8).copy()
        numbers[rng.randrange(len(numbers))] = rng.choice(NUMBERS)
        frames[place] = numbers.tobytes()


def flip(frames, rng):
    place = rng.randrange(2, len(frames))
    if frames[place]:
        spoilt = bytearray(frames[place])
        spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
        frames[place] = bytes(spoilt)


def cut(frames, rng):
    place = rng.randrange(2, len(frames))
    frames[place] = frames[place][: rng.randrange(len(frames[place]) + 1)]


def use(message):
    for place in range(len(message.tensors)):
        with contextlib.suppress(RemoteProtocolError):
            tensor = message.tensors[place]
            if tensor.is_sparse:
                assert len(tensor.coords()) == len(tensor.values()) == tensor.nnz
                repr(tensor)
            else:
                assert len(tensor.elements()) == tensor.size
                assert (tensor.is_readonly, isinstance(tensor.tolist(), list)) == (True, tensor.rank > 0)
            (again,) = decode(encode([tensor], compress="zlib")).tensors
            assert again.shape == tensor.shape


@pytest.mark.parametrize("seed", range(600))
def test_spoilt_messages_are_read_or_refused(seed):
    rng = random.Random(seed)
    frames = list(SAMPLES[seed % len(SAMPLES)])
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choice([swap_value, swap_value, swap_number, flip, cut])(frames, rng)
    with contextlib.suppress(RemoteProtocolError):
        message = decode(frames, limits=LIMITS)
        use(message)
        Assembler(2**20, 1).add(message)
