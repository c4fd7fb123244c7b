"""Interfaces of selections for new nodes of views, beside the public names.

A node is one class over `Node` (public), made known by `register_node`;
``tensorwrapper.testing.NodeContract`` tests it.

**Selections**: a `Transform` is the argument of ``selected``: for each mode of the node's box a
`Coordinate`, the position there as a sum of contributions of the modes of the view; coordinates are added and
multiplied. `pushed` is the part of an operand that a transform selects.

**Nulls**: `sides_of_view` is a view of the values, and one of whether they are valid.

**Results of views**: `RowsOfView`, and `OuterView` and `PointView`, the results of
`oindex` and `vindex`. `same_steps` gives a view the steps of another one that has the same layout, and
`expression_of` has the steps of one. `source_tensor` is the part of one tensor that they select.

**Several views in one text**: `fields_from_json` reads those of records.

**Views in a file**: `stored_json` writes one whose sources a `Leaf` says, and `view_from_stored` reads it;
`dtype_name` and `to_dtype` are how types are written there.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.selection._view import expression_of, same_steps
    from tensorwrapper.selection.execution._write_in_memory import source_tensor
    from tensorwrapper.selection.expressions._fields import dtype_name, to_dtype
    from tensorwrapper.selection.expressions._ordinals import pushed
    from tensorwrapper.selection.facade._computed_rows import RowsOfView
    from tensorwrapper.selection.facade._view_parts import OuterView, PointView
    from tensorwrapper.selection.plans._nulls import sides_of_view
    from tensorwrapper.selection.schema._read import fields_from_json, view_from_stored
    from tensorwrapper.selection.schema._write import Leaf, stored_json
    from tensorwrapper.selection.transforms._transform import Coordinate, Transform

__all__ = [
    "Coordinate",
    "Leaf",
    "OuterView",
    "PointView",
    "RowsOfView",
    "Transform",
    "dtype_name",
    "expression_of",
    "fields_from_json",
    "pushed",
    "same_steps",
    "sides_of_view",
    "source_tensor",
    "stored_json",
    "to_dtype",
    "view_from_stored",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_view": ("expression_of", "same_steps"),
            "execution._write_in_memory": ("source_tensor",),
            "expressions._fields": ("dtype_name", "to_dtype"),
            "expressions._ordinals": ("pushed",),
            "facade._computed_rows": ("RowsOfView",),
            "facade._view_parts": ("OuterView", "PointView"),
            "schema._read": ("fields_from_json", "view_from_stored"),
            "schema._write": ("Leaf", "stored_json"),
            "plans._nulls": ("sides_of_view",),
            "transforms._transform": ("Coordinate", "Transform"),
        },
    )
