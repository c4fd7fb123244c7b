"""What is read the short way is what the general way reads; all else is left to it."""

import random
import struct

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._fast_parse import quick_request
from tensorwrapper.remote.protocol._requests import RequestReader, receive_request, send_request
from tensorwrapper.selection import Outer, Runs

LIMITS = ServeLimits()
NAMES = st.text("abcXYZ 0189_/.[]{}", min_size=1, max_size=9)
POSITIONS = st.lists(st.integers(0, 2**40), min_size=1, max_size=9, unique=True).map(sorted)


@st.composite
def boxes(draw):
    ranges = draw(
        st.lists(
            st.tuples(st.integers(0, 2**40), st.integers(0, 9), st.integers(1, 2**9)), min_size=1, max_size=4
        )
    )
    return Outer([range(start, start + count * step, step) for start, count, step in ranges])


REQUESTS = st.one_of(
    st.builds(ev.AskRead, NAMES, NAMES, st.none(), st.tuples(boxes())),
    st.builds(ev.AskRead, NAMES, NAMES, st.none(), st.tuples(POSITIONS.map(Runs))),
    st.builds(ev.AskRows, NAMES, NAMES, POSITIONS.map(Runs), st.sampled_from([0, 1, 2**15])),
)

POINTS = st.builds(
    ev.AskRead,
    st.just("x"),
    st.just("1"),
    st.none(),
    st.tuples(POSITIONS.map(lambda own: Runs([0, *[n + 1 for n in own]]))),
)
"""Of one tensor, which begin at one place: labels that differ in nothing but how many there are."""


def fields_of(request):
    return [getattr(request, field.name) for field in attrs.fields(type(request))]


def outcome(read):
    try:
        number, request = read()
    except RequestRefusedError as error:
        return error.reason, str(error)
    return number, type(request), fields_of(request)


def check(frames):
    """Compare both ways; return what the short way reads, if it reads anything."""
    views = [memoryview(frame) for frame in frames]
    expected = outcome(lambda: receive_request(views))
    assert outcome(lambda: RequestReader(LIMITS).read(views) or receive_request(views)) == expected
    return quick_request(views, LIMITS)


@given(REQUESTS)
def test_what_is_read_the_short_way_is_what_was_written(request):
    frames = send_request(7, request)
    check(frames)
    assert fields_of(RequestReader(LIMITS).read(frames)[1]) == fields_of(request)


@given(
    st.lists(st.one_of(REQUESTS, POINTS), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**64 - 1), st.integers(0, 3)), max_size=20),
)
def test_what_came_before_is_read_as_if_it_had_not(requests, said):
    """One reader sees messages again and again, also with a byte of their tables changed, or some missing."""
    reader, known = RequestReader(LIMITS), [send_request(0, own) for own in requests]
    for which, number, change in said:
        label, _, *tables = map(bytes, known[which % len(known)])
        frames = [label, struct.pack("<3Q", number, 0, 0), *tables]
        if change == 1 and tables and tables[0]:
            frames[2] = bytes([tables[0][0] ^ 1, *tables[0][1:]])
        if change == 2 and tables:
            frames[2] = tables[0][:-1]
        if change == 3:
            frames[1] = frames[1][:-1]
        views = [memoryview(frame) for frame in frames]
        assert outcome(lambda views=views: reader.read(views)) == outcome(lambda v=views: receive_request(v))


@pytest.mark.parametrize(
    "request_",
    [
        ev.AskRead("x", "server:1", None, (Outer([range(3, 4), range(0, 128, 2)]),)),
        ev.AskRead("x", "server:1", None, (Runs([1, 5, 9000, 9001, 9004]),)),
        ev.AskRows("x", "server:1", Runs([1, 5, 9000]), 2**15),
        ev.AskRows("x", "", Runs([1, 5, 9000])),
    ],
)
def test_small_requests_are_read_the_short_way(request_):
    assert check(send_request(7, request_)) is not None


@given(REQUESTS, st.integers(0, 2**32))
def test_what_is_changed_on_its_way_is_read_alike_or_left_to_the_general_way(request, seed):
    rng = random.Random(seed)
    frames = [bytearray(frame) for frame in send_request(7, request)]
    for _ in range(rng.randint(1, 3)):
        frame = rng.choice([own for own in frames if own] or [bytearray(1)])
        place = rng.randrange(len(frame))
        match rng.randrange(4):
            case 0:
                frame[place] = rng.randrange(256)
            case 1:
                del frame[place : place + rng.randint(1, 3)]
            case 2:
                digits = str(rng.choice([0, -1, 2**31, 2**63 - 1, 2**64, 10**30])).encode()
                frame[:] = bytes(frame).replace(b"1", digits, 1)
            case _:
                frames.append(bytearray(rng.randbytes(rng.randrange(9))))
    check(frames)


@pytest.mark.parametrize(
    "limits",
    [
        ServeLimits(label_bytes=20),
        ServeLimits(depth=3),
        ServeLimits(items=3),
        ServeLimits(positions=1),
        ServeLimits(request_bytes=100),
    ],
)
def test_limits_are_those_of_the_general_way(limits):
    frames = send_request(7, ev.AskRows("x", "server:1", Runs([1, 5, 9000]), 2**15))
    assert quick_request(frames, limits) is None
    with pytest.raises(RequestRefusedError):
        RequestReader(limits).read(frames)


def test_positions_that_do_not_ascend_are_refused_by_the_general_way():
    frames = [bytearray(frame) for frame in send_request(7, ev.AskRead("x", "", None, (Runs([1, 5, 19]),)))]
    frames[2][0] = 0
    assert quick_request([memoryview(frame) for frame in frames], LIMITS) is None
    with pytest.raises(RequestRefusedError):
        RequestReader(LIMITS).read([memoryview(frame) for frame in frames])


def test_points_of_which_few_touch_travel_one_by_one():
    numbers = np.array([1, 5, 6, 9, 20, 30, 77])
    frames = send_request(7, ev.AskRead("x", "", None, (Runs(numbers),)))
    assert len(frames) == 3
    assert check(frames).selections == (Runs(numbers),)
