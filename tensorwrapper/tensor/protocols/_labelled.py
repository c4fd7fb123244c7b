"""Arrays that name their modes and number them, as xarray's do."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._error_text import warn_caller
from tensorwrapper.errors import LossWarning
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import usable_names


class _Labelled(Protocol):
    """An object with names for its modes, and arrays of labels for some of them."""

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
    """Return True if this is an array with names and labels."""
    return isinstance(getattr(array, "dims", None), tuple) and isinstance(
        getattr(array, "shape", None), tuple
    )


def labelled_shape(array: object) -> Shape[Any] | None:
    """Return the shape of an array with names and labels, None of any other; O(labels).

    Its dims are the names of modes; labels that count up by one say where a mode begins, and a `LossWarning`
    names all others. A TensorStore has a domain with an origin and labels, an array of Zarr names of
    dimensions.
    """
    if _is_labelled(array):
        names = [name if isinstance(name, str) else None for name in array.dims]
        # A variable of xarray has none.
        coords = getattr(array, "coords", {})
        origins = {name: _first_of(coords[name]) for name in coords if name in array.dims}
        lost = [repr(name) for name in coords if origins.get(name) is None]
        if lost:
            *some, last = lost
            kept = "names of modes, and of the coordinates integers that count up by one along their own"
            warn_caller(
                f"the coordinates {', '.join(some)}{' and ' * bool(some)}{last} of an array of "
                f"{type(array).__module__.partition('.')[0]} are left out: a tensor keeps {kept}",
                LossWarning,
            )
        return _named(
            Shape.smooth(array.shape, origin=[origins.get(name) or 0 for name in array.dims]), names
        )
    domain: Any = getattr(array, "domain", None)
    if hasattr(domain, "labels") and hasattr(domain, "origin"):
        return _named(Shape.smooth(domain.shape, origin=domain.origin), domain.labels)
    said: object = getattr(getattr(array, "metadata", None), "dimension_names", None)
    if not isinstance(said, tuple):
        return None
    return _named(Shape.smooth(cast("_Labelled", array).shape), cast("tuple[object, ...]", said))


def _named(shape: Shape[Any], names: Iterable[object]) -> Shape[Any]:
    """Return the shape with names, without xarray's default names and invalid names."""
    known = [None if own == f"dim_{mode}" else own for mode, own in enumerate(usable_names(names))]
    return shape.named(*known) if any(known) else shape


def _first_of(coordinate: npt.ArrayLike) -> int | None:
    """Return the first of labels that count up by one; None for other labels."""
    labels: npt.NDArray[Any] = np.asarray(coordinate)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        return None
    first = int(labels[0]) if len(labels) else 0
    return first if bool((labels == np.arange(first, first + len(labels))).all()) else None
