"""Requests as frames: each is read as it was written, and what is none is refused with a reason."""

import attrs
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorwrapper import wire
from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._frames import label_of, labelled
from tensorwrapper.remote.protocol._positions import PositionsWriter
from tensorwrapper.remote.protocol._requests import (
    RequestReader,
    _written,
    prepare_request,
    receive_request,
    send_request,
)
from tensorwrapper.selection import Outer, Runs

REQUESTS = [
    ev.Hello("0123456789abcdef" * 2, 1, 2),
    ev.Ping(),
    ev.AskNames("a", 10),
    ev.AskFacts(("x", "y")),
    ev.AskFacts(("x",), "p", box=True),
    ev.AskShape("x", "1"),
    ev.AskRows("x", "1", Runs([1, 5], [2, 1])),
    ev.AskRows("x", "1", Runs([1, 5], [2, 1]), 2**15),
    ev.AskRecords("x", "1", ("t", "run"), Runs([1, 5], [2, 1]), 2**15),
    ev.AskFacts(("x",), "p", records=True),
    ev.AskRead("x", "", None, (Outer([range(3), [0, 2, 9]]), Runs([1, 5, 7]))),
    ev.AskRead("x", "v", "<f4", ()),
    ev.AskRead("x", "v", "<f4", (Runs(0, 3),), "zlib"),
    ev.AskRead("x", "v", None, (Runs(0, 3),), "zlib", box=True),
    ev.AskEntries("x", "1", (Runs(0, 9),)),
    ev.AskEntries("x", "1", (Runs(0, 9),), box=True),
    ev.AskStats(),
    ev.Cancel(7),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda own: type(own).__name__)
def test_what_is_written_is_read(request_):
    number, found = receive_request(send_request(2**64 - 1, request_))

    assert number == 2**64 - 1
    assert type(found) is type(request_)
    for field in attrs.fields(type(found)):
        assert getattr(found, field.name) == getattr(request_, field.name)


@given(
    st.text(max_size=12),
    st.text(max_size=12),
    st.sampled_from([None, "<f4"]),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 9), st.integers(1, 2**20)), max_size=4),
)
@example('{"modes":[]}', '{"modes":[]}', None, False, [(3, 1, 1), (0, 128, 1)])
def test_the_short_way_to_write_a_box_says_what_the_general_way_says(name, version, dtype, box, modes):
    wanted = Outer([range(start, start + count * step, step) for start, count, step in modes])
    request = ev.AskRead(name, version, dtype, (wanted,), None, box)
    positions = PositionsWriter()
    long = label_of(*_written(request, positions))

    assert prepare_request(request) == (long, positions.frames)
    assert [bytes(own) for own in send_request(5, request)] == [
        bytes(own) for own in labelled(5, long, positions.frames)
    ]


def label(text, *parts):
    return wire.Message(form="JSON", label=text, origin=1, parts=parts).to_frames()


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        ([b"", b""], "label"),
        ([b"garbage"], "label"),
        (label("{"), "label"),
        (label("[1]"), "schema"),
        (label('{"tw":{}}'), "schema"),
        (label('{"tw":{"ping":{},"stats":{}}}'), "schema"),
        (label('{"tw":{"ping":{"more":1}}}'), "schema"),
        (label('{"tw":{"ping":{}}}', b"part"), "schema"),
        (label('{"tw":{"open":{}}}'), "unsupported"),
        (label('{"tw":{"ping":{},"ping":{}}}'), "label"),
        (label('{"tw":{"cancel":-1}}'), "limit"),
        (label('{"tw":{"facts":' + "[" * 20 + "]" * 20 + "}}"), "label"),
        (label('{"tw":{"facts":{"names":[' + ",".join(['"x"'] * 300) + "]}}}"), "limit"),
        (label('{"tw":{"facts":{"names":[' + ",".join(['"x"'] * 9000) + "]}}}"), "limit"),
        (label('{"tw":{"facts":{"names":["' + "x" * 2000 + '"]}}}'), "limit"),
        (label('{"tw":{"ping":{}}' + " " * 70_000 + "}"), "limit"),
        (label('{"tw":{"hello":{"client":"me","versions":[1,1]}}}'), "schema"),
        (label('{"tw":{"read":{"name":"x","version":"","select":[],"dtype":"O"}}}'), "unsupported"),
        (wire.Message(form="TEXT", label="{}").to_frames(), "label"),
    ],
)
def test_what_is_no_request_is_refused(frames, reason):
    with pytest.raises(RequestRefusedError) as caught:
        receive_request(frames)
    assert caught.value.reason == reason


def test_limits_are_those_that_are_given():
    request = send_request(1, ev.AskRead("x", "", None, (Runs(0, 1), Runs(0, 2))))
    with pytest.raises(RequestRefusedError, match="at most 1"):
        receive_request(request, ServeLimits(selections=1))


def test_a_label_that_came_before_is_not_read_again_and_says_the_same():
    reader = RequestReader(ServeLimits())
    asked = ev.AskRead("x", "1", None, (Outer([range(3), range(0, 8, 2)]),))
    for number in (5, 6, 2**63):
        found, request = reader.read(send_request(number, asked))
        assert found == number
        assert request.selections == asked.selections
        assert (request.name, request.version) == ("x", "1")
    assert len(reader._known) == 1


def test_what_has_tables_or_becomes_one_is_read_each_time():
    reader = RequestReader(ServeLimits())
    for asked in (
        ev.AskRead("x", "1", None, (Outer([[0, 1, 5]]),)),
        ev.AskRead("x", "1", None, (Runs(np.arange(0, 100, 2)),)),
    ):
        assert reader.read(send_request(1, asked))[1].selections == asked.selections
    assert not reader._known


@pytest.mark.parametrize(
    "asked",
    [
        ev.AskRead("x" * 1000, "1", None, (Outer([range(3)]),)),
        ev.AskRead("x", "1", None, tuple(Runs(2 * k, 1) for k in range(65))),
        ev.AskRead("x", "1", None, tuple(Runs(np.arange(k + 3) ** 2) for k in range(63))),
        ev.AskRead("x", "1", None, (Runs(np.arange(20_000) ** 2),)),
        ev.AskRead("x", "1", None, (Runs(np.arange(20_000) ** 2, 1 + np.arange(20_000) % 2),)),
    ],
)
def test_what_takes_long_to_read_is_left_to_who_has_time_and_known_then(asked):
    reader, frames = RequestReader(ServeLimits()), send_request(7, asked)
    assert reader.read(frames) is None
    number, request = receive_request(frames)
    reader.keep(frames, request)
    assert (number, request.selections) == (7, asked.selections)
    # Where it is kept at all, it is read at once from then on.
    again = reader.read(frames)
    assert (again is None) == (len(frames) != 3)
    assert again is None or again[1] is request


def test_what_has_no_number_is_refused_at_once_however_long_it_is():
    frames = send_request(7, ev.AskRead("x", "1", None, tuple(Runs(2 * k, 1) for k in range(500))))
    with pytest.raises(RequestRefusedError, match="coordinates"):
        RequestReader(ServeLimits()).read([frames[0], memoryview(b"short")])


def test_labels_without_end_are_not_all_kept():
    reader = RequestReader(ServeLimits())
    for number in range(1000):
        reader.read(send_request(1, ev.AskRead("x", str(number), None, ())))
    assert len(reader._known) <= 256


@pytest.mark.parametrize(
    "make", [ev.AskRows, lambda name, version, rows: ev.AskRead(name, version, None, (rows,))]
)
def test_a_table_that_came_before_is_not_read_again(make):
    reader = RequestReader(ServeLimits())
    asked = make("x", "1", Runs([1, 7, 8, 300]))
    first = reader.read(send_request(5, asked))
    again = reader.read(send_request(6, asked))
    assert (first[0], again[0]) == (5, 6)
    assert first[1] is again[1]
    # Other rows, as many and from the same place, have the same label; another version has another.
    other = reader.read(send_request(7, make("x", "1", Runs([1, 7, 9, 300]))))[1]
    assert other is not first[1]
    assert reader.read(send_request(8, make("x", "2", Runs([1, 7, 9, 300]))))[1].version == "2"


@given(
    st.text(min_size=1, max_size=9),
    st.one_of(st.just('{"lengths":1,"starts":[0,1,1]}'), st.text(max_size=9)),
    st.lists(st.integers(0, 2**35), min_size=1, max_size=9, unique=True).map(sorted),
    st.sampled_from([0, 1, 2**15]),
)
def test_rows_are_asked_for_the_short_way_as_they_are_the_general_way(name, version, rows, nbytes):
    for own in ((name, version), (version or "x", name)):
        asked = ev.AskRows(*own, Runs(rows), nbytes)
        label, frames = prepare_request(asked)
        positions = PositionsWriter()
        assert label == label_of(*_written(asked, positions))
        assert list(map(bytes, frames)) == list(map(bytes, positions.frames))


def test_tables_without_end_are_not_all_kept():
    reader = RequestReader(ServeLimits())
    large = Runs(np.arange(30_000) ** 2)
    for number in range(200):
        reader.read(send_request(1, ev.AskRead("x", str(number), None, (large,))))
        reader.read(send_request(1, ev.AskRows("x", str(number), Runs([1, 5, 7]))))
        kept = sum(
            len(label) + len(table) + sum(own.starts.nbytes + own.lengths.nbytes for own in _runs_of(request))
            for label, (table, request) in reader._tables.items()
        )
        assert kept <= reader._tables_bytes <= 2**22
        assert len(reader._tables) <= 64
    reader.read(send_request(1, ev.AskRead("x", "1", None, (Runs(np.arange(400_000) ** 2),))))
    assert "400000" not in str(list(reader._tables))
    assert reader._tables_bytes <= 2**22


def _runs_of(request):
    return [request.rows] if isinstance(request, ev.AskRows) else request.selections


def test_the_bytes_of_tables_are_those_of_what_is_kept():
    """A label whose table changes each time is counted once."""
    reader = RequestReader(ServeLimits())
    for k in range(2, 1000):
        reader.read(send_request(1, ev.AskRows("x", "1", Runs([1, k + 1, 2000]))))
    assert len(reader._tables) == 1
    assert reader._tables_bytes < 1000


def test_a_known_label_beside_a_second_frame_of_another_length_is_refused():
    reader = RequestReader(ServeLimits())
    frames = send_request(1, ev.AskRead("x", "1", None, ()))
    reader.read(frames)
    with pytest.raises(RequestRefusedError, match="coordinates"):
        reader.read([frames[0], memoryview(b"short")])


@pytest.mark.parametrize(
    ("limits", "request_"),
    [
        ({"label_bytes": 40}, ev.AskFacts(("x" * 60,))),
        ({"items": 10}, ev.AskFacts(("x",) * 60)),
        ({"depth": 3}, ev.AskRead("x", "", None, (Runs(0, 1),))),
        ({"positions": 3}, ev.AskRead("x", "", None, (Runs([1, 5, 6, 9, 20]),))),
        ({"selections": 1}, ev.AskRead("x", "", None, (Runs(0, 1),) * 2)),
    ],
)
def test_what_is_said_of_a_limit_names_nothing_that_nobody_can_set(limits, request_):
    """It advised `limits=Limits(label_items=...)`, which neither a server nor a client is given."""
    with pytest.raises(RequestRefusedError) as caught:
        receive_request(send_request(1, request_), ServeLimits(**limits))
    assert "Limits(" not in str(caught.value)
