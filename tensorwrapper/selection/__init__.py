"""Selections: views over many sources, their plans, and how index spaces are cut into blocks."""

from tensorwrapper.errors import Finding, FindingRule
from tensorwrapper.selection._atom import Atom
from tensorwrapper.selection._box_table import BoxesLike, BoxTable
from tensorwrapper.selection._build import ViewLike, as_view, concat, interleave, pad, stack
from tensorwrapper.selection._coverage import check_coverage, coverage_findings
from tensorwrapper.selection._elementwise import maximum, minimum, where
from tensorwrapper.selection._expression import Expression, Node
from tensorwrapper.selection._generate import (
    bernoulli,
    compute,
    eye,
    full,
    integers,
    iota,
    linspace,
    normal,
    ones,
    random,
    uniform,
    zeros,
)
from tensorwrapper.selection._graph import Graph
from tensorwrapper.selection._graph_nodes import (
    ApplicationNode,
    GraphNode,
    NoteNode,
    OperationNode,
    Region,
    Signature,
    Tags,
    TensorNode,
)
from tensorwrapper.selection._index_map import IndexMap
from tensorwrapper.selection._operands import Operand
from tensorwrapper.selection._outer import Outer, Positions
from tensorwrapper.selection._plan import Plan, SourceRead
from tensorwrapper.selection._projection import Projection
from tensorwrapper.selection._read_cost import Link
from tensorwrapper.selection._routes import Route, RouteGroup
from tensorwrapper.selection._run import Target
from tensorwrapper.selection._run_plan import Cancel, Progress
from tensorwrapper.selection._schema import SchemaForm, sources, to_json
from tensorwrapper.selection._schema_limits import SchemaLimits
from tensorwrapper.selection._schema_read import from_json
from tensorwrapper.selection._selector import Selector
from tensorwrapper.selection._selector_atoms import NewMode
from tensorwrapper.selection._sharding import BlockOperation, Shard, Shards
from tensorwrapper.selection._source import ReadHandle, Source, TensorSource
from tensorwrapper.selection._steps import Step, StepKind
from tensorwrapper.selection._view import View

__all__ = [
    "ApplicationNode",
    "Atom",
    "BlockOperation",
    "BoxTable",
    "BoxesLike",
    "Cancel",
    "Expression",
    "Finding",
    "FindingRule",
    "Graph",
    "GraphNode",
    "IndexMap",
    "Link",
    "NewMode",
    "Node",
    "NoteNode",
    "Operand",
    "OperationNode",
    "Outer",
    "Plan",
    "Positions",
    "Progress",
    "Projection",
    "ReadHandle",
    "Region",
    "Route",
    "RouteGroup",
    "SchemaForm",
    "SchemaLimits",
    "Selector",
    "Shard",
    "Shards",
    "Signature",
    "Source",
    "SourceRead",
    "Step",
    "StepKind",
    "Tags",
    "Target",
    "TensorNode",
    "TensorSource",
    "View",
    "ViewLike",
    "as_view",
    "bernoulli",
    "check_coverage",
    "compute",
    "concat",
    "coverage_findings",
    "eye",
    "from_json",
    "full",
    "integers",
    "interleave",
    "iota",
    "linspace",
    "maximum",
    "minimum",
    "normal",
    "ones",
    "pad",
    "random",
    "sources",
    "stack",
    "to_json",
    "uniform",
    "where",
    "zeros",
]
