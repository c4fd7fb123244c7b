"""Graphs as values: adding, removing, looking up, and shards made anew."""

import copy
import pickle
from uuid import UUID

import pytest

from tensorwrapper import Shape
from tensorwrapper.errors import ConversionError, ExtentMismatchError, RankError, ValidationError
from tensorwrapper.sharding import (
    ApplicationNode,
    BlockOperation,
    Graph,
    NoteNode,
    Operand,
    OperationNode,
    Region,
    Signature,
    Tags,
    TensorNode,
)
from tests.support.sharding.graphs import ident, linear_and_relu, read, source_and_sink

A, B = TensorNode(dtype="int32", box=(2, 3)), TensorNode(dtype="int32", box=(3,), label="b")


def test_nodes_are_added_once():
    graph = Graph([A])

    assert graph.add(B).nodes == (A, B)
    assert graph.add(A, B, A, B).nodes == (A, B)
    assert graph.nodes == (A,)
    assert graph.add(B).id == graph.id


def test_another_node_with_the_same_id_is_refused():
    twin = NoteNode(message="x", id=A.id)
    with pytest.raises(ValidationError, match=f"the graph already has a node with the id {A.id}") as caught:
        Graph([A]).add(twin)

    assert (caught.value.findings[0].where, caught.value.findings[0].also) == (
        "$.nodes[1].id",
        ("$.nodes[0]",),
    )


def test_nodes_are_removed_and_what_is_not_there_does_not_matter():
    graph = Graph([A, B])

    assert graph.remove(A).nodes == graph.remove(A.id).nodes == (B,)
    assert graph.remove(B).remove(B).nodes == (A,)
    assert graph.remove() == graph


def test_a_removed_tensor_is_missed():
    graph = read(source_and_sink())

    assert {f.rule for f in graph.remove(UUID(int=1)).findings()} == {"reference"}
    assert {f.rule for f in graph.remove(UUID(int=6)).findings()} == {"shards"}


def test_a_node_is_looked_up_with_its_class():
    graph = Graph([A, B])

    assert graph.node(A.id, TensorNode) is A
    with pytest.raises(ValidationError, match="has the wrong type TensorNode; a NoteNode is needed"):
        graph.node(A.id, NoteNode)
    with pytest.raises(ValidationError, match=f"the node {ident(5)} does not exist"):
        graph.node(UUID(ident(5)), TensorNode)


def test_nodes_are_listed_by_class_in_order():
    graph = read(source_and_sink())

    assert [len(graph.by_type(kind)) for kind in (TensorNode, OperationNode, ApplicationNode, NoteNode)] == [
        1,
        2,
        4,
        0,
    ]
    assert [n.id.int for n in graph.shards_of(UUID(int=5))] == [6, 7]
    assert len(graph) == 7
    assert graph.nodes[3] in graph
    assert graph.nodes[3].id in graph
    assert A not in graph


def test_a_path_is_where_the_node_is_written():
    graph = Graph([A, B])

    assert (graph.path(B), graph.path(A.id)) == ("$.nodes[1]", "$.nodes[0]")
    with pytest.raises(ValidationError, match="does not exist"):
        graph.path(UUID(int=3))


def test_names_of_modes_do_not_matter_in_a_graph():
    named = Shape(2, 3).named("i", "j")

    assert TensorNode(dtype="int32", box=named, id=A.id) == A
    assert Region(A.id, named) == Region(A.id, A.box)


def test_fresh_ids_differ():
    assert len({NoteNode(message="").id for _ in range(100)} | {Graph().id, Graph().id}) == 102


def test_graphs_are_values():
    graph, _, _ = linear_and_relu()
    for same in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), Graph(graph.nodes, graph.id)):
        assert same == graph
        assert hash(same) == hash(graph)
    before = pickle.dumps(graph)
    hash(graph)
    assert pickle.dumps(graph) == before
    assert graph != Graph(graph.nodes)


def scale(box=(4, 6)):
    return BlockOperation(
        "scale", box, {"x": Operand(box, "(i, j) -> (i, j)")}, {"y": Operand.result(box, "(i, j) -> (i, j)")}
    )


def test_an_operation_brings_its_outputs_and_shards():
    x = TensorNode(dtype="float32", box=(4, 6))
    graph, node = Graph().add_operation(scale(), {"x": x}, label="twice", dtype="float64")
    (y,) = [n for n in graph.by_type(TensorNode) if n is not x]

    assert graph.findings() == ()
    assert (y.label, y.dtype, y.box) == ("twice/y[0]", "float64", Shape(4, 6))
    assert [s.tags.index for s in graph.shards_of(node)] == [Shape(4, 6)]
    assert graph.block_operation(node) == scale()


def test_outputs_may_be_given():
    x, y = TensorNode(dtype="float32", box=(4, 6)), TensorNode(dtype="float32", box=(4, 6))
    graph, node = Graph([x, y]).add_operation(scale(), {"x": x}, outputs={"y": [y]})

    assert graph.by_type(TensorNode) == (x, y)
    assert node.outputs == {"y": (Region(y.id, (4, 6)),)}


def test_tensors_must_fit_the_operands():
    x = TensorNode(dtype="float32", box=(4, 6))
    with pytest.raises(ConversionError, match="the inputs are x, but tensors are given for z"):
        Graph().add_operation(scale(), {"z": x})
    with pytest.raises(RankError, match=r"inputs\.x has 1 operands, but 2 tensors are given"):
        Graph().add_operation(scale(), {"x": [x, x]})
    with pytest.raises(
        ExtentMismatchError, match=r"inputs\.x\[0\] is \[0:4, 0:6\], but the tensor is \[0:2, 0:3\]"
    ):
        Graph().add_operation(scale(), {"x": A})


def test_shards_are_made_anew_from_what_the_node_carries():
    graph, linear, relu = linear_and_relu()
    again = graph.shard(relu, graph.block_operation(relu).split(1, 5).blocks)

    assert len(again.shards_of(relu)) == 7
    assert again.shards_of(linear) == graph.shards_of(linear)
    assert again.findings() == ()
    bad = graph.shard(relu, [Shape(100, 31)])
    assert {f.rule for f in bad.findings()} == {"shards", "coverage"}


def test_an_operation_without_a_signature_is_not_sharded():
    node = OperationNode(kernel="k")
    with pytest.raises(ConversionError, match="'k' has no index and no signature"):
        Graph([node]).shard(node, [])
    with pytest.raises(ConversionError, match="'k' has no index and no signature"):
        Graph([node]).block_operation(node)


def test_a_signature_that_does_not_fit_its_operation_is_not_sharded():
    node = OperationNode(kernel="k", inputs={"x": Region(A.id, A.box)}, tags=Tags((2, 3), Signature({}, {})))
    with pytest.raises(RankError, match="x has 1 operands, but the signature has 0"):
        Graph([A, node]).shard(node, [Shape(2, 3)])
    with pytest.raises(RankError, match="x has 1 operands, but the signature has 0"):
        Graph([A, node]).block_operation(node)
