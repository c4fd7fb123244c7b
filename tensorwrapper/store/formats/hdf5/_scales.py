"""Mode names from HDF5 dimension scales, which netCDF-4 uses for its dimensions.

Read the list of datasets that a scale stores in place. Datasets store their lists of scales on a heap, and
checking heaps requires a search of the whole file.
"""

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from tensorwrapper.store.formats.hdf5._links import place_of

if TYPE_CHECKING:
    import h5py

_CLASS: Final = "CLASS"
_SCALE: Final = b"DIMENSION_SCALE"
_NAME: Final = "NAME"
_REFERENCES: Final = "REFERENCE_LIST"
_BARE: Final = b"This is a netCDF dimension but not a netCDF variable"
_NUMBER: Final = "_Netcdf4Dimid"
_DIMENSIONS: Final = "_Netcdf4Coordinates"
_MODES: Final = 64
_TEXT_BYTES: Final = 2**12


def plain_text(found: "h5py.Dataset", key: str) -> bytes:
    """Return an attribute that is fixed-length text; empty for others."""
    if key not in found.attrs:
        return b""
    own = found.attrs.get_id(key)
    is_text = own.dtype.kind == "S" and own.shape == () and own.dtype.itemsize <= _TEXT_BYTES
    return np.asarray(found.attrs[key]).tobytes().rstrip(b"\0") if is_text else b""


def _is_scale(found: "h5py.Dataset") -> bool:
    return plain_text(found, _CLASS) == _SCALE


def is_bare_dimension(found: "h5py.Dataset") -> bool:
    """Return True if a dataset is a netCDF dimension without a variable, with an extent but no elements."""
    return _is_scale(found) and not found.id.get_storage_size() and plain_text(found, _NAME).startswith(_BARE)


@final
class Scales:
    """Dimension scales of one file, resolved on first use."""

    __slots__ = ("_names", "_scales")

    def __init__(self) -> None:
        self._scales: list[h5py.Dataset] = []
        self._names: dict[tuple[int, ...], dict[int, list[str]]] | None = None

    def note(self, found: "h5py.Dataset") -> None:
        """Record a dataset if it is a scale."""
        if _is_scale(found):
            self._scales.append(found)

    def extents(self) -> dict[tuple[str, str], int]:
        """Return the extents of dimensions, by group and name."""
        return {
            (str(own.name).strip("/").rpartition("/")[0], _name_of(own)): own.shape[0]
            for own in self._scales
            if own.shape
        }

    def names_of(self, found: "h5py.Dataset") -> list[list[str]]:
        """Return the scale names of each mode of a dataset; a scale names itself."""
        if self._names is None:
            self._names = {}
            numbers = {number: _name_of(own) for own in self._scales for number in _integers(own, _NUMBER)}
            for scale in self._scales:
                self._look_up(scale, numbers, self._names)
        own = self._names.get(place_of(found.id), {}) if self._names else {}
        return [own.get(mode, []) for mode in range(len(found.shape))]

    def _look_up(
        self,
        scale: "h5py.Dataset",
        numbers: Mapping[int, str],
        names: dict[tuple[int, ...], dict[int, list[str]]],
    ) -> None:
        import h5py  # noqa: PLC0415 - an extra

        name = _name_of(scale)
        # Scales have no scales. netCDF-4 numbers the dimensions of scales with several modes.
        own = [name] if len(scale.shape) == 1 else [numbers.get(n) for n in _integers(scale, _DIMENSIONS)]
        if len(own) == len(scale.shape):
            names[place_of(scale.id)] = {mode: [said] for mode, said in enumerate(own) if said}
        if not _has_references(scale):
            return
        said: Any = np.asarray(scale.attrs[_REFERENCES])
        for reference, mode in zip(said["dataset"], said["dimension"].tolist(), strict=True):
            try:
                place = place_of(h5py.h5r.dereference(reference, scale.file.id))
            except Exception:  # noqa: BLE001, S112 - whatever HDF5 says of one that leads nowhere, as where a dataset was deleted
                continue
            taken = names.setdefault(place, {}).setdefault(mode, [])
            if name not in taken:
                taken.append(name)


def _integers(found: "h5py.Dataset", key: str) -> list[int]:
    """Return an attribute of one or more integers; empty for others."""
    if key not in found.attrs:
        return []
    own = found.attrs.get_id(key)
    is_short = own.dtype.kind in "iu" and own.shape is not None and prod(own.shape) <= _MODES
    return np.ravel(np.asarray(found.attrs[key])).tolist() if is_short else []


def _name_of(scale: "h5py.Dataset") -> str:
    """Return the name of a scale from its attribute, or its name in the group."""
    said = plain_text(scale, _NAME)
    own = "" if said.startswith(_BARE) else said.decode("utf-8", "backslashreplace")
    return own or str(scale.name).rpartition("/")[2]


def _has_references(scale: "h5py.Dataset") -> bool:
    """Return True if an attribute of a scale is a list of datasets and modes."""
    import h5py  # noqa: PLC0415 - an extra

    if _REFERENCES not in scale.attrs:
        return False
    own = scale.attrs.get_id(_REFERENCES)
    dtype = own.dtype
    if dtype.names != ("dataset", "dimension") or len(own.shape or ()) != 1:
        return False
    return h5py.check_ref_dtype(dtype["dataset"]) is h5py.Reference and dtype["dimension"].kind in "iu"
