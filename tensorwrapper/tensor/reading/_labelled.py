"""Arrays that name their modes and number them, as xarray's do."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, cast

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
    return isinstance(getattr(array, "dims", None), tuple) and isinstance(
        getattr(array, "shape", None), tuple
    )


def labelled_shape(array: object) -> Shape[Any] | None:
    """Return the shape of an array with names and labels, None of any other; O(labels).

    Its dims are the names of modes; labels that count up by one say where a mode begins. A TensorStore has a
    domain with an origin and labels, an array of Zarr names of dimensions.
    """
    if _is_labelled(array):
        names = [name if isinstance(name, str) else None for name in array.dims]
        origin = [_first_of(array, name) for name in array.dims]
        return _named(Shape.smooth(array.shape, origin=origin), names)
    domain: Any = getattr(array, "domain", None)
    if hasattr(domain, "labels") and hasattr(domain, "origin"):
        return _named(Shape.smooth(domain.shape, origin=domain.origin), domain.labels)
    said: object = getattr(getattr(array, "metadata", None), "dimension_names", None)
    if not isinstance(said, tuple):
        return None
    return _named(Shape.smooth(cast("_Labelled", array).shape), cast("tuple[object, ...]", said))


def _named(shape: Shape[Any], names: Iterable[object]) -> Shape[Any]:
    """Return the shape with names, but those that xarray makes up, and those that no mode can have."""
    given = list(names)
    known = [
        name
        if isinstance(name, str)
        and name.isidentifier()
        and name not in ("_", f"dim_{mode}")
        and given.count(name) == 1
        else None
        for mode, name in enumerate(given)
    ]
    return shape.named(*known) if any(known) else shape


def _first_of(array: _Labelled, name: object) -> int:
    # A variable of xarray has none.
    coords = getattr(array, "coords", {})
    labels: npt.NDArray[Any] = np.asarray(coords[name]) if name in coords else np.empty(0)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or not len(labels):
        return 0
    first = int(labels[0])
    return first if bool((labels == np.arange(first, first + len(labels))).all()) else 0
