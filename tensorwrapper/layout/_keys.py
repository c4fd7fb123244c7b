"""Keys in the positional dialect: NumPy's basic indexing, resolved against extents."""

from types import EllipsisType
from typing import SupportsIndex, TypeAlias

from tensorwrapper._integers import to_int
from tensorwrapper.errors import ConversionError, OutOfBoundsError, RankError, TooManyIndicesError
from tensorwrapper.typing import Extents, PositionalItem, PositionalKey

__all__ = ["Positional", "Step", "expand_positional", "is_whole", "parse_positional"]

Step: TypeAlias = tuple[int, int, int]
"""Start, step and number of the positions that a slice selects."""

Positional: TypeAlias = int | Step | None
"""What is left of one item of a key: a position, a range, or (None) a new mode of extent 1."""


def parse_positional(key: PositionalKey, extents: Extents) -> list[Positional]:
    """Return what a key selects, one entry per mode and per new mode, as NumPy's basic indexing does.

    Raises
    ------
    OutOfBoundsError
        If a position is outside its mode (slices are cut short, as NumPy's are).
    TooManyIndicesError
        If there are more indices than modes.
    """
    entries: list[Positional] = []
    mode = 0
    for item in expand_positional(key, len(extents)):
        if item is None:
            entries.append(None)
            continue
        entries.append(_resolve(item, mode, extents[mode]))
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
    given = sum(item is not None and item is not Ellipsis for item in items)
    if given > rank:
        raise TooManyIndicesError(f"{given} indices are too many for {rank} modes")
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise RankError("a key may have one ellipsis only")
    place = dots[0] if dots else len(items)
    fill: list[PositionalItem] = [slice(None)] * (rank - given)
    return items[:place] + fill + items[place + len(dots) :]


def _resolve(item: object, mode: int, extent: int) -> int | Step:
    if isinstance(item, slice):
        try:
            places = range(*item.indices(extent))
        except (TypeError, ValueError) as error:
            raise ConversionError(f"the slice {item} of mode {mode} is not made of integers") from error
        return places.start, places.step, len(places)
    if isinstance(item, SupportsIndex) and not isinstance(item, bool | EllipsisType):
        position = to_int(item, f"the index of mode {mode}")
        if not -extent <= position < extent:
            raise OutOfBoundsError(f"position {position} is outside mode {mode}, which has extent {extent}")
        return position + extent if position < 0 else position
    raise ConversionError(
        f"the index of mode {mode} must be an integer, a slice or an ellipsis, not {item!r}"
    )


def is_whole(item: PositionalItem) -> bool:
    """Tell whether an item takes all of its mode as it is."""
    return isinstance(item, slice) and item == slice(None)
