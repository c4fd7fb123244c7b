"""Selections: views over many sources, and their plans."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.selection._selector import NewMode, Selector
    from tensorwrapper.selection._view import View
    from tensorwrapper.selection.execution._read_sources import Cancel, Progress
    from tensorwrapper.selection.execution._write_in_memory import Target
    from tensorwrapper.selection.expressions._expression import Expression, Node, NodeFields, NodeWriter
    from tensorwrapper.selection.functions._build import (
        ViewLike,
        as_view,
        concat,
        interleave,
        pad,
        pad_rows,
        stack,
    )
    from tensorwrapper.selection.functions._elementwise import maximum, minimum, where
    from tensorwrapper.selection.functions._generate import (
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
    from tensorwrapper.selection.operations._operation import Atom
    from tensorwrapper.selection.plans._plan import Plan, SourceRead, Step, StepKind
    from tensorwrapper.selection.routing._routes import Route, RouteGroup
    from tensorwrapper.selection.schema._limits import SchemaLimits
    from tensorwrapper.selection.schema._ndsel import from_ndsel, from_tensorstore, normalize_ndsel
    from tensorwrapper.selection.schema._read import from_json
    from tensorwrapper.selection.schema._write import SchemaForm, register_node, sources, to_json
    from tensorwrapper.selection.sources._arrays import ArraySource, LazyArray, is_lazy
    from tensorwrapper.selection.sources._failover import Alternatives
    from tensorwrapper.selection.sources._runs import Outer, Positions, Runs, Wanted
    from tensorwrapper.selection.sources._source import (
        Ability,
        Link,
        ReadHandle,
        Source,
        TensorSource,
        WritableSource,
    )

__all__ = [
    "Ability",
    "Alternatives",
    "ArraySource",
    "Atom",
    "Cancel",
    "Expression",
    "LazyArray",
    "Link",
    "NewMode",
    "Node",
    "NodeFields",
    "NodeWriter",
    "Outer",
    "Plan",
    "Positions",
    "Progress",
    "ReadHandle",
    "Route",
    "RouteGroup",
    "Runs",
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
    "Wanted",
    "WritableSource",
    "as_view",
    "bernoulli",
    "compute",
    "concat",
    "eye",
    "from_json",
    "from_ndsel",
    "from_tensorstore",
    "full",
    "integers",
    "interleave",
    "iota",
    "is_lazy",
    "linspace",
    "maximum",
    "minimum",
    "normal",
    "normalize_ndsel",
    "ones",
    "pad",
    "pad_rows",
    "random",
    "register_node",
    "sources",
    "stack",
    "to_json",
    "uniform",
    "where",
    "zeros",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "functions._build": ("ViewLike", "as_view", "concat", "interleave", "pad", "pad_rows", "stack"),
            "functions._elementwise": ("maximum", "minimum", "where"),
            "functions._generate": (
                "bernoulli",
                "compute",
                "eye",
                "full",
                "integers",
                "iota",
                "linspace",
                "normal",
                "ones",
                "random",
                "uniform",
                "zeros",
            ),
            "_selector": ("NewMode", "Selector"),
            "_view": ("View",),
            "operations._operation": ("Atom",),
            "expressions._expression": ("Expression", "Node", "NodeFields", "NodeWriter"),
            "plans._plan": ("Plan", "SourceRead", "Step", "StepKind"),
            "routing._routes": ("Route", "RouteGroup"),
            "execution._read_sources": ("Cancel", "Progress"),
            "execution._write_in_memory": ("Target",),
            "schema._limits": ("SchemaLimits",),
            "schema._ndsel": ("from_ndsel", "from_tensorstore", "normalize_ndsel"),
            "schema._read": ("from_json",),
            "schema._write": ("SchemaForm", "register_node", "sources", "to_json"),
            "sources._failover": ("Alternatives",),
            "sources._arrays": ("ArraySource", "LazyArray", "is_lazy"),
            "sources._runs": ("Outer", "Positions", "Runs", "Wanted"),
            "sources._source": (
                "Ability",
                "Link",
                "ReadHandle",
                "Source",
                "TensorSource",
                "WritableSource",
            ),
        },
        rooms=("random", "sources"),
    )
