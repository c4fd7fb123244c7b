"""Graphs in JSON: what is written is what was read, and what strangers write is refused with its place."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper.errors import TensorWrapperError, ValidationError
from tensorwrapper.sharding import Graph, NoteNode
from tests.support.sharding.graphs import (
    TAGS,
    document,
    ident,
    linear_and_relu,
    matmul_and_row_sum,
    node,
    operation,
    read,
    region,
    source_and_sink,
    tensor,
)

STRANGER = {"https://example.com/tags#color": {"rgb": [1, 2.5, None], "deep": {"x": True}}}


def full():
    """A document in which everything stands that may."""
    plain = json.loads(linear_and_relu()[0].to_json())
    plain["nodes"][0]["tags"] = {**STRANGER, f"{TAGS}IOSequencePoint": {"sequenceNumber": 7}}
    plain["nodes"].append(node(1, "Note", {"message": "héllo\n"}, label="note"))
    plain["nodes"].append(tensor(2, (), ()))
    plain["nodes"].append(operation(3, {}, {}))
    plain["nodes"][-1]["body"]["params"] = {"a": [1, {"b": None}], "c": 1.5}
    return plain


@pytest.mark.parametrize(
    "plain",
    [source_and_sink(), full(), json.loads(matmul_and_row_sum()[0].to_json()), document()],
    ids=range(4),
)
def test_what_is_written_is_what_was_read(plain):
    graph = read(plain)

    assert json.loads(graph.to_json()) == plain
    assert Graph.from_json(graph.to_json()) == graph
    assert Graph.from_json(graph.to_json().encode()) == graph
    assert Graph.from_json(json.dumps(plain, indent=2) + "\n") == graph


def test_operands_that_are_not_there_are_written_as_none():
    plain = document(operation(2, {}, {}))
    del plain["nodes"][0]["body"]["inputs"], plain["nodes"][0]["body"]["outputs"]

    assert json.loads(read(plain).to_json())["nodes"][0]["body"] == {
        "kernel": "k",
        "inputs": {},
        "outputs": {},
    }


def test_a_scalar_has_corners_without_numbers():
    graph = read(document(tensor(1, (), ())))

    assert graph.nodes[0].box.size == 1
    assert '"range":{"end":[],"start":[]}' in graph.to_json()


def test_integers_of_any_size_are_exact():
    far = 10**500
    assert read(document(tensor(1, (-far,), (far + 1,)))).nodes[0].box.extents == (2 * far + 1,)
    assert str(far + 1) in read(document(tensor(1, (-far,), (far + 1,)))).to_json()


def test_tags_of_strangers_are_kept_and_unknown_ones_of_the_format_are_not():
    plain = document(tensor(1, (), (), tags=STRANGER))
    assert read(plain).nodes[0].tags.other == STRANGER

    plain["nodes"][0]["tags"] = {f"{TAGS}Nonesuch": {}}
    with pytest.raises(ValidationError, match="no such tag is known"):
        read(plain)


def test_a_sequence_point_is_an_object_that_is_kept():
    point = {f"{TAGS}IOSequencePoint": {"sequenceNumber": 7}}
    plain = document(operation(2, {}, {}, tags=point))
    assert read(plain).nodes[0].tags.other == point
    assert json.loads(read(plain).to_json()) == plain

    plain["nodes"][0]["tags"] = {f"{TAGS}IOSequencePoint": 7}
    with pytest.raises(ValidationError, match=r"IOSequencePoint.*must be an object, not 7"):
        read(plain)


def test_uppercase_ids_are_written_in_lowercase():
    plain = document(tensor(0xABCDEF, (), ()))
    plain["nodes"][0]["id"] = plain["nodes"][0]["id"].upper()

    assert json.loads(read(plain).to_json())["nodes"][0]["id"] == ident(0xABCDEF)


def test_a_reduction_to_a_scalar_has_a_matrix_without_rows():
    scalar = {"affineMap": {"projection": [], "offset": []}, "shape": []}
    tags = {
        f"{TAGS}IPFSignature": {"inputs": {}, "outputs": {"y": [scalar]}},
        f"{TAGS}IPFIndex": {"start": [0], "end": [1]},
    }
    plain = document(tensor(1, (), ()), operation(2, {}, {"y": [region(1, (), ())]}, tags=tags))
    graph = read(plain)

    assert graph.nodes[1].tags.signature.outputs["y"][0].input_rank == 1
    assert json.loads(graph.to_json()) == plain


# Hostile texts.


def at_path(plain, path, value):
    if not path:
        return value
    at = plain
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return plain


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 2**65), st.floats(allow_nan=False), st.text(max_size=4)
)
VALUES = st.recursive(
    SCALARS,
    lambda v: st.one_of(st.lists(v, max_size=3), st.dictionaries(st.text(max_size=4), v, max_size=3)),
    max_leaves=6,
)


def places_of(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places_of(value[key], (*path, key))
    elif isinstance(value, list):
        for key in range(len(value)):
            yield from places_of(value[key], (*path, key))


FULL = full()
PLACES = list(places_of(FULL))


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=3))
def test_any_change_of_a_document_is_read_or_refused(changes):
    plain = copy.deepcopy(FULL)
    for path, value in changes:
        try:
            plain = at_path(plain, path, value)
        except (KeyError, IndexError, TypeError):
            continue
    text = json.dumps(plain)
    try:
        graph = Graph.from_json(text)
    except TensorWrapperError:
        return
    graph.findings()
    assert Graph.from_json(graph.to_json()) == graph


def test_a_note_is_kept():
    note = NoteNode(message="to do", label="x")

    assert Graph.from_json(Graph([note]).to_json()).nodes == (note,)
