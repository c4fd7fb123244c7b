"""Origin of an array and names of its modes, from untrusted attributes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np

from tensorwrapper.shape.lowlevel import usable_names
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.typing import Index

if TYPE_CHECKING:
    from tensorwrapper.selection import View
    from tensorwrapper.tensor import Tensor

_T = TypeVar("_T", bound="Tensor[Any] | View[Any]")

_ADVICE: Final = "named(...) gives others"
_SHOWN: Final = 40
_FARTHEST: Final = 2**62  # largest absolute origin of a mode


def origin_said(value: object, rank: int) -> Index | None:
    """Return the origin from a list of one integer per mode; None for any other value."""
    items = _items(value, rank)
    whole = items is not None and all(type(n) is int and abs(n) < _FARTHEST for n in items)
    return tuple(cast("Sequence[int]", items)) if whole else None


def names_said(value: object, rank: int) -> "tuple[str | None, ...] | None":
    """Return one name per mode, with None for invalid names; None for any other value."""
    items = _items(value, rank)
    return None if items is None else usable_names(items)


def names_told(name: str, value: object, rank: int) -> Loss | None:
    """Return a loss that lists the ignored mode names; None if all names are used."""
    if value is None:
        return None
    items, taken = _items(value, rank), names_said(value, rank)
    if items is None or taken is None:
        text = f"the names of the modes of {name!r} are not a list of {rank} names, {str(value)[:60]}"
        return Loss(text, name, "convention", _ADVICE)
    left = [own for own, kept in zip(items, taken, strict=True) if own not in (None, "") and kept is None]
    if not left:
        return None
    shown = ", ".join([repr(own)[:_SHOWN] for own in left[:8]]) + ", ..." * (len(left) > 8)
    text = f"the names {shown} of modes of {name!r} are ignored, as they are not identifiers or not unique"
    return Loss(text, name, "name", _ADVICE)


def metadata_said(value: object) -> Mapping[str, Any]:
    """Return metadata that are a JSON object; empty for any other value."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def placed(found: _T, names: object, origin: object) -> _T:
    """Return a tensor or view with the names and origin in its attributes, if these are valid."""
    moved: Any = found
    own = names_said(names, found.shape.rank)
    if own is not None and any(own):
        moved = moved.named(*own)
    start = origin_said(origin, found.shape.rank)
    return cast("_T", moved if start is None else moved.translate_to(start))


def _items(value: object, rank: int) -> "Sequence[object] | None":
    given = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(given, list):
        return None
    items = cast("list[object]", given)
    return items if len(items) == rank else None
