"""Positions as frames: what is written is read, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper._json import dump_json
from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote.protocol._frames import refuse_field
from tensorwrapper.remote.protocol._positions import PositionsReader, PositionsWriter, single_runs
from tensorwrapper.selection import Outer, Runs
from tensorwrapper.wire.lowlevel import Field

ASCENDING = st.lists(st.integers(0, 2**62), unique=True, max_size=30).map(sorted)


def carried(wanted, most=10**6):
    writer = PositionsWriter()
    said = writer.selection(wanted)
    reader = PositionsReader(tuple(map(memoryview, writer.frames)), most)
    field = Field(said, "select", refuse_field)
    found = reader.selection(field)
    reader.end(field)
    return found


@given(st.lists(st.one_of(ASCENDING, st.just(range(3, 90, 4))), max_size=3))
def test_positions_of_modes_are_read_as_they_were_written(modes):
    assert carried(Outer(modes)) == Outer(modes)


@given(st.lists(st.tuples(st.integers(1, 2**40), st.integers(1, 9)), max_size=30))
def test_runs_are_read_as_they_were_written(gaps):
    starts, lengths, at = [], [], 0
    for gap, length in gaps:
        starts.append(at + gap)
        lengths.append(length)
        at += gap + length
    assert carried(Runs(starts, lengths)) == Runs(starts, lengths)


@pytest.mark.parametrize(("step", "width"), [(200, 1), (60_000, 2), (2**31, 4), (2**40, 8)])
def test_differences_are_as_narrow_as_they_may_be(step, width):
    writer = PositionsWriter()
    writer.ascending(np.array([5, 7, 7 + step]))
    assert [memoryview(frame).nbytes for frame in writer.frames] == [width * (3 if width == 8 else 2)]


FRAME = {"first": 0, "n": 3, "as": "u1", "frame": 0}


@pytest.mark.parametrize(
    ("said", "frames", "reason"),
    [
        ({"modes": [[0, 4, 0]]}, (), "schema"),
        ({"modes": [[-1, 4, 1]]}, (), "limit"),
        ({"modes": [[0, True, 1]]}, (), "schema"),
        ({"modes": [[2**62, 2**62, 9]]}, (), "schema"),
        ({"modes": [FRAME]}, (b"12",), "ok"),
        ({"modes": [FRAME]}, (b"123",), "schema"),
        ({"modes": [FRAME]}, (b"\0\1",), "schema"),
        ({"modes": [{**FRAME, "n": 2**40}]}, (b"12",), "limit"),
        ({"modes": [{**FRAME, "as": "u8"}]}, (b"12",), "schema"),
        ({"modes": [{**FRAME, "frame": 1}]}, (b"12", b"12"), "schema"),
        ({"modes": [{**FRAME, "first": 2**63 - 5}]}, (b"99",), "schema"),
        ({"modes": [[0, 1, 1]]}, (b"unused",), "schema"),
        ({"starts": [0, 2**40, 2], "lengths": 1}, (), "limit"),
        ({"starts": [0, 3, 2], "lengths": 2**62}, (), "limit"),
        ({"starts": [0, 3, 2], "lengths": 3}, (), "schema"),
        ({"starts": [0, 3, 2], "lengths": -1}, (), "schema"),
        ({"starts": [0, 1, 1]}, (), "schema"),
        ({"what": 1}, (), "schema"),
    ],
)
def test_what_a_stranger_says_is_refused_before_it_is_believed(said, frames, reason):
    field = Field(said, "select", refuse_field)
    reader = PositionsReader(tuple(map(memoryview, frames)), 1000)

    def read():
        found = reader.selection(field)
        reader.end(field)
        return found

    if reason == "ok":
        assert read().extents == (3,)
        return
    with pytest.raises(RequestRefusedError) as caught:
        read()
    assert caught.value.reason == reason


@given(
    st.integers(0, 2**40),
    st.lists(st.sampled_from([1, 2, 3, 255, 256, 2**16 - 1, 2**16, 2**32 - 1, 2**32]), max_size=6),
    st.sampled_from([1, 1, 1, 2]),
)
def test_runs_of_one_are_written_the_short_way_as_they_are_the_general_way(first, steps, length):
    runs = Runs(np.cumsum([first, *[step * length for step in steps]]), length)
    writer = PositionsWriter()
    said = writer.runs(runs)
    short = single_runs(runs)
    if short is not None:
        assert short[0].decode() == dump_json(said)
        assert [bytes(short[1])] == [bytes(frame) for frame in writer.frames]
    elif len(runs.starts) == runs.size and len(writer.frames) == 1:
        # Left to the general way are two, and those that are further apart than 32 bits.
        assert len(runs.starts) == 2 or '"as":"i8"' in dump_json(said)
