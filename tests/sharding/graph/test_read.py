"""Graphs of strangers: measured, read to the end, and refused with all faults."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ParseError, TensorWrapperError, ValidationError
from tensorwrapper.sharding import Graph
from tests.support.sharding.graphs import (
    linear_and_relu,
    read,
    source_and_sink,
)


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


def at_path(plain, path, value):
    if not path:
        return value
    at = plain
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return plain


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
