"""Partitions of an operation into blocks: operands, index maps, shards, coverage and operation graphs."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names
from tensorwrapper.errors import Finding, FindingRule

if TYPE_CHECKING:
    from tensorwrapper.sharding._boxes import BoxesLike, BoxTable
    from tensorwrapper.sharding._coverage import check_coverage, coverage_findings
    from tensorwrapper.sharding._index_map import IndexMap
    from tensorwrapper.sharding._operands import Operand
    from tensorwrapper.sharding._operations import BlockOperation, Shard, Shards
    from tensorwrapper.sharding._projection import Projection
    from tensorwrapper.sharding._ranges import Ranges
    from tensorwrapper.sharding.graph._graph import Graph
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

__all__ = [
    "ApplicationNode",
    "BlockOperation",
    "BoxTable",
    "BoxesLike",
    "Finding",
    "FindingRule",
    "Graph",
    "GraphNode",
    "IndexMap",
    "NoteNode",
    "Operand",
    "OperationNode",
    "Projection",
    "Ranges",
    "Region",
    "Shard",
    "Shards",
    "Signature",
    "Tags",
    "TensorNode",
    "check_coverage",
    "coverage_findings",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_boxes": ("BoxTable", "BoxesLike"),
            "_coverage": ("check_coverage", "coverage_findings"),
            "_index_map": ("IndexMap",),
            "_operands": ("Operand",),
            "_operations": ("BlockOperation", "Shard", "Shards"),
            "_projection": ("Projection",),
            "_ranges": ("Ranges",),
            "graph._graph": ("Graph",),
            "graph._nodes": (
                "ApplicationNode",
                "GraphNode",
                "NoteNode",
                "OperationNode",
                "Region",
                "Signature",
                "Tags",
                "TensorNode",
            ),
        },
    )
