"""How a graph stands in JSON: the names of types and tags, and what is written for each node."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from tensorwrapper._json import Json, dump_json
from tensorwrapper.selection._boxes import Box, stop_of
from tensorwrapper.selection._graph_nodes import (
    ApplicationNode,
    GraphNode,
    NoteNode,
    OperationNode,
    Region,
    Signature,
    TensorNode,
)
from tensorwrapper.selection._operands import Named
from tensorwrapper.selection._projection import Projection
from tensorwrapper.shape._text import number_text

__all__ = ["INDEX_TAG", "NODE_TYPES", "SEQUENCE_TAG", "SIGNATURE_TAG", "TAG_SPACE", "write_graph"]

_SPACE: Final = "http://tensortapestry.org/schemas/loom/2024-01/"
_TYPE_SPACE: Final = f"{_SPACE}node_types.jsd#/nodes/"
TAG_SPACE: Final = f"{_SPACE}tag_types.jsd#/tags/"
"""Where the tags of the format itself have their names; tags elsewhere are strangers'."""
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
    if isinstance(node, TensorNode):
        return {"dtype": node.dtype, "range": _box(node.box)}
    if isinstance(node, NoteNode):
        return {"message": node.message}
    body: dict[str, Json] = {"inputs": _regions(node._inputs), "outputs": _regions(node._outputs)}
    if isinstance(node, ApplicationNode):
        return {**body, "operationId": str(node.operation)}
    body["kernel"] = node.kernel
    params = node.params
    return body if params is None else {**body, "params": params}


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
    held = projection.index_map
    rows: list[Json] = [_integers(row) for row in held.matrix]
    return {
        "affineMap": {"projection": rows, "offset": _integers(held.offset)},
        "shape": _integers(projection.extents),
    }


def _signature(signature: Signature) -> Json:
    return {"inputs": _projections(signature._inputs), "outputs": _projections(signature._outputs)}
