"""One field: a tensor or a view, and the same elements under an equal shape, or an equal layout."""

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._tensor_names import check_name
from tensorwrapper._value_class import evolve
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import wrap_layout
from tensorwrapper.selection import View, ViewLike, as_view
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import names_of
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor

Field: TypeAlias = "Tensor[Any] | View[Any]"
"""What a field is."""

Fields: TypeAlias = "Mapping[str, Field]"
"""Fields by name, in order."""


def as_tensor_of(field: Field) -> Tensor[Any]:
    """Return the tensor of a field: a view is computed."""
    return field if type(field) is Tensor else field.compute()


def layout_of(field: Field) -> Layout[Any]:
    """Return the layout of a field; that of a view leads into its node."""
    return field.layout if type(field) is Tensor else field.expression.layout


def with_layout(field: Field, layout: Layout[Any]) -> Field:
    """Return the same elements under an equal layout, which may be shared with others."""
    if type(field) is Tensor:
        return make_tensor(layout, field.buffer)
    return View(evolve(field.expression, layout=layout))


def over(field: Field, shape: Shape[Any]) -> Field:
    """Return the same elements over an equal shape, the object of others; views of layers keep their own."""
    held = layout_of(field).implementation
    moved = held.moved_to(shape)
    return with_layout(field, wrap_layout(moved)) if moved.shape is shape else field


def needs_box(field: Field) -> bool:
    """Return True if a field has fields beside it over boxes alone: sparse and tiled ones."""
    return layout_of(field).implementation.tiled is not None or field.is_sparse


def is_plain(shape: Shape[Any]) -> bool:
    """Return True if layouts hold a shape as it is: names and layers are added to another one."""
    return names_of(shape) is None and not shape.has_layers


def as_fields(data: Mapping[str, object]) -> dict[str, Field]:
    """Return tensors by name; data outside this process becomes views."""
    check_kind_of(data, Mapping, "records are made of a mapping from names to tensors")
    return {check_name(name): _field(name, value) for name, value in data.items()}


def _field(name: str, value: object) -> Field:
    if isinstance(value, Tensor | View):
        return cast("Field", value)
    try:
        view = as_view(cast("ViewLike", value))
    except Exception as error:
        error.add_note(f"in the field {name!r}")
        raise
    tensor = view.expression.node.tensor
    return view if tensor is None else tensor
