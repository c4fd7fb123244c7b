"""From block operations to nodes of a graph, and back."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from tensorwrapper.errors import ConversionError, ExtentMismatchError, RankError
from tensorwrapper.selection._box_table import BoxesLike, BoxTable
from tensorwrapper.selection._boxes import Box, box_text
from tensorwrapper.selection._graph_nodes import (
    ApplicationNode,
    OperationNode,
    Region,
    Signature,
    Tags,
    TensorNode,
)
from tensorwrapper.selection._operands import Named, Operand
from tensorwrapper.selection._projection import Projection
from tensorwrapper.selection._sharding import BlockOperation

__all__ = ["applications_of", "block_operation_of", "operation_nodes"]

Tensors = Mapping[str, "TensorNode | Sequence[TensorNode]"]


def operation_nodes(
    operation: BlockOperation, inputs: Tensors, outputs: Tensors | None, dtype: str, label: str | None
) -> tuple[OperationNode, list[TensorNode]]:
    """Return the node of an operation, and those of its outputs where they are not given."""
    read = _regions(operation, operation._inputs, inputs, "inputs")
    made: list[TensorNode] = []
    if outputs is None:
        written: dict[str, tuple[Region, ...]] = {}
        for name, operands in operation._outputs:
            nodes = [
                TensorNode(dtype=dtype, box=operand.shape, label=f"{label or operation.kernel}/{name}[{k}]")
                for k, operand in enumerate(operands)
            ]
            made += nodes
            written[name] = tuple(
                [
                    Region(n.id, o.projection.of_box(operation.index))
                    for n, o in zip(nodes, operands, strict=True)
                ]
            )
    else:
        written = _regions(operation, operation._outputs, outputs, "outputs")
    signature = Signature(_maps(operation._inputs), _maps(operation._outputs))
    tags = Tags(operation.index, signature)
    node = OperationNode(kernel=operation.kernel, inputs=read, outputs=written, label=label, tags=tags)
    return node, made


def _maps(named: "Named[Operand]") -> dict[str, tuple[Projection, ...]]:
    return {name: tuple([operand.projection for operand in operands]) for name, operands in named}


def _regions(
    operation: BlockOperation, named: "Named[Operand]", tensors: Tensors, side: str
) -> dict[str, tuple[Region, ...]]:
    if tensors.keys() != dict(named).keys():
        names = ", ".join([name for name, _ in named])
        raise ConversionError(
            f"the {side} are {names or 'none'}, but tensors are given for {', '.join(tensors)}"
        )
    regions: dict[str, tuple[Region, ...]] = {}
    for name, operands in named:
        given = tensors[name]
        nodes = [given] if isinstance(given, TensorNode) else list(given)
        if len(nodes) != len(operands):
            raise RankError(f"{side}.{name} has {len(operands)} operands, but {len(nodes)} tensors are given")
        for k, (node, operand) in enumerate(zip(nodes, operands, strict=True)):
            if node.box != operand.shape:
                raise ExtentMismatchError(
                    f"{side}.{name}[{k}] is {box_text(operand.shape)}, but the tensor is {box_text(node.box)}"
                )
        boxes = [operand.projection.of_box(operation.index) for operand in operands]
        regions[name] = tuple([Region(n.id, box) for n, box in zip(nodes, boxes, strict=True)])
    return regions


def applications_of(node: OperationNode, blocks: BoxesLike) -> Iterator[ApplicationNode]:
    """Return an iterator over the nodes of the shards of an operation that has index and signature."""
    signature, index = node.tags.signature, node.tags.index
    if signature is None or index is None:
        raise ConversionError(
            f"the operation {node.kernel!r} has no index and no signature to make shards from"
        )
    table = blocks if isinstance(blocks, BoxTable) else BoxTable.from_boxes(blocks, rank=index.rank)
    inputs = _projected(node._inputs, signature.inputs, table)
    outputs = _projected(node._outputs, signature.outputs, table)
    for k, block in enumerate(table):
        yield ApplicationNode(
            operation=node.id, inputs=_part(inputs, k), outputs=_part(outputs, k), tags=Tags(block)
        )


_Tables = dict[str, list[tuple[UUID, list[Box]]]]


def _projected(
    named: "Named[Region]", maps: Mapping[str, tuple[Projection, ...]], blocks: BoxTable
) -> _Tables:
    """Return the boxes of all shards, one list per operand."""
    tables: _Tables = {}
    for name, regions in named:
        tables[name] = [
            (region.tensor, list(BoxTable(*p.of_boxes(blocks.origins, blocks.extents))))
            for region, p in _paired(name, regions, maps)
        ]
    return tables


def _paired(
    name: str, regions: Sequence[Region], maps: Mapping[str, tuple[Projection, ...]]
) -> Iterator[tuple[Region, Projection]]:
    projections = maps.get(name, ())
    if len(regions) != len(projections):
        raise RankError(f"{name} has {len(regions)} operands, but the signature has {len(projections)}")
    return zip(regions, projections, strict=True)


def _part(tables: _Tables, place: int) -> dict[str, tuple[Region, ...]]:
    return {
        name: tuple([Region(tensor, boxes[place]) for tensor, boxes in operands])
        for name, operands in tables.items()
    }


def block_operation_of(node: OperationNode, tensors: Mapping[UUID, TensorNode]) -> BlockOperation:
    """Return the operation that a node with index and signature describes."""
    signature, index = node.tags.signature, node.tags.index
    if signature is None or index is None:
        raise ConversionError(f"the operation {node.kernel!r} has no index and no signature")
    sides = [
        {
            name: [
                Operand(tensors[region.tensor].box, projection)
                for region, projection in _paired(name, regions, maps)
            ]
            for name, regions in named
        }
        for named, maps in ((node._inputs, signature.inputs), (node._outputs, signature.outputs))
    ]
    return BlockOperation(node.kernel, index, *sides)
