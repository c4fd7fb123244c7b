"""Block sharding: what a checker must know of it."""

from typing import assert_type
from uuid import UUID

from tensorwrapper import Shape, sharding
from tensorwrapper.typing import IntArray

m = sharding.IndexMap([[1, 0], [0, 2]], (4, 5))
assert_type(m((1, 2)), tuple[int, ...])
assert_type(m.apply_many([[1, 2]]), IntArray)
p = sharding.Projection("(i, j) -> (i, 0)", (1, 5))
assert_type(p((1, 2)), Shape)
assert_type(p.of_boxes([[0, 0]], [[1, 1]]), tuple[IntArray, IntArray])

operation = sharding.BlockOperation("k", (2, 2), {"x": sharding.Operand((2, 5), p)}, {})
assert_type(operation.inputs, dict[str, tuple[sharding.Operand, ...]])
shards = operation.shard([Shape(2, 2)])
assert_type(shards, sharding.Shards)
assert_type(operation.shard(Shape(2, 2)), sharding.Shards)
assert_type([shard.reads for shard in shards], list[dict[str, tuple[Shape, ...]]])
assert_type(shards.findings(), tuple[sharding.Finding, ...])

graph = sharding.Graph([sharding.NoteNode(message="x")])
assert_type(graph.by_type(sharding.TensorNode), tuple[sharding.TensorNode, ...])
assert_type(graph.node(UUID(int=1), sharding.OperationNode), sharding.OperationNode)

sharding.Projection(p)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sharding.BlockOperation("k", (2,), {"x": p}, {})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
sharding.TensorNode("float32", (2, 3))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
graph.nodes = ()  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
