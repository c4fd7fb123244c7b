"""Records as text: a line for each field, with elements that are in memory; nothing is computed."""

import itertools
from typing import Any, Final

from tensorwrapper._displays import Fold, html_block, html_table
from tensorwrapper._error_text import counted, type_text
from tensorwrapper.drawing import bytes_text, count_text
from tensorwrapper.fields._field import Field, Fields
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import shape_words, short_text
from tensorwrapper.tensor import Tensor

_LINES: Final = 20
_VALUES: Final = 60  # characters


def records_text(fields: Fields, shape: Shape[Any], nbytes: int) -> str:
    """Return shape and bytes, and name, type and first elements of each field; 20 lines at most."""
    head = f"<Records {_head(fields, shape, nbytes)}>"
    columns = _rows(fields)
    left = len(fields) - len(columns)
    more = [f"  ... {counted(left, 'more field')}"] if left else []
    widths = [max([len(row[k]) for row in columns]) for k in range(2)]
    lines = [f"  {name:{widths[0]}}  {dtype:{widths[1]}}  {values}" for name, dtype, values in columns]
    return "\n".join([head, *lines, *more])


def records_html(fields: Fields, shape: Shape[Any], nbytes: int) -> str:
    """Return a self-contained block of HTML."""
    rows = [("field", "dtype", "values"), *_rows(fields)]
    table = html_table(rows, more=len(fields) - len(rows) + 1)
    fold = Fold("fields", table, opened=True)
    return html_block(
        f"Records {_head(fields, shape, nbytes)}", [("shape", short_text(str(shape)))], folds=[fold]
    )


def _head(fields: Fields, shape: Shape[Any], nbytes: int) -> str:
    count = len(fields)
    return f"{shape_words(shape)}, {count_text(count)} field{'s' * (count != 1)}, {bytes_text(nbytes)}"


def _rows(fields: Fields) -> list[tuple[str, str, str]]:
    """Return name, type and first elements of the first fields."""
    most = _LINES - 1 if len(fields) < _LINES else _LINES - 2
    shown = itertools.islice(fields.items(), most)
    return [(_cut(name, _VALUES), type_text(field.dtype), _values(field)) for name, field in shown]


def _values(field: Field) -> str:
    return _cut(" ".join(str(field).split()), _VALUES) if type(field) is Tensor else "not computed"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
