"""Any bytes at all: decoding succeeds, or raises the one error; and takes no more memory than it was sent."""

import contextlib
import json
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import Limits, decode
from tests.fuzz.messages import samples, use_message
from tests.fuzz.mutate import mutate_frames, pack, unpack

pytestmark = pytest.mark.slow

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


def test_refusing_and_reading_take_little_memory():
    rng, inputs = random.Random(99), [pack(frames) for frames in samples()]
    tracemalloc.start()
    try:
        for _ in range(400):
            data = rng.choice(inputs)
            for _ in range(rng.choice((1, 2))):
                data = mutate_frames(data, rng, rng.choice(inputs))
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            with contextlib.suppress(RemoteProtocolError):
                decode(unpack(data))
            assert tracemalloc.get_traced_memory()[1] - before < 2**20 + 50 * len(data), data
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
        use_message(
            decode([b"ZIO0TENS" + label.encode("utf-8", "surrogatepass"), bytes(24), bytes(8), bytes(16)])
        )


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
