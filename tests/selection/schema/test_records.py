"""Records as JSON: several views in one text, which share nodes; the text may be untrusted."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, SelectionError
from tensorwrapper.fields import records_from_json

EVENTS = tw.records(
    {
        "t": tw.jagged([[5, 1, 7], [], [2, 9]]),
        "q": tw.jagged([[0.5, 1.5, 2.5], [], [3.5, 4.5]]),
        "run": [10, 20, 30],
    }
)
MASK = sel.where(sel.as_view([True, False, True]), np.array([1, 2, 3]), 0)
LAZY = {
    "tensors": EVENTS,
    "rows": tw.records({name: sel.as_view(own) for name, own in EVENTS.items()})[::-1],
    "joined": tw.concat([EVENTS, EVENTS[1:]])[1:4],
    "shared": tw.records({"a": MASK, "b": sel.minimum(MASK, 2), "c": sel.maximum(MASK, MASK)}),
    "names": tw.records({"x": sel.as_view(tw.as_tensor([1, 2]).named("event"))[::-1]}),
    "boxes": tw.records({"x": sel.as_view([1, 2]), "xyz": sel.as_view(np.ones((2, 3)))[:, ::-1]}),
    "cells": tw.records({"x": sel.as_view(tw.jagged([[[1, 2]], []]))}, shape=tw.Shape.jagged([1, 0])),
    "one row": tw.records({name: sel.as_view(own) for name, own in EVENTS.items()})[2],
}


@pytest.mark.parametrize("kind", LAZY)
def test_records_come_back(kind):
    records = LAZY[kind]
    frames = []
    text = sel.to_json(records, frames=frames)
    got = records_from_json(text, sources=sel.sources(records), frames=frames)
    assert (got.names, got.shape, got.dtypes) == (records.names, records.shape, records.dtypes)
    assert got.to_dict() == records.to_dict()
    assert sel.to_json(got, sources=sel.sources(records)) == text
    said = json.loads(text)
    assert (said["view"], said["rank"]) == (3, records.rank)
    with pytest.raises(SelectionError, match="records_from_json") as raised:
        sel.from_json(text, sources=sel.sources(records))
    assert raised.value.reason == "version"


def test_a_node_of_several_fields_is_written_once_and_stays_one():
    records = LAZY["shared"]
    text = sel.to_json(records)
    assert text.count('"where"') == 1
    assert len(json.loads(text)["nodes"]) == 1
    got = records_from_json(text, sources=sel.sources(records))
    assert got["a"].expression.node is got["b"].expression.node.operands[0].node


def test_the_normal_form_is_read_too():
    for kind in ("shared", "boxes"):
        text = sel.to_json(LAZY[kind], form="normal")
        assert records_from_json(text, sources=sel.sources(LAZY[kind])).to_dict() == LAZY[kind].to_dict()


def test_records_are_no_box_and_a_view_is_no_records():
    with pytest.raises(ConversionError, match='form="steps"'):
        sel.to_json(EVENTS, form="box")
    view = sel.as_view(EVENTS["run"])
    with pytest.raises(SelectionError, match="version 1") as raised:
        records_from_json(sel.to_json(view), sources=sel.sources(view))
    assert raised.value.reason == "version"
    with pytest.raises(ConversionError, match="as_view"):
        sel.to_json([1, 2])


def said(**keys):
    text = json.loads(sel.to_json(EVENTS)) | keys
    return json.dumps({key: value for key, value in text.items() if value is not ...})


RUN = ["run", {"dtype": "<i8", "of": {"source": "2"}, "range": {"start": [0], "end": [3]}}]
HOSTILE = {
    "no fields": ({"records": []}, "schema"),
    "fields of no list": ({"records": {"run": RUN[1]}}, "schema"),
    "a field of three": ({"records": [[*RUN, 1]]}, "schema"),
    "a name twice": ({"records": [RUN, RUN]}, "schema"),
    "a name that is none": ({"records": [["a/b", RUN[1]]]}, "schema"),
    "a name of no text": ({"records": [[7, RUN[1]]]}, "schema"),
    "a view of no object": ({"records": [["run", 7]]}, "schema"),
    "a version inside": ({"records": [["run", {**RUN[1], "view": 1}]]}, "schema"),
    "nodes inside": ({"records": [["run", {**RUN[1], "nodes": []}]]}, "schema"),
    "another source": ({"records": [["run", {**RUN[1], "of": {"source": "9"}}]]}, "source"),
    "another type": ({"records": [["run", {**RUN[1], "dtype": "<f8"}]]}, "bounds"),
    "no rank": ({"rank": ...}, "schema"),
    "a rank of no number": ({"rank": "2"}, "schema"),
    "a rank below zero": ({"rank": -1}, "limit"),
    "more modes than there are": ({"rank": 3}, "bounds"),
    "another key": ({"names": ["a"]}, "schema"),
    "another version": ({"view": 4}, "version"),
    "no version": ({"view": ...}, "schema"),
    "a node that is not there": ({"records": [["run", {**RUN[1], "of": {"number": 0}}]]}, "bounds"),
    "other rows": (
        {
            "rank": 1,
            "records": [
                RUN,
                ["x", {**RUN[1], "ops": [["slice", 0, 0, 1, 2]], "range": {"start": [0], "end": [2]}}],
            ],
        },
        "bounds",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_records_are_refused(case):
    keys, reason = HOSTILE[case]
    with pytest.raises(SelectionError) as raised:
        records_from_json(said(**keys), sources=sel.sources(EVENTS))
    assert raised.value.reason == reason


def test_limits_count_all_fields_together():
    fields = [[f"f{k}", RUN[1]] for k in range(10)]
    text = said(records=fields, rank=1)
    sources = sel.sources(EVENTS)
    assert len(records_from_json(text, sources=sources, limits=sel.SchemaLimits(nbytes=240)).names) == 10
    with pytest.raises(SelectionError) as raised:
        records_from_json(text, sources=sources, limits=sel.SchemaLimits(nbytes=239))
    assert raised.value.reason == "limit"


@given(
    steps=st.lists(st.tuples(st.sampled_from(["t", "q", "run"]), st.integers(0, 3)), max_size=5),
    rows=st.slices(3),
)
def test_random_records_come_back(steps, rows):
    records = tw.records({name: sel.as_view(own) for name, own in EVENTS.items()})
    for name, step in steps:
        own = records[name]
        made = [own[::-1], sel.concat([own[:1], own[1:]]), sel.minimum(own, 4), sel.where(True, own, own)][
            step
        ]
        records = records.with_field(name, made) if made.shape == own.shape else records
    records = records[rows]
    got = records_from_json(sel.to_json(records), sources=sel.sources(records))
    assert got.to_dict() == records.to_dict()


def test_sources_are_named_as_they_are_when_records_are_read():
    named = {name: EVENTS[name] for name in EVENTS.names}
    view = tw.concat([EVENTS, EVENTS])[::2]
    text = sel.to_json(view, sources=named)
    assert records_from_json(text, sources=named).array_equal(view)
    assert sel.to_json(view, sources={name: sel.as_view(own) for name, own in named.items()}) == text
    assert sel.to_json(view, sources={name: sel.TensorSource(own) for name, own in named.items()}) == text


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ({"run": EVENTS["run"]}, "has no name among"),
        ({"run": sel.as_view(EVENTS["run"])[1:]}, "'run' is not a source.*sel.sources"),
        ({"run": sel.concat([EVENTS["run"], EVENTS["run"]])}, "'run' is not a source.*sel.sources"),
        ({"run": object()}, "object"),
        ([EVENTS["run"]], "mapping of names"),
    ],
)
def test_sources_that_are_none_are_refused_when_records_are_written(sources, said):
    for view in (EVENTS, sel.as_view(EVENTS["t"])):
        with pytest.raises(tw.errors.TensorWrapperError, match=said):
            sel.to_json(view, sources=sources)
