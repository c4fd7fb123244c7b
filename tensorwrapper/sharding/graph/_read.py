"""Parse graphs from untrusted JSON: measured first, then read to the end, with all faults.

A document of acceptable size is read as a whole, so that one reading tells all that is wrong in it. A node
with a fault is not made, and then no graph is.
"""

import re
from collections.abc import Callable
from typing import TypeAlias, final
from uuid import UUID

from tensorwrapper._integers import MAX_DIGITS, to_count
from tensorwrapper._json import Json, parse_json
from tensorwrapper._json_fields import Field
from tensorwrapper.errors import ValidationError
from tensorwrapper.sharding._boxes import Box
from tensorwrapper.sharding.graph._nodes import (
    ApplicationNode,
    GraphNode,
    NoteNode,
    OperationNode,
    Signature,
    Tags,
    TensorNode,
)
from tensorwrapper.sharding.graph._read_parts import Faults, PartReader, RefusedError, needed
from tensorwrapper.sharding.graph._schema import (
    INDEX_TAG,
    NODE_TYPES,
    SEQUENCE_TAG,
    SIGNATURE_TAG,
    TAG_SPACE,
)

GraphParts: TypeAlias = tuple[UUID, tuple[GraphNode, ...]]

_VALUES = 1 << 16  # brackets and commas that any text may have; long ones one for every four bytes allowed
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+", re.ASCII)


def read_graph(text: object, max_bytes: int, max_depth: int, max_nodes: int) -> GraphParts:
    """Return the id and the nodes that a JSON text describes."""
    most, depth = to_count(max_bytes, "max_bytes"), to_count(max_depth, "max_depth")
    nodes, items = to_count(max_nodes, "max_nodes"), max(_VALUES, most // 4)
    # The parsed objects may be far larger than the text.
    value = parse_json(
        text, "the JSON of a graph", depth=depth, digits=MAX_DIGITS, items=items, max_bytes=most
    )
    faults = Faults()
    reader = _NodeReader(faults)
    root = Field(value, "$", faults.refuse)
    found = faults.attempt(lambda field: reader.graph(field, nodes), root)
    if found is None or faults.findings:
        raise ValidationError("the JSON of a graph", tuple(faults.findings))
    return found


@final
class _NodeReader:
    """Reads the nodes of one document; it notes the reason of a refusal before it raises `RefusedError`."""

    __slots__ = ("_faults", "_parts")

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._parts = PartReader(faults)

    def graph(self, field: Field, most: int) -> GraphParts:
        """Return the id and the nodes of a graph."""
        field.object({"id", "nodes"})
        graph_id = self._faults.attempt(self._parts.uuid, field["id"])
        listed = field["nodes"].listed(of="a list of nodes")
        if len(listed) > most:
            field["nodes"].refuse(f"has {len(listed)} nodes; at most {most} are allowed", "limit")
        nodes: list[GraphNode] = []
        places: dict[UUID, int] = {}
        for k in range(len(listed)):
            node = self._faults.attempt(self.node, field["nodes"][k])
            listed[k] = None  # free parsed values: there may be many
            if node is None:
                continue
            if node.id in places:
                text = f"the graph already has a node with the id {node.id}"
                self._faults.note(f"$.nodes[{k}].id", text, "reference", (f"$.nodes[{places[node.id]}]",))
            places.setdefault(node.id, k)
            nodes.append(node)
        return needed(graph_id), tuple(nodes)

    def node(self, field: Field) -> GraphNode:
        """Return a node."""
        field.object({"id", "type", "body"}, {"label", "tags"})
        before = len(self._faults.findings)
        node_id = self._faults.attempt(self._parts.uuid, field["id"])
        label = self._faults.attempt(Field.text, field["label"]) if "label" in field else None
        tags = self._faults.attempt(self.tags, field["tags"]) if "tags" in field else Tags()
        kind = field["type"].one_of(NODE_TYPES)
        make = _BODIES[NODE_TYPES[kind]](self, field["body"])
        if len(self._faults.findings) > before:
            raise RefusedError
        return make(needed(node_id), label, needed(tags))

    def tags(self, field: Field) -> Tags:
        """Return the tags of a node; unknown ones are kept unchanged."""
        before = len(self._faults.findings)
        index: Box | None = None
        signature: Signature | None = None
        other: dict[str, Json] = {}
        tags = dict(field.entries())
        if INDEX_TAG in tags:
            index = self._faults.attempt(self._parts.box, tags.pop(INDEX_TAG))
        if SIGNATURE_TAG in tags:
            rank = None if index is None else index.rank
            signature = self._faults.attempt(
                lambda tag: self._parts.signature(tag, rank), tags.pop(SIGNATURE_TAG)
            )
        for url, tag in tags.items():
            if not _URL.fullmatch(url):
                self._faults.note(str(field), f"must be an object whose keys are URLs, not {url[:40]!r}")
            elif url.startswith(TAG_SPACE) and url != SEQUENCE_TAG:
                self._faults.note(str(tag), "no such tag is known")
            elif self._faults.attempt(Field.mapping, tag) is not None:
                other[url] = tag.value
        if len(self._faults.findings) > before:
            raise RefusedError
        return Tags(index, signature, other)

    def tensor(self, field: Field) -> "_Make":
        """Return a function that makes a tensor once its id is known; likewise the next three."""
        field.object({"dtype", "range"})
        dtype = self._faults.attempt(Field.text, field["dtype"])
        box, named = self._parts.box(field["range"]), needed(dtype)
        return lambda node, label, tags: TensorNode(id=node, label=label, tags=tags, dtype=named, box=box)

    def operation(self, field: Field) -> "_Make":
        field.object({"kernel"}, {"params", "inputs", "outputs"})
        kernel = self._faults.attempt(Field.text, field["kernel"])
        given = self._faults.attempt(Field.mapping, field["params"]) if "params" in field else None
        inputs, outputs = self._parts.sides(field, self._parts.region)
        named = needed(kernel)
        return lambda node, label, tags: OperationNode(
            id=node, label=label, tags=tags, kernel=named, params=given, inputs=inputs, outputs=outputs
        )

    def application(self, field: Field) -> "_Make":
        field.object({"operationId"}, {"inputs", "outputs"})
        operation = self._faults.attempt(self._parts.uuid, field["operationId"])
        inputs, outputs = self._parts.sides(field, self._parts.region)
        named = needed(operation)
        return lambda node, label, tags: ApplicationNode(
            id=node, label=label, tags=tags, operation=named, inputs=inputs, outputs=outputs
        )

    def note(self, field: Field) -> "_Make":
        message = field.object({"message"})["message"].text()
        return lambda node, label, tags: NoteNode(id=node, label=label, tags=tags, message=message)


_Make: TypeAlias = Callable[[UUID, str | None, Tags], GraphNode]
_BODIES: dict[type[GraphNode], Callable[[_NodeReader, Field], _Make]] = {
    TensorNode: _NodeReader.tensor,
    OperationNode: _NodeReader.operation,
    ApplicationNode: _NodeReader.application,
    NoteNode: _NodeReader.note,
}
