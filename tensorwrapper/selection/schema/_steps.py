"""Steps from JSON: their arguments, and their costs, which are checked before they are applied."""

from typing import Any, assert_never

import attrs

from tensorwrapper._json import Json
from tensorwrapper.errors import SelectionError
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._fields import LARGEST, to_integer, to_integers, to_list
from tensorwrapper.selection.operations._operation import ArgumentKind, Operation
from tensorwrapper.selection.operations._table import OPERATIONS
from tensorwrapper.selection.schema._limits import Budget, Measured, finished, tabled
from tensorwrapper.selection.schema._row_steps import ROW_STEPS, apply_row_step
from tensorwrapper.typing import Extents

__all__ = ["STEPS", "apply_step"]

_LEAST: dict[ArgumentKind, int] = {"number": -LARGEST, "mode": 0, "count": 0}
_PADS = ("edge", "reflect", "symmetric", "wrap")

STEPS = tuple([name for name, operation in OPERATIONS.items() if operation.takes])
"""The names of the operations that JSON has."""


def apply_step(found: Measured, op: list[Json], where: str, budget: Budget) -> Measured:
    """Return the result of one step for a view."""
    if not found.view.is_box or (op and isinstance(op[0], str) and op[0] in ROW_STEPS):
        return apply_row_step(found, op, where, budget)
    if not op or not isinstance(op[0], str) or op[0] not in STEPS:
        raise SelectionError("schema", f"{where} must begin with one of {sorted(STEPS)}")
    name, given = op[0], op[1:]
    operation = OPERATIONS[name]
    kinds = operation.takes
    if len(given) != len(kinds):
        raise SelectionError("schema", f"{where}: {name} takes {len(kinds)} arguments, not {len(given)}")
    old = found.view
    shape = old.shape
    budget.work(tabled(old.layout) + shape.rank, where)
    taken: list[Any] = []
    for kind, value in zip(kinds, given, strict=True):
        least = _LEAST.get(kind)
        if least is None or type(value) is not int or not least <= value <= LARGEST:
            value = _argument(kind, value, f"{where}[{len(taken) + 1}]", budget, found.parts)  # noqa: PLW2901
        taken.append(value)
    arguments = tuple(taken)
    for extent in _grown(operation, arguments, shape.extents, where):
        budget.extent(extent, where)
        budget.work(extent * found.parts, where)
    operation.check(shape, *arguments)
    new = View._make(old)._step(name, arguments)._expression
    if new.node is old.node:
        return budget.check(found.over(new), where)
    # The elements are reordered first, which computes all of the old view.
    made = finished(budget.check(found.made(), where))
    return budget.check(
        attrs.evolve(made, view=new, parts=made.parts + 1, rounds=made.rounds + 1, deep=made.deep + 1), where
    )


def _argument(kind: ArgumentKind, value: Json, where: str, budget: Budget, parts: int) -> Any:  # noqa: ANN401 - of that kind
    match kind:
        case "number" | "mode" | "count":
            return to_integer(value, where, _LEAST[kind])
        case "counts":
            return to_integers(value, where, 0)
        case "numbers":
            return to_integers(value, where)
        case "table":
            return budget.table(value, where, parts)
        case "widths":
            pairs = to_list(value, where)
            return tuple([to_integers(pair, f"{where}[{n}]", 0, count=2) for n, pair in enumerate(pairs)])
        case "boundary":
            if value not in _PADS:
                raise SelectionError("schema", f"{where} must be one of {list(_PADS)}")
            return value
        case _:
            assert_never(kind)


def _grown(operation: Operation, arguments: tuple[Any, ...], extents: Extents, where: str) -> Extents:
    """Return the extents of modes that a step may write down as tables."""
    try:
        return operation.tabled(extents, *arguments)
    except (IndexError, ValueError) as error:
        raise SelectionError("bounds", f"{where}: {operation.name} does not fit extents {extents}") from error
