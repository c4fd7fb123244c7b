"""Block sharding: what a checker must know of it."""

from typing import assert_type
from uuid import UUID

from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.typing import IntArray

m = sel.IndexMap([[1, 0], [0, 2]], (4, 5))
assert_type(m((1, 2)), tuple[int, ...])
assert_type(m.apply_many([[1, 2]]), IntArray)
p = sel.Projection("(i, j) -> (i, 0)", (1, 5))
assert_type(p((1, 2)), Shape[tuple[int, ...]])
assert_type(p.of_boxes([[0, 0]], [[1, 1]]), tuple[IntArray, IntArray])

operation = sel.BlockOperation("k", (2, 2), {"x": sel.Operand((2, 5), p)}, {})
assert_type(operation.inputs, dict[str, tuple[sel.Operand, ...]])
shards = operation.shard([Shape(2, 2)])
assert_type(shards, sel.Shards)
assert_type(operation.shard(Shape(2, 2)), sel.Shards)
assert_type([shard.reads for shard in shards], list[dict[str, tuple[Shape[tuple[int, ...]], ...]]])
assert_type(shards.findings(), tuple[sel.Finding, ...])

graph = sel.Graph([sel.NoteNode(message="x")])
assert_type(graph.by_type(sel.TensorNode), tuple[sel.TensorNode, ...])
assert_type(graph.node(UUID(int=1), sel.OperationNode), sel.OperationNode)

sel.Projection(p)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sel.BlockOperation("k", (2,), {"x": p}, {})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
sel.TensorNode("float32", (2, 3))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
graph.nodes = ()  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
