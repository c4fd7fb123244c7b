"""Steps of views that are no boxes, as JSON: keys whose slices mean something else in each row."""

from typing import Any, cast

import attrs

from tensorwrapper._json import Json
from tensorwrapper.errors import ConversionError, SelectionError
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._fields import MAX_RANK, to_integer, to_list
from tensorwrapper.selection.operations._operation import WriteTable
from tensorwrapper.selection.schema._limits import Budget, Measured
from tensorwrapper.shape import Shape

__all__ = ["apply_row_step", "row_step"]


def row_step(name: str, arguments: tuple[Any, ...], before: Shape[Any], table: WriteTable) -> list[Json]:
    """Return the step that says a call on a view of this shape."""
    match name:
        case "index":
            key: tuple[object, ...] = arguments
            if isinstance(arguments[0], tuple):
                key = cast("tuple[object, ...]", arguments[0])
            return ["index", *[_written(item) for item in key]]
        case "gather":
            return ["gather", int(arguments[0]), table(arguments[1])]
        case "merge_rows":
            return ["merge_rows", int(arguments[0])]
        case _:
            raise ConversionError(f"{name} of {before} is not written as JSON: compute() it before")


def _written(item: object) -> Json:
    if item is None or item is Ellipsis:
        return "new" if item is None else "..."
    if isinstance(item, slice):
        own = cast("Any", item)
        ends: tuple[Any, ...] = (own.start, own.stop, own.step)
        return [None if end is None else int(end) for end in ends]
    return int(cast("int", item))


def apply_row_step(found: Measured, op: list[Json], where: str, budget: Budget) -> Measured:
    """Return what one step makes of a view that is no box; it may come from a stranger."""
    old = found.view
    shape = old.shape
    # Every step of rows may look at all of them.
    budget.work(shape.size + shape.extent(0), where)
    view = View[Any](old)
    match op:
        case ["index", *items] if len(items) <= 2 * MAX_RANK:
            view = view[tuple([_item(item, f"{where}[{n}]") for n, item in enumerate(items, 1)])]
        case ["gather", mode, table]:
            positions = budget.table(table, f"{where}[2]", found.parts)
            view = view.gather(to_integer(mode, f"{where}[1]", 0), positions)
        case ["merge_rows", mode]:
            view = view.flatten(to_integer(mode, f"{where}[1]", 1))
        case _:
            raise SelectionError(
                "schema", f"{where} must be index, gather or merge_rows: the view is {shape}, which is no box"
            )
    return budget.check(attrs.evolve(found, view=view._expression, is_leaf=False), where)


def _item(value: Json, where: str) -> Any:  # noqa: ANN401 - an item of a key
    match value:
        case "new":
            return None
        case "...":
            return Ellipsis
        case list():
            ends = to_list(value, where)
            if len(ends) != 3:
                raise SelectionError("schema", f"{where} must have three ends of a slice, not {len(ends)}")
            return slice(*[None if end is None else to_integer(end, where) for end in ends])
        case _:
            return to_integer(value, where)
