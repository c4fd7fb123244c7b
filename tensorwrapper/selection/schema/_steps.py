"""Steps from JSON: their arguments, and their costs, which are checked before they are applied."""

import math
from collections.abc import Iterable
from typing import Any, Final, assert_never, cast

import attrs
import numpy as np

from tensorwrapper._integers import one_sequence
from tensorwrapper._json import Json, dump_json
from tensorwrapper.errors import ConversionError, SelectionError
from tensorwrapper.layout.lowlevel import Strided
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._expression import at_zero
from tensorwrapper.selection.expressions._fields import (
    LARGEST,
    MAX_RANK,
    said_shape,
    to_integer,
    to_integers,
    to_list,
    to_object,
)
from tensorwrapper.selection.jagged._rows import held_rows, held_under, indices_of
from tensorwrapper.selection.operations._operation import OPERATIONS, ArgumentKind, Operation, WriteTable
from tensorwrapper.selection.schema._limits import Budget, Measured, finished, tabled
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.typing import Extents, IntArray

ROW_STEPS: Final = frozenset(
    ("unflatten", "merge_rows", "tiled", "untiled", "unnested", "keep", "pick", "select_tiles", "window")
)
"""Steps that boxes take as rows do, or that make rows of them."""


def row_step(  # noqa: C901, PLR0912 - a table of steps
    name: str, arguments: tuple[Any, ...], before: Shape[Any], table: WriteTable
) -> list[Json]:
    """Return the step that says a call on a view of this shape."""
    match name:
        case "index":
            key: tuple[object, ...] = arguments
            if isinstance(arguments[0], tuple):
                key = cast("tuple[object, ...]", arguments[0])
            return ["index", *[_written(item) for item in key]]
        case "gather":
            return ["gather", int(arguments[0]), table(arguments[1])]
        case "window":
            return ["index", *_window(before, arguments[0])]
        case "_rows_in_box":
            # Positions count from zero in JSON.
            return ["window", said_shape(arguments[0].translate_by([-own for own in before.origin]))]
        case "merge_rows":
            return ["merge_rows", int(arguments[0])]
        case "_cut":
            return ["unflatten", _mode(arguments[1], before), _counts(arguments[0], table)]
        case "choose":
            return _chosen(arguments[0], before, table)
        case "as_tiled":
            return ["tiled", [table(own) for own in arguments[0].sizes]]
        case "untiled":
            return ["untiled"]
        case "select_tiles":
            return ["select_tiles", table(arguments[0].reshape(-1))]
        case "flatten":
            return ["unnested"]
        case "rotate" | "repeat" | "permute" | "reverse":
            # Without arguments all modes are meant; a sequence of none is none.
            given: Iterable[Any] = one_sequence(arguments) if arguments else range(before.rank)
            if name == "rotate":
                return [name, [_turned(int(own), mode, before) for mode, own in enumerate(given)]]
            modes = name != "repeat"
            return [name, [_mode(own, before) if modes else int(own) for own in given]]
        case "repeat_each":
            return [name, _mode(arguments[0], before), int(arguments[1])]
        case _:
            raise ConversionError(f"{name} of {before} is not written as JSON: compute() it before")


def _window(before: Shape[Any], region: Shape[Any]) -> list[Json]:
    """Return the key, counted from zero, of a part that keeps its position, which its facts repeat."""
    key: list[Json] = []
    absolute: tuple[slice, ...] = ()
    first, low, count = before.origin_at(()), region.origin_at(()), region.extent(0)
    prefix: tuple[int, ...] = ()
    while True:
        key.append([low - first, low - first + count, None])
        absolute = (*absolute, slice(low, low + count))
        if before[absolute] == region:
            return key
        prefix = (*prefix, low)
        if count != 1 or len(prefix) >= before.rank:
            raise ConversionError(
                f"a window of {before} that cuts several rows is not written as JSON: compute() it before"
            )
        # A part of one row may be selected, counted in that row.
        first, low, count = before.origin_at(prefix), region.origin_at(prefix), region.extent_at(prefix)


def _mode(mode: Any, before: Shape[Any]) -> int:  # noqa: ANN401 - any integer
    return int(mode) % before.rank


def _counts(counts: Any, table: WriteTable) -> Json:  # noqa: ANN401 - what `unflatten` takes
    if isinstance(counts, Tensor):
        return _numbers(cast("Tensor[Any]", counts), table)
    return table(np.asarray(counts, dtype=np.int64)) if np.ndim(counts) else int(counts)


def _numbers(tensor: Tensor[Any], table: WriteTable) -> Json:
    """Return integers that lie in a box, or in rows."""
    shape, elements = tensor.shape, np.asarray(tensor.elements(), dtype=np.int64)
    if shape.is_box:
        return {"extents": [*shape.extents], "elements": table(elements)}
    return {"splits": [table(shape.splits(k)) for k in range(1, shape.rank)], "elements": table(elements)}


def _chosen(key: Tensor[Any], before: Shape[Any], table: WriteTable) -> list[Json]:
    if key.shape.has_layers:
        key = from_buffer(key.elements(), key.shape.flatten().as_jagged())
    if key.dtype == np.bool_:
        # The mask of all elements, reduced to the selected ones.
        return ["keep", table(np.flatnonzero(key.elements()))]
    if key.shape.is_box:
        raise ConversionError(f"positions in a box {key.shape} of {before} are not written as JSON")
    return ["pick", _numbers(key, table)]


def _written(item: object) -> Json:
    if item is None or item is Ellipsis:
        return "new" if item is None else "..."
    if isinstance(item, slice):
        own = cast("Any", item)
        ends: tuple[Any, ...] = (own.start, own.stop, own.step)
        # Ends and steps beyond the largest valid number select the same: no mode has more positions.
        return [None if end is None else min(max(int(end), -LARGEST), LARGEST) for end in ends]
    return int(cast("int", item))


def _turned(shift: int, mode: int, before: Shape[Any]) -> int:
    """Return how far a mode is turned, once round at most; no mode whose extent varies is."""
    if not shift:
        return 0
    extent = before.extent(mode)
    return shift % extent if extent else 0


def apply_row_step(  # noqa: C901, PLR0912, PLR0915 - a table of steps
    found: Measured, op: list[Json], where: str, budget: Budget
) -> Measured:
    """Apply one step to a view that is not a box; it may be untrusted."""
    old = found.view
    shape = old.shape
    # Every step of rows may look at all of them.
    held = held_rows(shape)
    budget.work(shape.size + held, where)
    view: View[Any] = View(old)
    match op:
        case ["index", *items] if len(items) <= 2 * MAX_RANK:
            budget.rows(items.count("new") * held, where)
            view = view[tuple([_item(item, f"{where}[{n}]") for n, item in enumerate(items, 1)])]
        case ["gather", mode, table]:
            positions = budget.table(table, f"{where}[2]", found.parts)
            number = to_integer(mode, f"{where}[1]", 0, shape.rank - 1)
            budget.rows(_gathered(shape, number, positions) - held, where)
            view = view.gather(number, positions)
        case ["merge_rows", mode]:
            view = view.flatten(to_integer(mode, f"{where}[1]", 1))
        case ["unflatten", mode, counts]:
            number = to_integer(mode, f"{where}[1]", 0, shape.rank - 1)
            lengths = _to_counts(counts, f"{where}[2]", budget, found.parts)
            if isinstance(lengths, int):
                above = indices_of(shape, number - 1) if number else 1
                budget.rows(indices_of(shape, number) // max(lengths, 1) + above, where)
            view = view.unflatten(lengths, number)
        case ["window", said]:
            region = Shape.from_json(dump_json(said))
            if not shape.is_box or region.is_box:
                raise SelectionError("bounds", f"{where} takes rows out of a box, not {region} of {shape}")
            known = old.layout.implementation.unnamed()
            # Elements that share places are listed one by one.
            plain = isinstance(known, Strided) and known.is_injective
            budget.rows(held_rows(region) if plain else region.size + held_rows(region), where)
            view = View(at_zero(old)).window(region)
        case ["keep", table]:
            view = _kept(view, budget.table(table, f"{where}[1]", found.parts), where)
        case ["pick", positions]:
            view = view[_to_numbers(positions, f"{where}[1]", budget, found.parts)]
        case ["tiled", sizes]:
            own = [budget.table(mode, f"{where}[1]", found.parts) for mode in to_list(sizes, f"{where}[1]")]
            budget.work(sum(map(len, own)), where)
            budget.rows(math.prod(map(len, own)), where)
            view = View(at_zero(old)).tiled(Tiling(*own))
        case ["untiled"]:
            view = view.untiled()
        case ["select_tiles", table]:
            numbers = budget.table(table, f"{where}[1]", found.parts)
            rank = view.tiling.rank
            if not rank or len(numbers) % rank:
                raise SelectionError("schema", f"{where}[1] must have {rank} numbers for each tile")
            view = view.select_tiles(numbers.reshape(-1, rank))
        case ["unnested"]:
            view = view.flatten()
        case ["rotate" | "repeat" | "permute" | "reverse" as name, numbers]:
            given = to_integers(numbers, f"{where}[1]", 0 if name != "rotate" else -LARGEST)
            if name == "repeat":
                budget.rows(held * (max(given, default=1) - 1), where)
            view = getattr(view, name)(given)
        case ["repeat_each", mode, times]:
            count = to_integer(times, f"{where}[2]", 0)
            budget.rows(held * (count - 1), where)
            view = view.repeat_each(to_integer(mode, f"{where}[1]", 0), count)
        case _:
            raise SelectionError(
                "schema",
                f"{where} must be a step of rows, with its arguments: the view is {shape}, not a box",
            )
    return budget.check(found.made().over(view._expression), where)


def _gathered(shape: Shape[Any], mode: int, positions: IntArray) -> int:
    """Return how many rows, of all levels, a gather may have."""
    if mode >= shape.outer_rank:
        return held_rows(shape)
    under = held_under(shape, mode)
    if mode:
        return indices_of(shape, mode - 1) * len(positions) * int(under.max(initial=0)) + held_rows(shape)
    inside = positions[(positions >= 0) & (positions < len(under))]
    # In floating point: the sum may exceed 64 bits.
    return int(under[inside].sum(dtype=np.float64))


def _to_counts(value: Json, where: str, budget: Budget, parts: int) -> Any:  # noqa: ANN401 - what `unflatten` takes
    if isinstance(value, int) and not isinstance(value, bool):
        return to_integer(value, where, 0)
    if isinstance(value, dict) and "frame" not in value:
        return _to_numbers(value, where, budget, parts)
    return budget.table(value, where, parts)


def _to_numbers(value: Json, where: str, budget: Budget, parts: int) -> Tensor[Any]:
    """Return integers in a box or in rows."""
    match to_object(value, where):
        case {"extents": extents, "elements": elements, **rest} if not rest:
            shape = Shape(*to_integers(extents, f"{where}.extents", 0))
        case {"splits": splits, "elements": elements, **rest} if not rest:
            tables = [
                budget.table(own, f"{where}.splits", parts) for own in to_list(splits, f"{where}.splits")
            ]
            shape = Shape.from_offsets(*tables)
        case _:
            raise SelectionError("schema", f"{where} must have splits or extents, and elements")
    numbers = budget.table(elements, f"{where}.elements", parts)
    if shape.size != len(numbers):
        raise SelectionError("bounds", f"{where} has {len(numbers)} elements of {shape}")
    return from_buffer(numbers, shape)


def _kept(view: View[Any], ordinals: IntArray, where: str) -> View[Any]:
    """Return of each row the elements of these ordinals, which ascend."""
    shape = view.shape.flatten().as_jagged()
    if len(ordinals) and (ordinals[0] < 0 or ordinals[-1] >= shape.size or (np.diff(ordinals) < 1).any()):
        raise SelectionError("bounds", f"{where}[1] must ascend from 0 to below {shape.size}")
    splits = OperandShapes.splits_under(shape, shape.rank - 1)
    marks = np.searchsorted(ordinals, splits)
    positions = ordinals - splits[np.searchsorted(splits, ordinals, "right") - 1]
    return view[
        from_buffer(
            positions, Shape.from_offsets(*[shape.splits(k) for k in range(1, shape.rank - 1)], marks)
        )
    ]


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
