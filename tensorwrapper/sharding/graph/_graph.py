"""Graphs of tensors and operations: a value with nodes by id, read from JSON and written to it."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, TypeVar, final
from uuid import UUID, uuid4

import attrs

from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ConversionError, Finding, ValidationError
from tensorwrapper.sharding._boxes import BoxesLike
from tensorwrapper.sharding._operations import BlockOperation
from tensorwrapper.sharding.graph._nodes import (
    ApplicationNode,
    GraphNode,
    NoteNode,
    OperationNode,
    TensorNode,
    regions_of,
)
from tensorwrapper.sharding.graph._read import read_graph
from tensorwrapper.sharding.graph._rules import DTYPES, graph_findings
from tensorwrapper.sharding.graph._schema import (
    Tensors,
    applications_of,
    block_operation_of,
    operation_nodes,
    write_graph,
)

NodeT = TypeVar("NodeT", bound=GraphNode)
_CLASSES = (TensorNode, OperationNode, ApplicationNode, NoteNode)


def _to_nodes(nodes: Iterable[GraphNode]) -> tuple[GraphNode, ...]:
    given = tuple(nodes)
    for k, node in enumerate(given):
        _check_class(node, _CLASSES, f"node {k}")
    return given


def _check_class(value: object, classes: type | tuple[type, ...], what: str) -> None:
    if not isinstance(value, classes):
        names = classes.__name__ if isinstance(classes, type) else ", ".join([c.__name__ for c in classes])
        raise ConversionError(f"{what} must be of {names}, not {value!r}")


@final
@value_class
class Graph:
    """Tensors, operations on them, and the shards of operations, as nodes that refer to one another by id.

    A graph never changes: adding and removing make another one, which shares the nodes. It may be
    inconsistent, as one that is being built or was read is: `findings` tells all that is wrong.

    Parameters
    ----------
    nodes
        In any order.
    id
        The id of the graph; fresh if not given.

    Raises
    ------
    ValidationError
        If two different nodes have one id.

    Examples
    --------
    >>> from tensorwrapper.sharding import BlockOperation, Graph, Operand, TensorNode
    >>> x = TensorNode(dtype="float32", box=(100, 32), label="x")
    >>> relu = BlockOperation(
    ...     "RELU",
    ...     (100, 32),
    ...     {"x": Operand(x.box, "(i, j) -> (i, j)")},
    ...     {"y": Operand.result((100, 32), "(i, j) -> (i, j)")},
    ... )
    >>> graph, node = Graph([x]).add_operation(relu, {"x": x}, blocks=relu.split_grid((50, 16)).blocks)
    >>> len(graph), len(graph.shards_of(node)), graph.findings()
    (7, 4, ())
    >>> Graph.from_json(graph.to_json()) == graph
    True
    """

    nodes: tuple[GraphNode, ...] = attrs.field(default=(), converter=_to_nodes)
    """The nodes, in the order in which they are written."""
    id: UUID = attrs.field(factory=uuid4)
    """The id of the graph."""
    _places: dict[UUID, int] | None = attrs.field(default=None, init=False, eq=False, repr=False)

    if TYPE_CHECKING:

        def __init__(self, nodes: Iterable[GraphNode] = (), id: UUID = ...) -> None: ...  # noqa: A002 - the name of the field

    def __attrs_post_init__(self) -> None:
        _check_class(self.id, UUID, "the id of a graph")
        places: dict[UUID, int] = {}
        for k, node in enumerate(self.nodes):
            if node.id in places:
                text = f"the graph already has a node with the id {node.id}"
                finding = Finding("reference", f"$.nodes[{k}].id", text, (f"$.nodes[{places[node.id]}]",))
                raise ValidationError("the graph", (finding,))
            places[node.id] = k
        object.__setattr__(self, "_places", places)

    # Nodes.

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node: object) -> bool:
        identifier = node if isinstance(node, UUID) else getattr(node, "id", None)
        return identifier in self._by_id

    @property
    def _by_id(self) -> dict[UUID, int]:
        return self._places or {}

    def add(self, *nodes: GraphNode) -> "Graph":
        """Return the graph with more nodes; one that is there already is not added again; O(nodes).

        Raises
        ------
        ValidationError
            If another node has the same id.
        """
        new: list[GraphNode] = []
        seen: dict[UUID, GraphNode] = {}
        for node in _to_nodes(nodes):
            if node != self._get(node.id) and node != seen.get(node.id):
                new.append(node)
                seen[node.id] = node
        return Graph((*self.nodes, *new), self.id)

    def remove(self, *nodes: GraphNode | UUID) -> "Graph":
        """Return the graph without some nodes, given by themselves or by id; others do not matter; O(nodes).

        References to a removed node are kept, and `findings` reports them.
        """
        gone = {node if isinstance(node, UUID) else node.id for node in nodes}
        return Graph([node for node in self.nodes if node.id not in gone], self.id)

    def node(self, node_id: UUID, kind: type[NodeT]) -> NodeT:
        """Return the node with an id, which must be of a class.

        Raises
        ------
        ValidationError
            If there is no such node, or it is of another class.

        Examples
        --------
        >>> from tensorwrapper.sharding import Graph, NoteNode
        >>> note = NoteNode(message="to do")
        >>> Graph([note]).node(note.id, NoteNode).message
        'to do'
        """
        found = self._get(node_id)
        if isinstance(found, kind):
            return found
        fault = "does not exist" if found is None else f"has the wrong type {type(found).__name__}"
        where = "$.nodes" if found is None else self.path(node_id)
        finding = Finding("reference", where, f"the node {node_id} {fault}; a {kind.__name__} is needed")
        raise ValidationError("the graph", (finding,))

    def by_type(self, kind: type[NodeT]) -> tuple[NodeT, ...]:
        """Return the nodes of a class, in order."""
        return tuple([node for node in self.nodes if isinstance(node, kind)])

    def shards_of(self, operation: OperationNode | UUID) -> tuple[ApplicationNode, ...]:
        """Return the shards of an operation, in order; O(nodes)."""
        wanted = operation if isinstance(operation, UUID) else operation.id
        return tuple([node for node in self.by_type(ApplicationNode) if node.operation == wanted])

    def path(self, node: GraphNode | UUID) -> str:
        """Return the JSON path of a node, as findings name it; one that is not there raises.

        Examples
        --------
        >>> from tensorwrapper.sharding import Graph, NoteNode
        >>> first, second = NoteNode(message="a"), NoteNode(message="b")
        >>> Graph([first, second]).path(second)
        '$.nodes[1]'
        """
        node_id = node if isinstance(node, UUID) else node.id
        place = self._by_id.get(node_id)
        if place is None:
            finding = Finding("reference", "$.nodes", f"the node {node_id} does not exist")
            raise ValidationError("the graph", (finding,))
        return f"$.nodes[{place}]"

    def _get(self, node_id: UUID) -> GraphNode | None:
        place = self._by_id.get(node_id)
        return None if place is None else self.nodes[place]

    # Operations and their shards.

    def add_operation(
        self,
        operation: BlockOperation,
        inputs: Tensors,
        *,
        outputs: Tensors | None = None,
        dtype: str = "float32",
        label: str | None = None,
        blocks: BoxesLike | None = None,
    ) -> "tuple[Graph, OperationNode]":
        """Return the graph with an operation, its outputs and its shards; and the node of the operation.

        Parameters
        ----------
        operation
            The operation; the node keeps its index and its projections, so that it can be sharded again.
        inputs
            The tensors that are read, by name; those that are not in the graph are added.
        outputs
            The tensors that are written; if not given, they are made.
        dtype
            The element type of outputs that are made. They are called ``label/name[k]``.
        label
            Name of the node for readers; new outputs are named after the kernel.
        blocks
            The blocks of the index, one shard each; if not given, the whole index is one.

        Raises
        ------
        ConversionError
            If the names of the tensors are not those of the operands.
        ExtentMismatchError
            If a tensor is not the box that the operand says.
        """
        node, made = operation_nodes(operation, inputs, outputs, dtype, label)
        given = [n for side in (inputs, outputs or {}) for value in side.values() for n in _listed(value)]
        shards = applications_of(node, [operation.index] if blocks is None else blocks)
        return self.add(*given, *made, node, *shards), node

    def shard(self, operation: OperationNode | UUID, blocks: BoxesLike) -> "Graph":
        """Return the graph with other shards of an operation: those it has are removed; O(nodes).

        Raises
        ------
        ConversionError
            If the operation carries no index and no signature.
        """
        node = self.node(operation if isinstance(operation, UUID) else operation.id, OperationNode)
        return self.remove(*self.shards_of(node)).add(*applications_of(node, blocks))

    def block_operation(self, operation: OperationNode | UUID) -> BlockOperation:
        """Return the operation that a node describes, as a value that can be cut; it must have a signature.

        Raises
        ------
        ConversionError
            If it carries no index and no signature.
        ValidationError
            If a tensor that it refers to is not there.
        """
        node = self.node(operation if isinstance(operation, UUID) else operation.id, OperationNode)
        tensors = {region.tensor: self.node(region.tensor, TensorNode) for _, region in regions_of(node)}
        return block_operation_of(node, tensors)

    # Checks.

    def findings(self, *, dtypes: Collection[str] = DTYPES) -> tuple[Finding, ...]:
        """Return all that is wrong with the graph, rule by rule; every rule is checked.

        Element types are allowed; regions lie in tensors that are there; nothing needs itself; regions are
        the projections of the index; shards have the operands of their operation, span them, and tile its
        outputs. O(n log n) for n nodes.

        Parameters
        ----------
        dtypes
            The element types that are allowed.
        """
        return graph_findings(self.nodes, dtypes)

    def check(self, *, dtypes: Collection[str] = DTYPES) -> None:
        """Raise `ValidationError` with all `findings`, if there are any."""
        findings = self.findings(dtypes=dtypes)
        if findings:
            raise ValidationError("the graph", findings)

    # JSON.

    def to_json(self) -> str:
        """Return the graph as JSON, compact and with sorted keys; `from_json` reads it.

        The format is that of Tapestry's graphs. Unknown tags are written as they were read.
        """
        return write_graph(self.id, self.nodes)

    @classmethod
    def from_json(
        cls,
        text: str | bytes,
        *,
        max_bytes: int = 1 << 24,
        max_depth: int = 32,
        max_nodes: int = 1 << 20,
    ) -> "Graph":
        """Return the graph that a possibly untrusted JSON text describes.

        Only its form is checked: see `findings`.

        Parameters
        ----------
        text
            JSON, as text or as UTF-8.
        max_bytes, max_depth, max_nodes
            How large the text, how deep its nesting, and how many the nodes may be. A shard takes about 600
            bytes of text and a tenth of a millisecond. Texts of over 65 536 values may have one value for
            every four bytes of `max_bytes`.

        Raises
        ------
        ParseError
            If it is not strict JSON, or too large.
        ValidationError
            If it is not a graph; the findings name all faults by their paths.
        """
        graph_id, nodes = read_graph(text, max_bytes, max_depth, max_nodes)
        return cls(nodes, graph_id)

    def __reduce__(self) -> "tuple[type[Graph], tuple[tuple[GraphNode, ...], UUID]]":
        return Graph, (self.nodes, self.id)


def _listed(value: "TensorNode | Iterable[TensorNode]") -> Iterable[TensorNode]:
    return [value] if isinstance(value, TensorNode) else value
