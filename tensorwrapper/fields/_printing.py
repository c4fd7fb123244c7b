"""Records as text: a line for each field, with elements that are in memory; nothing is computed."""

from typing import Any, Final

from tensorwrapper._error_text import html_block
from tensorwrapper.drawing import bytes_text, count_text
from tensorwrapper.fields._field import Field, Fields
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import short_text
from tensorwrapper.tensor import Tensor

__all__ = ["records_html", "records_text"]

_LINES: Final = 20
_VALUES: Final = 60  # characters


def records_text(fields: Fields, shape: Shape[Any], nbytes: int) -> str:
    """Return shape and bytes, and name, type and first elements of each field; 20 lines at most."""
    head = f"Records({short_text(repr(shape))}, {count_text(len(fields))} fields, {bytes_text(nbytes)})"
    shown = list(fields.items())
    more: list[str] = []
    if len(shown) > _LINES - 1:
        more = [f"  ... {len(shown) - _LINES + 2} more fields"]
        shown = shown[: _LINES - 2]
    columns = [(_cut(name, _VALUES), str(field.dtype), _values(field)) for name, field in shown]
    widths = [max([len(row[k]) for row in columns]) for k in range(2)]
    lines = [f"  {name:{widths[0]}}  {dtype:{widths[1]}}  {values}" for name, dtype, values in columns]
    return "\n".join([head, *lines, *more])


def records_html(fields: Fields, shape: Shape[Any], nbytes: int) -> str:
    """Return a self-contained block of HTML."""
    facts = [
        ("shape", short_text(str(shape))),
        ("fields", count_text(len(fields))),
        ("elements", bytes_text(nbytes)),
    ]
    return html_block(records_text(fields, shape, nbytes), facts)


def _values(field: Field) -> str:
    return _cut(" ".join(str(field).split()), _VALUES) if type(field) is Tensor else "not computed"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
