"""Parts of a graph in JSON: each field of another kind is named by its path."""

import copy

import pytest

from tensorwrapper.errors import ValidationError
from tests.support.sharding.graphs import (
    SPACE,
    TAGS,
    document,
    ident,
    operation,
    read,
    source_and_sink,
)

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
