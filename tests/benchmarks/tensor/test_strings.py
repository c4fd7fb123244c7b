"""A million strings of 0 to 39 bytes, in and out of Arrow, TF_STRING and Python; peers: pyarrow, join."""

import struct

import numpy as np
import pyarrow as pa
import pytest

from tensorwrapper.buffer import (
    StringData,
    count_copies,
    decode_tf_strings,
    encode_tf_strings,
    strings_from_arrow,
    strings_from_numpy,
    strings_to_numpy,
)

N = 1_000_000
LENGTHS = np.random.default_rng(7).integers(0, 40, N)
ITEMS = ["x" * n for n in LENGTHS.tolist()]
STRINGS = StringData.from_list(ITEMS)
ARROW = pa.array(STRINGS)
ENCODED = encode_tf_strings(STRINGS)
ORDER = np.random.default_rng(8).permutation(N)


@pytest.mark.parametrize("form", [pa.large_string(), pa.string(), pa.string_view()], ids=str)
def test_from_arrow(benchmark, form):
    array = pa.array(ITEMS, form)
    benchmark.group = "10^6 strings from Arrow"

    assert len(benchmark(strings_from_arrow, array)) == N


def test_from_arrow_copies_nothing():
    with count_copies() as count:
        strings_from_arrow(ARROW)

    assert count.nbytes == 0


@pytest.mark.parametrize("build", [StringData.from_list, pa.array], ids=["ours", "pyarrow"])
def test_from_a_list(benchmark, build):
    benchmark.group = "10^6 strings from a list"

    assert len(benchmark(build, ITEMS)) == N


@pytest.mark.parametrize("read", [STRINGS.to_list, ARROW.to_pylist], ids=["ours", "pyarrow"])
def test_to_a_list(benchmark, read):
    benchmark.group = "10^6 strings to a list"

    assert len(benchmark(read)) == N


def tf_string_by_join(items):
    """The same bytes from Python's bytes, all of them short: what a loop can do at its best."""
    heads = [bytes([n]) for n in range(128)]
    table = np.cumsum([0] + [len(item) + 1 for item in items])[:-1]
    return struct.pack(f"<{len(items)}Q", *table.tolist()) + b"".join(
        [piece for item in items for piece in (heads[len(item)], item)]
    )


@pytest.mark.parametrize("way", ["ours", "join"])
def test_encode_tf_string(benchmark, way):
    """ENCODED has 28 MB: 200 MB/s are 140 ms."""
    benchmark.group = "TF_STRING of 10^6 strings, encode"
    if way == "ours":
        encoded = benchmark(encode_tf_strings, STRINGS)
    else:
        encoded = benchmark(tf_string_by_join, STRINGS.as_binary().to_list())

    assert bytes(encoded) == ENCODED.tobytes()


def test_encode_long_strings(benchmark):
    """300 bytes each, 31 MB: every length takes two bytes."""
    long = StringData.from_list([b"x" * 300] * 100_000)
    benchmark.group = "TF_STRING of 10^5 strings of 300 bytes, encode"

    assert len(benchmark(encode_tf_strings, long)) == 310 * 100_000


@pytest.mark.parametrize("encoding", [None, "utf-8"])
@pytest.mark.parametrize("strict", [True, False])
def test_decode_tf_string(benchmark, encoding, strict):
    benchmark.group = "TF_STRING of 10^6 strings, decode"

    assert len(benchmark(decode_tf_strings, ENCODED, N, encoding=encoding, strict=strict)) == N


def test_take(benchmark):
    benchmark.group = "10^6 strings in random order, shared"

    assert len(benchmark(STRINGS.take, ORDER)) == N


@pytest.mark.parametrize("way", ["ours", "pyarrow"])
def test_pack(benchmark, way):
    benchmark.group = "10^6 strings in random order, copied"
    if way == "ours":
        assert len(benchmark(lambda: STRINGS.take(ORDER).pack())) == N
    else:
        assert len(benchmark(ARROW.take, pa.array(ORDER))) == N


@pytest.mark.parametrize("way", ["ours", "pyarrow"])
def test_equality(benchmark, way):
    benchmark.group = "10^6 strings equal to others"
    if way == "ours":
        assert benchmark(STRINGS.equals, StringData.from_list(ITEMS))
    else:
        assert benchmark(ARROW.equals, pa.array(ITEMS, pa.large_string()))


@pytest.mark.parametrize("dtype", ["S", "U", "T"])
def test_numpy_and_back(benchmark, dtype):
    strings = STRINGS.as_binary() if dtype == "S" else STRINGS
    benchmark.group = "10^6 strings to NumPy and back"

    assert len(benchmark(lambda: strings_from_numpy(strings_to_numpy(strings, dtype)))) == N
