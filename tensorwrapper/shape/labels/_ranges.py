"""The indices that a label goes over in one operand: the same everywhere, or a function of other labels."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayerError
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.labels._labels_text import Labels
from tensorwrapper.shape.rows._dependencies import extent_bounds, keys_of, needs_of
from tensorwrapper.typing import IntArray


class Layering(NamedTuple):
    """Number of layers, and the layer of each label; labels of plain shapes have no layer."""

    depth: int
    homes: dict[str, int]


def layering_of(names: tuple[str, ...], layers: tuple[int, ...]) -> Layering:
    """Return the layering of one nested shape; a label in two layers belongs to the outer one."""
    places = [layer for layer, count in enumerate(layers) for _ in range(count)]
    homes: dict[str, int] = {}
    for name, layer in zip(names, places, strict=True):
        homes.setdefault(name, layer)
    return Layering(len(layers), homes)


def merge_layerings(layerings: Sequence[Layering]) -> Layering:
    """Return the layering of a product: each label in the outermost of its layers."""
    homes: dict[str, int] = {}
    for layering in layerings:
        for name, layer in layering.homes.items():
            homes[name] = min(layer, homes.get(name, layer))
    return Layering(max(layering.depth for layering in layerings), homes)


def check_same(layerings: Sequence[Layering | None], labels: Collection[str]) -> Layering | None:
    """Return the layering of a sum, whose terms must have the same layers."""
    first = layerings[0]
    for number, other in enumerate(layerings):
        if (first is None) is not (other is None):
            plain = 0 if first is None else number
            raise LayerError(
                f"term {plain} of a sum has no layers, but term {number - plain} has: Shape.nested gives them"
            )
        if first is None or other is None:
            continue
        if first.depth != other.depth:
            raise LayerError(f"term {number} of a sum has {other.depth} layers, but term 0 has {first.depth}")
        for label in labels:
            if first.homes.get(label) != other.homes.get(label):
                raise LayerError(
                    f"label {label!r} is in {_layer(other, label)} of term {number} of a sum, but in "
                    f"{_layer(first, label)} of term 0"
                )
    return first


def _layer(layering: Layering, label: str) -> str:
    return f"layer {layering.homes[label]}" if label in layering.homes else "no layer"


def deal_result(result: Labels, layering: Layering | None) -> tuple[int, ...] | None:
    """Return how many labels of the result each layer has; ``None`` if it has no layers.

    Labels that lie in no layer go to the outermost, or where the text of the result puts them.
    """
    if layering is None:
        return result.layers
    asked = result.layers
    if asked is None:
        homes = [layering.homes.get(name, 0) for name in result.names]
        for place in range(1, len(homes)):
            if homes[place] < homes[place - 1]:
                raise LayerError(
                    f"label {result[place]!r} of layer {homes[place]} comes after {result[place - 1]!r} of "
                    f"layer {homes[place - 1]} in the result '{result}': outer layers come first"
                )
        return tuple([homes.count(layer) for layer in range(layering.depth)])
    if len(asked) != layering.depth:
        raise LayerError(f"the result '{result}' has {len(asked)} layers, but the operands {layering.depth}")
    places = [layer for layer, count in enumerate(asked) for _ in range(count)]
    for name, layer in zip(result.names, places, strict=True):
        home = layering.homes.get(name, layer)
        if home != layer:
            raise LayerError(
                f"the result '{result}' has label {name!r} in layer {layer}, but it is in layer {home}: "
                "nest the result anew"
            )
    return asked


class Fixed(NamedTuple):
    """A range that is the same under every prefix."""

    extent: int
    start: int


@final
@frozen(eq=False)
class Varying:
    """A range that depends on other labels: a row for each of their combinations, ascending."""

    labels: tuple[str, ...]
    table: IntArray
    extents: IntArray
    starts: IntArray

    def at(self, placed: dict[str, IntArray]) -> tuple[IntArray, IntArray]:
        """Return extent and start at every node, given the indices of the other labels there.

        A combination that is not in the table leads nowhere: extent 0.
        """
        wanted = np.stack([placed[label] for label in self.labels], axis=1)
        if np.array_equal(wanted, self.table):
            return self.extents, self.starts
        rows, known = self.find(wanted)
        return np.where(known, self.extents[rows], 0), np.where(known, self.starts[rows], 0)

    def find(self, wanted: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Return the row of each combination, and whether there is one."""
        table = self.table
        lows, highs = table.min(axis=0), table.max(axis=0)
        inside = ((wanted >= lows) & (wanted <= highs)).all(axis=1)
        if table.shape[1] == 1 and highs.item(0) - lows.item(0) + 1 == len(table):
            return np.where(inside, wanted[:, 0] - lows.item(0), 0), inside
        keys, sought = keys_of(table, lows, highs), keys_of(np.clip(wanted, lows, highs), lows, highs)
        rows = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
        return rows, inside & (keys[rows] == sought)


Range: TypeAlias = Fixed | Varying


def range_of(
    flat: Flat, labels: tuple[str, ...], mode: int, before: tuple[str, ...] | None = None
) -> Range | None:
    """Return the range of a mode; ``None`` if no prefix leads to it. O(n log n) in its prefixes at most.

    Extents without a prefix are ignored if they depend on other labels than these.
    """
    if isinstance(flat, SmoothCommon):
        return Fixed(flat.extents[mode], flat.origin[mode])
    if isinstance(flat, Tiled) and (mode < flat.outer_rank or all(p.extent for p in flat.partitions)):
        return _range_of_tiles(flat, labels, mode)
    if not mode:
        return Fixed(flat.extent_at(()), flat.origin_at(()))
    return _range_of_rows(flat, labels, mode, before)


def _range_of_tiles(tiled: Tiled, labels: tuple[str, ...], mode: int) -> Range | None:
    outer = tiled.outer_rank
    grid = tiled.grid
    if mode < outer:
        return Fixed(grid.extents[mode], grid.origin[mode])
    sizes = tiled.partitions[mode - outer].sizes
    numbers = np.arange(len(sizes), dtype=np.int64) + grid.origin[mode - outer]
    return _range_of_table(
        (labels[mode - outer],), numbers[:, np.newaxis], sizes, np.zeros(len(sizes), dtype=np.int64)
    )


def _range_of_rows(
    flat: JaggedCommon, labels: tuple[str, ...], mode: int, before: tuple[str, ...] | None
) -> Range | None:
    said = _said_by_leaves(flat, mode)
    if said is not None:
        table, extents, starts = said
        needs = needs_of(table, extents, starts)
        named = tuple([labels[need] for need in needs])
        if before is None or {*named} <= {*before}:
            return _range_of_table(named, table[:, list(needs)], extents, starts)
    needs = flat.dependencies(mode)
    if not needs:
        extents, starts = flat.rows.distinct_ranges(mode)
        return Fixed(extents.item(0), starts.item(0)) if len(extents) else None
    table, extents, starts = flat.rows.reached_table(mode)
    return _range_of_table(tuple([labels[need] for need in needs]), table[:, list(needs)], extents, starts)


def _said_by_leaves(flat: JaggedCommon, mode: int) -> tuple[IntArray, IntArray, IntArray] | None:
    """Return prefixes with extent and origin of a mode, if leaves say them where no prefix leads to it.

    A matrix of 0 x 3 has three columns. One of 0 x 0 is the same as rows that there are none of.
    """
    rows = flat.rows
    outer = rows.outer_rank
    if mode <= outer:
        return None
    before = np.stack([rows.ranges(earlier)[0] for earlier in range(outer, mode)])
    reached = (before > 0).all(axis=0)
    extents, starts = rows.ranges(mode)
    said = reached | (extents > 0)
    if np.array_equal(said, reached):
        return None
    return rows.prefixes(outer)[said], extents[said], starts[said]


def has_gaps(flat: Flat, mode: int) -> bool:
    """Tell whether some prefix of rows leads to no range of a mode. O(n) in the prefixes."""
    if isinstance(flat, SmoothCommon | Tiled):
        return False
    return any(not extent_bounds(flat.rows, earlier)[0] for earlier in range(1, mode))


def spread_range(flat: Flat, labels: tuple[str, ...], mode: int, names: tuple[str, ...]) -> Varying | None:
    """Return the range of a mode at each combination of other labels; ``None`` if it has not all of them.

    A range that is the same wherever a prefix leads says nothing of where none does.
    """
    before = labels[:mode]
    if isinstance(flat, SmoothCommon | Tiled) or not names or any(before.count(name) != 1 for name in names):
        return None
    table, extents, starts = _said_by_leaves(flat, mode) or flat.rows.reached_table(mode)
    columns = [before.index(name) for name in names]
    if max(columns) >= table.shape[1]:
        return None
    found = Varying(names, table[:, columns], extents, starts)
    return _in_order(found) if len(table) else found


def merged_range(first: Range, second: Range) -> Range:
    """Return the range that is known wherever one of two that agree is known."""
    if isinstance(first, Fixed):
        return first
    if isinstance(second, Fixed):
        return second
    columns = [second.labels.index(label) for label in first.labels]
    return _in_order(
        Varying(
            first.labels,
            np.concatenate([first.table, second.table[:, columns]]),
            np.concatenate([first.extents, second.extents]),
            np.concatenate([first.starts, second.starts]),
        )
    )


def _range_of_table(
    labels: tuple[str, ...], table: IntArray, extents: IntArray, starts: IntArray
) -> Range | None:
    """Return the range that has these values at these combinations, which may be repeated."""
    distinct = tuple(dict.fromkeys(labels))
    if len(distinct) < len(labels):
        # A label that stands for two modes goes over the diagonal of both.
        homes = [labels.index(label) for label in labels]
        kept = (table == table[:, homes]).all(axis=1)
        table, extents, starts = table[kept], extents[kept], starts[kept]
        table = table[:, [labels.index(label) for label in distinct]]
    if not len(table):
        return None
    if (extents == extents[0]).all() and (starts == starts[0]).all():
        return Fixed(extents.item(0), starts.item(0))
    return _in_order(Varying(distinct, table, extents, starts))


def _in_order(given: Varying) -> Varying:
    """Return the range with its rows ascending, the first column counting most, and each only once."""
    table = given.table
    if _steps_up(table).all():
        return given
    order = np.lexsort(table.T[::-1])
    order = order[np.concatenate([[True], _steps_up(table[order])])]
    return Varying(given.labels, table[order], given.extents[order], given.starts[order])


def _steps_up(table: IntArray) -> npt.NDArray[np.bool_]:
    """Return whether each row but the first is above the one before."""
    above = np.zeros(len(table) - 1, dtype=np.bool_)
    same = np.ones(len(table) - 1, dtype=np.bool_)
    for column in table.T:
        above |= same & (column[1:] > column[:-1])
        same &= column[1:] == column[:-1]
    return above


class Difference(NamedTuple):
    """A difference between two ranges of one label: the indices of other labels, and both values there."""

    place: tuple[tuple[str, int], ...]
    first: Fixed
    second: Fixed


def find_difference(first: Range, second: Range) -> Difference | None:
    """Return a place where two ranges differ, or ``None``; if both vary, then with the same labels."""
    if isinstance(first, Fixed):
        if isinstance(second, Fixed):
            return None if first == second else Difference((), first, second)
        found = _first_difference(second, *first)
        return found and Difference(found.place, found.second, found.first)
    if isinstance(second, Fixed):
        return _first_difference(first, *second)
    columns = [second.labels.index(label) for label in first.labels]
    second = _in_order(Varying(first.labels, second.table[:, columns], second.extents, second.starts))
    if np.array_equal(first.table, second.table):
        return _first_difference(first, second.extents, second.starts)
    # Prefixes that are empty in one range do not restrict the other.
    rows, known = second.find(first.table)
    common = Varying(first.labels, first.table[known], first.extents[known], first.starts[known])
    return _first_difference(common, second.extents[rows[known]], second.starts[rows[known]])


def _first_difference(varying: Varying, extents: IntArray | int, starts: IntArray | int) -> Difference | None:
    differs = (varying.extents != extents) | (varying.starts != starts)
    if not differs.any():
        return None
    row = int(np.argmax(differs))
    place = tuple(zip(varying.labels, varying.table[row].tolist(), strict=True))
    here, there = [
        Fixed(*[value if isinstance(value, int) else value.item(row) for value in pair])
        for pair in ((varying.extents, varying.starts), (extents, starts))
    ]
    return Difference(place, here, there)
