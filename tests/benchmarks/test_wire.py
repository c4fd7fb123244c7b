"""Encode and decode one tensor of 1 MiB, without sending; peers: pickle 5 out of band, safetensors."""

import pickle

import numpy as np
import pytest
import safetensors.numpy

from tensorwrapper import wire
from tensorwrapper.buffer import count_copies

ARRAY = np.arange(1 << 17, dtype=np.float64).reshape(256, 512)


def tens():
    return wire.decode(wire.encode([ARRAY])).tensors[0]


def out_of_band():
    buffers: list[pickle.PickleBuffer] = []
    return pickle.loads(pickle.dumps(ARRAY, 5, buffer_callback=buffers.append), buffers=buffers)


def by_safetensors():
    return safetensors.numpy.load(safetensors.numpy.save({"x": ARRAY}))["x"]


@pytest.mark.parametrize("way", [tens, out_of_band, by_safetensors], ids=lambda way: way.__name__)
def test_encode_and_decode_one_mebibyte(benchmark, way):
    benchmark.group = "encode and decode 1 MiB"
    result = benchmark(way)

    assert np.array_equal(np.asarray(result), ARRAY)


def test_a_label_that_was_never_seen(benchmark):
    # What is remembered of labels does not help here: every message has other extents.
    extents = iter(range(1, 1 << 17))
    flat = ARRAY.reshape(-1)

    def fresh():
        return wire.decode(wire.encode([flat[: next(extents)]]))

    benchmark.group = "encode and decode 1 MiB"
    benchmark.pedantic(fresh, rounds=20_000)


def test_no_copy_is_made():
    with count_copies() as count:
        result = tens()

    assert count.nbytes == 0
    assert np.shares_memory(np.asarray(result), ARRAY)
