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


SMALL = {f"t{k}": np.arange(12.0).reshape(3, 4) + k for k in range(100)}


def strictly(arrays):
    return wire.decode(wire.encode([*arrays.values()]), strict=True).tensors


def many_out_of_band(arrays):
    buffers: list[pickle.PickleBuffer] = []
    values = [*arrays.values()]
    return pickle.loads(pickle.dumps(values, 5, buffer_callback=buffers.append), buffers=buffers)


def many_by_safetensors(arrays):
    return [*safetensors.numpy.load(safetensors.numpy.save(arrays)).values()]


@pytest.mark.parametrize("way", [strictly, many_out_of_band, many_by_safetensors], ids=lambda w: w.__name__)
@pytest.mark.parametrize("n", [1, 100])
def test_encode_and_decode_small_tensors(benchmark, way, n):
    some = {name: SMALL[name] for name in [*SMALL][:n]}
    benchmark.group = f"encode, decode and check {n} tensors of 12 numbers"
    result = benchmark(way, some)

    assert len(result) == n
    assert sorted(np.asarray(result[k])[0, 0] for k in range(n)) == [*range(n)]


def test_a_hundred_tensors_that_were_never_seen(benchmark):
    flat, starts = ARRAY.reshape(-1), iter(range(1, 1 << 17, 100))

    def fresh():
        first = next(starts)
        return wire.decode(wire.encode([flat[: first + k] for k in range(100)]), strict=True)

    benchmark.group = "encode, decode and check 100 tensors of 12 numbers"
    benchmark.pedantic(fresh, rounds=1000)


def test_through_one_frame(benchmark):
    frames = wire.encode([ARRAY])

    def through():
        return wire.decode(wire.decode_frames(wire.encode_frames(frames))).tensors[0]

    benchmark.group = "encode and decode 1 MiB"
    assert np.array_equal(np.asarray(benchmark(through)), ARRAY)


def test_through_a_stream(benchmark):
    pieces = wire.stream_pieces(wire.encode([ARRAY]))
    stream = b"".join(pieces)

    def through():
        reader = wire.StreamReader()
        for place in range(0, len(stream), 1 << 16):
            reader.feed(memoryview(stream)[place : place + (1 << 16)])
        (message,) = reader.messages()
        return message.tensors[0]

    benchmark.group = "encode and decode 1 MiB"
    assert np.array_equal(np.asarray(benchmark(through)), ARRAY)


def test_no_copy_is_made():
    with count_copies() as count:
        result = tens()

    assert count.nbytes == 0
    assert np.shares_memory(np.asarray(result), ARRAY)
