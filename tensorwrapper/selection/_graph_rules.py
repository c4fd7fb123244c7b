"""What must hold in a graph: every rule is checked, whatever the others found."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final, TypeAlias, final
from uuid import UUID

import numpy as np

from tensorwrapper.errors import Finding, RankError, SizeOverflowError
from tensorwrapper.selection._box_table import BoxTable
from tensorwrapper.selection._boxes import Box, box_text, contains_box
from tensorwrapper.selection._coverage import coverage_findings
from tensorwrapper.selection._graph_cycles import cycles_of
from tensorwrapper.selection._graph_nodes import (
    ApplicationNode,
    GraphNode,
    OperationNode,
    Region,
    Signature,
    TensorNode,
    regions_of,
)
from tensorwrapper.selection._operands import Named
from tensorwrapper.selection._projection import Projection

__all__ = ["DTYPES", "Places", "graph_findings"]

_BITS = {"int": (8, 16, 32, 64), "uint": (8, 16, 32, 64), "float": (16, 32, 64), "complex": (64, 128)}
DTYPES: Final = frozenset({"bool", *[f"{name}{bits}" for name, sizes in _BITS.items() for bits in sizes]})
"""The element types that a graph may have unless it is said otherwise."""

_Sided: TypeAlias = "tuple[str, Named[Region], Named[Projection]]"


@final
class Places:
    """Where the nodes of a graph are, and what a path of one is."""

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
    """Return all that is wrong with a graph, rule by rule."""
    places = Places(nodes)
    shards: dict[UUID, list[ApplicationNode]] = defaultdict(list)
    operations: list[OperationNode] = []
    for node in nodes:
        if isinstance(node, ApplicationNode):
            shards[node.operation].append(node)
        elif isinstance(node, OperationNode):
            operations.append(node)
    found: list[Finding] = [*_dtypes(places, dtypes), *_references(places), *_cycles(places)]
    for operation in operations:
        found += _projected(operation, operation.tags.signature, places.path(operation))
    for operation in operations:
        found += _sharded(operation, shards[operation.id], places)
    return tuple(found)


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
            fault = _reference_fault(places, node.operation, OperationNode)
            if fault is not None:
                yield Finding("reference", f"{path}.body.operationId", fault)
        for where, region in regions_of(node):
            yield from _region_faults(places, region, f"{path}.body.{where}")


def _reference_fault(places: Places, node_id: UUID, kind: type[GraphNode]) -> str | None:
    node = places.get(node_id)
    if node is None:
        return f"the referenced node {node_id} does not exist; a {kind.__name__} is needed"
    if not isinstance(node, kind):
        return f"the referenced node {node_id} has the wrong type {type(node).__name__}, not {kind.__name__}"
    return None


def _region_faults(places: Places, region: Region, path: str) -> Iterator[Finding]:
    fault = _reference_fault(places, region.tensor, TensorNode)
    node = places.get(region.tensor)
    if fault is not None or not isinstance(node, TensorNode):
        yield Finding("reference", f"{path}.tensorId", fault or "")
        return
    also = (places.path(node),)
    if node.box.rank != region.box.rank:
        text = f"the region has {region.box.rank} modes, but the tensor has {node.box.rank}"
        yield Finding("bounds", f"{path}.range", text, also)
    elif not contains_box(node.box, region.box):
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
        yield Finding("cycle", paths[0], f"reference cycle of {', '.join(names)}", tuple(paths[1:]))


# Projections.


def _projected(
    node: OperationNode | ApplicationNode, signature: Signature | None, path: str
) -> Iterator[Finding]:
    """Return where the regions of a node are not what its index projects to."""
    index = node.tags.index
    if index is None or signature is None:
        return
    for side, regions, maps in _sides(node, signature):
        yield from _mismatches(dict(regions), dict(maps), side, path, "the signature")
        given = dict(regions)
        for name, projections in maps:
            for k, (region, projection) in enumerate(zip(given.get(name, ()), projections, strict=False)):
                where = f"{path}.body.{side}.{name}[{k}].range"
                yield from _projection_faults(region.box, projection, index, where)


def _sides(node: OperationNode | ApplicationNode, signature: Signature) -> "Iterator[_Sided]":
    yield "inputs", node._inputs, signature._inputs
    yield "outputs", node._outputs, signature._outputs


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
        text = f"the {side} keys [{', '.join(given)}] are not the keys [{', '.join(wanted)}] of {whose}"
        yield Finding("operands", f"{path}.body.{side}", text, also)
    for name in given.keys() & wanted.keys():
        if len(given[name]) != len(wanted[name]):
            text = f"has {len(given[name])} operands, but {whose} has {len(wanted[name])}"
            yield Finding("operands", f"{path}.body.{side}.{name}", text, also)


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
        wanted, given = dict(regions), [dict(s._inputs if side == "inputs" else s._outputs) for s in shards]
        for shard, where in zip(given, paths, strict=True):
            yield from _mismatches(shard, wanted, side, where, "its operation", (path,))
        for name, listed in wanted.items():
            for k, region in enumerate(listed):
                parts = [(s[name][k], n) for n, s in enumerate(given) if k < len(s.get(name, ()))]
                place = f"body.{side}.{name}[{k}]"
                yield from _parts_findings(region, parts, place, path, paths)
    yield from _projected_shards(operation, shards, places)


def _parts_findings(
    region: Region, parts: Sequence[tuple[Region, int]], place: str, path: str, paths: Sequence[str]
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
    signature, index = operation.tags.signature, operation.tags.index
    for shard in shards:
        yield from _projected(shard, signature, places.path(shard))
    blocks = [shard.tags.index for shard in shards if shard.tags.index is not None]
    if signature is None or index is None or len(blocks) != len(shards):
        return
    path = places.path(operation)
    try:
        yield from coverage_findings(index, blocks, where=f"{path}.tags")
    except (RankError, SizeOverflowError) as error:
        yield Finding("coverage", f"{path}.tags", str(error))
