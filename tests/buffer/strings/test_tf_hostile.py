"""TF_STRING against a model that reads one element at a time, and buffers made to hurt."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer import StringData, decode_tf_strings, encode_tf_strings
from tensorwrapper.errors import ConversionError, StringDataError, TensorWrapperError


def read_one_by_one(buffer, count):
    """The lax reader in plain Python: None where TensorFlow's, made safe, refuses."""
    if len(buffer) < 8 * count:
        return None
    data = buffer[8 * count :]
    items = []
    for k in range(count):
        place = int.from_bytes(buffer[8 * k : 8 * k + 8], "little")
        if place >= len(data):
            return None
        length = 0
        for shift in range(0, 70, 7):
            if place >= len(data):
                return None
            byte = data[place]
            place += 1
            length |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        else:
            return None
        if length >= 2**64 or place + length > len(data):
            return None
        items.append(data[place : place + length])
    return items


@st.composite
def likely_buffers(draw):
    """A table of offsets that mostly point into a little data with small and large bytes."""
    data = draw(st.lists(st.sampled_from([0, 1, 2, 3, 5, 0x7F, 0x80, 0x81, 0xFF]), max_size=24).map(bytes))
    near = st.integers(0, len(data))
    offsets = draw(st.lists(st.one_of(near, near, st.sampled_from([2**63, 2**64 - 1])), max_size=5))
    return b"".join(o.to_bytes(8, "little") for o in offsets) + data, len(offsets)


@given(likely_buffers())
def test_the_lax_reader_agrees_with_the_model(case):
    buffer, count = case
    expected = read_one_by_one(buffer, count)
    if expected is None:
        with pytest.raises(StringDataError):
            decode_tf_strings(buffer, count, strict=False)
    else:
        assert decode_tf_strings(buffer, count, strict=False).to_list() == expected


@given(likely_buffers())
def test_the_strict_reader_accepts_exactly_what_is_written(case):
    buffer, count = case
    items = read_one_by_one(buffer, count)
    canonical = items is not None and encode_tf_strings(StringData.from_list(items)).tobytes() == buffer
    if canonical:
        assert decode_tf_strings(buffer, count).to_list() == items
    else:
        with pytest.raises(StringDataError):
            decode_tf_strings(buffer, count)


@given(st.binary(max_size=60), st.integers(0, 8), st.booleans(), st.sampled_from([None, "utf-8"]))
def test_arbitrary_bytes_give_strings_or_an_error_of_ours(buffer, count, strict, encoding):
    try:
        strings = decode_tf_strings(buffer, count, strict=strict, encoding=encoding)
    except TensorWrapperError:
        return
    assert len(strings.to_list()) == count


@given(st.lists(st.binary(max_size=300)), st.booleans())
def test_a_round_trip(items, strict):
    buffer = encode_tf_strings(StringData.from_list(items, kind="binary"))

    assert read_one_by_one(buffer.tobytes(), len(items)) == items
    assert decode_tf_strings(buffer, len(items), strict=strict).to_list() == items


@given(st.lists(st.text(max_size=20)), st.data())
def test_elements_taken_from_elsewhere_are_written_in_their_new_order(items, data):
    words = StringData.from_list(items)
    some = data.draw(st.lists(st.integers(0, len(items) - 1), max_size=20)) if items else []
    buffer = encode_tf_strings(words.take(some))

    assert decode_tf_strings(buffer, len(some), encoding="utf-8").to_list() == [items[k] for k in some]


def bomb(count, length):
    """Many elements that are all the same long string."""
    head = bytearray()
    rest = length
    while rest >= 0x80:
        head.append(rest & 0x7F | 0x80)
        rest >>= 7
    head.append(rest)
    return bytes(8 * count) + bytes(head) + bytes(length)


def test_elements_that_share_bytes_are_capped():
    buffer = bomb(2**15, 2**16)  # 2 GiB from 320 KiB

    with pytest.raises(StringDataError, match="2147483648 bytes long together"):
        decode_tf_strings(buffer, 2**15, strict=False)
    assert len(decode_tf_strings(buffer, 2**15, strict=False, max_bytes=2**31)) == 2**15


def test_what_does_not_share_is_never_capped():
    buffer = encode_tf_strings(StringData.from_list([b"x" * 1000] * 10))

    assert len(decode_tf_strings(buffer, 10, max_bytes=0)) == 10


@pytest.mark.parametrize("encoding", [None, "utf-8"])
def test_a_refused_bomb_costs_little_memory(encoding):
    buffer = bomb(2**15, 2**20)  # 32 GiB from 1.3 MiB
    tracemalloc.start()
    with pytest.raises(StringDataError, match="max_bytes"):
        decode_tf_strings(buffer, 2**15, strict=False, encoding=encoding)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20 * len(buffer)


def test_checking_text_that_shares_bytes_costs_little_memory():
    # Not ASCII, and a gap that is no text: the elements themselves have to be looked at.
    text = "é" * 2**15
    data = b"\xff" + text.encode()
    n = 2**10
    starts, stops = np.ones(n, dtype=np.int64), np.full(n, len(data))
    starts[0] = 0
    stops[0] = 0
    tracemalloc.start()
    words = StringData.from_ranges(starts, stops, data, "utf8")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert words.item(n - 1) == text
    assert peak < 16 * 2**20  # all elements together have 64 MiB


@pytest.mark.parametrize("strings", [["a"], "a", b"a", None, np.array(["a"]), 5])
def test_errors_what_is_no_string_data_is_refused_by_name(strings):
    with pytest.raises(ConversionError, match=f"not {type(strings).__name__}"):
        encode_tf_strings(strings)
