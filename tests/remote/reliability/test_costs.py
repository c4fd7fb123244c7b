"""Costs before work: to refuse a request takes what its bytes pay for, whatever numbers it says."""

import json
import sys
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._frames import write_frames
from tensorwrapper.remote.protocol._limits import ServeLimits
from tensorwrapper.remote.protocol._requests import RequestReader, receive_request
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.remote.server._clients import Client, Task

MEMORY, CALLS = 2**17, 2000
"""What any refusal may take, beside what its bytes pay for: both are a few times what the longest take."""
LIMITS = ServeLimits()


def served():
    rows = np.arange(1000) % 5
    return {
        "one": np.zeros(1),
        "box": np.zeros((64, 1024), "u1"),
        "rows": tw.from_buffer(np.arange(rows.sum()), tw.Shape.jagged(rows)),
        "tiles": tw.as_tensor(np.zeros((30, 30))).tiled(tw.Tiling([5, 15, 10], [20, 10])),
        "sparse": tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(5, 6)),
        "words": tw.strings(["a", "b" * 100]),
        "view": tw.as_tensor(np.zeros((100, 100)))[:, ::-1] + 1,
    }


@pytest.fixture(scope="module")
def catalogue():
    found = Catalogue(None, LIMITS, writable=True)
    for name, tensor in served().items():
        found.put(name, tensor)
    return found


@contextmanager
def spent():
    """Give what is spent meanwhile: the most bytes at a time, and calls."""
    found = {"bytes": 0, "calls": 0}

    def note(_frame, event, _what):
        found["calls"] += event == "call"

    tracemalloc.start()
    before, profile = tracemalloc.get_traced_memory()[0], sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(profile)
        found["bytes"] = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()


def answer(catalogue, frames):
    """Return what a server answers, by the same steps; None of what it refuses to read."""
    try:
        number, request = RequestReader(LIMITS).read(list(frames)) or receive_request(frames, LIMITS)
    except RequestRefusedError:
        return None
    task = Task(Client(b"peer", ""), number, request, catalogue.bytes_of(request, ""))
    assert task.weight <= 64 * sum(frame.nbytes for frame in frames) + 1024
    catalogue.is_quick(request, "")
    return catalogue.answer(request, "", number)


numbers = st.sampled_from([0, 1, 2, 3, 64, 1000, 2**17, 2**22, 2**22 + 1, 2**31, 2**40, 2**62, 2**63 - 1])
positions = st.tuples(numbers, numbers, numbers)
many = st.tuples(
    st.sampled_from([0, 1, 2**40]), st.sampled_from([2**17, 2**21]), st.sampled_from([1, 5, 2**20])
)
runs = st.fixed_dictionaries({"starts": positions, "lengths": numbers}) | st.fixed_dictionaries(
    {"starts": many, "lengths": st.sampled_from([0, 1, 3])}
)
selections = st.lists(
    runs | st.fixed_dictionaries({"modes": st.lists(positions, max_size=3)}), min_size=1, max_size=3
)
names = st.sampled_from(sorted(served()))
of_name = st.fixed_dictionaries(
    {"name": names, "version": st.just(""), "select": selections}, optional={"box": st.just(True)}
)
bodies = st.one_of(
    st.tuples(st.sampled_from(["read", "entries"]), of_name, st.just([])),
    st.tuples(
        st.just("write"),
        of_name.map(lambda own: {**own, "client": "0" * 32, "dtype": "<f8"}),
        st.just([bytes(8)]),
    ),
    st.tuples(
        st.just("rows"),
        st.fixed_dictionaries({"name": names, "version": st.just(""), "rows": runs, "bytes": st.just(2**31)}),
        st.just([]),
    ),
)


@given(bodies)
def test_what_is_refused_costs_what_its_bytes_pay_for(catalogue, body):
    verb, said, parts = body
    frames = write_frames(7, verb, said, parts)
    # What is made once for whoever asks first is made before.
    answer(catalogue, frames)
    with spent() as found:
        given = answer(catalogue, frames)
    if given is None or isinstance(given, ev.Refused):
        nbytes = sum(frame.nbytes for frame in frames)
        assert found["bytes"] <= MEMORY + 64 * nbytes, json.dumps(said)
        assert found["calls"] <= CALLS + nbytes, json.dumps(said)


def test_a_progression_that_leaves_a_tensor_is_refused_before_its_positions_are_made(catalogue):
    """They were made first: 121 bytes took the thread of a server 60 ms, and 100 MiB."""
    said = {"name": "one", "version": "", "select": [{"starts": [0, 4194304, 1], "lengths": 1}]}
    with spent() as found:
        given = answer(catalogue, write_frames(7, "read", said))
    assert given == ev.Refused("bounds", "element 4194303 is out of bounds for 1")
    assert found["bytes"] < MEMORY


def test_a_progression_within_a_tensor_is_copied_without_its_positions(catalogue):
    said = {"name": "box", "version": "", "select": [{"starts": [0, 2**15, 2], "lengths": 1}]}
    with spent() as found:
        given = answer(catalogue, write_frames(7, "read", said))
    assert given.frames[0].nbytes == 2**15
    assert found["bytes"] < 2**17
