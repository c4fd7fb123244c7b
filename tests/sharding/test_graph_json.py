"""Graphs in JSON: what is written is what was read, and what strangers write is refused with its place."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import (
    SPACE,
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

from tensorwrapper.errors import ConversionError, ParseError, TensorWrapperError, ValidationError
from tensorwrapper.sharding import Graph, NoteNode

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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("nonsense", "is not JSON"),
        ('{"id": 1} x', "goes on after"),
        ('{"id": NaN}', "NaN"),
        ('{"id": 1e999}', "beyond any double"),
        ('{"id": "a", "id": "b"}', "the key 'id' twice"),
        ('{"id": "\\ud800"}', "half a surrogate"),
        ('{"id": ' + "[" * 40 + "]" * 40 + "}", "nests over 32 deep"),
        ("[" * 100_000, "nests over 32 deep"),
        ('{"id": ' + "1" * 700 + "}", "more than 640 digits"),
        (b"\xff{}", "not UTF-8"),
        ("\ud800", "not UTF-8"),
    ],
)
def test_a_text_that_is_no_json_is_refused(text, told):
    with pytest.raises(ParseError, match=told):
        Graph.from_json(text)


def test_size_depth_and_number_of_nodes_are_limited():
    text = json.dumps(source_and_sink())

    with pytest.raises(ParseError, match=r"bytes or more; at most 100 are allowed"):
        Graph.from_json(text, max_bytes=100)
    with pytest.raises(ParseError, match=r"has 104 bytes; at most 60 are allowed"):
        Graph.from_json('"' + "é" * 51 + '"', max_bytes=60)
    with pytest.raises(ParseError, match="nests over 5 deep"):
        Graph.from_json(text, max_depth=5)
    with pytest.raises(ValidationError, match=r"\$\.nodes: has 7 nodes; at most 6 are allowed"):
        Graph.from_json(text, max_nodes=6)
    assert len(Graph.from_json(text, max_bytes=len(text), max_nodes=7)) == 7
    with pytest.raises(ParseError, match="deeper than this reader can follow"):
        Graph.from_json("[" * 10_000 + "]" * 10_000, max_depth=10**6)


def test_only_text_is_read():
    with pytest.raises(ConversionError, match="read from text or bytes, not from dict"):
        Graph.from_json({})


BODY = ("nodes", 0, "body")
WRONG = [
    ((), [], "$: must be an object"),
    (("id",), "x", "$.id: must be a UUID"),
    (("id",), 5, "$.id: must be a UUID"),
    (("more",), 1, "$: has the unknown key 'more'; known are id, nodes"),
    (("nodes",), {}, "$.nodes: must be a list of nodes"),
    (("nodes", 0), 7, "$.nodes[0]: must be an object, not 7"),
    (("nodes", 0, "id"), ident(3)[:-1], "$.nodes[0].id: must be a UUID"),
    (("nodes", 0, "id"), "{" + ident(3) + "}", "$.nodes[0].id: must be a UUID"),
    (("nodes", 0, "type"), "Tensor", '$.nodes[0].type: must be one of "http'),
    (("nodes", 0, "type"), f"{SPACE}node_types.jsd#/nodes/Nonesuch", '$.nodes[0].type: must be one of "http'),
    (("nodes", 0, "type"), ["x"], '$.nodes[0].type: must be one of "http'),
    (("nodes", 0, "label"), 5, "$.nodes[0].label: must be text, not 5"),
    (("nodes", 0, "extra"), 5, "$.nodes[0]: has the unknown key 'extra'"),
    (("nodes", 0, "tags"), [], "$.nodes[0].tags: must be an object"),
    (("nodes", 0, "tags"), {"color": {}}, "$.nodes[0].tags: must be an object whose keys are URLs"),
    (("nodes", 0, "tags"), {"https://x.y": 5}, '$.nodes[0].tags["https://x.y"]: must be an object, not 5'),
    ((*BODY, "dtype"), 5, "$.nodes[0].body.dtype: must be text"),
    ((*BODY, "shape"), 5, "$.nodes[0].body: has the unknown key 'shape'; known are dtype, range"),
    ((*BODY, "range"), [0, 1], "$.nodes[0].body.range: must be an object"),
    ((*BODY, "range", "start"), [0], "$.nodes[0].body.range: (2, 3) has 2 entries"),
    ((*BODY, "range", "start"), [5, 0], "$.nodes[0].body.range: mode 0 goes from 5 to 2"),
    ((*BODY, "range", "start"), [0, 5], "mode 1 goes from 5 to 3"),
    ((*BODY, "range", "start"), [0, 1.0], "$.nodes[0].body.range.start[1]: must be an integer, not 1.0"),
    ((*BODY, "range", "start"), [0, True], "$.nodes[0].body.range.start[1]: must be an integer, not true"),
    ((*BODY, "range", "start"), [0] * 33, "has 33 entries; at most 32 are allowed"),
    ((*BODY, "range", "start"), "00", "$.nodes[0].body.range.start: must be a list of integers"),
    (("nodes", 1, "body", "kernel"), None, "$.nodes[1].body.kernel: must be text"),
    (("nodes", 1, "body", "params"), [], "$.nodes[1].body.params: must be an object"),
    (("nodes", 1, "body", "inputs"), [], "$.nodes[1].body.inputs: must be an object"),
    (("nodes", 1, "body", "inputs"), {"a-b": []}, "must be an object whose keys match ^[a-zA-Z_]"),
    (("nodes", 1, "body", "inputs"), {"1a": []}, "must be an object whose keys match ^[a-zA-Z_]"),
    (("nodes", 1, "body", "inputs"), {"a\n": []}, "must be an object whose keys match ^[a-zA-Z_]"),
    (("nodes", 1, "body", "inputs"), {"a" * 257: []}, "at most 256 characters"),
    (("nodes", 1, "body", "inputs"), {"a": {}}, "$.nodes[1].body.inputs.a: must be a list"),
    (
        ("nodes", 1, "body", "inputs"),
        {"a": [{}]},
        "inputs.a[0]: lacks the key 'range', lacks the key 'tensorId'",
    ),
    (("nodes", 2, "body", "operationId"), 7, "$.nodes[2].body.operationId: must be a UUID"),
    (("nodes", 2, "body", "kernel"), "k", "$.nodes[2].body: has the unknown key 'kernel'"),
]


def at_path(plain, path, value):
    if not path:
        return value
    at = plain
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return plain


@pytest.mark.parametrize(("path", "value", "told"), WRONG, ids=[str(k) for k in range(len(WRONG))])
def test_what_does_not_fit_is_named_by_its_path(path, value, told):
    with pytest.raises(ValidationError) as caught:
        read(at_path(source_and_sink(), path, value))

    assert told in str(caught.value)
    assert {finding.rule for finding in caught.value.findings} == {"schema"}


@pytest.mark.parametrize("key", ["id", "type", "body"])
def test_keys_that_are_needed_are_missed(key):
    plain = source_and_sink()
    del plain["nodes"][3][key]
    with pytest.raises(ValidationError, match=rf"\$\.nodes\[3\]: lacks the key '{key}'"):
        read(plain)


SIGNATURE = {"affineMap": {"projection": [[1, 0], [0, 1]], "offset": [0, 0]}, "shape": [1, 1]}


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("shape",), [1], "the map has 2 outputs, but there are 1 extents"),
        (("shape",), [1, -1], "must not be negative"),
        (("affineMap", "offset"), [0], "has 2 rows, but the offset (0,) has 1 entries"),
        (("affineMap", "projection"), [[1, 0], [0]], "row 1 of the matrix has 1 entries"),
        (("affineMap", "projection"), [[1, 0], [0, 1.5]], "projection[1][1]: must be an integer, not 1.5"),
        (("affineMap", "projection"), 5, "must be a list of rows"),
        (("affineMap", "more"), 5, "has the unknown key 'more'"),
        (("more",), 5, "has the unknown key 'more'"),
    ],
)
def test_a_signature_that_is_no_projection_is_refused(path, value, told):
    tag = {"inputs": {"x": [at_path(copy.deepcopy(SIGNATURE), path, value)]}}
    with pytest.raises(ValidationError) as caught:
        read(document(operation(2, {}, {}, tags={f"{TAGS}IPFSignature": tag})))

    assert told in str(caught.value)
    assert caught.value.findings[0].where.startswith("$.nodes[0].tags[")


def test_all_faults_of_a_document_are_found_in_one_reading():
    plain = source_and_sink()
    for path, value in [
        (("nodes", 0, "label"), 5),
        (("nodes", 1, "body", "kernel"), 5),
        (("nodes", 2), 5),
        (("id",), 5),
    ]:
        at_path(plain, path, value)
    plain["nodes"].append(plain["nodes"][3])
    with pytest.raises(ValidationError) as caught:
        read(plain)

    assert [finding.where for finding in caught.value.findings] == [
        "$.id",
        "$.nodes[0].label",
        "$.nodes[1].body.kernel",
        "$.nodes[2]",
        "$.nodes[7].id",
    ]
    assert caught.value.findings[-1].also == ("$.nodes[3]",)


def test_a_document_that_is_wrong_everywhere_is_not_read_to_the_end():
    plain = source_and_sink()
    plain["nodes"] = [0] * 5000
    with pytest.raises(ValidationError, match="of which not all was read") as caught:
        read(plain)

    assert len(caught.value.findings) == 1000


def test_many_values_in_a_short_text_are_refused():
    text = "[" + "0," * (1 << 18) + "0]"
    with pytest.raises(ParseError, match="has over 250000 values"):
        Graph.from_json(text, max_bytes=10**6)
    with pytest.raises(ValidationError, match="must be an object"):
        Graph.from_json(text)
    with pytest.raises(ParseError, match=r"bytes or more; at most 16777216 are allowed"):
        Graph.from_json(" " * (1 << 25))


def test_more_shards_than_the_default_allows_are_read_on_request():
    graph = linear_and_relu()[0]
    text = graph.to_json()

    with pytest.raises(ParseError, match="bytes"):
        Graph.from_json(text, max_bytes=len(text) - 1)
    assert Graph.from_json(text, max_bytes=len(text)) == graph


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


@settings(max_examples=200)
@given(st.data())
def test_any_damage_of_a_text_is_read_or_refused(data):
    text = json.dumps(source_and_sink())
    place = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:place] + data.draw(st.text(max_size=3)) + text[place + data.draw(st.integers(0, 3)) :]
    try:
        Graph.from_json(damaged).findings()
    except TensorWrapperError:
        return


def test_a_note_is_kept():
    note = NoteNode(message="to do", label="x")

    assert Graph.from_json(Graph([note]).to_json()).nodes == (note,)
