"""The nodes that JSON knows, by the keys that tell them."""

from collections.abc import Mapping
from types import MappingProxyType

from tensorwrapper.errors import ConversionError
from tensorwrapper.selection.expressions._elementwise import Casting, Choosing, Extreme
from tensorwrapper.selection.expressions._expression import Node
from tensorwrapper.selection.expressions._generators import Counting, Diagonal, Filling, RandomField
from tensorwrapper.selection.expressions._joining import Interleaving, Joining, Stacking
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.expressions._padding import Padding
from tensorwrapper.selection.expressions._routing import Routing
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.jagged._rows import Rows

__all__ = ["NODES", "is_registered", "register_node"]

_KNOWN: tuple[type[Node], ...] = (
    Reading,
    Joining,
    Interleaving,
    Stacking,
    Padding,
    Choosing,
    Extreme,
    Casting,
    Whole,
    Filling,
    Counting,
    Diagonal,
    RandomField,
    Routing,
    Rows,
)

_nodes: dict[str, type[Node]] = {name: node for node in _KNOWN for name in node.json_names}

NODES: Mapping[str, type[Node]] = MappingProxyType(_nodes)
"""Key and class of each node that is written and read."""


def register_node(node: type[Node]) -> type[Node]:
    """Make a class of nodes known to JSON, under its `json_names`; return it, so that it decorates a class.

    Raises
    ------
    ConversionError
        If it has no name, or one is that of another class.
    """
    if not node.json_names:
        raise ConversionError(f"{node.__name__} has no json_names, so that JSON could not tell it")
    for name in node.json_names:
        if _nodes.get(name, node) is not node:
            raise ConversionError(f"JSON knows {name!r} as {_nodes[name].__name__}, not as {node.__name__}")
    _nodes.update(dict.fromkeys(node.json_names, node))
    return node


def is_registered(node: type[Node]) -> bool:
    """Return True if JSON knows a class of nodes."""
    return all(_nodes.get(name) is node for name in node.json_names)
