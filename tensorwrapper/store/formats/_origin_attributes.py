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

__all__ = ["metadata_said", "names_said", "names_told", "origin_said", "placed"]

_T = TypeVar("_T", bound="Tensor[Any] | View[Any]")

_ADVICE: Final = "named(...) gives others"
_SHOWN: Final = 40
_FARTHEST: Final = 2**62  # from zero, up to which an index can be moved


def origin_said(value: object, rank: int) -> Index | None:
    """Return the origin that a list of as many integers as modes is; None of all else."""
    items = _items(value, rank)
    whole = items is not None and all(type(n) is int and abs(n) < _FARTHEST for n in items)
    return tuple(cast("Sequence[int]", items)) if whole else None


def names_said(value: object, rank: int) -> "tuple[str | None, ...] | None":
    """Return names of as many modes as there are, None for each that cannot be one; None of all else."""
    items = _items(value, rank)
    return None if items is None else usable_names(items)


def names_told(name: str, value: object, rank: int) -> Loss | None:
    """Return a loss that names the modes' names that are left; None if all are taken."""
    if value is None:
        return None
    items, taken = _items(value, rank), names_said(value, rank)
    if items is None or taken is None:
        text = f"the names of the modes of {name!r} are no list of {rank}, {str(value)[:60]}"
        return Loss(text, name, "convention", _ADVICE)
    left = [own for own, kept in zip(items, taken, strict=True) if own not in (None, "") and kept is None]
    if not left:
        return None
    shown = ", ".join([repr(own)[:_SHOWN] for own in left[:8]]) + ", ..." * (len(left) > 8)
    text = f"the names {shown} of modes of {name!r} are left, as they are no identifiers, or come twice"
    return Loss(text, name, "name", _ADVICE)


def metadata_said(value: object) -> Mapping[str, Any]:
    """Return metadata that are an object; none of all else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def placed(found: _T, names: object, origin: object) -> _T:
    """Return a tensor or view with the names and the origin of its attributes, if these are valid."""
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
