"""Nodes of graphs: values of checked fields, which nobody changes from outside."""

import copy

import pytest

from tensorwrapper.errors import ConversionError
from tensorwrapper.sharding import (
    Graph,
    NoteNode,
    OperationNode,
    Region,
    Tags,
    TensorNode,
)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Graph([5]),
        lambda: Graph([], "x"),
        lambda: TensorNode(dtype=5, box=(2,)),
        lambda: TensorNode(dtype="int32", box=(2,), id="x"),
        lambda: TensorNode(dtype="int32", box=(2,), label=5),
        lambda: Region("x", (2,)),
        lambda: OperationNode(kernel="k", inputs={"a-b": []}),
        lambda: OperationNode(kernel="k", inputs={"a": [5]}),
        lambda: NoteNode(message=None),
        lambda: OperationNode(kernel="k", params={1: 2}),
        lambda: OperationNode(kernel="k", params={"a": (1, 2)}),
        lambda: OperationNode(kernel="k", params={"a": float("nan")}),
        lambda: OperationNode(kernel="k", params={"a": {1}}),
        lambda: OperationNode(kernel="k", params={"a": 10**700}),
        lambda: Tags(other={"https://x.y": {"a": b""}}),
    ],
)
def test_what_is_no_node_is_refused(make):
    with pytest.raises(ConversionError):
        make()


def test_parameters_and_tags_of_strangers_cannot_be_changed_through_a_node():
    node = OperationNode(kernel="k", params={"a": [1]}, tags=Tags(other={"https://x.y": {"b": 1}}))
    node.params["a"].append(2)
    node.tags.other["https://x.y"]["b"] = 5
    node.inputs["x"] = ()

    assert (node.params, node.tags.other, node.inputs) == ({"a": [1]}, {"https://x.y": {"b": 1}}, {})
    assert hash(node) == hash(copy.copy(node))
