"""Where an array lies, and what its modes are called, as attributes say it: a stranger's may say anything."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from tensorwrapper.typing import Index

if TYPE_CHECKING:
    from tensorwrapper.selection import View
    from tensorwrapper.tensor import Tensor

__all__ = ["metadata_said", "names_said", "origin_said", "placed"]

_T = TypeVar("_T", bound="Tensor[Any] | View[Any]")

_FARTHEST = 2**62  # from zero, up to which an index can be moved


def origin_said(value: object, rank: int) -> Index | None:
    """Return the origin that a list of as many integers as modes is; None of all else."""
    items = _items(value, rank)
    whole = items is not None and all(type(n) is int and abs(n) < _FARTHEST for n in items)
    return tuple(cast("Sequence[int]", items)) if whole else None


def names_said(value: object, rank: int) -> "tuple[str | None, ...] | None":
    """Return names of as many modes as there are, None for each that cannot be one; None of all else.

    A name is an identifier, and is there once.
    """
    items = _items(value, rank)
    if items is None:
        return None
    texts = [item if isinstance(item, str) else "" for item in items]
    return tuple([text if text.isidentifier() and texts.count(text) == 1 else None for text in texts])


def metadata_said(value: object) -> Mapping[str, Any]:
    """Return metadata that are an object; none of all else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def placed(found: _T, names: object, origin: object) -> _T:
    """Return a tensor or view with the names and the origin that are said of it, and can be."""
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
