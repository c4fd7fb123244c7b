"""The tiles that a symmetry allows: their charges add up to a total."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, SupportsIndex, get_args

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_items_of
from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64, to_int, to_ints
from tensorwrapper._memory import memory_for
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    PatternError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape.boxes._common import integer_array
from tensorwrapper.typing import Extents, Index, IntArray

ChargeGroup = Literal["sum", "xor"]
"""How charges add up: as integers (of a modulus, if there is one), or bit by bit without carry."""


def ordinals_of_charges(
    extents: Extents,
    charges: Sequence[npt.ArrayLike],
    signs: Iterable[SupportsIndex] | None,
    total: npt.ArrayLike,
    modulus: SupportsIndex | Sequence[SupportsIndex | None] | None,
    group: ChargeGroup,
) -> IntArray:
    """Return the tiles whose charges add up to a total.

    The modes are dealt into two halves. The sums of each half are made, and those that fit are joined: no
    array is as large as the grid.
    """
    if group not in get_args(ChargeGroup):
        raise ConversionError(f"group is 'sum' or 'xor', not {brief(group)}")
    rank = len(extents)
    tables, known = _read_charges(charges, extents)
    width = int(np.size(total)) if known is None else known  # without modes, the total alone says it
    wanted = np.broadcast_to(_row(total, width, "total"), (width,)).astype(np.int64)
    factors = _read_signs(signs, rank)
    moduli = _read_moduli(modulus, width)
    if group == "xor":
        if signs is not None or modulus is not None:
            raise PatternError("charges that add up by xor have neither signs nor a modulus")
        if any(int(table.min(initial=0)) < 0 for table in [*tables, wanted]):
            raise PatternError("charges that add up by xor are 0 or more")
        sums = _sums_of(tables, _split(extents), width, np.bitwise_xor, lambda values: values)
        return _joined(*sums, lambda left: np.bitwise_xor(left, wanted), extents)
    reduce = _reducer(moduli)
    tables = [factor * reduce(table) for factor, table in zip(factors, tables, strict=True)]
    wanted = reduce(wanted)
    most = sum([int(np.abs(table).max(initial=0)) for table in [*tables, wanted]])
    if most > MAX_INT64:
        raise SizeOverflowError(f"sums of these charges reach {most}, which does not fit into 64 bits")
    sums = _sums_of(tables, _split(extents), width, np.add, reduce)
    return _joined(*sums, lambda left: reduce(wanted - left), extents)


def _read_charges(charges: Sequence[npt.ArrayLike], extents: Extents) -> tuple[list[IntArray], int | None]:
    """Return for each mode the (tiles, charges) table, and how many charges a tile of any mode has."""
    given = to_items_of(charges, "charges are a sequence with one entry per mode")
    if len(given) != len(extents):
        raise RankError(f"{len(given)} modes have charges, but the tiling has {len(extents)}")
    tables: list[IntArray] = []
    width: int | None = None
    for mode, (item, extent) in enumerate(zip(given, extents, strict=True)):
        array = integer_array(item, f"the charges of mode {mode}")
        if array.dtype.kind == "u" and array.size and int(array.max()) > MAX_INT64:
            raise SizeOverflowError(f"the charges of mode {mode} must fit into 64 bits")
        if array.ndim not in (1, 2):
            raise RankError(
                f"the charges of mode {mode} are an integer or a row of integers per tile, not an array of "
                f"{array.shape}"
            )
        if len(array) != extent:
            raise ExtentMismatchError(f"mode {mode} has {extent} tiles, but {len(array)} charges")
        table = array.astype(np.int64, copy=False)
        table = table[:, np.newaxis] if table.ndim == 1 else table
        if (table == -MAX_INT64 - 1).any():
            raise SizeOverflowError(f"the charges of mode {mode} must fit into 63 bits")
        if width is None:
            width = table.shape[1]
        if table.shape[1] != width:
            raise ExtentMismatchError(
                f"a tile of mode 0 has {width} charges, but one of mode {mode} has {table.shape[1]}"
            )
        tables.append(table)
    return tables, width


def _row(value: npt.ArrayLike, width: int, what: str) -> IntArray:
    array = integer_array(value, f"the {what}")
    if array.ndim > 1 or (array.ndim and len(array) != width):
        raise ExtentMismatchError(
            f"the {what} is an integer, or one for each of {width} charges, not {brief(value)}"
        )
    if array.size and not -MAX_INT64 <= int(array.min()) <= int(array.max()) <= MAX_INT64:
        raise SizeOverflowError(f"the {what} must fit into 64 bits, not {brief(value)}")
    return array.astype(np.int64)


def _read_signs(signs: Iterable[SupportsIndex] | None, rank: int) -> Index:
    factors = (1,) * rank if signs is None else to_ints(signs, "signs")
    if len(factors) != rank:
        raise RankError(f"{len(factors)} signs are given for {rank} modes")
    if any(factor not in (1, -1) for factor in factors):
        raise PatternError(f"a sign is 1 or -1, not {next(f for f in factors if f not in (1, -1))}")
    return factors


def _read_moduli(
    modulus: SupportsIndex | Sequence[SupportsIndex | None] | None, width: int
) -> list[int | None]:
    items = list(modulus) if isinstance(modulus, Sequence) else [modulus] * width
    if len(items) != width:
        raise ExtentMismatchError(f"{len(items)} moduli are given for {width} charges")
    moduli = [None if item is None else to_int(item, "a modulus") for item in items]
    wrong = [number for number in moduli if number is not None and not 1 <= number <= MAX_INT64]
    if wrong:
        raise PatternError(f"a modulus is 1 or more and fits into 64 bits, not {wrong[0]}")
    return moduli


def _reducer(moduli: list[int | None]) -> Callable[[IntArray], IntArray]:
    columns = [(column, number) for column, number in enumerate(moduli) if number is not None]

    def reduce(values: IntArray) -> IntArray:
        if not columns:
            return values
        reduced = values.copy()
        for column, number in columns:
            reduced[..., column] %= number
        return reduced

    return reduce


def _split(extents: Extents) -> int:
    """Return after which mode the grid is cut into two halves that have few tiles together."""
    sums = [math.prod(extents[:cut]) + math.prod(extents[cut:]) for cut in range(len(extents) + 1)]
    return sums.index(min(sums))


def _sums_of(
    tables: list[IntArray],
    cut: int,
    width: int,
    add: Callable[[IntArray, IntArray], IntArray],
    reduce: Callable[[IntArray], IntArray],
) -> tuple[IntArray, IntArray]:
    """Return the sums of the charges of each half of the modes: a row for each of its tiles."""
    halves: list[IntArray] = []
    for half in (tables[:cut], tables[cut:]):
        with memory_for(math.prod([len(table) for table in half]) * width, "sums of charges"):
            rows: IntArray = np.zeros((1, width), dtype=np.int64)
            for table in half:
                rows = reduce(
                    add(rows[:, np.newaxis], table[np.newaxis]).reshape(len(rows) * len(table), width)
                )
            halves.append(rows)
    return halves[0], halves[1]


def _joined(
    left: IntArray, right: IntArray, partner: Callable[[IntArray], IntArray], extents: Extents
) -> IntArray:
    """Return the ordinals of the pairs of which the right row is the partner of the left one."""
    if not math.prod(extents):
        return np.zeros(0, dtype=np.int64)
    wanted = partner(left)
    have, want = np.zeros(len(right), dtype=np.int64), np.zeros(len(left), dtype=np.int64)
    for column in range(right.shape[1]):
        # Each pair of columns becomes one column of small numbers, so that no key leaves 64 bits.
        values, found = np.unique(right[:, column], return_inverse=True)
        place = _places(values, wanted[:, column])
        values_of_both, have = np.unique(have * len(values) + found, return_inverse=True)
        want = np.where((want < 0) | (place < 0), -1, _places(values_of_both, want * len(values) + place))
    order = np.argsort(have, kind="stable")
    ends = np.cumsum(np.bincount(have))
    counts = np.where(want < 0, 0, np.diff(ends, prepend=0)[want])
    total = int(counts.sum())
    with memory_for(total, "tiles"):
        firsts = (ends - np.diff(ends, prepend=0))[want]
        partners = order[concatenated_ranges(firsts, counts)]
        return np.repeat(np.arange(len(left), dtype=np.int64) * len(right), counts) + partners


def _places(values: IntArray, wanted: IntArray) -> IntArray:
    """Return the place of each wanted number among ascending values, -1 where it is not there."""
    found = np.searchsorted(values, wanted)
    places: IntArray = np.where(values.take(found, mode="clip") == wanted, found, -1)
    return places
