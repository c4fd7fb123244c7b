"""Arrays that name their modes and number them, as xarray's do."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from tensorwrapper.shape import Shape

__all__ = ["labelled_shape"]


class _Labelled(Protocol):
    """What has names for its modes, and arrays of labels for some of them."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each mode."""
        ...

    @property
    def dims(self) -> Sequence[object]:
        """The name of each mode."""
        ...

    @property
    def coords(self) -> Mapping[object, npt.ArrayLike]:
        """Labels along the modes, by name."""
        ...


def _is_labelled(array: object) -> "TypeGuard[_Labelled]":
    """Tell whether this is an array with names and labels."""
    return hasattr(array, "dims") and hasattr(array, "coords") and hasattr(array, "shape")


def labelled_shape(array: object) -> Shape[Any] | None:
    """Return the shape of an array with names and labels, None of any other; O(labels).

    Its dims are the names of modes; labels that count up by one say where a mode begins.
    """
    if not _is_labelled(array):
        return None
    names = [name if isinstance(name, str) else None for name in array.dims]
    origin = [_first_of(array, name) for name in array.dims]
    shape = Shape.smooth(array.shape, origin=origin)
    # xarray makes these up where nobody gave a name.
    known = [None if name == f"dim_{mode}" else name for mode, name in enumerate(names)]
    return shape.named(*known) if any(known) else shape


def _first_of(array: _Labelled, name: object) -> int:
    labels: npt.NDArray[Any] = np.asarray(array.coords[name]) if name in array.coords else np.empty(0)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or not len(labels):
        return 0
    first = int(labels[0])
    return first if bool((labels == np.arange(first, first + len(labels))).all()) else 0
