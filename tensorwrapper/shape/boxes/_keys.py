"""Keys in the square brackets of a shape, parsed to one entry per mode.

Indices are *absolute*, so a negative number means itself. An entry is an integer (an index whose mode is
dropped) or a pair of bounds (``None`` where open).
"""

import contextlib
from collections.abc import Iterable, Sequence
from types import EllipsisType
from typing import SupportsIndex, TypeAlias, cast

from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_int, to_ints
from tensorwrapper.errors import ConversionError, IndexTypeError, OutOfBoundsError, RankError, StepError
from tensorwrapper.typing import Index, Key, KeyItem

Bounds: TypeAlias = tuple[int | None, int | None]
Entry: TypeAlias = int | Bounds

WHOLE: Bounds = (None, None)


def mode_of(mode: SupportsIndex, rank: int) -> int:
    """Return `mode` as an integer in ``[0, rank)``; negative modes count from the last."""
    number = to_int(mode, "a mode")
    if -rank <= number < rank:
        return number + rank if number < 0 else number
    raise RankError(f"mode {number} does not exist in a shape of rank {rank}; modes are 0 to {rank - 1}")


def mode_count(modes: SupportsIndex, rank: int) -> int:
    """Return `modes` as a number of leading modes, from none to all."""
    count = to_int(modes, "a number of modes")
    if 0 <= count <= rank:
        return count
    raise RankError(f"a shape of rank {rank} has 0 to {rank} leading modes, not {count}")


def mode_text(mode: int, prefix: Index = ()) -> str:
    """Return the text of an error for a mode under `prefix`."""
    return f"mode {mode} under the prefix {prefix}" if prefix else f"mode {mode}"


def _expand_key(key: Key, rank: int) -> list[SupportsIndex | slice]:
    """Return one item per mode: an ellipsis, or the end of the key, stands for whole modes."""
    items: list[KeyItem] = list(key) if isinstance(key, tuple) else [key]
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise RankError("a key may have one ellipsis only")
    given = len(items) - len(dots)
    if given > rank:
        raise RankError(f"{given} indices are too many for a shape of rank {rank}")
    fill = [slice(None)] * (rank - given)
    place = dots[0] if dots else len(items)
    filled = items[:place] + fill + items[place + len(dots) :]
    return [item for item in filled if not isinstance(item, EllipsisType)]


def parse_key(key: Key, rank: int) -> tuple[Entry, ...]:
    """Return one entry per mode for a key in the literal dialect."""
    if type(key) is int and rank:
        return (key, *(WHOLE,) * (rank - 1))
    items: Sequence[KeyItem] = key if isinstance(key, tuple) else (key,)
    if len(items) > rank:
        items = _expand_key(key, rank)
    entries: list[Entry] = []
    for item in items:
        if isinstance(item, slice):
            start, stop = item.start, item.stop
            plain = (start is None or type(start) is int) and (stop is None or type(stop) is int)
            # The usual slice needs no conversion: this loop decides what a slice of a shape costs.
            entries.append((start, stop) if plain and item.step is None else _bounds(item, len(entries)))
        elif type(item) is int:
            entries.append(item)
        elif item is Ellipsis:
            return parse_key(tuple(_expand_key(key, rank)), rank)
        else:
            entries.append(_pin(item, len(entries)))
    if len(entries) < rank:
        entries += [WHOLE] * (rank - len(entries))
    return tuple(entries)


def _pin(item: object, mode: int) -> int:
    if isinstance(item, SupportsIndex) and not isinstance(item, bool):
        # Arrays have ``__index__`` too, and refuse it unless they are one integer.
        with contextlib.suppress(ConversionError):
            return to_int(item, f"the index of mode {mode}")
    if isinstance(item, dict):
        given = brief(cast("object", item))
        raise IndexTypeError(
            f"the index of a mode without a name is an integer or a slice, and {given} gives modes "
            "by name; `s.named('x', 'y')` has names"
        )
    raise IndexTypeError(
        f"the index of mode {mode} must be an integer or a slice, not {brief(item)}; "
        "a list or a boolean array selects with `tw.Mask(s, [0, 1])`, which is not a shape"
    )


def _bounds(item: slice, mode: int) -> Bounds:
    start, stop, step = item.start, item.stop, item.step
    if step is not None and to_int(step, f"the step of mode {mode}") != 1:
        raise StepError(
            f"mode {mode} is sliced with step {step}; a shape is contiguous, so only step 1 is allowed "
            "(`tw.Mask(s, slice(None, None, 2))` picks every second index)"
        )
    return (
        None if start is None else to_int(start, f"the first index of mode {mode}"),
        None if stop is None else to_int(stop, f"the last index of mode {mode}"),
    )


def check_ascending(entries: tuple[Entry, ...]) -> None:
    """Raise if a pair of bounds descends, even if no index is selected."""
    for mode, entry in enumerate(entries):
        if not isinstance(entry, int):
            first, last = entry
            if first is not None and last is not None and first > last:
                raise OutOfBoundsError(f"slice [{first}, {last}) of mode {mode} is reversed: bounds ascend")


def slice_entries(
    first: Iterable[SupportsIndex], last: Iterable[SupportsIndex], rank: int
) -> tuple[Entry, ...]:
    """Return the entries of the slice ``[first, last)``, which must bound every mode."""
    starts, stops = to_ints(first, "a first index"), to_ints(last, "a last index")
    if not len(starts) == len(stops) == rank:
        raise RankError(
            f"a slice of a shape of rank {rank} needs {rank} bounds on each side, "
            f"not {len(starts)} and {len(stops)}"
        )
    return tuple(zip(starts, stops, strict=True))


def chip_entries(leading: tuple[SupportsIndex, ...], rank: int) -> tuple[Entry, ...]:
    """Return the entries that pin the leading modes."""
    if len(leading) > rank:
        raise RankError(f"{len(leading)} indices are too many to pin in a shape of rank {rank}")
    pins = [to_int(index, f"the index of mode {mode}") for mode, index in enumerate(leading)]
    return (*pins, *[WHOLE] * (rank - len(pins)))


def leading_entries(leading: tuple[SupportsIndex, ...], rank: int) -> tuple[Entry, ...]:
    """Return the entries that select one index of each leading mode, and keep the mode."""
    entries = chip_entries(leading, rank)
    return tuple([(entry, entry + 1) if type(entry) is int else entry for entry in entries])
