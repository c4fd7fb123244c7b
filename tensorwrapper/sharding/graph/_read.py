"""Graphs out of JSON that anybody may have written: measured first, then read to the end, with all faults.

A document of acceptable size is read as a whole, so that one reading tells all that is wrong in it. A node
with a fault is not made, and then no graph is.
"""

import re
from collections.abc import Callable
from typing import TypeAlias, final
from uuid import UUID

from tensorwrapper._integers import to_count
from tensorwrapper._json import Json, excess, has_number_over, load_json
from tensorwrapper.errors import ConversionError, ParseError, ValidationError
from tensorwrapper.shape.lowlevel import MAX_DIGITS
from tensorwrapper.sharding._boxes import Box
from tensorwrapper.sharding.graph._leaves import Leaves, shown
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
from tensorwrapper.sharding.graph._schema import (
    INDEX_TAG,
    NODE_TYPES,
    SEQUENCE_TAG,
    SIGNATURE_TAG,
    TAG_SPACE,
)

__all__ = ["GraphParts", "read_graph"]

GraphParts: TypeAlias = tuple[UUID, tuple[GraphNode, ...]]

_SPACE = " \t\n\r"
_VALUES = 1 << 16  # brackets and commas that any text may have; long ones one for every four bytes allowed
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+", re.ASCII)


def read_graph(text: object, max_bytes: int, max_depth: int, max_nodes: int) -> GraphParts:
    """Return the id and the nodes that a JSON text describes."""
    value = _measured(text, max_bytes, max_depth)
    reader = _Reader()
    found = reader.graph(value, max_nodes)
    if found is None or reader.leaves.findings:
        raise ValidationError("the JSON of a graph", tuple(reader.leaves.findings))
    return found


def _measured(text: object, max_bytes: int, max_depth: int) -> Json:
    """Return the value of a text that is not too large, or raise `ParseError`."""
    most = to_count(max_bytes, "max_bytes")
    bare = _decoded(text, most).strip(_SPACE)
    # What a text becomes may be far larger than the text.
    complaint = excess(bare, depth=to_count(max_depth, "max_depth"), items=max(_VALUES, most // 4))
    if complaint is None and has_number_over(bare, MAX_DIGITS):
        complaint = f"has a number of more than {MAX_DIGITS} digits"
    if complaint is not None:
        raise ParseError(f"the JSON of a graph {complaint}")
    try:
        return load_json(bare)
    except RecursionError as error:
        raise ParseError("the JSON of a graph nests deeper than this reader can follow") from error
    except ParseError as error:
        raise ParseError(f"the JSON of a graph {error}") from error


def _decoded(text: object, most: int) -> str:
    if not isinstance(text, str | bytes):
        raise ConversionError(f"a graph is read from text or bytes, not from {type(text).__name__}")
    if len(text) > most:
        raise ParseError(f"the JSON of a graph has {len(text)} bytes or more; at most {most} are allowed")
    try:
        data = text.encode("utf-8") if isinstance(text, str) else text
        decoded = data.decode("utf-8")
    except UnicodeError as error:
        raise ParseError(f"the JSON of a graph is not UTF-8: {error}") from error
    if len(data) > most:
        raise ParseError(f"the JSON of a graph has {len(data)} bytes; at most {most} are allowed")
    return decoded


def _tag_path(path: str, url: str) -> str:
    # The names of the format's own tags stand at the ends of their URLs, of 80 characters.
    return f"{path}[{shown(url, 120)}]"


@final
class _Reader:
    """Reads one document and collects what is wrong with it."""

    __slots__ = ("leaves",)

    def __init__(self) -> None:
        self.leaves = Leaves()

    def tags(self, value: Json, path: str) -> Tags | None:
        """Return the tags of a node; those of strangers are kept as they are."""
        if not isinstance(value, dict):
            self.leaves.refuse(path, value, "an object of tags")
            return None
        index: Box | None = None
        signature: Signature | None = None
        other: dict[str, Json] = {}
        before = len(self.leaves.findings)
        if INDEX_TAG in value:
            index = self.leaves.box(value[INDEX_TAG], _tag_path(path, INDEX_TAG))
        for url, tag in value.items():
            where = _tag_path(path, url)
            if url == INDEX_TAG:
                continue
            if url == SIGNATURE_TAG:
                signature = self.leaves.signature(tag, where, None if index is None else index.rank)
            elif not _URL.fullmatch(url):
                self.leaves.refuse(path, url, "an object whose keys are URLs")
            elif url.startswith(TAG_SPACE) and url != SEQUENCE_TAG:
                self.leaves.report(where, "no such tag is known")
            elif not isinstance(tag, dict):
                self.leaves.refuse(where, tag, "an object")
            else:
                other[url] = tag
        return Tags(index, signature, other) if len(self.leaves.findings) == before else None

    def node(self, value: Json, path: str) -> GraphNode | None:
        """Return a node."""
        fields = self.leaves.fields(value, path, "id type body", "label tags")
        if fields is None:
            return None
        before = len(self.leaves.findings)
        node_id = self.leaves.uuid(fields["id"], f"{path}.id")
        label = None if "label" not in fields else self.leaves.text(fields["label"], f"{path}.label")
        tags = self.tags(fields.get("tags", {}), f"{path}.tags")
        kind = fields["type"]
        read = None
        if isinstance(kind, str) and kind in NODE_TYPES:
            read = _BODIES[NODE_TYPES[kind]](self, fields["body"], f"{path}.body")
        else:
            self.leaves.refuse(f"{path}.type", kind, f"one of {', '.join(NODE_TYPES)}")
        if read is None or node_id is None or tags is None or len(self.leaves.findings) > before:
            return None
        return read(node_id, label, tags)

    def tensor(self, value: Json, path: str) -> "_Make | None":
        """Return what makes a tensor once its id is known; so the three that follow."""
        fields = self.leaves.fields(value, path, "dtype range")
        if fields is None:
            return None
        dtype, box = (
            self.leaves.text(fields["dtype"], f"{path}.dtype"),
            self.leaves.box(fields["range"], f"{path}.range"),
        )
        if dtype is None or box is None:
            return None
        return lambda node, label, tags: TensorNode(id=node, label=label, tags=tags, dtype=dtype, box=box)

    def operation(self, value: Json, path: str) -> "_Make | None":
        fields = self.leaves.fields(value, path, "kernel", "params inputs outputs")
        if fields is None:
            return None
        kernel, params = self.leaves.text(fields["kernel"], f"{path}.kernel"), fields.get("params", {})
        if not isinstance(params, dict):
            self.leaves.refuse(f"{path}.params", params, "an object")
            return None
        given = params if "params" in fields else None
        inputs, outputs = self.operands(fields, path)
        if kernel is None or inputs is None or outputs is None:
            return None
        return lambda node, label, tags: OperationNode(
            id=node, label=label, tags=tags, kernel=kernel, params=given, inputs=inputs, outputs=outputs
        )

    def application(self, value: Json, path: str) -> "_Make | None":
        fields = self.leaves.fields(value, path, "operationId", "inputs outputs")
        if fields is None:
            return None
        operation = self.leaves.uuid(fields["operationId"], f"{path}.operationId")
        inputs, outputs = self.operands(fields, path)
        if operation is None or inputs is None or outputs is None:
            return None
        return lambda node, label, tags: ApplicationNode(
            id=node, label=label, tags=tags, operation=operation, inputs=inputs, outputs=outputs
        )

    def note(self, value: Json, path: str) -> "_Make | None":
        fields = self.leaves.fields(value, path, "message")
        message = None if fields is None else self.leaves.text(fields["message"], f"{path}.message")
        if message is None:
            return None
        return lambda node, label, tags: NoteNode(id=node, label=label, tags=tags, message=message)

    def operands(self, fields: dict[str, Json], path: str) -> "tuple[_Regions | None, _Regions | None]":
        """Return the inputs and the outputs of a body."""
        return (
            self.leaves.named(fields.get("inputs", {}), f"{path}.inputs", self.leaves.region),
            self.leaves.named(fields.get("outputs", {}), f"{path}.outputs", self.leaves.region),
        )

    def graph(self, value: Json, most: int) -> "GraphParts | None":
        """Return the id and the nodes of a graph."""
        fields = self.leaves.fields(value, "$", "id nodes")
        if fields is None:
            return None
        graph_id, listed = self.leaves.uuid(fields["id"], "$.id"), fields["nodes"]
        if not isinstance(listed, list):
            self.leaves.refuse("$.nodes", listed, "a list of nodes")
            return None
        if len(listed) > to_count(most, "max_nodes"):
            text = f"has {len(listed)} nodes; at most {most} are allowed"
            self.leaves.report("$.nodes", text)
            return None
        nodes: list[GraphNode] = []
        places: dict[UUID, int] = {}
        for k, item in enumerate(listed):
            node = self.node(item, f"$.nodes[{k}]")
            listed[k] = None  # what was read is not needed again, and there may be much of it
            if node is None:
                continue
            if node.id in places:
                text = f"the graph already has a node with the id {node.id}"
                self.leaves.report(f"$.nodes[{k}].id", text, "reference", (f"$.nodes[{places[node.id]}]",))
            places.setdefault(node.id, k)
            nodes.append(node)
        return None if graph_id is None else (graph_id, tuple(nodes))


_Regions: TypeAlias = dict[str, tuple[Region, ...]]
_Make: TypeAlias = Callable[[UUID, str | None, Tags], GraphNode]
_BODIES: dict[type[GraphNode], Callable[[_Reader, Json, str], _Make | None]] = {
    TensorNode: _Reader.tensor,
    OperationNode: _Reader.operation,
    ApplicationNode: _Reader.application,
    NoteNode: _Reader.note,
}
