"""Graphs of the tests: valid ones, and one that each rule can break."""

import copy
import json
from uuid import UUID

from tensorwrapper import Shape
from tensorwrapper.sharding import BlockOperation, Graph, Operand, TensorNode

SPACE = "http://tensortapestry.org/schemas/loom/2024-01/"
TYPES = f"{SPACE}node_types.jsd#/nodes/"
TAGS = f"{SPACE}tag_types.jsd#/tags/"


def ident(number):
    return str(UUID(int=number))


def rng(start, end):
    return {"start": list(start), "end": list(end)}


def region(tensor, start, end):
    return {"tensorId": ident(tensor), "range": rng(start, end)}


def node(number, kind, body, **more):
    return {"id": ident(number), "type": TYPES + kind, "body": body, **more}


def document(*nodes):
    # A copy, so that a change of one node is not one of another.
    return {"id": ident(0), "nodes": [copy.deepcopy(node) for node in nodes]}


def tensor(number, start, end, dtype="int32", **more):
    return node(number, "Tensor", {"dtype": dtype, "range": rng(start, end)}, **more)


def operation(number, inputs, outputs, kernel="k", **more):
    return node(number, "Operation", {"kernel": kernel, "inputs": inputs, "outputs": outputs}, **more)


def application(number, of, inputs, outputs, **more):
    body = {"operationId": ident(of), "inputs": inputs, "outputs": outputs}
    return node(number, "Application", body, **more)


def source_and_sink():
    """A source of [2, 3] sharded by rows, and a sink sharded by columns, 2 and 1: as plain JSON."""
    whole = region(1, (0, 0), (2, 3))
    return document(
        tensor(1, (0, 0), (2, 3), label="t"),
        operation(2, {}, {"output": [whole]}, "source"),
        application(3, 2, {}, {"output": [region(1, (0, 0), (1, 3))]}),
        application(4, 2, {}, {"output": [region(1, (1, 0), (2, 3))]}),
        operation(5, {"foo": [whole]}, {}, "sink"),
        application(6, 5, {"foo": [region(1, (0, 0), (2, 1))]}, {}),
        application(7, 5, {"foo": [region(1, (0, 1), (2, 3))]}, {}),
    )


def read(plain):
    return Graph.from_json(json.dumps(plain))


def linear_and_relu():
    """Z = RELU(X W + b): X is [100, 12] at (-40, 20). Returns the graph and both operations."""
    x = TensorNode(dtype="float32", box=Shape(100, 12, origin=(-40, 20)), label="x")
    w = TensorNode(dtype="float32", box=Shape(12, 32), label="w")
    b = TensorNode(dtype="float32", box=Shape(32), label="b")
    index = Shape(100, 32)
    linear = BlockOperation(
        "LINEAR",
        index,
        {
            "x": Operand.relative(x.box, "(i, j) -> (i, 0) by (1, 12)", itemsize=4),
            "w": Operand.relative(w.box, "(i, j) -> (0, j) by (12, 1)", itemsize=4),
            "b": Operand.relative(b.box, "(i, j) -> (j)", itemsize=4),
        },
        {"y": Operand.result(index, "(i, j) -> (i, j)", itemsize=4)},
    )
    relu = BlockOperation(
        "RELU",
        index,
        {"y": Operand(index, "(i, j) -> (i, j)", itemsize=4)},
        {"z": Operand.result(index, "(i, j) -> (i, j)", itemsize=4)},
    )
    graph, first = Graph().add_operation(linear, {"x": x, "w": w, "b": b}, blocks=linear.split(0, 25).blocks)
    y = graph.node(first.outputs["y"][0].tensor, TensorNode)
    graph, second = graph.add_operation(relu, {"y": y}, blocks=relu.split(0, 25).blocks)
    return graph, first, second


def matmul_and_row_sum():
    """A is [3, 4] at (-10, 4), B is [4, 5]; A B by columns, then the sums of its rows by rows."""
    a = TensorNode(dtype="int32", box=Shape(3, 4, origin=(-10, 4)), label="A")
    b = TensorNode(dtype="int32", box=Shape(4, 5), label="B")
    index = Shape(3, 5)
    matmul = BlockOperation(
        "matmul",
        index,
        {
            "x": Operand.relative(a.box, "(m, n) -> (m, 0) by (1, 4)"),
            "y": Operand.relative(b.box, "(m, n) -> (0, n) by (4, 1)"),
        },
        {"z": Operand.result(index, "(m, n) -> (m, n)")},
    )
    graph, first = Graph().add_operation(
        matmul, {"x": a, "y": b}, dtype="int32", blocks=matmul.split(1, 2).blocks
    )
    z = graph.node(first.outputs["z"][0].tensor, TensorNode)
    sums = BlockOperation(
        "row_sum",
        (3,),
        {"x": Operand(z.box, "(m) -> (m, 0) by (1, 5)")},
        {"s": Operand.result((3,), "(m) -> (m)")},
    )
    return graph.add_operation(sums, {"x": z}, dtype="int32", blocks=sums.split(0, 2).blocks)
