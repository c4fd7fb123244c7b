"""What the short way makes of plain tensors is what the long one makes, and the rest is left to that."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import DEFAULT_LIMITS, decode, encode
from tensorwrapper.wire.codec import _tensors
from tensorwrapper.wire.codec._fast_dense import is_surely_read, plain_message, plain_part, read_plain
from tensorwrapper.wire.codec._plain_label import plain_label
from tensorwrapper.wire.codec._plan import check_readable, plan_label
from tensorwrapper.wire.codec._write import Writer

DTYPES = ("?", "<i1", "<u2", "<i4", "<f2", "<f8", "<c8", "<c16", ">f8")


SIZES = st.one_of(st.integers(0, 5), st.sampled_from([2**33, 2**34, 2**36, 2**36 + 1, 2**40]))


@st.composite
def arrays(draw):
    extents = draw(st.lists(st.integers(0, 3), max_size=3))
    array = np.arange(np.prod(extents, dtype=int)).reshape(extents).astype(draw(st.sampled_from(DTYPES)))
    array = array.T if draw(st.booleans()) else array
    if array.ndim and draw(st.booleans()):
        array = array[::-1]
    return tw.as_tensor(array) if draw(st.booleans()) else array


def written_the_long_way(tensors):
    """Return the payload and descriptions that `Writer` makes when it describes each tensor by itself."""
    writer = Writer(len(tensors))
    for part, tensor in enumerate(tensors):
        writer.add(tw.as_tensor(tensor), part, None)
    return writer.frames({})


@given(st.lists(arrays(), max_size=3))
def test_the_short_way_is_the_long_way(tensors):
    expected = [bytes(frame) for frame in written_the_long_way(tensors)]
    frames = [bytes(frame) for frame in encode(tensors)]
    assert frames == expected
    found = plain_message(tensors)
    if found is not None:
        assert [bytes(found[0]), *map(bytes, found[1])] == [expected[0], *expected[2:]]
    read = decode(frames).tensors
    assert [t.to_numpy().tolist() for t in read] == [tw.as_tensor(t).to_numpy().tolist() for t in tensors]
    assert all(tensor.buffer.is_readonly for tensor in read)


@given(st.lists(arrays(), min_size=1, max_size=3), st.data())
def test_what_does_not_fit_is_refused_by_the_long_way(tensors, data):
    frames = [bytes(frame) for frame in encode(tensors)]
    at = data.draw(st.integers(2, len(frames) - 1))
    frames[at] += b"x"
    with pytest.raises(RemoteProtocolError) as caught:
        decode(frames)
    assert caught.value.reason == "size"


def test_what_is_plain():
    array = np.arange(12.0).reshape(3, 4)
    for plain in (
        array,
        array[1:],
        tw.as_tensor(array),
        tw.as_tensor(array)[1:],
        np.zeros((0, 3)),
        np.array(1),
    ):
        kind, extents, word, data = plain_part(plain)
        dense = np.asarray(plain)
        assert (kind, extents, word, bytes(data)) == (dense.dtype.kind, dense.shape, 8, dense.tobytes())
        assert not dense.size or np.shares_memory(np.frombuffer(data, "u1"), dense)
    named = tw.as_tensor(array).with_names("a", "b") if hasattr(tw.Tensor, "with_names") else None
    for other in (
        array.T,
        array[:, ::2],
        tw.as_tensor(array)[:, 1:],
        [1, 2],
        tw.jagged([[1], [2, 3]]),
        named,
    ):
        assert plain_part(other) is None
    assert plain_message([array, array.T]) is None


def test_what_has_a_part_twice_or_no_bools_is_read_the_long_way(monkeypatch):
    def plans(text):
        return plan_label(text, DEFAULT_LIMITS, strict=True, allow_longdouble=False).plain

    one = '{"dtype":"%s","part":%d,"shape":[2],"word":%d}'
    label = '{"TENS":{"tensors":[%s]}}'
    assert len(plans(label % f"{one % ('f', 0, 8)},{one % ('i', 1, 4)}")) == 2
    assert plans(label % f"{one % ('f', 0, 8)},{one % ('i', 0, 8)}") is None
    assert plans(label % (one % ("b", 0, 1))) is None
    assert plans(label % (one % ("f", 0, 8)).replace("word", 'x":1,"word')) is not None
    seen = []
    monkeypatch.setattr(_tensors, "read_plain", lambda *given: seen.append(given) or read_plain(*given))
    frames = encode([np.arange(3) > 1])
    for _ in range(2):
        assert decode(frames).tensors[0].tolist() == [False, False, True]
    assert len(seen) == 2
    with pytest.raises(RemoteProtocolError, match="bool"):
        len(decode([*frames[:2], b"\0\2\1"]).tensors)
    assert read_plain(*seen[-1]) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from("fiu"), st.integers(0, 3), st.lists(SIZES, max_size=3).map(tuple), st.just(8)
        )
    )
)
def test_what_is_surely_read_is_read(plain):
    plain = tuple(plain)
    text = plain_label(plain)
    sizes = [math.prod(shape) * word for _, _, shape, word in plain]
    if is_surely_read(text, plain, sizes):
        check_readable(text, DEFAULT_LIMITS)
    else:
        assert not all(sizes) or sum(sizes) > 2**36
