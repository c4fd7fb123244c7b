"""Records in messages: their fields are tensors as ever, and the label says which of them share rows."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, selection, wire
from tensorwrapper.errors import ConversionError, LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire import Limits

EVENTS = tw.records(
    {
        "t": tw.jagged([[5, 1, 7], [], [2, 9]]),
        "q": tw.jagged([[0.5, 1.5, 2.5], [], [3.5, 4.5]]),
        "run": [10, 20, 30],
    }
)
CELLS = tw.from_buffer(np.arange(15), Shape.from_cells((3,), [(3, 3), (0, 3), (2, 3)]))


def frames_of(*given, **options):
    return [bytes(frame) for frame in wire.encode(given, **options)]


def label_of(frames):
    return json.loads(frames[0][8:])


def relabelled(frames, label):
    return [frames[0][:8] + json.dumps(label).encode(), *frames[1:]]


KINDS = {
    "rows": EVENTS,
    "boxes": tw.records({"x": [1, 2], "xyz": np.zeros((2, 3))}),
    "one row": EVENTS[0],
    "one number each": tw.records({"x": [1, 2], "y": [True, False]})[1],
    "no rows": EVENTS[:0],
    "cells": tw.records({"t": EVENTS["t"], "xyz": CELLS}),
    "strings": EVENTS.with_field("s", tw.strings([["a", "b", ""], [], ["c", "d"]])),
    "nulls": EVENTS.with_field("x", tw.jagged([[1, None, 3], [], [None, 4]])).with_field("n", [1, None, 3]),
    "views": tw.records({"t": selection.as_view(EVENTS["t"])[::-1], "run": [1, 2, 3]}),
    "sparse": tw.records({"x": tw.sparse([(0, 1), (2, 0)], [5.0, 7.0], (3, 2)), "y": np.ones((3, 2))}),
    "tiled": tw.records({"x": tw.as_tensor(np.ones((4, 4))).tiled(Tiling([1, 3], [2, 2])), "y": [1, 2]}),
    "origins": tw.records({"x": tw.from_buffer(np.arange(3), Shape(3, origin=(7,)))}),
    "names": tw.records({"x": tw.as_tensor([1, 2]).named("event")}),
    "a name of any kind": tw.records({"m.pt": [1], "\u00fcber du": [2]}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"compress": "zlib"}, {"checksum": "crc32"}], ids=str)
def test_records_come_back(kind, options):
    sent = KINDS[kind]
    message = wire.decode(frames_of(np.arange(2), sent, tw.jagged([[1], []]), **options), strict=True)
    (got,) = message.records
    assert got.names == sent.names
    assert got.shape == sent.shape
    assert got.to_dict() == sent.to_dict()
    assert len(message.tensors) == len(sent.names) + 2
    for number, name in enumerate(sent.names, 1):
        assert got[name].shape == sent[name].shape
        assert got[name].dtype == sent[name].dtype
        assert message.tensors[number].tolist() == sent[name].tolist()


def test_the_label_says_which_tensors_are_fields():
    frames = frames_of(EVENTS)
    tens = label_of(frames)["TENS"]
    fields = [["t", 0], ["q", 1], ["run", 2]]
    assert tens["records"] == [{"fields": fields, "rank": 2, "version": 1}]
    assert [entry["jagged"]["cells"] for entry in tens["tensors"][:2]] == [3, 3]
    assert len(frames) == 2 + 3 + 1


def test_the_bytes_are_those_of_the_elements_and_of_the_splits_once():
    shape = Shape.jagged(np.random.default_rng(3).integers(0, 8, 10**5))
    rows = tw.records({f"f{k}": tw.from_buffer(np.zeros(shape.size, "f4"), shape) for k in range(27)})
    frames = wire.encode([rows])
    nbytes = sum(memoryview(frame).nbytes for frame in frames)
    assert nbytes <= rows.nbytes + 8 * (10**5 + 1) + 200 * 27
    read = wire.decode(frames).records[0]
    assert all(field.shape is read.shape for field in read.values())


def test_a_reader_that_ignores_records_sees_the_fields():
    frames = frames_of(EVENTS)
    label = label_of(frames)
    del label["TENS"]["records"]
    message = wire.decode(relabelled(frames, label))
    assert message.records == ()
    assert [t.tolist() for t in message.tensors] == [*EVENTS.to_dict().values()]


def test_several_records_may_share_tensors():
    frames = frames_of(EVENTS)
    label = label_of(frames)
    label["TENS"]["records"].append({"fields": [["n", 2]], "rank": 1, "version": 1, "name": "runs", "new": 5})
    both = wire.decode(relabelled(frames, label)).records
    assert [records.names for records in both] == [("t", "q", "run"), ("n",)]
    assert both[1].to_dict() == {"n": [10, 20, 30]}
    label["TENS"]["records"] = None
    assert wire.decode(relabelled(frames, label)).records == ()


def test_a_message_keeps_its_records_when_it_is_written_again():
    message = wire.decode(frames_of(EVENTS))
    again = wire.decode([bytes(f) for f in wire.encode(message, metadata={"run": 3}, seqno=4)])
    assert (again.records[0].to_dict(), again.metadata, again.seqno) == (EVENTS.to_dict(), {"run": 3}, 4)
    more = message.append([1, 2])
    assert more.records[0].to_dict() == EVENTS.to_dict()
    assert len(more.tensors) == 4
    assert copy.copy(message).records[0].to_dict() == EVENTS.to_dict()


def test_what_is_given_per_tensor_counts_the_fields():
    frames = frames_of(EVENTS, [1], tensor_metadata=[None, {"unit": "e"}, None, None], parts=[3, 2, 1, 0])
    message = wire.decode(frames)
    assert message.tensor_metadata == (None, {"unit": "e"}, None, None)
    assert message.records[0].to_dict() == EVENTS.to_dict()
    with pytest.raises(LocalProtocolError, match="3 metadata do not fit 4 tensors"):
        frames_of(EVENTS, [1], tensor_metadata=[None] * 3)


def test_records_are_one_of_several_and_their_key_is_the_messages_own():
    with pytest.raises(ConversionError, match="must be a sequence"):
        wire.encode(EVENTS)
    with pytest.raises(LocalProtocolError, match="records"):
        frames_of([1], tens={"records": []})


def test_strict_readers_get_no_records_but_their_fields():
    plain = tw.records({"x": [1, 2], "y": [3.0, 4.0]})
    with pytest.raises(LocalProtocolError, match=r"dict\(r\)\.values\(\)") as raised:
        frames_of(plain, compat="strict")
    assert raised.value.reason == "unsupported"
    assert len(frames_of(*dict(plain).values(), compat="strict")) == 4


# What a stranger wrote in the entry of EVENTS (`...` takes a key away), or in place of the list of records.
HOSTILE = {
    "no list": ({}, "schema"),
    "no object": ([7], "schema"),
    "no version": ({"version": ...}, "schema"),
    "a version that is none": ({"version": "1"}, "schema"),
    "no fields": ({"fields": []}, "schema"),
    "fields of no list": ({"fields": {"t": 0}}, "schema"),
    "a field of three": ({"fields": [["t", 0, 1]]}, "schema"),
    "a name twice": ({"fields": [["t", 0], ["t", 1]]}, "schema"),
    "a name that is none": ({"fields": [["a/b", 0]]}, "schema"),
    "a name that is not a text": ({"fields": [[0, 0]]}, "schema"),
    "a number that is none": ({"fields": [["t", True]]}, "schema"),
    "a tensor that is not there": ({"fields": [["t", 5]]}, "layout"),
    "a tensor before the first": ({"fields": [["t", -1]]}, "layout"),
    "a number of many digits": ({"fields": [["t", 10**900]]}, "layout"),
    "no rank": ({"rank": ...}, "schema"),
    "a rank below zero": ({"rank": -1}, "schema"),
    "a rank of many digits": ({"rank": 10**900}, "limit"),
    "more modes than any field has": ({"rank": 3}, "layout"),
    "a name of its own that is none": ({"name": ".."}, "schema"),
    "fewer rows": ({"fields": [["t", 0], ["other", 3]]}, "layout"),
    "other rows": ({"fields": [["t", 0], ["other", 4]]}, "layout"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_records_are_refused_at_once(case):
    written, reason = HOSTILE[case]
    frames = frames_of(EVENTS, [10, 20], tw.jagged([[5, 1], [7], [2, 9]]))
    label = label_of(frames)
    if written and isinstance(written, dict):
        entry = label["TENS"]["records"][0] | written
        written = [{key: value for key, value in entry.items() if value is not ...}]
    label["TENS"]["records"] = written
    for strict in (False, True):
        with pytest.raises(RemoteProtocolError) as raised:
            wire.decode(relabelled(frames, label), strict=strict)
        assert raised.value.reason == reason


def test_many_records_are_over_the_limit():
    frames = frames_of(EVENTS)
    label = label_of(frames)
    label["TENS"]["records"] *= 4
    assert len(wire.decode(relabelled(frames, label), limits=Limits(tensors=4)).records) == 4
    with pytest.raises(RemoteProtocolError, match=r"Limits\(tensors") as raised:
        wire.decode(relabelled(frames, label), limits=Limits(tensors=3))
    assert raised.value.reason == "limit"


def test_what_is_not_understood_is_refused_when_it_is_taken():
    frames = frames_of(EVENTS)
    label = label_of(frames)
    label["TENS"]["records"].append({"version": 2, "fields": "of another kind"})
    message = wire.decode(relabelled(frames, label))
    assert message.records[0].to_dict() == EVENTS.to_dict()
    assert len(message.tensors) == 3
    with pytest.raises(RemoteProtocolError, match="version 2") as raised:
        message.records[1]
    assert raised.value.reason == "unsupported"
    with pytest.raises(RemoteProtocolError, match="version 2"):
        wire.decode(relabelled(frames, label), strict=True)


def test_a_field_that_is_not_understood_takes_its_records_and_no_other():
    frames = frames_of(EVENTS)
    label = label_of(frames)
    label["TENS"]["records"].append({"fields": [["t", 0]], "rank": 2, "version": 1})
    label["TENS"]["tensors"][1]["packing"] = "novel"
    message = wire.decode(relabelled(frames, label))
    assert message.records[1].to_dict() == {"t": EVENTS["t"].tolist()}
    with pytest.raises(RemoteProtocolError, match="'q'") as raised:
        message.records[0]
    assert raised.value.reason == "unsupported"


LENGTHS = st.lists(st.integers(0, 3), max_size=5)


@given(
    lengths=LENGTHS,
    dtypes=st.lists(st.sampled_from(["?", "u1", "i8", "f2", "c16"]), min_size=1, max_size=4),
    outer=st.booleans(),
    data=st.data(),
)
def test_random_records_come_back_and_share_what_they_share(lengths, dtypes, outer, data):
    shape = Shape.jagged(lengths, rank=2)
    fields = {
        f"f{k}": tw.from_buffer(np.arange(shape.size).astype(own), shape) for k, own in enumerate(dtypes)
    }
    if outer:
        fields["n"] = tw.as_tensor(np.arange(len(lengths)))
    names = data.draw(st.permutations(list(fields)))
    sent = tw.records({name: fields[name] for name in names})
    rows = data.draw(st.slices(len(lengths)))
    for records in (sent, sent[rows]):
        frames = frames_of(records)
        own = sum(map(len, frames[2:]))
        assert own <= records.nbytes + 8 * (len(records) + 1)
        (got,) = wire.decode(frames).records
        assert got.array_equal(records)
        assert len({id(field.shape) for field in got.values() if field.rank == 2}) == 1
