"""One shape out of labelled ones: all agree on the range of every label, and some labels are kept.

The range of a label may depend on other labels, as extents of a jagged shape do. The result is built a level
at a time from these ranges; nothing is done for a single row or cell.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from tensorwrapper._arrays import check_rows, concatenated_ranges, splits_of
from tensorwrapper.errors import ExtentMismatchError, JaggedModeError
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, make_smooth
from tensorwrapper.shape.kinds._jagged import Jagged
from tensorwrapper.shape.kinds._join import rows_of
from tensorwrapper.shape.kinds._nested import Flat
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.labels._ranges import (
    Difference,
    Fixed,
    Range,
    Varying,
    find_difference,
    has_gaps,
    merged_range,
    range_of,
    spread_range,
)
from tensorwrapper.shape.rows._columns import Origins, check_int64, tidy_origins
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.rows._rearrange import build_rows
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import IntArray

Operand: TypeAlias = tuple[Flat, tuple[str, ...]]
"""A shape without layers, and a label for each of its modes."""

_Place: TypeAlias = tuple[int, int]
"""The number of an operand, and one of its modes."""


def hidden_label(label: str, scope: int) -> str:
    """Return the name of a label that is summed within one term: it equals no label of another term."""
    return f"{_shown(label)}'{scope}"


def _shown(label: str) -> str:
    return label.partition("'")[0]


def join_shapes(operands: Sequence[Operand], result: tuple[str, ...]) -> Flat:
    """Return the shape of the indices of `result`, each of them a label of some operand, once.

    Raises
    ------
    ExtentMismatchError
        If two modes with one label differ in extent or origin, anywhere.
    JaggedModeError
        If a label depends on one that is not before it in the result.
    """
    # Most often all are boxes that agree, and these few steps take most of the time of a product.
    extents: dict[str, int] = {}
    starts: dict[str, int] = {}
    for flat, labels in operands:
        if type(flat) is not Smooth and not isinstance(flat, SmoothCommon):
            return _join_any(operands, result)
        for label, extent, start in zip(labels, flat.extents, flat.origin, strict=True):
            if extents.setdefault(label, extent) != extent or starts.setdefault(label, start) != start:
                # It finds out what differs.
                return _join_any(operands, result)
    lengths = tuple([extents[label] for label in result])
    return make_smooth(lengths, tuple([starts[label] for label in result]))


def _join_any(operands: Sequence[Operand], result: tuple[str, ...]) -> Flat:
    distinct = _distinct(operands)
    places = _places(distinct)
    agreed = {label: _agreed(operands, found) for label, found in places.items() if len(found) > 1}
    kept = [operand for operand in distinct.values() if _stays_jagged(operand, result)]
    for flat, labels in kept:
        if labels[: len(result)] == result:
            # Its modes are those of the result, and all others agree with them: nothing is to be built.
            return flat.leading(len(result))
    ranges: list[Range] = []
    for place, label in enumerate(result):
        number, mode = places[label][0]
        # A mode without a prefix has no indices.
        found = agreed[label] if label in agreed else range_of(*operands[number], mode, result[:place])
        if isinstance(found, Varying):
            _check_order(label, found, result, place)
        elif found is not None:
            homes = places[label] if label in agreed else places[label][:1]
            found = _where_said([(*operands[home], at) for home, at in homes], found, result[:place])
        ranges.append(found or Fixed(0, 0))
    for flat, labels in kept:
        if len(labels) == len(result) and {*labels} == {*result}:
            return flat.permute([labels.index(label) for label in result])
    tiled = _tiled_of(distinct.values(), result)
    if tiled is not None:
        return tiled
    fixed = [item for item in ranges if isinstance(item, Fixed)]
    if len(fixed) < len(ranges):
        return Jagged(_build(result, ranges))
    box = make_smooth(tuple([r.extent for r in fixed]), tuple([r.start for r in fixed]))
    return Jagged(rows_of(box)) if kept else box


def _distinct(operands: Sequence[Operand]) -> dict[int, Operand]:
    """Return the operands by number, without those that repeat an earlier one: they agree with it."""
    kept: dict[int, Operand] = {}
    for number, (flat, labels) in enumerate(operands):
        same = [other for other, names in kept.values() if names == labels]
        if not any(flat is other or flat == other for other in same):
            kept[number] = operands[number]
    return kept


def _places(operands: dict[int, Operand]) -> dict[str, list[_Place]]:
    """Return the positions of each label."""
    places: dict[str, list[_Place]] = {}
    for number, (_, labels) in operands.items():
        for mode, label in enumerate(labels):
            places.setdefault(label, []).append((number, mode))
    return places


def _stays_jagged(operand: Operand, result: tuple[str, ...]) -> bool:
    """Tell whether the result keeps two modes of a jagged operand, which make it jagged.

    It is jagged even where all rows are alike. The grid of a tiled shape is a box.
    """
    flat, labels = operand
    if isinstance(flat, SmoothCommon):
        return False
    kept = [mode for mode, label in enumerate(labels) if label in result]
    if len({labels[mode] for mode in kept}) < 2:
        return False
    return not (isinstance(flat, Tiled) and kept[-1] < flat.outer_rank)


# Agreement.


def _agreed(operands: Sequence[Operand], places: list[_Place]) -> Range | None:
    """Return the range that a label has in all these places; ``None`` if no prefix leads to any."""
    found = [(place, range_of(*operands[place[0]], place[1])) for place in places]
    ranges = [(place, own) for place, own in found if own is not None]
    if not ranges:
        return None
    if any(own != ranges[0][1] for _, own in ranges[1:]):
        ranges = _spread(operands, ranges)
    first, known = ranges[0]
    for place, here in ranges[1:]:
        if here is not known and here != known:
            _check_same(operands, (first, known), (place, here))
            known = merged_range(known, here)
    return known


def _where_said(
    homes: Sequence[tuple[Flat, tuple[str, ...], int]], found: Fixed, before: tuple[str, ...]
) -> Range:
    """Return a range that is equal at all its occurrences, and 0 for an empty one."""
    known: Range | None = None
    for flat, labels, mode in homes:
        names = tuple([name for name in before if name in labels[:mode]])
        if not has_gaps(flat, mode):
            return found
        here = spread_range(flat, labels, mode, names)
        if here is None or (isinstance(known, Varying) and {*known.labels} != {*names}):
            return found
        if len(here.table):
            known = here if known is None else merged_range(known, here)
    return known or found


def _spread(
    operands: Sequence[Operand], ranges: Sequence[tuple[_Place, Range]]
) -> list[tuple[_Place, Range]]:
    """Return ranges that are not all the same, each only where its operand says what it is."""
    varying = [own.labels for _, own in ranges if isinstance(own, Varying)]
    labels = [operands[number][1][:mode] for (number, mode), _ in ranges]
    names = varying[0] if varying else tuple([n for n in labels[0] if all(n in own for own in labels)])
    return [
        (
            (number, mode),
            own if isinstance(own, Varying) else spread_range(*operands[number], mode, names) or own,
        )
        for (number, mode), own in ranges
    ]


def _check_same(
    operands: Sequence[Operand], first: tuple[_Place, Range], second: tuple[_Place, Range]
) -> None:
    (here, mine), (there, theirs) = first, second
    label = _label_at(operands, here)
    if isinstance(mine, Varying) and isinstance(theirs, Varying) and {*mine.labels} != {*theirs.labels}:
        for item in (mine, theirs):
            if any(name != _shown(name) for name in item.labels):
                raise JaggedModeError(
                    f"the range of label {label!r} depends on {_list(item.labels)}, which is summed within a "
                    "term: no shape has it so"
                )
        raise ExtentMismatchError(
            f"label {label!r} has {_varies(mine)} in {_where(operands, here)}, but {_varies(theirs)} in "
            f"{_where(operands, there)}"
        )
    found = find_difference(mine, theirs)
    if found is not None:
        raise _mismatch(operands, here, there, found)


def _varies(item: Varying) -> str:
    low, high = int(item.extents.min()), int(item.extents.max())
    what = f"{low} to {high} indices" if low < high else f"{low} indices"
    return f"{what}, which depend on {_list(item.labels)},"


def _mismatch(
    operands: Sequence[Operand], here: _Place, there: _Place, difference: Difference
) -> ExtentMismatchError:
    place, mine, theirs = difference
    what = "extent" if mine.extent != theirs.extent else "origin"
    a, b = (mine.extent, theirs.extent) if mine.extent != theirs.extent else (mine.start, theirs.start)
    where = " at " + ", ".join([f"{_shown(name)} = {index}" for name, index in place]) if place else ""
    advice = "; translate_to moves a shape" if what == "origin" else ""
    return ExtentMismatchError(
        f"label {_label_at(operands, here)!r} has the {what} {a} in {_where(operands, here)}, but {b} in "
        f"{_where(operands, there)}{where}{advice}"
    )


def _label_at(operands: Sequence[Operand], place: _Place) -> str:
    return _shown(operands[place[0]][1][place[1]])


def _where(operands: Sequence[Operand], place: _Place) -> str:
    labels = ",".join(map(_shown, operands[place[0]][1]))
    return f"mode {place[1]} of operand {place[0]} '{labels}'"


def _list(labels: Sequence[str]) -> str:
    return ", ".join([repr(_shown(label)) for label in labels])


def _check_order(label: str, range_: Varying, result: tuple[str, ...], place: int) -> None:
    """Raise if a label depends on one that is not before it in the result."""
    missing = [need for need in range_.labels if need not in result[:place]]
    if missing:
        later = [need for need in missing if need in result]
        why = f"{_list(later)} comes after it" if later else f"{_list(missing)} is summed"
        raise JaggedModeError(
            f"the range of label {label!r} depends on {_list(range_.labels)}, but in the result "
            f"'{','.join(result)}' {why}: no shape has it so"
        )


# The result.


def _tiled_of(operands: Iterable[Operand], result: tuple[str, ...]) -> Tiled | None:
    """Return the result as tiles, if its labels are modes of grids, then those of the tiles in them."""
    half, rest = divmod(len(result), 2)
    homes: dict[tuple[str, str], tuple[Partition, int]] = {}
    for flat, labels in operands:
        if isinstance(flat, Tiled) and all(p.extent for p in flat.partitions):
            pairs = zip(labels[: flat.outer_rank], labels[flat.outer_rank :], strict=True)
            homes.update(zip(pairs, zip(flat.partitions, flat.grid.origin, strict=True), strict=True))
    found = [homes.get(pair) for pair in zip(result[:half], result[half:], strict=False)]
    tiles = [tile for tile in found if tile is not None]
    if rest or not found or len(tiles) < len(found):
        return None
    return Tiled(tuple([partition for partition, _ in tiles]), tuple([start for _, start in tiles]))


def _build(labels: tuple[str, ...], ranges: Sequence[Range]) -> Rows:
    """Return rows with these ranges; the last modes, as far as they are independent, are the leaves."""
    for mode, item in enumerate(ranges):
        if isinstance(item, Fixed):
            check_int64(mode, item.start, item.extent)
    needs = [item.labels if isinstance(item, Varying) else () for item in ranges]
    head = len(labels) - 1
    while head > 1 and not any(labels[head - 1] in need for need in needs[head:]):
        head -= 1
    placed: dict[str, IntArray] = {}
    n_nodes = 1
    levels: list[tuple[IntArray, Origins]] = []
    for mode in range(head):
        counts, starts = _at_nodes(ranges[mode], placed, n_nodes)
        levels.append((counts, tidy_origins(starts)))
        later = {need for names in needs[mode + 1 :] for need in names}
        total = splits_of(counts).item(-1)
        check_rows(total)
        columns = {name: column for name, column in placed.items() if name in later}
        nodes = np.repeat(np.arange(n_nodes), counts) if columns else None
        placed = {name: column[nodes] for name, column in columns.items()}
        if labels[mode] in later:
            placed[labels[mode]] = concatenated_ranges(starts, counts)
        n_nodes = total
    leaves = [_at_nodes(item, placed, n_nodes) for item in ranges[head:]]
    leaf = np.stack([counts for counts, _ in leaves], axis=1)
    return build_rows(levels, leaf, [tidy_origins(starts) for _, starts in leaves])


def _at_nodes(range_: Range, placed: dict[str, IntArray], n_nodes: int) -> tuple[IntArray, IntArray]:
    """Return extent and start of a range at every node."""
    if isinstance(range_, Varying):
        return range_.at(placed)
    return np.full(n_nodes, range_.extent), np.full(n_nodes, range_.start)
