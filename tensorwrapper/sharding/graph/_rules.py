"""Rules of a graph: every rule is checked, independently of the others."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias, TypeVar, final
from uuid import UUID

import numpy as np

from tensorwrapper.errors import Finding, RankError, SizeOverflowError
from tensorwrapper.sharding._boxes import Box, BoxTable, box_text
from tensorwrapper.sharding._coverage import coverage_findings
from tensorwrapper.sharding._projection import Projection
from tensorwrapper.sharding.graph._nodes import (
    ApplicationNode,
    GraphNode,
    OperationNode,
    Region,
    TensorNode,
    regions_of,
)

K = TypeVar("K", bound=Hashable)


def cycles_of(follows: Mapping[K, Sequence[K]]) -> Iterator[list[K]]:
    """Return an iterator over the strongly connected sets of more than one node; O(nodes + edges).

    It keeps its own stack, so that no chain is too long for Python's.

    Source: R. Tarjan, Depth-first search and linear graph algorithms (1972).

    Examples
    --------
    >>> [sorted(ring) for ring in cycles_of({1: [2], 2: [3], 3: [1, 4], 4: []})]
    [[1, 2, 3]]
    """
    order: dict[K, int] = {}
    low: dict[K, int] = {}
    open_nodes: list[K] = []
    is_open: set[K] = set()
    for root in list(follows):
        if root in order:
            continue
        work = [(root, iter(follows.get(root, ())))]
        order[root] = low[root] = len(order)
        open_nodes.append(root)
        is_open.add(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    place = _last(open_nodes, node)
                    ring = open_nodes[place:]
                    del open_nodes[place:]
                    is_open.difference_update(ring)
                    if len(ring) > 1:
                        yield ring
            elif following not in order:
                order[following] = low[following] = len(order)
                open_nodes.append(following)
                is_open.add(following)
                work.append((following, iter(follows.get(following, ()))))
            elif following in is_open:
                low[node] = min(low[node], order[following])


def _last(nodes: Sequence[K], node: K) -> int:
    place = len(nodes) - 1
    while nodes[place] != node:
        place -= 1
    return place


_BITS = {"int": (8, 16, 32, 64), "uint": (8, 16, 32, 64), "float": (16, 32, 64), "complex": (64, 128)}
DTYPES: Final = frozenset({"bool", *[f"{name}{bits}" for name, sizes in _BITS.items() for bits in sizes]})
"""The default element types of a graph."""

_NAMES = 8  # names that a finding lists
_FINDINGS = 100_000  # an untrusted graph may be wrong in every place

_Part: TypeAlias = tuple[Region, int]
"""A region of a shard, and the number of the shard."""
_Maps: TypeAlias = dict[str, dict[str, tuple[Projection, ...]]]


@final
class Places:
    """Nodes of a graph with their positions and paths."""

    __slots__ = ("nodes", "places")

    def __init__(self, nodes: Sequence[GraphNode]) -> None:
        self.nodes = nodes
        self.places = {node.id: k for k, node in enumerate(nodes)}

    def get(self, node_id: UUID) -> GraphNode | None:
        """Return the node with an id, if there is one."""
        place = self.places.get(node_id)
        return None if place is None else self.nodes[place]

    def path(self, node: GraphNode) -> str:
        """Return the JSON path of a node."""
        return f"$.nodes[{self.places[node.id]}]"


def graph_findings(nodes: Sequence[GraphNode], dtypes: Collection[str]) -> tuple[Finding, ...]:
    """Return all that is wrong with a graph, rule by rule; of more than 100 000 findings the first."""
    return tuple(islice(_findings(nodes, dtypes), _FINDINGS))


def _findings(nodes: Sequence[GraphNode], dtypes: Collection[str]) -> Iterator[Finding]:
    places = Places(nodes)
    shards: dict[UUID, list[ApplicationNode]] = defaultdict(list)
    operations: list[OperationNode] = []
    for node in nodes:
        if isinstance(node, ApplicationNode):
            shards[node.operation].append(node)
        elif isinstance(node, OperationNode):
            operations.append(node)
    yield from _dtypes(places, dtypes)
    yield from _references(places)
    yield from _cycles(places)
    for operation in operations:
        yield from _projected(operation, _maps_of(operation), places.path(operation))
    for operation in operations:
        yield from _sharded(operation, shards[operation.id], places)


def _dtypes(places: Places, dtypes: Collection[str]) -> Iterator[Finding]:
    for node in places.nodes:
        if isinstance(node, TensorNode) and node.dtype not in dtypes:
            text = f"tensor dtype ({node.dtype[:40]}) is not a recognized type: {', '.join(sorted(dtypes))}"
            yield Finding("dtype", f"{places.path(node)}.body.dtype", text)


# References.


def _references(places: Places) -> Iterator[Finding]:
    for node in places.nodes:
        if not isinstance(node, OperationNode | ApplicationNode):
            continue
        path = places.path(node)
        if isinstance(node, ApplicationNode):
            operation = places.get(node.operation)
            if not isinstance(operation, OperationNode):
                text = _reference_fault(node.operation, operation, OperationNode)
                yield Finding("reference", f"{path}.body.operationId", text)
        for where, region in regions_of(node):
            yield from _region_faults(places, region, f"{path}.body.{where}")


def _reference_fault(node_id: UUID, node: GraphNode | None, kind: type[GraphNode]) -> str:
    if node is None:
        return f"the referenced node {node_id} does not exist; a {kind.__name__} is needed"
    return f"the referenced node {node_id} has the wrong type {type(node).__name__}, not {kind.__name__}"


def _region_faults(places: Places, region: Region, path: str) -> Iterator[Finding]:
    node = places.get(region.tensor)
    if not isinstance(node, TensorNode):
        text = _reference_fault(region.tensor, node, TensorNode)
        yield Finding("reference", f"{path}.tensorId", text)
        return
    also = (places.path(node),)
    if node.box.rank != region.box.rank:
        text = f"the region has {region.box.rank} modes, but the tensor has {node.box.rank}"
        yield Finding("bounds", f"{path}.range", text, also)
    elif not node.box.encloses(region.box):
        text = f"the region {box_text(region.box)} is out of bounds: the tensor is {box_text(node.box)}"
        yield Finding("bounds", f"{path}.range", text, also)


def _cycles(places: Places) -> Iterator[Finding]:
    follows: dict[UUID, list[UUID]] = defaultdict(list)
    for node in places.nodes:
        if isinstance(node, OperationNode):
            follows[node.id] += [region.tensor for _, regions in node._outputs for region in regions]
            for _, regions in node._inputs:
                for region in regions:
                    follows[region.tensor].append(node.id)
    for ring in cycles_of(follows):
        nodes = [places.get(node_id) for node_id in ring]
        known = [node for node in nodes if node is not None]
        names = [f"{type(n).__name__} {n.label or n.id}" for n in known]
        paths = [places.path(node) for node in known]
        yield Finding("cycle", paths[0], f"reference cycle of {_few(names)}", tuple(paths[1:]))


# Projections.


def _maps_of(operation: OperationNode) -> _Maps | None:
    """Return the projections of an operation by side and name, made once for all its shards."""
    signature = operation.tags.signature
    return None if signature is None else {"inputs": signature.inputs, "outputs": signature.outputs}


def _projected(node: OperationNode | ApplicationNode, maps: _Maps | None, path: str) -> Iterator[Finding]:
    """Return errors of regions of a node that differ from the projections of its index."""
    index = node.tags.index
    if index is None or maps is None:
        return
    for side, regions in (("inputs", node._inputs), ("outputs", node._outputs)):
        wanted = maps[side]
        yield from _mismatches(dict(regions), wanted, side, path, "the signature")
        for name, listed in regions:
            for k, (region, projection) in enumerate(zip(listed, wanted.get(name, ()), strict=False)):
                where = f"{path}.body.{side}.{name}[{k}].range"
                yield from _projection_faults(region.box, projection, index, where)


def _projection_faults(box: Box, projection: Projection, index: Box, where: str) -> Iterator[Finding]:
    try:
        wanted = projection.of_box(index)
    except RankError as error:
        yield Finding("projection", where, str(error))
        return
    if wanted != box:
        text = (
            f"the region is {box_text(box)}, but the index {box_text(index)} projects to {box_text(wanted)}"
        )
        yield Finding("projection", where, text)


def _mismatches(
    given: "dict[str, tuple[Region, ...]]",
    wanted: "dict[str, tuple[Region, ...]] | dict[str, tuple[Projection, ...]]",
    side: str,
    path: str,
    whose: str,
    also: tuple[str, ...] = (),
) -> Iterator[Finding]:
    """Return where names, or numbers of operands, are not those that are wanted."""
    if given.keys() != wanted.keys():
        text = f"the {side} keys [{_few(given)}] are not the keys [{_few(wanted)}] of {whose}"
        yield Finding("operands", f"{path}.body.{side}", text, also)
    for name in sorted(given.keys() & wanted.keys()):
        if len(given[name]) != len(wanted[name]):
            text = f"has {len(given[name])} operands, but {whose} has {len(wanted[name])}"
            yield Finding("operands", f"{path}.body.{side}.{name}", text, also)


def _few(names: Collection[str]) -> str:
    shown = ", ".join([name[:40] for name in islice(names, _NAMES)])
    return shown if len(names) <= _NAMES else f"{shown}, ... {len(names)} in all"


# Shards.


def _sharded(
    operation: OperationNode, shards: Sequence[ApplicationNode], places: Places
) -> Iterator[Finding]:
    path = places.path(operation)
    if not shards:
        yield Finding("shards", path, "the operation has no application shards")
        return
    paths = [places.path(shard) for shard in shards]
    for side, regions in (("inputs", operation._inputs), ("outputs", operation._outputs)):
        wanted = dict(regions)
        # By operand, in one pass over the shards: there may be many of both.
        parts: dict[tuple[str, int], list[_Part]] = defaultdict(list)
        for n, (shard, where) in enumerate(zip(shards, paths, strict=True)):
            given = dict(shard._inputs if side == "inputs" else shard._outputs)
            yield from _mismatches(given, wanted, side, where, "its operation", (path,))
            for name, listed in given.items():
                for k, part in enumerate(listed):
                    parts[name, k].append((part, n))
        for name, listed in wanted.items():
            for k, region in enumerate(listed):
                place = f"body.{side}.{name}[{k}]"
                yield from _parts_findings(region, parts.get((name, k), []), place, path, paths)
    yield from _projected_shards(operation, shards, places)


def _parts_findings(
    region: Region, parts: Sequence[_Part], place: str, path: str, paths: Sequence[str]
) -> Iterator[Finding]:
    """Return where one operand of the shards is not a part of that of the operation."""
    for part, n in parts:
        if part.tensor != region.tensor:
            text = f"the tensor {part.tensor} of the shard is not the tensor {region.tensor} of its operation"
            yield Finding("operands", f"{paths[n]}.{place}.tensorId", text, (f"{path}.{place}",))
        if part.box.rank != region.box.rank:
            text = f"the shard has {part.box.rank} modes, but its operation has {region.box.rank}"
            yield Finding("bounds", f"{paths[n]}.{place}.range", text, (f"{path}.{place}",))
    boxes = [(part.box, n) for part, n in parts if part.box.rank == region.box.rank]
    if not boxes:
        return
    try:
        table = BoxTable.from_boxes([box for box, _ in boxes])
        frame = BoxTable.from_boxes([region.box])
    except SizeOverflowError as error:
        yield Finding("bounds", f"{path}.{place}.range", f"the shards cannot be compared: {error}")
        return
    outside = ((table.origins < frame.origins) | (table.stops > frame.stops)).any(axis=1)
    for number in np.flatnonzero(outside).tolist():
        box, n = boxes[number]
        text = f"the shard region {box_text(box)} is outside the operation's {box_text(region.box)}"
        yield Finding("bounds", f"{paths[n]}.{place}.range", text, (f"{path}.{place}",))
    hull = table.hull() if table.total_size() else None
    if region.box.size and hull != region.box:
        spanned = "nothing" if hull is None else box_text(hull)
        also = tuple([f"{paths[n]}.{place}" for _, n in boxes])
        text = f"the operation's region {box_text(region.box)} is not spanned by its shards, but {spanned}"
        yield Finding("shards", f"{path}.{place}.range", text, also)
    if place.startswith("body.outputs"):
        yield from coverage_findings(region.box, table, where=f"{path}.{place}")


def _projected_shards(
    operation: OperationNode, shards: Sequence[ApplicationNode], places: Places
) -> Iterator[Finding]:
    maps, index = _maps_of(operation), operation.tags.index
    for shard in shards:
        yield from _projected(shard, maps, places.path(shard))
    blocks = [shard.tags.index for shard in shards if shard.tags.index is not None]
    if maps is None or index is None or len(blocks) != len(shards):
        return
    path = places.path(operation)
    try:
        yield from coverage_findings(index, blocks, where=f"{path}.tags")
    except (RankError, SizeOverflowError) as error:
        yield Finding("coverage", f"{path}.tags", str(error))
