"""HDF5 attributes as Python values, each checked before HDF5 reads it."""

from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import h5py

    from tensorwrapper.store.formats.hdf5._heaps import Heaps

_NUMBERS: Final = 64
"""Length limit of a list attribute, larger than any rank."""


def plain_attribute(found: "h5py.Group | h5py.Dataset", heaps: "Heaps", key: str) -> object:
    """Return an attribute that is a string, an integer or a short list of integers; None for others."""
    import h5py  # noqa: PLC0415 - an extra

    if key not in found.attrs:
        return None
    own = found.attrs.get_id(key)
    extents = own.shape
    if extents is None or prod(extents) > _NUMBERS:
        return None
    if isinstance(own.get_type(), h5py.h5t.TypeIntegerID):
        numbers: object = np.asarray(found.attrs[key]).tolist()
        return numbers
    kind = own.get_type()
    if not isinstance(kind, h5py.h5t.TypeStringID) or prod(extents) != 1:
        return None
    if kind.is_variable_str():
        heaps.check()
    given = np.ravel(np.asarray(found.attrs[key], dtype=object))[0]
    return given if isinstance(given, str) else bytes(given).decode("utf-8", "replace")
