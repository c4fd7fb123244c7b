"""Keys in the positional dialect: NumPy's basic indexing, resolved against extents."""

from operator import index
from typing import Any, SupportsIndex, TypeAlias, cast

from tensorwrapper._error_text import brief, warn_caller
from tensorwrapper._integers import to_int
from tensorwrapper.errors import (
    IndexTypeError,
    OutOfBoundsError,
    PositionWarning,
    RankError,
    StepError,
    TooManyIndicesError,
)
from tensorwrapper.shape.lowlevel import mode_text
from tensorwrapper.typing import Extents, Index, PositionalItem, PositionalKey

_Step: TypeAlias = tuple[int, int, int]
"""Start, step and number of the positions that a slice selects."""

Positional: TypeAlias = int | _Step | None
"""The parsed form of one item of a key: a position, a range, or (None) a new mode of extent 1."""


def parse_positional(key: PositionalKey, extents: Extents, lead: Index = ()) -> list[Positional]:
    """Return what a key selects, one entry per mode and per new mode, as NumPy's basic indexing does.

    ``lead`` are the positions that were pinned before: errors say so, and count modes from the first.

    Raises
    ------
    OutOfBoundsError
        If a position is outside its mode (slices are cut short, as NumPy's are).
    TooManyIndicesError
        If there are more indices than modes.
    StepError
        If a slice has step 0.
    """
    entries: list[Positional] = []
    mode = 0
    for item in expand_positional(key, len(extents)):
        if item is None:
            entries.append(None)
            continue
        entries.append(resolve(item, mode, extents[mode], lead))
        mode += 1
    return entries


def expand_positional(key: PositionalKey, rank: int) -> list[PositionalItem]:
    """Return one item per mode and per new mode: an ellipsis, or the end of the key, stands for whole modes.

    Raises
    ------
    TooManyIndicesError
        If there are more indices than modes.
    RankError
        If there are several ellipses.
    """
    items: list[PositionalItem] = list(key) if isinstance(key, tuple) else [key]
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    given = len(items) - len(dots) - sum([item is None for item in items])
    if given > rank:
        raise TooManyIndicesError(f"{given} indices are too many for {rank} modes")
    if len(dots) > 1:
        raise RankError("a key may have one ellipsis only")
    place = dots[0] if dots else len(items)
    fill: list[PositionalItem] = [slice(None)] * (rank - given)
    return items[:place] + fill + items[place + len(dots) :]


def resolve(item: object, mode: int, extent: int, lead: Index) -> int | _Step:
    """Return the selection of a mode by one item that is not a new mode: see `parse_positional`."""
    if type(item) is int and 0 <= item < extent:
        return item
    if isinstance(item, slice):
        try:
            start, stop, step = item.indices(extent)
        except TypeError as error:
            where = mode_text(len(lead) + mode, lead)
            raise IndexTypeError(f"the {item} of {where} is not made of integers") from error
        except ValueError as error:
            where = mode_text(len(lead) + mode, lead)
            raise StepError(f"the step of the {item} of {where} is 0; it must be another integer") from error
        # Not as the length of a range, which ends at 2**63.
        return start, step, max(-((start - stop) // step), 0)
    # As `isinstance(item, SupportsIndex)` says, which takes microseconds.
    if hasattr(item, "__index__") and not isinstance(item, bool):
        position = to_int(cast("SupportsIndex", item), f"the index of mode {len(lead) + mode}")
        if not -extent <= position < extent:
            where = mode_text(len(lead) + mode, lead)
            raise OutOfBoundsError(f"position {position} is outside {where}, which has extent {extent}")
        return position + extent if position < 0 else position
    raise IndexTypeError(
        f"the index of mode {len(lead) + mode} must be an integer, a slice or an ellipsis, not {brief(item)}"
    )


def is_whole(item: PositionalItem) -> bool:
    """Tell whether an item takes all of its mode as it is."""
    return isinstance(item, slice) and item == slice(None)


def warn_of_indices(key: object, extents: Extents, origin: Index) -> None:
    """Warn of the first slice of a key that selects no position, though the indices that it names exist.

    Extents and origin are those of the box around what is selected from.
    """
    items: tuple[Any, ...] = cast("tuple[object, ...]", key) if isinstance(key, tuple) else (key,)
    # A mask takes as many modes as it has, all other arrays one.
    widths = [item.ndim if str(getattr(item, "dtype", "")) == "bool" else 1 for item in items]
    items = tuple(
        [
            own
            for item, width in zip(items, widths, strict=True)
            for own in ([slice(None)] * width if hasattr(item, "dtype") else [item])
        ]
    )
    mode = 0
    for item in expand_positional(items, len(extents)):
        if item is None:
            continue
        if isinstance(item, slice) and _names_indices(item, extents[mode], origin[mode]):
            asked = f"{item.start}:{'' if item.stop is None else item.stop}"
            first, last = origin[mode], origin[mode] + extents[mode]
            warn_caller(
                f"the slice {asked} of mode {mode} counts positions from 0 and selects none of the "
                f"{extents[mode]}; of the indices, {first} to {last - 1}, it has some: "
                f"`t.window(t.shape[{':, ' * mode}{asked}])` selects by index",
                PositionWarning,
            )
            return
        mode += 1


def _names_indices(item: slice, extent: int, first: int) -> bool:
    if not first or item.start is None or range(*item.indices(extent)):
        return False
    start, end = index(item.start), first + extent
    stop = end if item.stop is None else min(index(item.stop), end)
    # To split at the end, as `t[len(t):]` does, means positions.
    split = item.stop is None and start == extent
    return not split and (item.step is None or item.step > 0) and max(start, first) < stop
