"""JSON form of a graph: the names of types and tags, and the fields of each node."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never
from uuid import UUID

from tensorwrapper._integers import number_text
from tensorwrapper._json import Json, dump_json
from tensorwrapper.errors import ConversionError, ExtentMismatchError, RankError
from tensorwrapper.sharding._boxes import Box, BoxesLike, BoxTable, box_text, stop_of
from tensorwrapper.sharding._operands import Named, Operand
from tensorwrapper.sharding._operations import BlockOperation
from tensorwrapper.sharding._projection import Projection
from tensorwrapper.sharding.graph._nodes import (
    ApplicationNode,
    GraphNode,
    NoteNode,
    OperationNode,
    Region,
    Signature,
    Tags,
    TensorNode,
)

Tensors = Mapping[str, "TensorNode | Sequence[TensorNode]"]


def operation_nodes(
    operation: BlockOperation, inputs: Tensors, outputs: Tensors | None, dtype: str, label: str | None
) -> tuple[OperationNode, list[TensorNode]]:
    """Return the node of an operation, and those of its outputs where they are not given."""
    read = _regions_read(operation, operation._inputs, inputs, "inputs")
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
        written = _regions_read(operation, operation._outputs, outputs, "outputs")
    signature = Signature(_maps(operation._inputs), _maps(operation._outputs))
    tags = Tags(operation.index, signature)
    node = OperationNode(kernel=operation.kernel, inputs=read, outputs=written, label=label, tags=tags)
    return node, made


def _maps(named: "Named[Operand]") -> dict[str, tuple[Projection, ...]]:
    return {name: tuple([operand.projection for operand in operands]) for name, operands in named}


def _regions_read(
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


_SPACE: Final = "http://tensortapestry.org/schemas/loom/2024-01/"
_TYPE_SPACE: Final = f"{_SPACE}node_types.jsd#/nodes/"
TAG_SPACE: Final = f"{_SPACE}tag_types.jsd#/tags/"
"""Namespace of the format's tags; other tags are foreign."""
INDEX_TAG: Final = f"{TAG_SPACE}IPFIndex"
SIGNATURE_TAG: Final = f"{TAG_SPACE}IPFSignature"
SEQUENCE_TAG: Final = f"{TAG_SPACE}IOSequencePoint"
NODE_TYPES: Final[dict[str, type[GraphNode]]] = {
    f"{_TYPE_SPACE}Tensor": TensorNode,
    f"{_TYPE_SPACE}Operation": OperationNode,
    f"{_TYPE_SPACE}Application": ApplicationNode,
    f"{_TYPE_SPACE}Note": NoteNode,
}
"""The classes of nodes by the URLs of their types."""
_URLS = {kind: url for url, kind in NODE_TYPES.items()}


def write_graph(graph_id: UUID, nodes: Sequence[GraphNode]) -> str:
    """Return a graph as JSON: compact, with sorted keys.

    Raises
    ------
    SizeOverflowError
        If an integer has more than 640 digits, which no reader would take.
    """
    return dump_json({"id": str(graph_id), "nodes": [_node(node) for node in nodes]})


def _node(node: GraphNode) -> dict[str, Json]:
    written: dict[str, Json] = {"id": str(node.id), "type": _URLS[type(node)], "body": _body(node)}
    if node.label is not None:
        written["label"] = node.label
    tags: dict[str, Json] = node.tags.other
    if node.tags.index is not None:
        tags[INDEX_TAG] = _box(node.tags.index)
    if node.tags.signature is not None:
        tags[SIGNATURE_TAG] = _signature(node.tags.signature)
    if tags:
        written["tags"] = tags
    return written


def _body(node: GraphNode) -> dict[str, Json]:
    match node:
        case TensorNode():
            return {"dtype": node.dtype, "range": _box(node.box)}
        case NoteNode():
            return {"message": node.message}
        case ApplicationNode():
            return {**_sides(node), "operationId": str(node.operation)}
        case OperationNode():
            params = node.params
            return {**_sides(node), "kernel": node.kernel, **({} if params is None else {"params": params})}
        case _:
            assert_never(node)


def _sides(node: ApplicationNode | OperationNode) -> dict[str, Json]:
    return {"inputs": _regions(node._inputs), "outputs": _regions(node._outputs)}


def _integers(numbers: Sequence[int]) -> list[Json]:
    for number in numbers:
        number_text(number, full=True)  # raises for a number that no reader takes
    return list(numbers)


def _box(box: Box) -> dict[str, Json]:
    return {"start": _integers(box.origin), "end": _integers(stop_of(box))}


def _regions(named: "Named[Region]") -> dict[str, Json]:
    return {
        name: [{"tensorId": str(region.tensor), "range": _box(region.box)} for region in regions]
        for name, regions in named
    }


def _projections(named: "Named[Projection]") -> dict[str, Json]:
    return {name: [_projection(projection) for projection in projections] for name, projections in named}


def _projection(projection: Projection) -> Json:
    index_map = projection.index_map
    rows: list[Json] = [_integers(row) for row in index_map.matrix]
    written: dict[str, Json] = {
        "affineMap": {"projection": rows, "offset": _integers(index_map.offset)},
        "shape": _integers(projection.extents),
    }
    if projection.ranges:
        written["ranges"] = [
            None if table is None else {"start": table.origin, "marks": table.marks.tolist()}
            for table in projection.ranges
        ]
    return written


def _signature(signature: Signature) -> Json:
    return {"inputs": _projections(signature._inputs), "outputs": _projections(signature._outputs)}
