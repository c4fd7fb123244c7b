"""Records in another order within rows, in groups, and without the brackets of rows."""

from typing import Any, cast

import numpy as np

from tensorwrapper.errors import RankError
from tensorwrapper.fields._field import Field, Fields, as_tensor_of
from tensorwrapper.fields._selecting import Selected, by_layout, select
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import cut_rows


def key_field(fields: Fields, shape: Shape[Any], name: str) -> Field:
    """Return a field whose elements order others: it has no more modes than these share."""
    field = fields[name]
    if not 0 < field.rank <= shape.rank:
        raise RankError(
            f"a field with 1 to {shape.rank} modes orders rows of {shape!r}; {name!r} has {field.rank}"
        )
    return field


def taken(fields: Fields, shape: Shape[Any], positions: Tensor[np.int64]) -> Selected:
    """Return the fields with these positions of the last mode of `positions`, under each prefix by itself.

    Fields of fewer modes are left alone.
    """
    rank = positions.rank
    if rank < 2 or not positions.shape.is_box:
        return select(fields, shape, positions if rank > 1 else positions.elements())
    # Positions in a row of a box are points; their other coordinates are those of the row.
    grid = np.ogrid[tuple([slice(extent) for extent in positions.shape.extents])]
    key = (*grid[:-1], positions.to_numpy())
    made = {name: field[key] if field.rank >= rank else field for name, field in fields.items()}
    return made, next(own.shape for name, own in made.items() if fields[name].rank == shape.rank)


def grouped(fields: Fields, shape: Shape[Any], name: str) -> "dict[str, Field]":
    """Return rows of the elements with equal keys, by ascending key, which has one element for each row."""
    if shape.rank != 1:
        raise RankError(f"group_by makes rows of records of one mode, and these have {shape.rank}")
    rows = as_tensor_of(key_field(fields, shape, name)).rows()
    values, counts = rows.unique_counts()
    others = {other: field for other, field in fields.items() if other != name and field.rank}
    if not others:
        return {**fields, name: values}
    ordered, shape = select(others, shape, rows.argsort().elements())
    lengths = counts.elements()
    made, _ = by_layout(
        ordered, shape, lambda layout: cut_rows(layout, lengths, 0), lambda view: view.unflatten(lengths)
    )
    return {**fields, **made, name: values}


def _merged(layout: Layout[Any]) -> Layout[Any]:
    return cast("Layout[Any]", layout.merge_rows(1))


def flattened(fields: Fields, shape: Shape[Any]) -> Selected:
    """Return the fields with mode 1 merged into mode 0; prefix fields are repeated."""
    if shape.rank < 2:
        raise RankError("flatten makes one mode of two, and the fields share one")
    lengths = shape.flatten().leading(2).as_jagged().lengths(1)
    short = {name: field for name, field in fields.items() if field.rank < 2}
    if short:
        short, _ = select(short, shape.leading(1), np.repeat(np.arange(len(lengths)), lengths))
    longer = {name: field for name, field in fields.items() if name not in short}
    made, found = by_layout(longer, shape, _merged, lambda view: view.flatten(1))
    return {name: made[name] if name in made else short[name] for name in fields}, found
