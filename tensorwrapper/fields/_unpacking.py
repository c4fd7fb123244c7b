"""Fields as the attributes of a class of the user's own."""

import dataclasses
import inspect
from typing import Any, get_args, get_origin, get_type_hints

import attrs
import numpy as np

from tensorwrapper._error_text import brief
from tensorwrapper.errors import ConversionError, DTypeError, TensorNameError
from tensorwrapper.fields._field import Field, Fields
from tensorwrapper.tensor import Tensor


def arguments_of(fields: Fields, kind: type[object]) -> dict[str, Field]:
    """Return the fields that a class of attrs, or a dataclass, has attributes for, by name.

    Raises
    ------
    ConversionError
        If it is another kind of class, or an attribute is a tensor and the field a view.
    TensorNameError
        If there is no field for an attribute that has no default.
    DTypeError
        If a field has elements of another type than its attribute says.
    """
    found: dict[str, Field] = {}
    attributes = _attributes(kind)
    hints = get_type_hints(kind)
    for name, needed in attributes.items():
        if name not in fields:
            if needed:
                raise TensorNameError(f"{kind.__name__} has the attribute {name!r}, and no field is named so")
            continue
        _check(name, fields[name], hints.get(name))
        found[name] = fields[name]
    return found


def _attributes(kind: Any) -> dict[str, bool]:  # noqa: ANN401 - whatever was given for a class
    """Return what a class is made of, and whether each is needed."""
    if inspect.isclass(kind) and attrs.has(kind):
        return {own.name: own.default is attrs.NOTHING for own in attrs.fields(kind) if own.init}
    if inspect.isclass(kind) and dataclasses.is_dataclass(kind):
        missing = dataclasses.MISSING
        return {
            own.name: own.default is missing and own.default_factory is missing
            for own in dataclasses.fields(kind)
            if own.init
        }
    raise ConversionError(f"unpack fills a class of attrs or a dataclass, not {brief(kind)}")


def _check(name: str, field: Field, hint: Any) -> None:  # noqa: ANN401 - of typing
    kind, given = get_origin(hint) or hint, get_args(hint)
    if kind is Tensor and type(field) is not Tensor:
        raise ConversionError(f"the field {name!r} is a view: compute() the records first")
    wanted: Any = given[0] if given else None
    if inspect.isclass(wanted) and issubclass(wanted, np.generic) and field.dtype.type is not wanted:
        raise DTypeError(
            f"the field {name!r} has elements of type {field.dtype}, the attribute {wanted.__name__}"
        )
