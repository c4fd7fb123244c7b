"""Selections: views over many sources, and their plans."""

from tensorwrapper.selection._build import ViewLike, as_view, concat, interleave, pad, stack
from tensorwrapper.selection._elementwise import maximum, minimum, where
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
from tensorwrapper.selection._selector import NewMode, Selector
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._atom import Atom
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.plans._plan import Plan, SourceRead
from tensorwrapper.selection.plans._steps import Step, StepKind
from tensorwrapper.selection.routing._routes import Route, RouteGroup
from tensorwrapper.selection.runners._plan import Cancel, Progress
from tensorwrapper.selection.runners._targets import Target
from tensorwrapper.selection.schema._limits import SchemaLimits
from tensorwrapper.selection.schema._read import from_json
from tensorwrapper.selection.schema._write import SchemaForm, sources, to_json
from tensorwrapper.selection.sources._link import Link
from tensorwrapper.selection.sources._outer import Outer, Positions
from tensorwrapper.selection.sources._source import ReadHandle, Source, TensorSource

__all__ = [
    "Atom",
    "Cancel",
    "Expression",
    "Link",
    "NewMode",
    "Node",
    "Outer",
    "Plan",
    "Positions",
    "Progress",
    "ReadHandle",
    "Route",
    "RouteGroup",
    "SchemaForm",
    "SchemaLimits",
    "Selector",
    "Source",
    "SourceRead",
    "Step",
    "StepKind",
    "Target",
    "TensorSource",
    "View",
    "ViewLike",
    "as_view",
    "bernoulli",
    "compute",
    "concat",
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
